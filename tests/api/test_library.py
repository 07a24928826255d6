"""``import cyclelens``: what the documentation promises, on blocks whose figures are known."""

import doctest
import multiprocessing
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import cyclelens
import pytest
from cyclelens import analysis, prediction, results
from cyclelens.analyzer.measuring.harness import CannotMeasure as NoHarness

ROOT = Path(__file__).parents[2]
LCP = "6605341249ffcf"  # add ax, 0x1234; dec r15, from the uiCA paper
DOT = ROOT / "examples" / "dot_product.s"
MARKED = "# cyclelens-begin sum\n add %rax, %rbx\n add %rbx, %rax\n# cyclelens-end\n"


@pytest.mark.parametrize("module", [cyclelens, analysis, prediction, results])
def test_the_examples_of_the_docstrings_are_true(module):
    assert doctest.testmod(module).failed == 0


def test_the_examples_of_the_page_are_true():
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0


def test_every_name_that_is_promised_is_there():
    assert all(hasattr(cyclelens, name) for name in cyclelens.__all__)
    assert not hasattr(cyclelens, "simulate")


def test_starting_costs_nothing_until_a_name_is_used():
    script = "import cyclelens, sys; sys.exit(any(m.startswith('cyclelens.') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_code_may_be_bytes_of_any_kind_or_text(kind):
    code = bytes.fromhex(LCP)
    assert cyclelens.predict(kind(code)) == cyclelens.predict(LCP)
    assert cyclelens.predict(LCP).cycles_per_iteration == 3.42


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ({"arch": "8086"}, "SKL"),
        ({"mode": "tp"}, "unroll, loop"),
        ({"alignment": 99}, "63"),
        ({"alignment": -5}, "63"),
        ({"copies": 4}, "mode='loop'"),
        ({"model": "best"}, "hardware, uica, bounds"),
    ],
)
def test_a_wrong_argument_is_an_error_that_says_what_is_allowed(arguments, allowed):
    with pytest.raises(ValueError, match=allowed):
        cyclelens.predict("90", **arguments)


def test_a_block_without_a_figure_is_a_result_and_not_an_error():
    found = cyclelens.predict_batch(["zz", "06", "", LCP])
    assert [each.cycles_per_iteration for each in found] == [None, None, None, 3.42]
    assert [each.problem for each in found][:2] == ["not hexadecimal", "no valid instruction at byte 0"]
    with pytest.raises(TypeError, match="bytes"):
        cyclelens.predict(90)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a collection"):
        cyclelens.predict_batch(b"\x90")  # type: ignore[arg-type]


def test_a_batch_in_several_processes_is_the_same():
    blocks = [f"4883c0{n:02x}" for n in range(64)]
    assert cyclelens.predict_batch(blocks, jobs=2) == cyclelens.predict_batch(iter(blocks))


def test_results_can_be_pickled_and_compared_and_become_tables():
    figures = cyclelens.predict_batch([LCP, "90"])
    report = cyclelens.analyze(DOT, arch=["SKL", "ZEN5"])
    for value in (figures, report, report.regions[0].predictions[0]):
        assert pickle.loads(pickle.dumps(value)) == value
    assert list(figures.to_frame("pandas")["cycles_per_iteration"]) == [3.42, 0.25]
    table = report.to_frame("pandas")
    assert list(table["arch"]) == ["SKL", "ZEN5"] * len(report.regions)
    rows = report.region("dot").predictions[0].to_frame("pandas")
    assert rows["port 0"].sum() + rows["port 1"].sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="pandas, polars"):
        figures.to_frame("excel")


def test_a_report_has_what_the_json_report_has():
    report = cyclelens.analyze(MARKED)
    assert report.region("sum").cycles_per_iteration == 2.0
    assert report.to_dict()["regions"][0]["predictions"][0]["bounds"]["Dependencies"] == 2.0
    assert report.region("sum").predictions[0].instructions[0].source == "add %rax, %rbx"
    with pytest.raises(KeyError, match="'sum'"):
        report.region("product")


def test_mistakes_in_a_text_are_problems_of_the_report():
    report = cyclelens.analyze(MARKED.replace("add %rax, %rbx", "addd %rax, %rbx"))
    assert [(each.code, each.line) for each in report.problems] == [("unsupported-instruction", 2)]
    assert report.region("sum").predictions == ()
    assert [each.code for each in cyclelens.analyze("nop\n").problems] == ["no-region"]


def test_a_path_is_a_path_and_a_text_is_a_text(tmp_path):
    with pytest.raises(ValueError, match=r"pathlib\.Path"):
        cyclelens.analyze(str(DOT))
    with pytest.raises(FileNotFoundError):
        cyclelens.analyze(tmp_path / "nothing.s")
    archive = tmp_path / "x.a"
    archive.write_bytes(b"!<arch>\n\0")
    with pytest.raises(ValueError, match="archive"):
        cyclelens.analyze(archive)


def test_threads_get_the_figures_that_one_thread_gets():
    blocks = [f"4883c0{n:02x}0fafc3{'90' * (n % 7)}" for n in range(40)]
    alone = {arch: cyclelens.predict_batch(blocks, arch=arch) for arch in ("SKL", "ZEN5")}
    wrong = []

    def work(arch: str) -> None:
        for number, block in enumerate(blocks):
            if cyclelens.predict(block, arch=arch) != alone[arch][number]:
                wrong.append((arch, block))

    threads = [threading.Thread(target=work, args=(arch,)) for arch in ("SKL", "ZEN5", "SKL", "ZEN5")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(multiprocessing, "get_context") or sys.platform == "win32", reason="no fork")
def test_a_forked_process_has_an_analyzer_of_its_own():
    cyclelens.predict(LCP)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert {each.cycles_per_iteration for each in pool.map(cyclelens.predict, [LCP] * 8)} == {3.42}


def test_a_block_and_a_region_can_be_measured():
    try:
        block = cyclelens.measure(bytes.fromhex("480fafc0"))  # imul rax, rax: three cycles on most cores
        regions = cyclelens.measure(DOT, region="dot")
    except NoHarness as reason:
        pytest.skip(str(reason))
    if block.cycles_per_iteration is None:
        pytest.skip(block.problem)
    assert block.cycles_per_iteration == pytest.approx(3.0, rel=0.1)
    assert [each.name for each in regions] == ["dot"]
    with pytest.raises(ValueError, match="private, shared"):
        cyclelens.measure(DOT, pages="none")


def test_the_types_are_strict_for_a_program_that_uses_them(tmp_path):
    mypy = pytest.importorskip("mypy.api")
    script = tmp_path / "uses.py"
    script.write_text(
        "import cyclelens\n"
        "figure: float | None = cyclelens.predict('90', arch='SKL').cycles_per_iteration\n"
        "names: list[str] = [each.name for each in cyclelens.analyze('nop').regions]\n"
        "many: cyclelens.Predictions = cyclelens.predict_batch([b'\\x90'])\n"
        "reveal_type(cyclelens.measure(b'\\x90'))\n"
    )
    path = f"mypy_path={ROOT / 'build' / 'ns'}"
    config = tmp_path / "mypy.ini"
    # What the package itself imports is not the program's concern, as with an installed one.
    config.write_text(f"[mypy]\n{path}\nfollow_imports = silent\n")
    output, errors, code = mypy.run(["--strict", "--config-file", str(config), str(script)])
    assert code == 0, output + errors
    assert "cyclelens.results.Measurement" in output
