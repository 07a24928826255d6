"""The limits on regions and on their basic blocks hold for whatever becomes a region; one message says so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.control_flow import loops
from cyclelens.analyzer.frontend.control_flow.branching import MAXIMUM_PATHS
from cyclelens.analyzer.frontend.objects import machine_code
from cyclelens.analyzer.frontend.passes import assembly_run, disassembly
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Regions
from cyclelens.analyzer.model.source import AssembledFile
from testkit.loop_shapes import in_object

FEW_REGIONS, FEW_BLOCKS = 5, 12
LOOP = "{0}: dec %rdi\njs .Lb{0}\ninc %rax\n.Lb{0}: dec %rsi\njne {0}\n"
BYTES = ".byte 100, 103, 144\n"


def many(statements: str, count: int) -> str:
    return "".join(statements.format(f".L{number}", number=number) for number in range(count))


MARKED = many("# cyclelens-begin r{number}\nnop\n# cyclelens-end\n", 4)
REGIONS = {
    "loops": (many("{0}: dec %edi\njne {0}\n", 7), Regions.LOOPS),
    "markers and loops": (MARKED + many("{0}: dec %edi\njne {0}\n", 3), Regions.BOTH),
    "functions": (many(".globl f{number}\n.type f{number}, @function\nf{number}: inc %eax\nret\n", 7), None),
    "iaca": (many(f"movl $111, %ebx\n{BYTES}nop\nmovl $222, %ebx\n{BYTES}", 7), None),
}
BLOCKS = {
    "one loop": (many("{0}: dec %edi\njne .L{number}\n", 1) + many("jz .L0\n", 20), Regions.LOOPS),
    "several loops": (many(LOOP, 4) + "".join(f"jz .L{number}\n" for number in range(4)), Regions.LOOPS),
    "a marked region": ("# cyclelens-begin r\n.L0: nop\n" + many("jz .L0\n", 20) + "# cyclelens-end\n", None),
    "a function": (".globl f\n.type f, @function\nf: nop\n" + many("jz .Lb\n", 20) + ".Lb: ret\n", None),
}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (assembly_run, machine_code, disassembly):
        monkeypatch.setattr(module, "MAXIMUM_REGIONS", FEW_REGIONS)
    for module in (loops, disassembly):
        monkeypatch.setattr(module, "MAXIMUM_BLOCKS", FEW_BLOCKS)


def message(result: AssembledFile) -> str:
    (problem,) = (problem for problem in result.problems if problem.code == "too-many-regions")
    return problem.message


def listing(file: Path) -> str:
    return subprocess.run(["objdump", "-d", file], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
@pytest.mark.parametrize("kind", REGIONS)
def test_only_the_first_regions_are_analysed(kind: str, assembler: Assembler) -> None:
    text, regions = REGIONS[kind]
    result = assemble(text, SourceOptions(regions=regions or Regions.AUTO, assembler=assembler))
    assert len(result.regions) == FEW_REGIONS
    assert message(result) == "Only the first 5 of 7 regions are analysed."


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
@pytest.mark.parametrize("kind", BLOCKS)
def test_only_the_first_blocks_are_analysed(kind: str, assembler: Assembler) -> None:
    text, regions = BLOCKS[kind]
    result = assemble(text, SourceOptions(regions=regions or Regions.AUTO, assembler=assembler))
    assert len(result.regions) == FEW_BLOCKS
    assert message(result).startswith(f"Only the first {FEW_BLOCKS} of ")
    known = {region.name for region in result.regions}
    # Control flow through blocks that are not analysed would have paths without figures.
    assert all(known.issuperset(each.blocks) for each in result.branchings if each.paths)


def test_a_region_within_the_limits_is_whole() -> None:
    text = many(LOOP, 4)
    result = assemble(text, SourceOptions(regions=Regions.LOOPS))
    assert len(result.regions) == FEW_BLOCKS
    assert not result.problems
    assert [len(branching.paths) for branching in result.branchings] == [2] * 4


def test_an_object_has_the_same_limit_on_blocks(tmp_path: Path) -> None:
    text = ".globl f\n.type f, @function\nf:\n" + many(LOOP, 5) + "ret\n"
    file = in_object(text, tmp_path)
    result = machine_code.regions_of(file, file.functions, Regions.LOOPS)
    assert len(result.regions) == FEW_BLOCKS
    assert message(result) == "Only the first 12 of 15 basic blocks are analysed."


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs objdump")
def test_the_sections_of_a_dump_share_the_limits(tmp_path: Path) -> None:
    function = ".section .text.f{number}\n.globl f{number}\n.type f{number}, @function\nf{number}:\n"
    for loop, count in (("{0}: dec %edi\njne {0}\nret\n", FEW_REGIONS), (LOOP + "ret\n", FEW_BLOCKS)):
        in_object(many(function + loop, 7), tmp_path)
        result = assemble(listing(tmp_path / "p.o"), SourceOptions(regions=Regions.LOOPS))
        assert len(result.regions) == count
        assert message(result) == "Only the first 5 regions and 12 basic blocks are analysed."


@pytest.mark.parametrize("count", [1, MAXIMUM_PATHS, MAXIMUM_PATHS + 1, 2 * MAXIMUM_PATHS])
def test_at_most_eight_paths_are_analysed_one_by_one(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However early they end: here each jump but the last one ends an iteration."""
    monkeypatch.setattr(loops, "MAXIMUM_BLOCKS", 100)
    text = "# cyclelens-begin r\n.L0: nop\n" + many("jz .L0\n", count - 1) + "jmp .L0\n# cyclelens-end\n"
    result = assemble(text, SourceOptions(regions=Regions.MARKERS))
    paths = [path for branching in result.branchings for path in branching.paths]
    wanted = [tuple(range(blocks)) for blocks in range(count, 0, -1)]
    assert paths == (wanted if 1 < count <= MAXIMUM_PATHS else [])
