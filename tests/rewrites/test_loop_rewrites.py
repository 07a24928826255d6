"""Rewrites of whole loops: the search against an expert's version, and equal results."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.rewrites.proposal import Fix, Proposal, apply
from cyclelens.analyzer.rewrites.search import Advice, advise, alternatives, search
from cyclelens.analyzer.simulator.failures import Cancelled
from testkit.kernels import KERNELS

HERE = Path(__file__).parent
# All of them each night.
INPUTS = 10_000 if os.environ.get("CYCLELENS_ALL_REWRITES") else 2_000
OPTIONS = AnalysisOptions()

FIGURES = {
    "dot product": (4.0, 1.0, 1.0),
    "dot product of two chained FMAs": (8.0, 2.0, 2.0),
    "sum of floats": (4.0, 0.5, 0.5),
    "sum of doubles, one by one": (4.0, 0.5, 0.5),
    "largest number": (1.13, 0.5, 0.5),
    "checksum": (1.26, 0.51, 0.51),
    "sum of differences": (1.99, 1.02, 1.12),
    "copy of 16 bytes": (1.25, 0.5, 0.5),
    "a x + y": (2.0, 1.12, 1.0),
    "scaling": (2.0, 1.25, 1.0),
    "addition of arrays": (1.5, 1.0, 1.0),
    "product of sums": (1.33, 1.0, 1.0),
}
"""Cycles for one iteration of the kernel on SKL: as it is, what the search finds, and an expert's."""


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


def advised(analyzer: Analyzer, text: str) -> Advice:
    analysis = analyzer.analyze(text, OPTIONS)
    (region,) = analysis.regions
    return advise(analyzer, text, OPTIONS, analysis.dialect, region)


@pytest.mark.parametrize("name", KERNELS)
def test_the_search_beside_an_expert(analyzer: Analyzer, name: str) -> None:
    kernel = KERNELS[name]
    advice = advised(analyzer, kernel.text)
    (expert,) = analyzer.analyze(kernel.expert_text, OPTIONS).regions
    reached = expert.predictions[0].cycles_per_iteration / kernel.times
    found = advice.best.after if advice.best else advice.cycles
    assert (round(advice.cycles, 2), round(found, 2), round(reached, 2)) == FIGURES[name]


def test_the_documentation_has_these_figures() -> None:
    page = (HERE.parents[1] / "docs" / "rewrites.md").read_text()
    for name, figures in FIGURES.items():
        row = " | ".join([f"| {name}", *(f"{figure:.2f}" for figure in figures)])
        assert f"{row} |" in page


def test_the_advice_names_the_best_and_what_is_simpler(analyzer: Analyzer) -> None:
    advice = advised(analyzer, KERNELS["dot product of two chained FMAs"].text)
    assert str(advice) == "two accumulators: 4.00, four: 2.00"
    assert str(Advice("x", 1.0)) == ""
    other = (
        Proposal("", 0, (), brief="another order"),
        Proposal("", 0, (), brief="unrolled + another order"),
    )
    fixes = tuple(Fix(each, "x", "SKL", 3.0, after) for each, after in zip(other, (2.0, 1.0), strict=True))
    assert str(Advice("x", 3.0, fixes)) == "another order: 2.00, unrolled + another order: 1.00"


def test_one_accumulator_becomes_four_by_rewrites_alone(analyzer: Analyzer) -> None:
    text = KERNELS["dot product of two chained FMAs"].text
    two, four = advised(analyzer, text).fixes
    assert (two.before, two.after, four.after) == (8.0, 4.0, 2.0)
    changed = apply(text, two.proposal.edits)
    assert analyzer.analyze(changed, OPTIONS).regions[0].predictions[0].cycles_per_iteration == 4.0
    again = advised(analyzer, changed).fixes
    assert again[0].proposal.brief == "two accumulators each"
    assert (again[0].before, again[0].after) == (4.0, 2.0)
    changed = apply(changed, again[0].proposal.edits)
    accumulated = re.findall(r"vfmadd231ps .*, (%ymm\d+)$", changed, flags=re.MULTILINE)
    assert len(accumulated) == len(set(accumulated)) == 4


