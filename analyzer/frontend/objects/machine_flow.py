"""The control flow of machine code. Places are instructions, one stretch of code behind the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.frontend.control_flow import control_flow
from cyclelens.analyzer.frontend.control_flow.control_flow import Code, Transfer, TransferKind
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind

PADDING = decode(b"\x90")[0]
_PADDING = frozenset(["nop", "int3"])
_OPERAND_SIZE, _NOP = b"\x66", b"\x90"
"""Any number of the first before the second only fill; by the letter that is ``xchg ax, ax``."""
_STUB_BYTES, _STUB_LENGTH = 16, 3
"""Of what stands for a function of another file: bytes, and instructions up to the jump there."""
_TABLE_BYTES = 1 << 12
_FAR_AWAY = 1 << 64


@dataclass(slots=True)
class MachineCode:
    """Instructions in the order of their addresses, None for data."""

    instructions: list[Instruction | None] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """The addresses behind them."""
    origins: list[int] = field(default_factory=list)
    """Where their sections begin."""
    at: dict[int, int] = field(default_factory=dict)
    """Their places by address; what makes no bytes has none."""

    def add(self, address: int, length: int, instruction: Instruction | None, origin: int) -> None:
        """Put an instruction, or some data, behind what is there."""
        if length:
            self.at[address] = len(self.addresses)
        self.instructions.append(instruction)
        self.addresses.append(address)
        self.ends.append(address + length)
        self.origins.append(origin)

    def target(self, place: int) -> int | None:
        """The address that a jump or call at a place goes to, if it says so itself."""
        instruction = self.instructions[place]
        if instruction is None or instruction.branch_displacement is None:
            return None
        return self.ends[place] + instruction.branch_displacement


class Surroundings:
    """What the file says besides its code."""

    def __init__(self, file: ObjectFile) -> None:
        self._file = file
        self.functions = file.entries
        """Names by first address."""

    def name(self, address: int) -> str:
        """Of the function that is called at an address, by way of the linker's stubs too, or whose address is
        read there; empty if not known."""
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
    ) -> list[int]:
        """What a table of at most so many bytes holds as far as that is code: addresses, or unless it is
        known to hold these, distances from its beginning."""
        data = self._file.read(address, min(size, _TABLE_BYTES))
        found: list[int] = []
        for width, base in ((8, 0),) if holds_addresses else ((4, address), (8, 0)):
            for start in range(0, len(data) - width + 1, width):
                target = base + int.from_bytes(data[start : start + width], "little", signed=True)
                if not is_code(target):
                    break
                found.append(target)
            if found:
                break
        return found


def code_of(machine: MachineCode, around: Surroundings | None) -> Code:
    """The control flow of machine code."""
    transfers: list[Transfer] = []
    switches: dict[int, list[int]] = {}
    taken: set[int] = set()
    tables: dict[int, bool] = {}
    """Do tables hold addresses, for those that are known to?"""
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
                tables |= dict.fromkeys(_table(instruction), True)
            continue
        address = machine.target(place)
        target = None if address is None else machine.at.get(address)
        if target is None and kind in (TransferKind.JUMP, TransferKind.CALL):
            memory = near(instruction, machine.ends[place])
            if kind is TransferKind.JUMP and address is None and memory is None:
                kind = TransferKind.SWITCH
                switches[place] = []
                tables |= dict.fromkeys(_table(instruction), True)
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
        # Code that begins a function may look like a distance.
        starts = sorted(tables.keys() - around.functions.keys()) if switches else []
        for address, end in zip(starts, [*starts[1:], _FAR_AWAY], strict=False):
            holds_addresses = tables[address]
            found = around.table(
                address, end - address, machine.at.__contains__, holds_addresses=holds_addresses
            )
            taken.update(machine.at[to] for to in found)
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


def _never_returns(around: Surroundings, address: int | None) -> bool:
    return address is not None and control_flow.never_returns(around.name(address))


def _is_code(instructions: Iterable[Instruction | None]) -> bool:
    """More than padding and data; what cannot be decoded is data."""
    found = False
    for instruction in instructions:
        if instruction is None:
            return found
        if not instruction.mnemonic:
            return False
        found = found or not is_padding(instruction)
    return found


def _jumps_over_padding(machine: MachineCode, place: int) -> bool:
    """NASM fills a long gap with a jump over NOPs: code if something leads there, and else padding."""
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
    """Does it only fill?"""
    return instruction is not None and (
        instruction.mnemonic in _PADDING or instruction.code.lstrip(_OPERAND_SIZE) == _NOP
    )


def near(instruction: Instruction, end: int) -> int | None:
    """The address that an operand says relative to the instruction's own."""
    for operand in instruction.operands:
        if operand.base == "RIP" and operand.index is None:
            return end + operand.displacement
    return None


def _table(instruction: Instruction) -> list[int]:
    """The address of a table that a jump reads by itself, ``jmp *table(,%rax,8)``, or that is read for it."""
    return [
        operand.displacement
        for operand in instruction.operands
        if operand.kind is OperandKind.MEMORY and _is_table(operand)
    ]


def _is_table(operand: DecodedOperand) -> bool:
    return operand.base is None and operand.index is not None and operand.displacement > 0
