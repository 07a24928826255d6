"""Takes the basic blocks of programs and libraries, as BHive's paper collects them (Chen and others, 2019).

A basic block is straight-line code that is entered at its first instruction alone. It begins where a
function, a direct jump, a known jump table or the code behind a control transfer leads, and ends before the
next such place. The jump, call or return at its end is not part of it, so that it can be repeated end to end.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

from cyclelens.analyzer.frontend.control_flow.control_flow import kind_of
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.machine_code import outermost
from cyclelens.analyzer.frontend.objects.machine_data import without_data
from cyclelens.analyzer.frontend.objects.machine_flow import (
    MachineCode,
    Surroundings,
    code_of,
    is_padding,
)
from cyclelens.analyzer.frontend.objects.sampled import LocatedProfile, Placed
from msgspec import Struct


class ExtractedBlock(Struct, frozen=True):
    """One basic block of a file."""

    address: int
    code: bytes
    executions: float | None = None
    """How often it ran while the profile was recorded; None without a profile."""


def basic_blocks(file: ObjectFile, profile: LocatedProfile | None = None) -> Iterator[ExtractedBlock]:
    """The basic blocks of all functions, by address.

    Functions come from the symbols and from the unwind information. Padding, and bytes that are no
    instruction, belong to no block. ``profile``: leaves out blocks that never ran."""
    machine = _listed(file)
    starts = _starts(machine, file)
    for first, end in pairwise((*starts, len(machine.addresses))):
        block = list(_straight(machine, first, end))
        if not block:
            continue
        executions = None if profile is None else _executions(profile, block)
        if executions == 0:
            continue
        code = b"".join(instruction.code for _, instruction in block)
        yield ExtractedBlock(block[0][0], code, executions)


def _listed(file: ObjectFile) -> MachineCode:
    """All instructions, function by function; of overlapping functions the first counts."""
    machine = MachineCode()
    entries = sorted(file.entries)
    for function in outermost((*file.functions, *file.unnamed())):
        if machine.ends and function.address < machine.ends[-1]:
            continue
        inside = [entry for entry in entries if function.address < entry < function.end]
        code = file.code(function)
        for at, length, instruction in without_data(code, function.address, inside, file.data, file.caches):
            machine.add(at, length, instruction, function.origin)
    return machine


def _starts(machine: MachineCode, file: ObjectFile) -> list[int]:
    """Places where a block begins, in ascending order."""
    code = code_of(machine, Surroundings(file))
    led_to = chain(
        code.sections[:-1],
        code.functions,
        code.entries,
        (transfer.target for transfer in code.transfers if transfer.target is not None),
        chain.from_iterable(code.switches.values()),
    )
    behind = (
        place + 1
        for place, instruction in enumerate(machine.instructions)
        if instruction is None or not instruction.mnemonic or kind_of(instruction.mnemonic) is not None
    )
    return sorted(place for place in {*led_to, *behind} if place < len(machine.addresses))


def _straight(machine: MachineCode, first: int, end: int) -> Iterator[Placed]:
    """Instructions of a block without padding around them and without the control transfer at the end."""
    last = machine.instructions[end - 1]
    if last is None or not last.mnemonic or kind_of(last.mnemonic) is not None:
        end -= 1
    while first < end and is_padding(machine.instructions[first]):
        first += 1
    while first < end and is_padding(machine.instructions[end - 1]):
        end -= 1
    for place in range(first, end):
        instruction = machine.instructions[place]
        if instruction is not None:
            yield machine.addresses[place], instruction


def _executions(profile: LocatedProfile, block: list[Placed]) -> float:
    counts = profile.counts(block)
    if counts.instructions is not None:  # samples of an event that counts instructions
        return counts.samples / counts.instructions
    return counts.executed
