"""Control flow of machine code. Places are instruction numbers, one range of code after the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable

from cyclelens.analyzer.frontend.control_flow import control_flow
from cyclelens.analyzer.frontend.control_flow.control_flow import Code, Transfer, TransferKind
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from msgspec import Struct, field

PADDING = decode(b"\x90")[0]
_PADDING = frozenset(["nop", "int3"])
_OPERAND_SIZE, _NOP = b"\x66", b"\x90"
"""Any number of the first byte before the second is only padding, although it is formally ``xchg ax, ax``."""
_STUB_BYTES, _STUB_LENGTH = 16, 3
"""Bytes of a linker stub for a function in another file, and instructions up to its jump."""
_TABLE_BYTES = 1 << 12
_FAR_AWAY = 1 << 64


class MachineCode(Struct):
    """Instructions in address order; None for data."""

    instructions: list[Instruction | None] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """Address after each instruction."""
    origins: list[int] = field(default_factory=list)
    """Address of each instruction's section."""
    at: dict[int, int] = field(default_factory=dict)
    """Place by address; entries without bytes are left out."""

    def add(self, address: int, length: int, instruction: Instruction | None, origin: int) -> None:
        """Append an instruction, or data."""
        if length:
            self.at[address] = len(self.addresses)
        self.instructions.append(instruction)
        self.addresses.append(address)
        self.ends.append(address + length)
        self.origins.append(origin)

    def target(self, place: int) -> int | None:
        """Address that a direct jump or call at a place goes to; None for anything else."""
        instruction = self.instructions[place]
        if instruction is None or instruction.branch_displacement is None:
            return None
        return self.ends[place] + instruction.branch_displacement


class Surroundings:
    """Facts about the file besides its code."""

    def __init__(self, file: ObjectFile) -> None:
        self._file = file
        self.functions = file.entries
        """Function names by first address."""

    def name(self, address: int) -> str:
        """Name of the function at an address, of the target of a linker's stub there, or of the symbol whose
        address is stored there; empty if unknown."""
        name, end = self._file.symbol_at(address), address
        if name:
            return name
        stub = decode(self._file.read(address, _STUB_BYTES), self._file.caches)
        for instruction in stub[:_STUB_LENGTH]:
            end += instruction.length
            if instruction.mnemonic == "jmp" and (slot := near(instruction, end)) is not None:
                return self._file.symbol_at(slot)
        return name

    def table(
        self, address: int, size: int, is_code: Callable[[int], bool], *, holds_addresses: bool
    ) -> tuple[list[int], int]:
        """Targets in a table of at most ``size`` bytes, up to the first one that is not code, and the size
        of each entry. The table has addresses or, unless ``holds_addresses``, distances from its own
        address."""
        data = self._file.read(address, min(size, _TABLE_BYTES))
        found: list[int] = []
        width = 0
        for width, base in ((8, 0),) if holds_addresses else ((4, address), (8, 0)):
            for start in range(0, len(data) - width + 1, width):
                target = base + int.from_bytes(data[start : start + width], "little", signed=True)
                if not is_code(target):
                    break
                found.append(target)
            if found:
                break
        return found, width


LEAST_TABLE = 2
"""Targets of a table in a row that are no accident."""


