"""Work that grows with a text, counted in function calls: seconds say little on a busy machine."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions

FEW, MANY = 250, 1_000
MOST_CALLS = 700
"""For each statement of the text, with all that is looked for: loops, functions, labels, bytes."""

SHAPES = {
    "labels with a jump each": lambda number, count: f"l{number}: jnz l{number * 7_919 % count}",
    "jumps that only go on": lambda number, count: f"l{number}: jnz l{min(number + 2, count - 1)}",
    "jumps back over one": lambda number, count: f"l{number}: jnz l{max(number - 2, 0)}",
    "jumps back over half": lambda number, count: f"l{number}: jnz l{max(number - count // 2, 0)}",
    "jumps out, then jumps back": lambda number, count: (
        f"l{number}: " + (f"jz out{number}" if number < count // 2 else f"jnz l{count - 1 - number}")
    ),
    "jumps back to the first": lambda number, count: f"l{number}: jnz l0",
    "symbols set to each other": lambda number, count: f"s{number} = s{max(number - 1, 0)} + 1",
    "names in quotes": lambda number, count: f'"n {number}": jmp "n {(number + 1) % count}"',
    "labels without a jump": lambda number, count: f"l{number}: add $1, %eax",
    "distances from the first label": lambda number, count: f"l{number}: .long l{number} - l0",
    "distances that are sizes": lambda number, count: f"l{number}: .skip (l{number} - l0) & 1",
    "conditions on distances": lambda number, count: f"l{number}: nop\n.if l{number} - l0 > 5\nnop\n.endif",
    "repetitions by distances": lambda number, count: (
        f"l{number}: nop\n.rept (l{number} - l0) & 1\nnop\n.endr"
    ),
    "declared functions": lambda number, count: (
        f".globl f{number}\n.type f{number}, @function\nf{number}: ret"
    ),
}


def calls(text: str, regions: Regions = Regions.AUTO) -> int:
    """Of functions, in Python and in C, while a text is read and encoded."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        assemble(text, SourceOptions(allow_external_programs=False, regions=regions))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_for_a_text_grows_with_its_length(shape: str) -> None:
    def per_statement(count: int) -> float:
        lines = (SHAPES[shape](number, count) for number in range(count))
        text = "\n".join(lines) + "\n"
        return calls(text) / count

    calls("nop\n")
    few, many = per_statement(FEW), per_statement(MANY)
    assert many < MOST_CALLS
    # Four times as long: a quadratic reader takes four times the calls for each statement.
    assert many < 1.6 * few, (few, many)


def test_the_work_for_loops_in_loops_grows_with_the_depth() -> None:
    """A loop describes the loops inside it, but not to any depth; nor is each one's control flow looked at
    for every loop around it."""

    def nested(depth: int) -> int:
        heads = "".join(f"l{number}: nop\n" for number in range(depth))
        ends = "".join(f"dec %eax\njnz l{depth - 1 - number}\n" for number in range(depth))
        return calls(heads + ends, Regions.LOOPS)

    calls("nop\n")
    assert nested(200) < 5 * nested(50)
