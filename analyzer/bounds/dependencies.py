"""Bound of the dependencies between instructions, in cycles per iteration.

The inputs of all instructions are the nodes of a graph. An edge leads from an input of the instruction that
wrote a value to the input that reads it. Its length is the value's latency by the tables or along the uops
(``latencies``), whichever is less; it spans an iteration if the writer ran in the previous one. The bound is
the maximum cycle ratio of the graph: cycles per iteration.
"""

from __future__ import annotations

from collections.abc import Hashable

from cyclelens.analyzer.bounds.cycle_ratio import Edge, maximum_cycle_ratio
from cyclelens.analyzer.bounds.dependency_graph import CriticalChains, DependencyGraph, InputNode
from cyclelens.analyzer.bounds.forwarding import (
    Forwarding,
    StoredValue,
    cycles_from_load,
    cycles_to_store,
    steps_late,
    stored,
)
from cyclelens.analyzer.bounds.latencies import Target, arrivals, from_store, waits_for_addition
from cyclelens.analyzer.bounds.symbolic import Aliasing, SymbolicValues, step_of
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, MemoryAccess, Value, ValueKind
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct

_ITERATIONS = 3
"""Two iterations settle the last writers; the third adds the edges."""

_POINTER_LOADS = frozenset(
    {"MOV (R64, M64)", "MOV (RAX, M64)", "MOV (R32, M32)", "MOV (EAX, M32)", "MOVSXD (R64, M32)", "POP (R64)"}
)
"""Loads whose result, used as an address, makes the next load one cycle faster."""
_FAST_DISPLACEMENTS = range(2048)
_RARE = 32
"""Smaller constants stay owed to a register, whatever is added to it (V9)."""
_OWED = 2
"""Extra cycles of a shift by a register that is owed a constant."""


class _Definition(Struct, frozen=True):
    """The instruction output that a register, flag group or address holds."""

    instruction: int
    iteration: int
    kind: str
    position: int
    fast_load: bool
    origin: int | None
    """Instruction that computed the value: another one if this is an eliminated move."""
    narrow: bool
    """True if the value passed through an eliminated 32-bit move."""
    owed: bool
    """True if the renamer certainly owes it a constant."""
    data: StoredValue | None = None
    """Data of a store that loads have to wait for."""
    late: int = 0
    """Steps by which the data are forwarded later than a loaded word."""


class _Recurrence(Struct, frozen=True):
    """What an instruction does in every iteration."""

    template: InstructionTemplate
    outputs: tuple[tuple[str, str, int], ...]
    """(register or flag group, kind, position): what it writes, with the last parts of latency-pair keys."""
    stores: tuple[tuple[int, MemoryAccess], ...]
    """(position, operand) of the memory operands that it writes."""
    load: MemoryAccess | None
    """The operand it reads, if the load can be faster when its address was just loaded."""
    value_step: int | None
    """Difference of its result from its first input; None if unknown."""
    settles_rsp: bool
    """True if it reads or writes RSP itself."""


def dependency_bound(
    block: Block, microarchitecture: Microarchitecture, aliasing: Aliasing = Aliasing.DIFFERENT
) -> float:
    """Cycles per iteration; 0 if no value is carried to the next iteration."""
    graph = _Graph(block, microarchitecture, aliasing)
    return float(maximum_cycle_ratio(len(graph.nodes), graph.edges).ratio)


def critical_chains(block: Block, microarchitecture: Microarchitecture) -> CriticalChains:
    """The critical dependency cycles of the block, with their instructions."""
    return dependency_graph(block, microarchitecture).critical()


def dependency_graph(block: Block, microarchitecture: Microarchitecture) -> DependencyGraph:
    """The inputs of the block's instructions and the dependencies between them; latencies in cycles."""
    graph = _Graph(block, microarchitecture, Aliasing.DIFFERENT)
    edges = tuple(graph.edges)
    return DependencyGraph(tuple(graph.nodes), edges, maximum_cycle_ratio(len(graph.nodes), edges))


