"""GNU as jumps over a gap that it would fill with many NOPs: these are not executed."""

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.statements.directives import executed, nop_fill
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions

LOOP = """\
    .text
    .p2align 6
    mov $100, %ecx
.Lloop:
    add $1, %rax
    {fill}
    dec %ecx
    jnz .Lloop
"""


def code(text: str, regions: Regions) -> str:
    found = assemble(text, SourceOptions(regions=regions))
    assert [each.code for each in found.problems if each.severity == "error"] == []
    return found.regions[0].code.hex()


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        (".p2align 7", "eb75"),
        (".p2align 8", "e9f2000000"),
        (".nops 100", "eb62"),
        (".p2align 7, 0x90", "eb75"),
        (".p2align 4", "0f1f8000000000"),
    ],
)
@pytest.mark.parametrize("regions", [Regions.LOOPS, Regions.MARKERS])
def test_only_the_jump_of_a_long_fill_is_executed(fill: str, expected: str, regions: Regions) -> None:
    text = LOOP.format(fill=fill)
    if regions == "markers":
        text = text.replace(".Lloop:\n", "# cyclelens-begin\n.Lloop:\n") + "# cyclelens-end\n"
    found = code(text, regions)
    assert found.startswith(f"4883c001{expected}ffc9")


def test_a_fill_without_a_jump_is_executed_whole() -> None:
    for count in range(400):
        fill = nop_fill(count)
        is_jump = fill[:1] in (b"\xeb", b"\xe9")
        assert executed(fill) == (fill[: 2 if fill[0] == 0xEB else 5] if is_jump else fill)
