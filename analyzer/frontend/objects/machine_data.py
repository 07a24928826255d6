"""Separates data from instructions in a function of an object file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind, kind_of
from cyclelens.analyzer.frontend.objects.machine_flow import LEAST_TABLE, near, table_of
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

    Data is what the file declares as such, and every table of places in the function whose address an
    instruction loads, if the function has an indirect jump. Data is also what lies in front of a place that
    control reaches, in the last instruction there, if that is not reached itself. Without an indirect jump
    all reachable places are known. Then data is also what an instruction reads RIP-relative and control does
    not reach, up to the next place that control reaches.

    ``entries``: addresses in the function, besides its beginning, that are entered from outside. ``data``:
    first and end address of each declared range.
    """
    end = address + len(code)
    known = sorted(
        (max(first, address), min(last, end)) for first, last in data if first < end and last > address
    )
    roots = {address, *entries}
    listed = list(_decoded(code, address, known, caches))
    for _ in range(_PASSES):
        reached, are_all = _reached(listed, roots)
        found = _out_of_step(listed, reached)
        if are_all:
            found += _read_only(listed, address, end, reached)
        else:
            tables = _tables(listed, code, address, reached)
            found += tables.keys()
            roots = roots.union(*tables.values())
        if not found:
            break
        # The wrong decoding may have swallowed the first instruction after the data.
        known = sorted({*known, *found})
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


def _out_of_step(listed: Sequence[Listed], reached: Collection[int]) -> list[tuple[int, int]]:
    """What is decoded in front of places that control reaches and beyond them: the last bytes of data."""
    starts = [at for at, _, _ in listed]
    last = listed[-1][0] + listed[-1][1] if listed else 0
    found = []
    for place in reached:
        at, _, instruction = listed[max(bisect_right(starts, place) - 1, 0)]
        if at < place < last and instruction is not None and at not in reached:
            found.append((at, place))
    return found


def _tables(
    listed: Sequence[Listed], code: bytes, address: int, reached: Collection[int]
) -> dict[tuple[int, int], list[int]]:
    """The places in each table within a function, by the table's range: addresses, or distances from its own
    address, which an instruction loads that control reaches."""
    end = address + len(code)
    skipped = {*reached, *(at for at, _, instruction in listed if instruction is None)}
    named = set()
    for at, length, instruction in listed:
        if instruction is not None and at in reached:
            named.update(table_of(instruction))
            if instruction.mnemonic == "lea" and (where := near(instruction, at + length)) is not None:
                named.add(where)
    wheres = sorted(where for where in named if address <= where < end and where not in skipped)
    borders = sorted({*reached, *wheres, end})
    found = {}
    for where in wheres:
        border = borders[bisect_right(borders, where)]
        for width, base in ((4, where), (8, 0)):
            places: list[int] = []
            for at in range(where, border - width + 1, width):
                number = int.from_bytes(code[at - address : at - address + width], "little", signed=True)
                if not address <= base + number < end:
                    break
                places.append(base + number)
            if len(places) >= LEAST_TABLE:
                found[where, where + width * len(places)] = places
                break
    return found


def _read_only(
    listed: Sequence[Listed], address: int, end: int, reached: Collection[int]
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


def _reached(listed: Sequence[Listed], entries: Iterable[int]) -> tuple[set[int], bool]:
    """Addresses that control reaches, including those inside other instructions, and whether these are
    all."""
    instructions = {at: (at + length, instruction) for at, length, instruction in listed}
    reached: set[int] = set()
    are_all = True
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
            are_all = False
        if kind not in (TransferKind.JUMP, TransferKind.LEAVE, TransferKind.STOP):
            left.append(behind)
    return reached, are_all
