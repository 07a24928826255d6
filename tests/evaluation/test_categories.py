"""The category of a block, by the shares of its uops."""

import pytest
from cyclelens.analyzer.evaluation.categories import category, front_end
from cyclelens.analyzer.model.instruction import DecodedOperand, OperandKind
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, UopTemplate
from msgspec.structs import replace
from testkit.instructions import made_up

NOP = InstructionTemplate(
    instruction=made_up(), facts=None, name="", uops=(), fused_uops=(),
    idq_uops=(), uop_count=0, retire_slots=1, mite_uops=1, ms_uops=0, complex_decoder=False,
    available_simple_decoders=4, uses=(),
)  # fmt: skip


def template(register, *kinds):
    operand = DecodedOperand(OperandKind.REGISTER, register=register)
    instruction = made_up(operands=(operand,))
    return replace(NOP, instruction=instruction, uops=tuple(UopTemplate(kind) for kind in kinds))


SCALAR = template("RAX", UopKind.COMPUTE)
VECTOR = template("YMM1", UopKind.COMPUTE)
MASK = template("K1", UopKind.COMPUTE)
LOAD = template("RAX", UopKind.LOAD)
STORE = template("XMM0", UopKind.STORE_ADDRESS, UopKind.STORE_DATA)
LOAD_OP = template("RAX", UopKind.LOAD, UopKind.COMPUTE)


@pytest.mark.parametrize(
    ("instructions", "expected"),
    [
        ([NOP], "scalar"),
        ([SCALAR, SCALAR], "scalar"),
        ([VECTOR, MASK], "vector"),
        ([SCALAR, VECTOR], "scalar/vector"),
        ([SCALAR] * 4 + [VECTOR], "scalar"),
        ([SCALAR] + [VECTOR] * 4, "vector"),
        ([LOAD, LOAD, SCALAR], "load"),
        ([LOAD_OP], "load"),
        ([LOAD_OP, SCALAR], "scalar"),
        ([STORE, SCALAR], "store"),
        ([STORE, LOAD], "load/store"),
        ([STORE, LOAD, LOAD, LOAD, LOAD], "load"),
    ],
)
def test_category(instructions, expected):
    assert category(instructions) == expected


def test_front_end_names_all_sources_but_the_microcode_sequencer():
    assert front_end({"DSB": 2.0, "MITE": 0.0, "MS": 1.0}) == "DSB"
    assert front_end({"MITE": 1.0, "DSB": 2.0}) == "DSB+MITE"
    assert front_end({}) == "none"
