"""A block flattened into integer columns: all that the stages need and that never changes in a run."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, UopKind, UopTemplate, Value, ValueKind
from cyclelens.analyzer.uops.block import merge_uop, sync_uop
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose, is_simd

NO_CLASS, GPR_CLASS, SIMD_CLASS = -1, 0, 1
"""Register classes of move elimination."""

NEW_ORIGIN = -1
"""Symbolic-value rule: the result is unrelated to any earlier value."""

_POINTER_LOADS = frozenset(
    {
        "MOV (R64, M64)",
        "MOV (RAX, M64)",
        "MOV (R32, M32)",
        "MOV (EAX, M32)",
        "MOVSXD (R64, M32)",
        "POP (R64)",
    }
)
_MAX_POINTER_CHASING_DISPLACEMENT = 2047


class Program:
    """Columns over instructions (``i_``), IDQ uops (``q_``), fused uops (``f_``), uops (``u_``) and uop
    operands (``in_``, ``out_``). Positions within an instruction are relative to its first."""

    def __init__(self, block: Block, microarchitecture: Microarchitecture) -> None:
        templates = block.instructions
        self.loop = block.loop
        self.alignment = block.alignment
        self.instructions = len(templates)
        self._keys: dict[tuple[ValueKind, str], int] = {}
        self.key_class: list[int] = []
        tp_names: dict[str, int] = {}

        # instructions
        self.i_length: list[int] = []
        self.i_offset: list[int] = []
        self.i_opcode: list[int] = []
        self.i_lcp: list[bool] = []
        self.i_branch: list[bool] = []
        self.i_second: list[bool] = []
        self.i_first: list[bool] = []
        self.i_fusible: list[bool] = []
        self.i_complex: list[bool] = []
        self.i_simple_decoders: list[int] = []
        self.i_mite_uops: list[int] = []
        self.i_ms_uops: list[int] = []
        self.i_extra_slot: list[bool] = []
        self.i_jcc: list[bool] = []
        self.i_idq0: list[int] = []
        self.i_idq_count: list[int] = []
        self.i_decoded_count: list[int] = []
        self.i_uop0: list[int] = []
        self.i_uop_count: list[int] = []
        self.i_rsp_change: list[int] = []
        self.i_rsp_explicit: list[bool] = []
        self.i_rsp_written: list[bool] = []
        self.i_high8_written: list[bool] = []
        self.i_no_uops: list[bool] = []
        self.i_eliminable: list[bool] = []
        self.i_move_source: list[int] = []
        self.i_move_target: list[int] = []
        self.i_move_32: list[bool] = []
        self.i_serializing: list[bool] = []
        self.i_load_fence: list[bool] = []
        self.i_store_fence: list[bool] = []
        self.i_tp: list[int] = []
        self.i_tp_name: list[int] = []
        self.i_merges: list[tuple[int, ...]] = []
        self.i_register_outputs: list[tuple[int, ...]] = []
        self.i_symbol_source: list[int] = []
        self.i_symbol_delta: list[int] = []
        self.i_pointer_load: list[bool] = []
        # IDQ uops, fused uops, uops
        self.q_fused0: list[int] = []
        self.q_fused_count: list[int] = []
        self.f_uop0: list[int] = []
        self.f_uop_count: list[int] = []
        self.u_kind: list[int] = []
        self.u_ports: list[tuple[int, ...]] = []
        self.u_port_mask: list[int] = []
        self.u_divider: list[int] = []
        self.u_first: list[bool] = []
        self.u_last: list[bool] = []
        self.u_in0: list[int] = []
        self.u_in_count: list[int] = []
        self.u_out0: list[int] = []
        self.u_out_count: list[int] = []
        self.u_has_address: list[bool] = []
        self.u_base: list[int] = []
        self.u_index: list[int] = []
        self.u_scale: list[int] = []
        self.u_displacement: list[int] = []
        self.u_pointer_chasing: list[bool] = []
        self.u_256_bit: list[bool] = []
        self.in_internal: list[bool] = []
        self.in_key: list[int] = []
        self.out_internal: list[bool] = []
        self.out_key: list[int] = []
        self.out_latency: list[int] = []

        merges = {register for template in templates for register in template.merge_uops}
        offset = 0
        for template in templates:
            self.i_offset.append(offset)
            offset += template.instruction.length
            self._add_instruction(template, tp_names)
        self.size = offset
        self.tp_names = len(tp_names)
        self.sync_idq = self._add_single(sync_uop(microarchitecture), last=False)
        self.merge_idq = {
            self.key((ValueKind.REGISTER, register)): self._add_single(merge_uop(register), last=False)
            for register in sorted(merges)
        }
        for position, template in enumerate(templates):
            self.i_merges[position] = tuple(
                self.key((ValueKind.REGISTER, register)) for register in template.merge_uops
            )
        self.keys = len(self.key_class)
        self.rsp = self._keys.get((ValueKind.REGISTER, "RSP"), -1)
        self.rbp = self._keys.get((ValueKind.REGISTER, "RBP"), -1)
        self.has_special = any(self.i_load_fence) or any(self.i_store_fence) or bool(tp_names)
        self.key_instruction = self.instructions - 1 - int(self.i_second[-1])
        """The last instruction that is decoded in a round (uiCA model, 5.2)."""
        self.longest_wait = 64 + 2 * max([*self.out_latency, *self.u_divider, *self.i_tp, 1])
        """No ready time lies further ahead than this many cycles."""

    def key(self, value: Value) -> int:
        """The number of a rename key: a canonical register or a flag group."""
        number = self._keys.get(value)
        if number is None:
            number = len(self.key_class)
            self._keys[value] = number
            kind, name = value
            register_class = NO_CLASS
            if kind is ValueKind.REGISTER and is_general_purpose(name):
                register_class = GPR_CLASS
            elif kind is ValueKind.REGISTER and is_simd(name):
                register_class = SIMD_CLASS
            self.key_class.append(register_class)
        return number

    def _register_key(self, canonical: str) -> int:
        return self.key((ValueKind.REGISTER, canonical))

    def _add_instruction(self, template: InstructionTemplate, tp_names: dict[str, int]) -> None:
        instruction = template.instruction
        self.i_length.append(instruction.length)
        self.i_opcode.append(instruction.opcode_offset)
        self.i_lcp.append(template.length_changing_prefix)
        self.i_branch.append(template.is_branch)
        self.i_second.append(template.fused_with_previous)
        self.i_first.append(template.fused_with_next)
        self.i_fusible.append(template.macro_fusible)
        self.i_complex.append(template.complex_decoder)
        self.i_simple_decoders.append(template.available_simple_decoders)
        self.i_mite_uops.append(template.mite_uops)
        self.i_ms_uops.append(template.ms_uops)
        self.i_extra_slot.append(_needs_extra_slot(template))
        self.i_jcc.append(template.jcc_erratum)
        self.i_rsp_change.append(template.rsp_change)
        self.i_rsp_explicit.append(
            any(r.canonical == "RSP" for r in template.register_inputs)
            or any(r.canonical == "RSP" and not r.implicit_stack for r in template.address_inputs)
        )
        self.i_rsp_written.append(any(r.canonical == "RSP" for r in template.register_outputs))
        self.i_high8_written.append(
            any(r.name in ("AH", "BH", "CH", "DH") for r in template.register_outputs)
        )
        self.i_no_uops.append(template.uop_count == 0)
        self.i_eliminable.append(template.eliminable_move)
        eliminable = template.eliminable_move
        self.i_move_source.append(
            self._register_key(template.register_inputs[0].canonical) if eliminable else -1
        )
        self.i_move_target.append(
            self._register_key(template.register_outputs[0].canonical) if eliminable else -1
        )
        self.i_move_32.append(eliminable and template.register_outputs[0].width == 32)
        self.i_serializing.append(template.serializing)
        self.i_load_fence.append(template.load_serializing)
        self.i_store_fence.append(template.store_serializing)
        self.i_tp.append(template.tp or 0)
        self.i_tp_name.append(tp_names.setdefault(template.name, len(tp_names)) if template.tp else -1)
        self.i_merges.append(())
        self.i_register_outputs.append(
            tuple(self._register_key(r.canonical) for r in template.register_outputs)
        )
        source, delta = self._symbol_rule(template)
        self.i_symbol_source.append(source)
        self.i_symbol_delta.append(delta)
        self.i_pointer_load.append(template.name in _POINTER_LOADS)

        self.i_idq0.append(len(self.q_fused0))
        self.i_idq_count.append(len(template.idq_uops))
        self.i_decoded_count.append(min(template.mite_uops, len(template.idq_uops)))
        self.i_uop0.append(len(self.u_kind))
        self.i_uop_count.append(len(template.uops))
        fused = len(self.f_uop0)
        for size in template.idq_uops:
            self.q_fused0.append(fused)
            self.q_fused_count.append(size)
            fused += size
        uop = len(self.u_kind)
        for size in template.fused_uops:
            self.f_uop0.append(uop)
            self.f_uop_count.append(size)
            uop += size
        for position, each in enumerate(template.uops):
            self._add_uop(each, template, first=position == 0, last=position == len(template.uops) - 1)

    def _add_single(self, uop: UopTemplate, *, last: bool) -> int:
        """An IDQ uop that holds just this uop and belongs to no instruction's own list."""
        number = len(self.q_fused0)
        self.q_fused0.append(len(self.f_uop0))
        self.q_fused_count.append(1)
        self.f_uop0.append(len(self.u_kind))
        self.f_uop_count.append(1)
        self._add_uop(uop, None, first=True, last=last)
        return number

    def _add_uop(
        self, uop: UopTemplate, template: InstructionTemplate | None, *, first: bool, last: bool
    ) -> None:
        self.u_kind.append(int(uop.kind))
        ports = tuple(int(port, 16) for port in uop.ports)
        self.u_ports.append(ports)
        self.u_port_mask.append(sum(1 << port for port in ports))
        self.u_divider.append(uop.divider_cycles)
        self.u_first.append(first)
        self.u_last.append(last)
        self.u_in0.append(len(self.in_key))
        self.u_in_count.append(len(uop.inputs))
        for value in uop.inputs:
            self.in_internal.append(value[0] is ValueKind.INTERNAL)
            self.in_key.append(self._operand(value))
        self.u_out0.append(len(self.out_key))
        self.u_out_count.append(len(uop.outputs))
        for value, latency in uop.outputs:
            self.out_internal.append(value[0] is ValueKind.INTERNAL)
            self.out_key.append(self._operand(value))
            self.out_latency.append(latency)

        base = index = scale = displacement = -1
        has_address = template is not None and uop.memory_operand >= 0
        chasing = False
        if template is not None and uop.memory_operand >= 0:
            access = template.memory_operands[uop.memory_operand]
            base = self._address_key(access.base)
            index = self._address_key(access.index)
            scale = -1 if access.scale is None else access.scale
            # The offset keeps "no displacement" apart from every displacement.
            displacement = 0 if access.displacement is None else access.displacement + (1 << 40)
            chasing = (
                uop.kind is UopKind.LOAD
                and base >= 0
                and 0 <= (access.displacement or 0) <= _MAX_POINTER_CHASING_DISPLACEMENT
            )
        self.u_has_address.append(has_address)
        self.u_base.append(base)
        self.u_index.append(index)
        self.u_scale.append(scale)
        self.u_displacement.append(displacement)
        self.u_pointer_chasing.append(chasing)
        self.u_256_bit.append(template is not None and "M256" in template.name)

    def _address_key(self, register: str | None) -> int:
        if register is None:
            return -1
        return self._register_key(canonical(register))

    def _operand(self, value: Value) -> int:
        kind, name = value
        return int(name) if kind is ValueKind.INTERNAL else self.key(value)

    def _symbol_rule(self, template: InstructionTemplate) -> tuple[int, int]:
        """Which earlier symbolic value the results continue, and by how much (uiCA model, 4.2)."""
        if not template.register_inputs:
            return NEW_ORIGIN, 0
        source = self._register_key(template.register_inputs[0].canonical)
        name = template.name
        immediate = template.instruction.immediate
        if "MOV" in name and "CMOV" not in name:
            return source, 0
        if "ADD" in name and immediate is not None:
            return source, immediate
        if "SUB" in name and immediate is not None:
            return source, -immediate
        if "INC" in name:
            return source, 1
        if "DEC" in name:
            return source, -1
        return NEW_ORIGIN, 0


def _needs_extra_slot(template: InstructionTemplate) -> bool:
    """Immediates that take a second DSB slot (K1)."""
    immediate = template.instruction.immediate
    if immediate is None or template.facts is None:
        return False
    return not -(1 << 31) <= immediate < 1 << 31 or (
        not -(1 << 15) <= immediate < 1 << 15 and bool(template.address_inputs)
    )