def code_of(machine: MachineCode, around: Surroundings | None) -> Code:
    """Control flow facts about machine code."""
    transfers: list[Transfer] = []
    switches: dict[int, list[int]] = {}
    taken: set[int] = set()
    tables: dict[int, bool] = {}
    """Table addresses, and whether the table is known to hold absolute addresses."""
    for place, instruction in enumerate(machine.instructions):
        if instruction is None:
            continue
        kind = control_flow.kind_of(instruction.mnemonic)
        if kind is None:
            if (
                instruction.mnemonic == "lea"
                and (address := near(instruction, machine.ends[place])) is not None
            ):
                tables.setdefault(address, False)
                if address in machine.at:
                    taken.add(machine.at[address])
            elif instruction.mnemonic == "mov":
                tables |= dict.fromkeys(table_of(instruction), True)
            continue
        address = machine.target(place)
        target = None if address is None else machine.at.get(address)
        if target is None and kind in (TransferKind.JUMP, TransferKind.CALL):
            memory = near(instruction, machine.ends[place])
            if kind is TransferKind.JUMP and address is None and memory is None:
                kind = TransferKind.SWITCH
                switches[place] = []
                tables |= dict.fromkeys(table_of(instruction), True)
            elif around is not None and _never_returns(around, memory if address is None else address):
                kind = TransferKind.STOP
            elif kind is TransferKind.CALL:
                continue
            else:
                kind = TransferKind.LEAVE
        transfers.append(Transfer(place, kind, target))
    functions: dict[int, str] = {}
    if around is not None:
        functions = {machine.at[at]: name for at, name in around.functions.items() if at in machine.at}
        # Code at the beginning of a function may look like a distance.
        starts = sorted(tables.keys() - around.functions.keys()) if switches else []
        for address, end in zip(starts, [*starts[1:], _FAR_AWAY], strict=False):
            holds_addresses = tables[address]
            found, width = around.table(
                address, end - address, machine.at.__contains__, holds_addresses=holds_addresses
            )
            if len(found) >= LEAST_TABLE:
                _take_out(machine, address, address + len(found) * width)
                taken.discard(machine.at.get(address, -1))
            taken.update(machine.at[to] for to in found)
        transfers = [each for each in transfers if machine.instructions[each.place] is not None]
    entries = control_flow.give_to_switches(switches, taken, functions)
    entries += control_flow.entries_of(functions)
    sections = [
        place
        for place, address in enumerate(machine.addresses)
        if place == 0 or address != machine.ends[place - 1]
    ]

    def is_code(first: int, end: int) -> bool:
        return _is_code(machine.instructions[first:end]) and not _jumps_over_padding(machine, first)

    ends = [*sections, len(machine.addresses)]
    section = machine.origins.__getitem__
    return Code(ends, transfers, sorted(functions), entries, switches, is_code, section)


def _take_out(machine: MachineCode, first: int, end: int) -> None:
    """Turn what lies between these addresses, a table among instructions, into data."""
    for place in range(bisect_left(machine.addresses, first), bisect_left(machine.addresses, end)):
        if machine.ends[place] <= end:
            machine.instructions[place] = None


def _never_returns(around: Surroundings, address: int | None) -> bool:
    return address is not None and control_flow.never_returns(around.name(address))


def _is_code(instructions: Iterable[Instruction | None]) -> bool:
    """Whether there is more than padding and data; undecodable bytes are data."""
    found = False
    for instruction in instructions:
        if instruction is None:
            return found
        if not instruction.mnemonic:
            return False
        found = found or not is_padding(instruction)
    return found


def _jumps_over_padding(machine: MachineCode, place: int) -> bool:
    """Whether NASM filled a long gap with a jump over NOPs: code if something leads there, otherwise
    padding."""
    while is_padding(machine.instructions[place]):
        place += 1
    instruction, address = machine.instructions[place], machine.target(place)
    target = None if address is None else machine.at.get(address)
    return (
        instruction is not None
        and instruction.mnemonic == "jmp"
        and target is not None
        and place + 1 < target
        and all(map(is_padding, machine.instructions[place + 1 : target]))
    )


def is_padding(instruction: Instruction | None) -> bool:
    """Whether the instruction is only padding."""
    return instruction is not None and (
        instruction.mnemonic in _PADDING or instruction.code.lstrip(_OPERAND_SIZE) == _NOP
    )


def near(instruction: Instruction, end: int) -> int | None:
    """RIP-relative address of an operand; None if there is none."""
    for operand in instruction.operands:
        if operand.base == "RIP" and operand.index is None:
            return end + operand.displacement
    return None


def table_of(instruction: Instruction) -> list[int]:
    """Address of a table that a jump reads, as in ``jmp *table(,%rax,8)``, or that is loaded for a jump."""
    return [
        operand.displacement
        for operand in instruction.operands
        if operand.kind is OperandKind.MEMORY
        and operand.base is None
        and operand.index is not None
        and operand.displacement > 0
    ]
