"""Converts machine code to an editable text whose statements assemble to the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.objects.raw_code import RawCodeError
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.simulator.failures import Cancelled

_HEAD = (".intel_syntax noprefix", ".p2align 6")


def written_out(
    code: bytes, *, allow_external_programs: bool, cancel: Callable[[], bool] | None = None
) -> str:
    """The code in Intel syntax, aligned to 64 bytes, marked as a region if it has no backward jump.

    Every statement is assembled again. One that yields other bytes, or that no assembler accepts, is written
    as bytes with the instruction as a comment. Raises RawCodeError if some bytes are not instructions, and
    ``Cancelled`` once ``cancel()`` returns True.
    """
    instructions = decode(code)
    starts = list(accumulate((one.length for one in instructions), initial=0))
    for start, instruction in zip(starts, instructions, strict=False):
        if not instruction.mnemonic:
            raise RawCodeError(f"there is no valid instruction at byte {start:#x}")
    if not instructions:
        raise RawCodeError("it contains no code")
    targets = [
        None if one.branch_displacement is None else end + one.branch_displacement
        for end, one in zip(starts[1:], instructions, strict=True)
    ]
    inside = sorted({target for target in targets if target is not None}.intersection(starts))
    labels = {start: f".L{number}" for number, start in enumerate(inside)}
    spellings = [
        _spellings(instruction, labels.get(-1 if target is None else target))
        for target, instruction in zip(targets, instructions, strict=True)
    ]
    chosen = [0] * len(instructions)
    while True:
        body: list[str] = []
        lines: list[int] = []
        for start, among, choice in zip(starts, spellings, chosen, strict=False):
            body += [f"{labels[start]}:"] if start in labels else []
            lines.append(len(body))
            body.append(f"    {among[choice]}")
        body += [f"{labels[len(code)]}:"] if len(code) in labels else []
        wrong = _other_bytes(body, lines, instructions, allow_external_programs, cancel)
        if cancel is not None and cancel():
            raise Cancelled
        # A jump's length depends on the code it spans, so the other instructions come first.
        wrong = [each for each in wrong if targets[each] is None] or wrong
        wrong = [each for each in wrong if chosen[each] + 1 < len(spellings[each])]
        if not wrong:
            loops = any(
                target in labels and target <= start
                for target, start in zip(targets, starts, strict=False)
                if target is not None
            )
            return "\n".join([*_HEAD, *body, ""] if loops else _marked(body))
        for each in wrong:
            chosen[each] += 1


def _marked(body: Sequence[str]) -> list[str]:
    return [*_HEAD, "# cyclelens-begin code", *body, "# cyclelens-end", ""]


def _spellings(instruction: Instruction, label: str | None) -> Sequence[str]:
    """Candidate statements for these bytes, best first; the last one always yields them."""
    listed = ", ".join(f"{byte:#04x}" for byte in instruction.code)
    as_bytes = f".byte {listed}  # {instruction.text}"
    if instruction.branch_displacement is None:
        return (instruction.text, as_bytes)
    if label is None:
        return (as_bytes,)
    name = instruction.text.split()[0]
    return (f"{name} {label}", f"{name}.d32 {label}", as_bytes)


def _other_bytes(
    body: Sequence[str],
    lines: Sequence[int],
    instructions: Sequence[Instruction],
    allow_external_programs: bool,
    cancel: Callable[[], bool] | None,
) -> list[int]:
    """The indices of instructions whose statements do not assemble to their bytes."""
    found = assemble(
        "\n".join(_marked(body)),
        SourceOptions(
            syntax=Syntax.INTEL, regions=Regions.MARKERS, allow_external_programs=allow_external_programs
        ),
        cancel=cancel,
    )
    became: dict[int, bytes] = {}
    for region in found.regions:
        for line in region.lines:
            became[line.line] = line.code
    first = len(_HEAD) + 1
    return [
        number
        for number, instruction in enumerate(instructions)
        if became.get(first + lines[number]) != instruction.code
    ]
