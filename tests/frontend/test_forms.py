"""The table of encoding forms, which joins decoder codes with table records."""

from __future__ import annotations

import io
from pathlib import Path

import forms_generator
import pytest
from cyclelens.analyzer.isa.codes import enum_names
from cyclelens.analyzer.isa.forms import forms_of
from cyclelens.analyzer.isa.spelling import described, formatter, mnemonic
from iced_x86 import Code, CodeSize, FormatMnemonicOptions, Instruction, OpCodeInfo

R64 = "RAX,RCX,RDX,RBX,RSP,RBP,RSI,RDI,R8,R9,R10,R11,R12,R13,R14,R15"

# Invented records in the schema of the published file; the form names are ours, so that nothing but the
# join can have produced them.
TABLES = f"""<root><extension name="BASE">
<instruction asm="{{load}} ADD" iclass="ADD" iform="ADD_ONE_01" string="ADD_01 (R64, R64)">
  <operand type="reg">{R64}</operand><operand type="reg">{R64}</operand>
  <operand type="flags" suppressed="1"/></instruction>
<instruction asm="{{store}} ADD" iclass="ADD" iform="ADD_THREE_03" string="ADD_03 (R64, R64)">
  <operand type="reg">{R64}</operand><operand type="reg">{R64}</operand></instruction>
<instruction asm="ADD" iclass="ADD" iform="ADD_LOAD" string="ADD (R64, M64)">
  <operand type="reg">{R64}</operand><operand type="mem" width="64"/></instruction>
<instruction asm="LOCK ADD" iclass="ADD_LOCK" iform="ADD_LOCKED" string="ADD_LOCK (M64, R64)">
  <operand type="mem" width="64"/><operand type="reg">{R64}</operand></instruction>
<instruction asm="LEA" iclass="LEA" iform="LEA_ADDRESS" string="LEA_B (R64)">
  <operand type="reg">{R64}</operand><operand type="agen"/></instruction>
<instruction asm="REPE MOVSB" iclass="REP_MOVSB" iform="REPEATED" string="MOVSB_REPE">
  <operand type="mem" width="8" suppressed="1"/></instruction>
<instruction asm="VADDPD" iclass="VADDPD" evex="1" iform="VADDPD_E" string="VADDPD (ZMM, K, ZMM, M64_1to8)">
  <operand type="reg">ZMM0,ZMM1</operand><operand type="reg" opmask="1">K1,K2</operand>
  <operand type="reg">ZMM0,ZMM1</operand><operand type="mem" width="64"/></instruction>
<instruction asm="CMOVNBE" iclass="CMOVNBE" iform="CMOV_ABOVE" string="CMOVNBE (R64, R64)">
  <operand type="reg">{R64}</operand><operand type="reg">{R64}</operand></instruction>
</extension></root>"""


@pytest.fixture(scope="module")
def table() -> dict[str, dict[str, str]]:
    return forms_generator.join(forms_generator.read_signatures(io.BytesIO(TABLES.encode())))


def test_the_opcode_distinguishes_forms_with_equal_operands(table: dict[str, dict[str, str]]) -> None:
    assert table["ADD_RM64_R64"]["reg"] == "ADD_ONE_01"
    assert table["ADD_R64_RM64"]["reg"] == "ADD_THREE_03"


def test_register_memory_and_locked_forms_of_one_code(table: dict[str, dict[str, str]]) -> None:
    assert table["ADD_R64_RM64"]["mem"] == "ADD_LOAD"
    assert table["ADD_RM64_R64"] == {"reg": "ADD_ONE_01", "mem lock": "ADD_LOCKED"}


def test_addresses_string_operands_masks_broadcasts_and_conditions(table: dict[str, dict[str, str]]) -> None:
    assert table["LEA_R64_M"] == {"mem": "LEA_ADDRESS"}
    assert table["MOVSB_M8_M8"] == {"reg rep": "REPEATED"}
    assert table["EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER"] == {"mem": "VADDPD_E"}
    assert table["CMOVA_R64_RM64"] == {"reg": "CMOV_ABOVE"}


def test_other_instructions_and_operand_kinds_get_no_form(table: dict[str, dict[str, str]]) -> None:
    assert "SUB_RM64_R64" not in table
    assert "ADD_RM8_R8" not in table
    assert "ADD_RM64_IMM8" not in table
    assert "CMOVB_R64_RM64" not in table


def test_the_written_table_is_read_back(table: dict[str, dict[str, str]], tmp_path: Path) -> None:
    path = tmp_path / "forms.txt"
    forms_generator.write(table, path)
    again = tmp_path / "again.txt"
    forms_generator.write(dict(reversed(table.items())), again)
    assert path.read_bytes() == again.read_bytes()
    assert "o64 03 /r ADD r64, r/m64\treg=ADD_THREE_03\tmem=ADD_LOAD" in path.read_text().splitlines()


def test_the_table_that_ships_knows_the_instruction_set() -> None:
    assert forms_of(described(OpCodeInfo(Code.ADD_RM64_R64)))["mem lock"] == "ADD_LOCK_MEMv_GPRv"
    assert forms_of(described(OpCodeInfo(Code.FSIN))) == {}
    assert forms_of("no such code") == {}


def test_every_code_is_described_differently() -> None:
    codes = enum_names(Code)
    assert len({described(OpCodeInfo(code)) for code in codes}) == len(codes) > 4000  # type: ignore[arg-type]


def test_mnemonics_are_spelt_as_the_formatter_spells_them() -> None:
    pseudo = {Code.INVALID, Code.DECLAREBYTE, Code.DECLAREWORD, Code.DECLAREDWORD, Code.DECLAREQWORD}
    for code in enum_names(Code).keys() - pseudo:
        instruction = Instruction.create(code)  # type: ignore[arg-type]
        instruction.code_size = CodeSize.CODE64
        spelt = formatter().format_mnemonic(instruction, FormatMnemonicOptions.NO_PREFIXES)
        assert mnemonic(instruction, OpCodeInfo(code)) == spelt  # type: ignore[arg-type]
