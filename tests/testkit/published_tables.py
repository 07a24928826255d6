"""Instruction tables in the published XML format, for tests of the importer."""

from __future__ import annotations

from pathlib import Path

from cyclelens.analyzer.facts.importer import import_tables
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.model.facts import Figures, InstructionFacts

FLAGS_OF_ADD = 'flag_AF="w" flag_CF="w" flag_OF="w" flag_PF="w" flag_SF="w" flag_ZF="w"'


ADD = f"""
<instruction asm="ADD" category="BINARY" cpl="3" eosz="3" extension="BASE" iclass="ADD" iform="ADD_GPRv_MEMv"
    isa-set="I86" string="ADD (R64, M64)" summary="Add" url="uops.info/html-instr/x.html">
  <operand idx="1" name="REG0" r="1" type="reg" w="1" width="64">RAX,RCX</operand>
  <operand idx="2" memory-prefix="qword ptr" name="MEM0" r="1" type="mem" width="64" xtype="int"/>
  <operand {FLAGS_OF_ADD} idx="3" name="REG1" suppressed="1" type="flags" w="1"/>
  <architecture name="SKL">
    <IACA fusion_occurred="1" version="3.0" TP="0.5" ports="1*p0156+1*p23" uops="2"/>
    <measurement TP_loop="0.50" TP_ports="0.50" TP_unrolled="0.50" ports="1*p0156+1*p23" uops="2"
        uops_retire_slots="1" ports_indexed="1*p0156+1*p23" uops_indexed="2" uops_retire_slots_indexed="2"
        macro_fusible="JB (Rel8);JZ (Rel8)">
      <latency start_op="1" target_op="1" cycles="1"/>
      <latency start_op="2" target_op="1" cycles_addr="6" cycles_addr_index="7" cycles_mem="5"
          cycles_mem_is_upper_bound="1" max_cycles="9"/>
    </measurement>
    <doc TP="0.5" latency="1"/>
  </architecture>
  <architecture name="KBL">
    <measurement ports="1*p0156+1*p23" uops="2" uops_retire_slots="1" ports_indexed="1*p0156+1*p23"
        uops_indexed="2" uops_retire_slots_indexed="2" macro_fusible="JB (Rel8);JZ (Rel8)"
        provenance="constructed">
      <latency start_op="1" target_op="1" cycles="1"/>
      <latency start_op="2" target_op="1" cycles_addr="6" cycles_addr_index="7" cycles_mem="5"/>
    </measurement>
  </architecture>
  <architecture name="NHM"><IACA version="2.2" TP="0.5"/><doc TP="0.5"/></architecture>
</instruction>
"""


MEASURED = """<root>
  <instruction category="BINARY" extension="BASE" iform="IMUL_GPRv_GPRv" string="IMUL (R64, R64)">
    <architecture name="{name}">
      <measurement provenance="measured by cyclelens characterize" uops="2" ports="2*p06" uops_same_reg="0">
        <latency start_op="2" target_op="1" cycles="7"/>
      </measurement>
    </architecture>
  </instruction>
</root>
"""
"""What a user measured; ``name``: of the processor."""


def document(*instructions: str) -> str:
    return f'<root date="2020-01-01"><extension name="BASE">{"".join(instructions)}</extension></root>'


def instruction(
    measurement: str = 'uops="1"',
    *,
    name: str = "THING (R64)",
    iform: str = "THING_GPRv",
    attributes: str = "",
    operands: str = "",
    latencies: str = "",
    architecture: str = "SKL",
) -> str:
    return (
        f'<instruction iform="{iform}" string="{name}" {attributes}>{operands}'
        f'<architecture name="{architecture}"><measurement {measurement}>{latencies}</measurement>'
        "</architecture></instruction>"
    )


def imported(folder: Path, *instructions: str) -> Path:
    source, target = folder / "facts.xml", folder / "tables.sqlite"
    source.write_text(document(*instructions), encoding="utf-8")
    import_tables(source, target)
    return target


def facts(
    folder: Path, *instructions: str, iform: str = "THING_GPRv", on: str = "SKL"
) -> tuple[InstructionFacts, ...]:
    store = open_store(imported(folder, *instructions))
    try:
        return store.candidates(on, iform)
    finally:
        store.close()


def base(folder: Path, measurement: str, **details: str) -> Figures:
    architecture = details.get("architecture", "SKL")
    (record,) = facts(folder, instruction(measurement, **details), on=architecture)
    return record.base