def test_the_search_ends_when_it_is_cancelled(analyzer: Analyzer) -> None:
    text = KERNELS["dot product"].text
    analysis = analyzer.analyze(text, OPTIONS)
    asked = iter([False] * 3)
    with pytest.raises(Cancelled):
        list(
            search(analyzer, text, OPTIONS, analysis.dialect, analysis.regions[0], lambda: next(asked, True))
        )


REFUSED = {
    "a comparison of data ends the loop": ("mov (%rdi), %al", "inc %rdi", "test %al, %al", "jnz .Lloop"),
    "flags from round to round": ("adc (%rdi), %rax", "lea 8(%rdi), %rdi", "dec %rcx", "jnz .Lloop"),
    "a pointer that is stored": ("mov %rdi, (%rdx,%rdi)", "add $8, %rdi", "cmp %rcx, %rdi", "jne .Lloop"),
    "a counter compared before its step": ("cmp %rcx, %rax", "lea 1(%rax), %rax", "jne .Lloop"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_several_times_at_once(analyzer: Analyzer, name: str) -> None:
    statements = "".join(f"    {each}\n" for each in REFUSED[name])
    text = f"# cyclelens-begin x\n.Lloop:\n{statements}# cyclelens-end\n"
    analysis = analyzer.analyze(text, OPTIONS)
    assert analysis.problems == ()
    found = alternatives(analyzer, text, OPTIONS, analysis.dialect, analysis.regions[0])
    assert [each.fix.proposal.title for each in found if each.fix.proposal.times > 1] == []


def test_a_loop_that_is_entered_elsewhere_gets_nothing_in_front(analyzer: Analyzer) -> None:
    kernel = KERNELS["sum of floats"]
    text = kernel.text.replace("    .p2align", "    jmp .Lloop\n    .p2align")
    analysis = analyzer.analyze(text, OPTIONS)
    found = alternatives(analyzer, text, OPTIONS, analysis.dialect, analysis.regions[0])
    assert {kind for each in found for kind in each.fix.proposal.kinds} & {
        "accumulators",
        "own pointers",
        "constant loads",
    } == set()


def test_intel_syntax_and_comments_are_kept(analyzer: Analyzer) -> None:
    text = (
        ".intel_syntax noprefix\n# cyclelens-begin x\n.Lloop:\n"
        "    vmovups ymm1, [rdi+8]   # eight\n    # sums\n    vfmadd231ps ymm0, ymm1, ymmword ptr [rsi]\n"
        "    add rdi, 32\n    add rsi, 32\n    dec rcx\n    jnz .Lloop\n# cyclelens-end\n"
    )
    two = advised(analyzer, text).fixes[0]
    assert apply(text, two.proposal.edits).split("\n")[1:-1] == [
        "    vxorps xmm2, xmm2, xmm2",
        "# cyclelens-begin x",
        ".Lloop:",
        "    vmovups ymm1, [rdi+8]   # eight",
        "    # sums",
        "    vfmadd231ps ymm0, ymm1, ymmword ptr [rsi]",
        "    vmovups ymm1, [rdi+40]",
        "    vfmadd231ps ymm2, ymm1, ymmword ptr [rsi+32]",
        "    add rdi, 64",
        "    add rsi, 64",
        "    sub rcx, 2",
        "    jnz .Lloop",
        "# cyclelens-end",
        "    vaddps ymm0, ymm0, ymm2",
    ]


def test_the_command_lists_shows_and_makes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.s"
    path.write_text(KERNELS["dot product of two chained FMAs"].text)
    assert main(["rewrite", str(path)]) == 0
    listed = capsys.readouterr().out
    assert " 1  0.500 -> 0.250 cycles/float, 2.0x\n       Split ymm0 over two registers" in listed
    assert main(["rewrite", str(path), "--diff", "1"]) == 0
    assert "+    vaddps %ymm" in capsys.readouterr().out
    assert main(["rewrite", str(path), "--apply", "1"]) == 0
    assert main(["rewrite", str(path)]) == 0
    assert " 1  0.250 -> 0.125 cycles/float, 2.0x" in capsys.readouterr().out
    assert main(["rewrite", str(path), "--apply", "9"]) == 1
    assert "there is no rewrite 9: the last one is 1" in capsys.readouterr().err


@pytest.fixture(scope="module")
def rewritten(analyzer: Analyzer) -> dict[str, list[tuple[str, str]]]:
    """Of each kernel every text that the search looks at, the kernel's own first."""
    found = {}
    for name, kernel in KERNELS.items():
        analysis = analyzer.analyze(kernel.text, OPTIONS)
        texts = {kernel.text: "as it is"}
        for each in alternatives(analyzer, kernel.text, OPTIONS, analysis.dialect, analysis.regions[0]):
            texts.setdefault(each.text, each.fix.proposal.title)
        found[name] = [(title, text) for text, title in texts.items()]
    return found


@pytest.fixture(scope="module")
def runs(
    rewritten: dict[str, list[tuple[str, str]]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], list[tuple[str, int]]]]:
    gcc, flags = shutil.which("gcc"), Path("/proc/cpuinfo")
    if gcc is None or not flags.exists() or not {"avx2", "fma"} <= set(flags.read_text().split()):
        pytest.skip("no compiler, or a processor without AVX2 and FMA")
    folder = tmp_path_factory.mktemp("rewrites")
    number, numbers = 0, {}
    parts = []
    for name, texts in rewritten.items():
        for title, text in texts:
            numbers[name, title] = number
            text = re.sub(r"\bkernel\b", f"kernel{number}", text)
            parts.append(text.replace(".Lloop", f".Lloop{number}"))
            number += 1
    (folder / "all.s").write_text("".join(parts) + '    .section .note.GNU-stack, "", @progbits\n')
    command = [gcc, "-O2", "-shared", "-fPIC", "-o", "all.so", str(HERE / "equal.c"), "all.s"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(folder / "all.so"))
    library.differs.restype = ctypes.c_long

    def run(name: str) -> list[tuple[str, int]]:
        kind = {"f32": b"s", "f64": b"d", "int": b"i"}[KERNELS[name].data]
        own, *others = [title for title, _ in rewritten[name]]
        found = []
        for title in others:
            first, second = (getattr(library, f"kernel{numbers[name, each]}") for each in (own, title))
            rounds = ctypes.c_long(INPUTS)
            found.append(
                (title, library.differs(first, second, ctypes.c_char(kind), rounds, ctypes.c_ulong(7)))
            )
        return found

    yield run


@pytest.mark.parametrize("name", KERNELS)
def test_rewrites_compute_the_same_on_random_inputs(
    runs: Callable[[str], list[tuple[str, int]]], name: str
) -> None:
    results = runs(name)
    assert len(results) > 3
    assert [title for title, differs in results if differs >= 0] == []


def test_line_ends_of_cr_alone_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.s"
    text = "# cyclelens-begin a\n1: add (%rsi), %rax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    listed = []
    for end in ("\n", "\r"):
        path.write_bytes(text.replace("\n", end).encode())
        assert main(["rewrite", str(path)]) == 0
        listed.append(capsys.readouterr().out)
    assert listed[0] == listed[1]
    assert "Split rax over two registers" in listed[0]
    assert main(["rewrite", str(path), "--apply", "1"]) == 0
    changed = path.read_bytes().decode()
    assert "\n" not in changed
    assert changed.count("\r") > text.count("\n")