def own_latency(template: InstructionTemplate, node: InputNode) -> int:
    """Cycles from an input of an instruction to its slowest result."""
    if _by_renamer(template):
        return 0
    pairs = [
        cycles
        for (kind, position, _, _), cycles in template.latencies.items()
        if (kind, position) == (node.kind, node.position)
    ]
    return max(pairs, default=1 if template.uop_count else 0)


def _by_renamer(template: InstructionTemplate) -> bool:
    """True if the renamer executes the instruction, so that its result is ready with its input."""
    return template.eliminable_move or template.added is not None


class _Graph:
    """Walks the block as the renamer would and collects the edges of the last iteration."""

    def __init__(self, block: Block, microarchitecture: Microarchitecture, aliasing: Aliasing) -> None:
        self.nodes: list[InputNode] = []
        self.edges: list[Edge] = []
        self._block = block
        self._microarchitecture = microarchitecture
        self._fast_pointers = microarchitecture.fast_pointer_chasing
        self._exact = microarchitecture.tracks_values or block.tracks_values
        self._values = SymbolicValues(aliasing, exact=self._exact)
        self._forwarding = Forwarding(block, microarchitecture)
        self._writers: dict[Hashable, _Definition] = {}
        self._rsp_moved = False
        """True if the stack engine changed RSP last."""
        self._merged: set[str] = set()
        """Registers whose high byte was merged since their last write; the merge takes a uop (H2)."""
        self._owes = [False] * len(block.instructions)
        """Instructions that take longer because an input is owed a constant (V9)."""
        self._renamed = [False] * len(block.instructions)
        """Instructions whose load is renamed to the stored register (W6), so that its
        address does not matter."""
        self._arrivals: dict[int, dict[Target, int]] = {}
        """Input number -> when the values that depend on it are ready."""
        self._inputs = [
            self._nodes_of(number, template) for number, template in enumerate(block.instructions)
        ]
        steps = [self._step(number, template) for number, template in enumerate(block.instructions)]
        for iteration in range(_ITERATIONS):
            for number, step in enumerate(steps):
                self._merged.update(step.template.merge_uops)
                if self._rsp_moved and step.settles_rsp:
                    self._values.synchronise(step.template, step.value_step)
                if iteration == _ITERATIONS - 1:
                    self._connect(number, step.template, iteration)
                if self._forwarding.active:
                    self._note(number, step.template)
                self._write(number, step, iteration)

    def _nodes_of(self, instruction: int, template: InstructionTemplate) -> list[InputNode]:
        first = len(self.nodes)

        def add(kind: str, position: int, register: str | None, name: str, moves_rsp: bool = False) -> None:
            self.nodes.append(
                InputNode(len(self.nodes), instruction, kind, position, register, name, moves_rsp)
            )

        for position, operand in enumerate(template.register_inputs):
            add("reg", position, operand.canonical, operand.name.lower(), operand.canonical == "RSP")
        for position, operand in enumerate(template.address_inputs):
            explicit = operand.canonical == "RSP" and not operand.implicit_stack
            add("addr", position, operand.canonical, operand.name.lower(), explicit)
        for position, group in enumerate(template.flag_inputs):
            add("flag", position, group, group)
        for position, access in enumerate(template.memory_operands):
            if access.read:
                add("mem", position, None, "memory")
        return self.nodes[first:]

    def _step(self, number: int, template: InstructionTemplate) -> _Recurrence:
        outputs = [
            (operand.canonical, "reg", position) for position, operand in enumerate(template.register_outputs)
        ]
        writes_rsp = any(register == "RSP" for register, _, _ in outputs)
        outputs += [(group, "flag", position) for position, group in enumerate(template.flag_outputs)]
        load = next((access for access in template.memory_operands if access.read), None)
        if load is not None and (
            not self._fast_pointers
            or load.base is None
            or (load.displacement or 0) not in _FAST_DISPLACEMENTS
        ):
            load = None
        return _Recurrence(
            template,
            tuple(outputs),
            tuple((i, access) for i, access in enumerate(template.memory_operands) if access.written),
            load,
            step_of(template, exact=self._exact),
            writes_rsp or any(node.moves_rsp for node in self._inputs[number]),
        )

    def _connect(self, number: int, template: InstructionTemplate, iteration: int) -> None:
        """Adds edges to an instruction's inputs from the inputs of the instructions that wrote them."""
        synchronised = self._rsp_moved and template.added is None
        for reader in self._inputs[number]:
            key: Hashable = reader.register
            if reader.register is None:
                key = self._values.address(template.memory_operands[reader.position], template)
            writer = self._writers.get(key)
            if writer is None:
                continue
            delay = 0 if writer.iteration == iteration else 1
            made = self._block.instructions[writer.instruction]
            owed = _OWED if self._owes[writer.instruction] else 0
            for source in self._inputs[writer.instruction]:
                latency = self._latency(made, source, writer, template, reader)
                if latency is None:
                    continue  # no dependency
                if latency > 0:
                    latency += owed + (reader.register in self._merged)
                if source.moves_rsp and source.instruction == number and synchronised:
                    latency += 1  # the synchronisation uop
                self.edges.append(Edge(source.number, reader.number, latency, delay))

    def _latency(
        self,
        made: InstructionTemplate,
        source: InputNode,
        writer: _Definition,
        template: InstructionTemplate,
        reader: InputNode,
    ) -> int | None:
        """Cycles from an input of one instruction to the value that another one's input
        reads; None if independent."""
        if _by_renamer(made):
            return 0
        if writer.data is not None and reader.kind == "mem":
            return self._through_memory(made, source, writer, writer.data, template, reader)
        if reader.kind == "mem" and source.kind != "mem":
            return 0
        if source.kind == "mem" and self._waits_for_data(made):
            return cycles_from_load(made, _output(made, writer))
        if source.kind == "addr" and self._renamed[source.instruction]:
            return None
        latency = made.latencies.get((source.kind, source.position, writer.kind, writer.position), 1)
        if latency <= 0:
            return 0 if _is_copied(made, source, writer) else None
        along = self._along_uops(made, source, writer, template)
        if made.tp and made is template:
            along = max(along or 0, made.tp)  # no two instances overlap
        if along is None:
            return None
        latency = min(latency, along)
        return latency - 1 if writer.fast_load and source.kind == "addr" and latency else latency

    def _along_uops(
        self, made: InstructionTemplate, source: InputNode, writer: _Definition, reader: InstructionTemplate
    ) -> int | None:
        """Cycles from an input of an instruction to a result along its uops; None if the
        uops do not connect them."""
        found = self._arrivals.get(source.number)
        if found is None:
            forwarded = 0
            if source.kind == "mem":
                forwarded = from_store(made, source.position, self._microarchitecture)
            found = self._arrivals[source.number] = arrivals(made, _value(source), forwarded)
        if writer.kind == "mem":
            return found.get((UopKind.STORE_DATA, writer.position))
        value = _output(made, writer)
        along = found.get(value)
        return along if along is None else along + waits_for_addition(made, value, reader)

    def _through_memory(
        self,
        made: InstructionTemplate,
        source: InputNode,
        writer: _Definition,
        data: StoredValue,
        template: InstructionTemplate,
        reader: InputNode,
    ) -> int | None:
        """Latency like ``_latency``, from a store to a load that waits for its data."""
        renamed = self._forwarding.is_renamed(data, writer.late, template, reader.position)
        if source.kind == "addr":
            return None if renamed else self._forwarding.from_address()
        own = cycles_to_store(made, _value(source), writer.position)
        return own if own is None or renamed else own + self._forwarding.from_data(writer.late)

    def _note(self, number: int, template: InstructionTemplate) -> None:
        """Records what the renamer finds about an instruction's inputs."""
        writers = (self._writers.get(name) for name in template.offset_registers)
        self._owes[number] = any(writer is not None and writer.owed for writer in writers)
        for position, access in enumerate(template.memory_operands):
            if access.read:
                writer = self._writers.get(self._values.address(access, template))
                self._renamed[number] = (
                    writer is not None
                    and writer.data is not None
                    and self._forwarding.is_renamed(writer.data, writer.late, template, position)
                )

    def _write(self, number: int, step: _Recurrence, iteration: int) -> None:
        """Makes an instruction the last writer of its outputs."""
        template = step.template
        fast_load = step.load is not None and self._is_fast(step.load)
        origin: int | None = number
        narrow = False
        if template.eliminable_move:
            source = self._writers.get(template.register_inputs[0].canonical)
            origin = None if source is None else source.origin
            narrow = template.register_outputs[0].width == 32 or (source is not None and source.narrow)
        # Addresses use the register values from before the instruction.
        for position, access in step.stores:
            data, late = self._data(template, position)
            self._writers[self._values.address(access, template)] = _Definition(
                number, iteration, "mem", position, fast_load, origin, narrow, False, data, late
            )
        owed = self._is_owed(template)
        for key, kind, position in step.outputs:
            self._merged.discard(key)
            self._writers[key] = _Definition(
                number, iteration, kind, position, fast_load, origin, narrow, owed
            )
        self._values.advance(template, step.value_step)
        if step.settles_rsp:
            self._rsp_moved = False
        if template.rsp_change and template.rsp_step:
            self._rsp_moved = True

    def _waits_for_data(self, template: InstructionTemplate) -> bool:
        """True if latency through memory follows from the uops; a locked instruction's latency
        is tabulated as a whole."""
        return self._forwarding.active and template.tp is None

    def _data(self, template: InstructionTemplate, position: int) -> tuple[StoredValue | None, int]:
        """The data that an instruction stores, and the steps by which they are forwarded
        later than a loaded word."""
        if not self._waits_for_data(template):
            return None, 0
        data = stored(template, position)
        latency = data.computed
        owed = False
        if latency is None and data.value is not None:
            writer = self._writers.get(data.value[1])
            if writer is not None:
                owed = writer.owed
                if writer.origin is not None:
                    latency = _computed(self._block.instructions[writer.origin], data.value)
        return data, steps_late(data, latency, owed)

    def _is_owed(self, template: InstructionTemplate) -> bool:
        """True if the renamer certainly owes the result a constant."""
        if template.added is not None and -_RARE < template.added < _RARE:
            return True
        if not template.eliminable_move:
            return False
        source = self._writers.get(template.register_inputs[0].canonical)
        return source is not None and source.owed

    def _is_fast(self, load: MemoryAccess) -> bool:
        """True for a load whose address was itself just loaded: one cycle less (pointer chasing)."""
        base = self._writers.get(canonical(load.base or ""))
        if base is None or base.origin is None or base.narrow:
            return False
        if self._block.instructions[base.origin].name not in _POINTER_LOADS:
            return False
        return load.index is None or self._is_zero(load)

    def _is_zero(self, access: MemoryAccess) -> bool:
        """True if the index register was zeroed by an idiom that needs no uop."""
        index = self._writers.get(canonical(access.index or ""))
        return (
            index is not None
            and index.origin is not None
            and self._block.instructions[index.origin].uop_count == 0
        )


def _value(source: InputNode) -> Value | None:
    """The uops' name for an input; None for memory."""
    if source.register is None:
        return None
    return (ValueKind.FLAGS if source.kind == "flag" else ValueKind.REGISTER, source.register)


def _output(template: InstructionTemplate, writer: _Definition) -> Value:
    if writer.kind == "flag":
        return ValueKind.FLAGS, template.flag_outputs[writer.position]
    return ValueKind.REGISTER, template.register_outputs[writer.position].canonical


def _is_copied(made: InstructionTemplate, source: InputNode, writer: _Definition) -> bool:
    """True if the renamer copies an input to a result, as XCHG does."""
    copy = (_value(source),), ((_output(made, writer), 0),)
    return any(uop.kind is UopKind.EMPTY and (uop.inputs, uop.outputs) == copy for uop in made.uops)


def _computed(template: InstructionTemplate, value: Value) -> int | None:
    """Latency of the operation that computes a result of an instruction; None if the result is loaded."""
    for uop in template.uops:
        if uop.kind is UopKind.COMPUTE:
            for made, latency in uop.outputs:
                if made == value:
                    return latency
    return None
