"""Results of ibench and asmbench become figures of a core's variants.

The formats are those of OSACA's documents: ``-TP`` and ``-LT`` lines, and blocks of four lines.
"""

import io

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.facts import benchmarks
from cyclelens.analyzer.facts.benchmarks import Result
from cyclelens.analyzer.facts.rules import ASMBENCH, IBENCH
from cyclelens.analyzer.facts.store import open_store

IBENCH_TEXT = """\
Using frequency 2.20GHz.
vaddpd-x_x_x-TP:   0.502 (clock cycles)    [DEBUG - result: 0.015625]
vaddpd-x_x_x-LT:   7.013 (clock cycles)    [DEBUG - result: 1.000000]
imulq-r_r-LT:      5.01 (clock cycles)     [DEBUG - result: 1.000000]
"""
ASMBENCH_TEXT = """\
vaddpd-x_x_x
Latency: 7.013 cy
Throughput: 0.502 cy

imul-r64_r64
Latency: 5.010 cy
Throughput: 1.001 cy

"""
CHAINS = {"vaddpd xmm0, xmm0, xmm1": "c5f958c1", "imul rax, rbx": "480fafc3", "imul eax, ebx": "0fafc3"}


def test_both_formats_have_a_form_with_its_figures():
    assert benchmarks.results(IBENCH_TEXT) == [
        Result("vaddpd-x_x_x", IBENCH, 7.013, 0.502),
        Result("imulq-r_r", IBENCH, 5.01),
    ]
    assert benchmarks.results(ASMBENCH_TEXT) == [
        Result("vaddpd-x_x_x", ASMBENCH, 7.013, 0.502),
        Result("imul-r64_r64", ASMBENCH, 5.01, 1.001),
    ]
    with pytest.raises(ValueError, match="no results"):
        benchmarks.results("hello\n")


@pytest.mark.parametrize(
    ("form", "variants"),
    [
        ("vmulsd-mbois_x_x", ["VMULSD (XMM, XMM, M64)"]),  # AT&T order: the destination is the last one
        ("vmulsd-xmm_xmm_mem", ["VMULSD (XMM, XMM, M64)"]),  # Intel's order
        ("mov-mbo_r", ["MOV (R16, M16)", "MOV (R32, M32)", "MOV (R64, M64)", "MOV (R8l, M8)"]),
        ("movl-r_mb", ["MOV (M32, R32)"]),  # a suffix names the width
        ("blah-x_x", []),
        ("vaddpd-q_x_x", []),
    ],
)
def test_a_form_names_variants_of_the_tables(form, variants):
    found = benchmarks.find([Result(form, IBENCH, None, 1.0)], open_store(), "SKL")
    assert sorted({each.attributes["string"] for each in found.variants}) == variants
    assert found.unknown == (() if variants else (form,))


def test_a_latency_that_is_no_whole_number_of_cycles_is_left_out():
    found = benchmarks.find([Result("vaddpd-x_x_x", IBENCH, 4.4, 0.5)], open_store(), "SKL")
    assert found.without_latency == ("vaddpd-x_x_x",)
    assert found.variants[0].measurements[0].figures["TP_loop"] == "0.50"


@pytest.mark.parametrize("core", ["SKL", "ZEN4"])
@pytest.mark.parametrize("text", [IBENCH_TEXT, ASMBENCH_TEXT], ids=["ibench", "asmbench"])
def test_predictions_use_the_imported_figures(core, text, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CYCLELENS_DATA", "")
    source, tables = tmp_path / "results.txt", tmp_path / "own.sqlite"
    source.write_text(text)
    assert main(["data", "import", "--merge", "--arch", core, "--output", str(tables), str(source)]) == 0
    blocks = "\n".join(CHAINS.values()).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(blocks)))
    capsys.readouterr()
    assert main(["predict", "--data", str(tables), "--arch", core, "--mode", "loop"]) == 0
    cycles = [float(line.split(",")[1]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert cycles == [7.0, 5.0, 3.0]  # no result names the 32-bit multiplication


def test_the_core_must_be_named_and_the_tables_exist(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CYCLELENS_DATA", "")
    source = tmp_path / "results.txt"
    source.write_text(IBENCH_TEXT)
    without_tables = ["--merge", "--arch", "SKL"]
    for words, said in (
        ([], "add --merge"),
        (["--merge"], "give it with --arch"),
        (without_tables, "tables of your own"),
    ):
        assert main(["data", "import", *words, str(source)]) == 1
        assert said in capsys.readouterr().err


def test_a_form_without_a_record_needs_units_on_intels_cores(tmp_path, capsys):
    """Latency and throughput do not say which ports execute it; on AMD's cores the rules for published
    figures, which lack units as well, complete it."""
    source, tables = tmp_path / "results.txt", tmp_path / "own.sqlite"
    source.write_text("vaddph-x_x_x-LT: 4.00 (clock cycles)\nvaddph-x_x_x-TP: 0.50 (clock cycles)\n")
    for core, has in (("SKL", False), ("ZEN4", True)):
        assert main(["data", "import", "--merge", "--arch", core, "--output", str(tables), str(source)]) == 0
        said = capsys.readouterr().out
        assert ("left out, because neither the tables nor the file say which units" in said) is not has
        store = open_store(tables)
        names = {facts.name for form in store.forms() for facts in store.candidates(core, form)}
        assert ("VADDPH (XMM, XMM, XMM)" in names) is has
