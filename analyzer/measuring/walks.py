"""Plans how a loop walks through a working set of a given size: which register points where, and how many
rounds one pass takes.

Every array that the loop walks through gets a buffer of its own, one behind the other in the harness's
memory. A pass begins with the same registers each time and touches all buffers from end to end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm

from cyclelens.analyzer.insight.addresses import Access, LinearValue, accesses
from cyclelens.analyzer.isa.effects import written_registers
from cyclelens.analyzer.measuring.loops import MeasurableLoop, measurable
from cyclelens.analyzer.measuring.requests import REGISTERS, Inputs, PointerChain, Walk
from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from cyclelens.analyzer.model.source import LINE_BYTES
from cyclelens.analyzer.model.uops import InstructionTemplate
from msgspec import Struct
from msgspec.structs import replace

ADDRESS = 0x200000000000
"""Address of the working set (``WALKED_ADDRESS`` of the harness)."""
FEWEST_ROUNDS = 16
"""Of a pass: fewer say nothing about a long walk."""
_GAP = 256
"""Bytes between two buffers, so that equal places in them are not in the same set of a cache."""
_ITERATIONS = 3
_MASK = (1 << 64) - 1


class NoWalk(Exception):
    """The loop cannot be walked through a working set; the message says why."""


class WalkedArray(Struct, frozen=True):
    """Accesses whose addresses differ by constants, and move by the same step."""

    start: LinearValue
    """The registers that the address consists of, without its constant."""
    step: int
    """Bytes by which it moves per iteration; not 0."""
    least: int
    """Constant of the lowest byte that an iteration accesses ..."""
    most: int
    """... and of the byte behind the highest."""
    touched: float
    """Bytes per iteration of lines that no earlier iteration touched, in a long walk."""

    @property
    def ahead(self) -> int:
        """Bytes of a pass besides its steps: distant accesses are ahead of others."""
        return max(0, self.most - self.least - abs(self.step))

    def bytes(self, rounds: int) -> int:
        """Bytes from the first to the last one that this many rounds access."""
        return abs(self.step) * (rounds - 1) + self.most - self.least


class PlannedWalk(Struct, frozen=True):
    """A loop and its walk through one working set."""

    loop: MeasurableLoop
    inputs: Inputs
    """With the pointers to the buffers."""
    walk: Walk
    arrays: tuple[WalkedArray, ...] = ()
    """In the order of their buffers; empty for a chain of pointers."""


def planned(templates: Sequence[InstructionTemplate], code: bytes, inputs: Inputs, size: int) -> PlannedWalk:
    """The walk of a loop through ``size`` bytes. Raises ``NoWalk``.

    ``templates``: the instructions of ``code``. ``inputs``: other registers and memory; those of pointers and
    counters are replaced."""
    loop = _loop(code, inputs)
    instructions = [template.instruction for template in templates]
    links = chained_pointer(instructions)
    if links is not None:
        return _chain(templates, loop, inputs, size, links)
    arrays = walked_arrays(templates)
    per_round = sum(array.touched for array in arrays)
    rounds = max(0, int((size - sum(array.ahead for array in arrays)) // per_round))
    _enough(rounds, size)
    return _placed(arrays, code, inputs, rounds)


def walked_arrays(templates: Sequence[InstructionTemplate]) -> list[WalkedArray]:
    """The arrays that a loop walks through, in the order of their first accesses. Raises ``NoWalk``."""
    first, *others = accesses(templates, _ITERATIONS)
    second, third = others
    groups: dict[frozenset[tuple[str | int, int]], list[tuple[Access, int]]] = {}
    for one, two, three in zip(first, second, third, strict=True):
        if one.access.index is not None and one.access.index[:3] in ("XMM", "YMM", "ZMM"):
            raise NoWalk(_gather(templates[one.instruction]))
        moved = two.address.plus(one.address, -1)
        if moved.terms or moved != three.address.plus(two.address, -1):
            raise NoWalk(_no_stream(templates[one.instruction]))
        if moved.constant:
            terms = frozenset(one.address.terms.items())
            groups.setdefault(terms, []).append((one, moved.constant))
    if not groups:
        raise NoWalk("no address of the loop moves: it walks through no memory")
    return [_array(templates, group) for group in groups.values()]


def _no_stream(template: InstructionTemplate) -> str:
    text = template.instruction.text
    return f"'{text}': its address does not move by a constant per iteration, so it walks through no array"


def _gather(template: InstructionTemplate) -> str:
    return f"'{template.instruction.text}': a gather or scatter has no buffer that a walk would cover"


def _array(templates: Sequence[InstructionTemplate], group: Sequence[tuple[Access, int]]) -> WalkedArray:
    (first, step), *_ = group
    if any(other != step for _, other in group):
        raise NoWalk(_no_stream(templates[first.instruction]))
    places = [
        (access.address.constant, access.address.constant + _width(templates[access.instruction], access))
        for access, _ in group
    ]
    return WalkedArray(
        start=LinearValue(0, first.address.terms),
        step=step,
        least=min(begin for begin, _ in places),
        most=max(end for _, end in places),
        touched=_touched(places, step),
    )


def _width(template: InstructionTemplate, access: Access) -> int:
    """Bytes of an access; a byte if the tables do not say."""
    operands = () if template.facts is None else template.facts.operands
    bits = next((each.width for each in operands if each.name == access.access.name), 0)
    return max(1, bits // 8)


def _touched(places: Sequence[tuple[int, int]], step: int) -> float:
    """Bytes per iteration of the lines that a long walk touches: after ``period`` bytes it looks the same."""
    period = lcm(abs(step), LINE_BYTES)
    rounds, lines = period // abs(step), period // LINE_BYTES
    touched = {
        line % lines
        for number in range(rounds)
        for begin, end in places
        for line in range((begin + number * step) // LINE_BYTES, (end - 1 + number * step) // LINE_BYTES + 1)
    }
    return len(touched) * LINE_BYTES / rounds


def _enough(rounds: int, size: int) -> None:
    if rounds < FEWEST_ROUNDS:
        raise NoWalk(f"{size} bytes are too few: one pass over them takes {rounds} iterations")


# ---------------------------------------------------------------------------------------------------------
# Registers


def _placed(arrays: Sequence[WalkedArray], code: bytes, inputs: Inputs, rounds: int) -> PlannedWalk:
    """The walk with every array in a buffer of its own. Raises ``NoWalk``."""
    moving = written_registers(code)
    counter = _loop(code, inputs).counter
    name = REGISTERS[counter.register]
    known = {name: counter.base + counter.factor * rounds} if name in moving else {}
    if not known and any(name in array.start.registers for array in arrays):
        raise NoWalk(f"{name.lower()} ends the loop and is part of an address, so it cannot be chosen")
    at = ADDRESS
    for array in arrays:
        low = array.least if array.step > 0 else array.least + array.step * (rounds - 1)
        # The pointer itself is at the start of a line, where aligned accesses expect it.
        start = _bind(array, _up(at - low), known, moving)
        if not 0 <= start + low - at <= _GAP + LINE_BYTES:
            raise NoWalk(_dependent(array))
        at = _up(start + low + array.bytes(rounds)) + _GAP
    registers = {register: value & _MASK for register, value in ({**inputs.registers, **known}).items()}
    given = replace(inputs, registers=registers)
    return PlannedWalk(_loop(code, given), given, Walk(at - ADDRESS, rounds), tuple(arrays))


def _loop(code: bytes, inputs: Inputs) -> MeasurableLoop:
    loop = measurable(code, inputs)
    if isinstance(loop, str):
        raise NoWalk(loop)
    return loop


def _up(address: int) -> int:
    return -(-address // LINE_BYTES) * LINE_BYTES


def _bind(array: WalkedArray, start: int, known: dict[str, int], moving: frozenset[str]) -> int:
    """Choose the array's registers so that their sum is ``start``: ``known`` gets their values. Returns the
    sum, which is another one if earlier arrays have chosen all registers."""
    terms = {str(name): factor for name, factor in array.start.terms.items()}
    free = [name for name, factor in terms.items() if name not in known and factor == 1]
    pointer = min(free, key=lambda name: name in moving, default=None)  # rather a base than a moving index
    rest = sum(known.setdefault(name, 0) * factor for name, factor in terms.items() if name != pointer)
    if pointer is None:
        return rest
    known[pointer] = start - rest
    return start


def _dependent(array: WalkedArray) -> str:
    names = " and ".join(sorted(map(str.lower, array.start.registers)))
    return f"the array at {names} depends on the others, so it cannot get a buffer of its own"


# ---------------------------------------------------------------------------------------------------------
# Chains of pointers


class FollowedPointer(Struct, frozen=True):
    """The pointer of a chain: ``mov rax, [rax+8]`` follows it."""

    register: str
    displacement: int
    loads: int
    """FollowedPointer that an iteration follows."""


def chained_pointer(instructions: Sequence[Instruction]) -> FollowedPointer | None:
    """The pointer that a loop follows from node to node; None if it follows none."""
    for first in instructions:
        found = _link(first)
        if found is None:
            continue
        register, displacement = found
        writers = [each for each in instructions if register in written_registers(each.code)]
        if all(_link(each) == found for each in writers):
            return FollowedPointer(register, displacement, len(writers))
    return None


def _link(instruction: Instruction) -> tuple[str, int] | None:
    """Register and displacement of a load that replaces its own address."""
    if instruction.mnemonic != "mov" or len(instruction.operands) != 2:
        return None
    target, source = instruction.operands
    if source.kind is not OperandKind.MEMORY or source.index is not None or target.register not in REGISTERS:
        return None
    return (target.register, source.displacement) if source.base == target.register else None


def _chain(
    templates: Sequence[InstructionTemplate],
    loop: MeasurableLoop,
    inputs: Inputs,
    size: int,
    links: FollowedPointer,
) -> PlannedWalk:
    """A cyclic chain of nodes in random order, each in lines of its own. Raises ``NoWalk``."""
    places = list(_payload(templates, links))
    low = min(begin for begin, _ in places) // LINE_BYTES * LINE_BYTES
    node = _up(max(end for _, end in places) - low)
    nodes = size // node
    rounds = nodes // links.loads
    _enough(rounds, size)
    first = ADDRESS - low
    chain = PointerChain(first + links.displacement, nodes, node, links.displacement)
    registers = {**inputs.registers, links.register: first}
    return PlannedWalk(loop, replace(inputs, registers=registers), Walk(nodes * node, rounds, chain))


def _payload(templates: Sequence[InstructionTemplate], links: FollowedPointer) -> Iterator[tuple[int, int]]:
    """Places within a node that an iteration accesses. Raises ``NoWalk`` if it walks through other memory."""
    written = written_registers(b"".join(template.instruction.code for template in templates))
    for number, template in enumerate(templates):
        for operand, access in enumerate(template.memory_operands):
            if access.base == links.register and access.index is None and access.displacement is not None:
                width = _width(template, Access(number, operand, access, LinearValue()))
                yield access.displacement, access.displacement + width
            elif not written.isdisjoint(filter(None, (access.base, access.index))):
                text = template.instruction.text
                raise NoWalk(
                    f"'{text}': a loop that follows pointers through other memory, too, is not supported"
                )
