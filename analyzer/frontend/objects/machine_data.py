"""Separates data from instructions in a function of an object file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind, kind_of
from cyclelens.analyzer.frontend.objects.machine_flow import near
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.instruction import Instruction, OperandKind

Listed = tuple[int, int, Instruction | None]
"""Address, size in bytes, and the instruction; None for data."""
_LOOKED_AT = 64
"""Instructions that are searched after one that loads an address."""
_PASSES = 8
"""Maximum number of searches for data, each of which uses the results of the one before."""


def without_data(
    code: bytes, address: int, entries: Sequence[int], data: Iterable[tuple[int, int]], caches: Caches
) -> list[Listed]:
    """Instructions of a function at an address.

    Data is what the file declares as such. Data is also what an instruction reads RIP-relative and control
    does not reach, up to the next place that control reaches. If the function has an indirect jump, not all
    reachable places are known, and only declared data counts.

    ``entries``: addresses in the function, besides its beginning, that are entered from outside. ``data``:
    first and end address of each declared range.
    """
    end = address + len(code)
    known = sorted(
        (max(first, address), min(last, end)) for first, last in data if first < end and last > address
    )
    listed = list(_decoded(code, address, known, caches))
    for _ in range(_PASSES):
        found = _read_only(listed, address, end, entries)
        if not found:
            break
        # The wrong decoding may have swallowed the first instruction after the data.
        known = sorted([*known, *found])
        listed = list(_decoded(code, address, known, caches))
    return listed


def _decoded(code: bytes, address: int, data: Sequence[tuple[int, int]], caches: Caches) -> Iterator[Listed]:
    """``data`` is sorted by address."""
    at, end = address, address + len(code)
    for first, last in (*data, (end, end)):
        for instruction in decode(code[at - address : max(first, at) - address], caches):
            yield at, instruction.length, instruction
            at += instruction.length
        if last > at:
            yield at, last - at, None
            at = last


def _read_only(
    listed: Sequence[Listed], address: int, end: int, entries: Sequence[int]
) -> list[tuple[int, int]]:
    """Ranges that are read and that control does not reach."""
    reads = [
        (at, where)
        for number, (at, length, instruction) in enumerate(listed)
        if instruction is not None
        and (where := near(instruction, at + length)) is not None
        and address < where < end
        and _reads(listed, number)
    ]
    reached = _reached(listed, [address, *entries]) if reads else None
    if reached is None:
        return []
    starts = [at for at, _, _ in listed]

    def is_unknown(where: int) -> bool:
        at, _, instruction = listed[bisect_right(starts, where) - 1]
        return instruction is not None and at not in reached

    bounds = sorted({at for at in reached if address < at < end} | {end})
    firsts: dict[int, int] = {}
    for where in sorted({where for at, where in reads if at in reached and is_unknown(where)}):
        firsts.setdefault(bounds[bisect_right(bounds, where)], where)
    return [(first, last) for last, first in firsts.items()]


def _reads(listed: Sequence[Listed], number: int) -> bool:
    """Whether an instruction accesses its RIP-relative address, directly or through the next use of the
    register."""
    instruction = listed[number][2]
    assert instruction is not None
    if instruction.mnemonic != "lea":
        return any(operand.kind is OperandKind.MEMORY for operand in instruction.operands)
    register = instruction.operands[0].register
    for _, _, later in listed[number + 1 : number + 1 + _LOOKED_AT]:
        for operand in later.operands if later is not None else ():
            if operand.kind is OperandKind.MEMORY and register in (operand.base, operand.index):
                return True
            if register in (operand.register, operand.base, operand.index):
                return False
    return False


def _reached(listed: Sequence[Listed], entries: Iterable[int]) -> set[int] | None:
    """Addresses that control reaches, including those inside other instructions; None if not all are
    known."""
    instructions = {at: (at + length, instruction) for at, length, instruction in listed}
    reached: set[int] = set()
    left = list(entries)
    while left:
        at = left.pop()
        behind, instruction = instructions.get(at, (at, None))
        if at in reached:
            continue
        reached.add(at)
        if instruction is None:
            continue
        kind = kind_of(instruction.mnemonic)
        if instruction.branch_displacement is not None:
            left.append(behind + instruction.branch_displacement)
        elif kind is TransferKind.JUMP and near(instruction, behind) is None:
            return None
        if kind not in (TransferKind.JUMP, TransferKind.LEAVE, TransferKind.STOP):
            left.append(behind)
    return reached
