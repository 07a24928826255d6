"""What an instruction reads and writes, and in how many cycles (rules O1 to O8)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.model.facts import Figures, Latency
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED
from cyclelens.analyzer.model.uops import InstructionTemplate
from testkit.blocks import block_of, template_of
from testkit.records import flags, invented, memory, register

ONE_UOP = Figures(uops=1, ports=(("0156", 1),))


def names(operands: object) -> list[str]:
    return [operand.name for operand in operands]  # type: ignore[attr-defined]


def registers(template: InstructionTemplate) -> tuple[list[str], list[str]]:
    """Names of the register inputs and outputs."""
    return names(template.register_inputs), names(template.register_outputs)


def test_inputs_are_read_and_outputs_written() -> None:
    """O1, O2: access decides; a register that is only written is no input."""
    template = invented([register(0, "RAX", "w"), register(1, "RBX", "r"), register(2, "RCX", "rw")], ONE_UOP)
    assert registers(template) == (["RBX", "RCX"], ["RAX", "RCX"])


def test_a_latency_makes_an_input() -> None:
    """O1: a written register from which the table states a latency is an input as well."""
    operands = [register(0, "RAX", "w"), register(1, "RBX", "r")]
    assert registers(invented(operands, ONE_UOP, latencies={(0, 0): 2}))[0] == ["RAX", "RBX"]


def test_byte_moves_merge_into_their_target() -> None:
    """O1: MOV AL, BL keeps the rest of RAX, which the table tells by a latency; a MOV to AH does not."""
    assert registers(template_of("88d8", "SKL")) == (["AL", "BL"], ["AL"])
    assert registers(template_of("88dc", "SKL")) == (["BL"], ["AH"])


def test_implicit_registers_count() -> None:
    """O1, O2: DIV reads and writes RAX and RDX though its text does not name them; SHL reads CL."""
    assert registers(template_of("f7f1", "SKL")) == (["ECX", "EAX", "EDX"], ["EAX", "EDX"])
    assert registers(template_of("48d3e0", "SKL")) == (["RAX", "CL"], ["RAX"])


@pytest.mark.parametrize("code", ["75fe", "ebfe", "e800000000"], ids=["jnz", "jmp", "call"])
def test_the_instruction_pointer_is_no_operand(code: str) -> None:
    """O1, O2: branches write RIP, which makes them branches and nothing else."""
    template = template_of(code, "SKL")
    assert template.is_branch
    assert registers(template) == ([], [])


@pytest.mark.parametrize(
    ("code", "access"),
    [
        ("488b06", [("MEM0", True, False)]),
        ("488906", [("MEM0", False, True)]),
        ("48830601", [("MEM0", True, True)]),
        ("50", [("MEM0", False, True)]),
        ("58", [("MEM0", True, False)]),
        ("ff36", [("MEM0", True, False), ("MEM1", False, True)]),
        ("8f06", [("MEM0", False, True), ("MEM1", True, False)]),
    ],
    ids=["load", "store", "read-modify-write", "push", "pop", "push-memory", "pop-memory"],
)
def test_memory_operands(code: str, access: list[tuple[str, bool, bool]]) -> None:
    """O3: memory is read, written or both; a push or pop of memory also accesses the stack."""
    accesses = template_of(code, "SKL").memory_operands
    assert [(each.name, each.read, each.written) for each in accesses] == access


@pytest.mark.parametrize(
    ("code", "read", "written"),
    [
        ("4801d8", (), ("C", "SPAZO")),
        ("48ffcf", (), ("SPAZO",)),
        ("4811d8", ("C",), ("C", "SPAZO")),
        ("480f42ca", ("C",), ()),
        ("480f46ca", ("C", "SPAZO"), ()),
        ("75fe", ("SPAZO",), ()),
        ("f8", (), ("C",)),
        ("4889d8", (), ()),
    ],
    ids=["add", "dec", "adc", "cmovb", "cmovbe", "jnz", "clc", "mov"],
)
def test_flag_groups(code: str, read: tuple[str, ...], written: tuple[str, ...]) -> None:
    """O4: flags are carry on the one hand, and the other five together on the other."""
    template = template_of(code, "SKL")
    assert (template.flag_inputs, template.flag_outputs) == (read, written)


def test_a_conditional_flag_write_reads_too() -> None:
    """O4: a shift by CL leaves the flags alone if CL is zero, so it depends on the old ones."""
    assert template_of("48d3e0", "SKL").flag_inputs == ("C", "SPAZO")
    assert template_of("48d1e0", "SKL").flag_inputs == ()


def test_latency_of_pairs() -> None:
    """O5: every pair has its own latency; where the table has none it is one cycle."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RBX", "r"), flags(2, read="C", written="CZ")],
        ONE_UOP,
        latencies={(0, 0): 4, (1, 2): 6, (2, 0): 3},
    )
    assert template.latencies == {
        ("reg", 0, "reg", 0): 4,
        ("reg", 1, "reg", 0): 1,
        ("flag", 0, "reg", 0): 3,
        ("reg", 0, "flag", 0): 1,
        ("reg", 1, "flag", 0): 6,
        ("flag", 0, "flag", 0): 1,
        ("reg", 0, "flag", 1): 1,
        ("reg", 1, "flag", 1): 6,
        ("flag", 0, "flag", 1): 1,
    }


def test_address_and_memory_latencies() -> None:
    """O5: base, index and the memory itself have figures of their own."""
    template = invented(
        [register(0, "RAX", "w"), memory(1, "RSI", "r", index="RDI")],
        Figures(uops=1, ports=(("23", 1),)),
        latencies={(1, 0): Latency(address=5, address_index=6, memory=2)},
    )
    assert names(template.address_inputs) == ["RSI", "RDI"]
    assert template.latencies == {
        ("addr", 0, "reg", 0): 5,
        ("addr", 1, "reg", 0): 6,
        ("mem", 0, "reg", 0): 2,
    }


def test_input_without_latency_to_any_output_is_dropped() -> None:
    """O6: latency zero to all outputs means no dependency; zero to only some of them is one."""
    operands = [register(0, "RAX", "w"), register(1, "RBX", "r"), register(2, "RCX", "w")]
    assert registers(invented(operands, ONE_UOP, latencies={(1, 0): 0, (1, 2): 0}))[0] == []
    assert registers(invented(operands, ONE_UOP, latencies={(1, 0): 0, (1, 2): 3}))[0] == ["RBX"]


def test_dependency_breaking_instruction_with_a_uop() -> None:
    """O6: where equal registers have latency zero, an instruction that still computes depends on nothing."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RAX", "r")],
        ONE_UOP,
        latencies={
            (0, 0): Latency(cycles=1, same_register=0),
            (1, 0): Latency(cycles=1, same_register=0),
        },
    )
    assert template.uop_count == 1
    assert template.register_inputs == ()


def test_inputs_without_any_output_are_dropped() -> None:
    """O6: an indirect jump has no output, hence no latency, hence no dependency on its target register."""
    assert template_of("ffe0", "SKL").register_inputs == ()


def test_stored_register_on_ice_lake() -> None:
    """O6: in the published model, tables that state latency 0 from a register to memory hide the store's
    dependency. O6d: in the hardware model they do not."""
    for core, options, expected in (
        ("SKL", PUBLISHED, ["RAX"]),
        ("ICL", PUBLISHED, []),
        ("ICL", DEFAULT, ["RAX"]),
    ):
        (template,) = block_of("488906", core, loop=False, options=options).instructions
        assert names(template.register_inputs) == expected


def test_eliminable_moves_keep_their_input() -> None:
    """O6 does not apply to a move that the renamer may eliminate."""
    assert names(template_of("4889d8", "SKL").register_inputs) == ["RBX"]


def test_lea_takes_its_address_registers_as_ordinary_inputs() -> None:
    """O7, O8: LEA computes with base and index and accesses nothing."""
    template = template_of("488d444b08", "SKL")
    assert registers(template) == (["RBX", "RCX"], ["RAX"])
    assert template.address_inputs == ()
    assert template.memory_operands == ()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("50", [("RSP", True)]),
        ("58", [("RSP", True)]),
        ("488b442408", [("RSP", False)]),
        ("ff742408", [("RSP", False), ("RSP", True)]),
        ("8f442408", [("RSP", False), ("RSP", True)]),
        ("ff36", [("RSI", False), ("RSP", True)]),
        ("e800000000", [("RSP", True)]),
        ("c9", [("RBP", False)]),
    ],
    ids=["push", "pop", "load", "push-rsp-memory", "pop-rsp-memory", "push-memory", "call", "leave"],
)
def test_implicit_stack_use(code: str, expected: list[tuple[str, bool]]) -> None:
    """O7: RSP as the address of a push or pop is the stack engine's affair, any other use is explicit."""
    inputs = template_of(code, "SKL").address_inputs
    assert [(each.name, each.implicit_stack) for each in inputs] == expected


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("50", -8),
        ("58", 8),
        ("6650", -2),
        ("6658", 2),
        ("e800000000", -8),
        ("c3", 8),
        ("c21000", 8),
        ("4883c408", 0),
        ("c9", 0),
    ],
    ids=["push", "pop", "push-16", "pop-16", "call", "ret", "ret-16", "add-rsp", "leave"],
)
def test_implicit_change_of_rsp(code: str, change: int) -> None:
    """Section 2.2: pushes, pops, calls and returns move RSP by the operand size outside the tables."""
    template = template_of(code, "SKL")
    assert template.rsp_change == change
    assert "RSP" not in names(template.register_outputs) or change == 0


def test_rsp_as_a_plain_operand_of_push_and_pop() -> None:
    """O1, O2: PUSH RSP reads RSP and POP RSP writes it, over and above the stack engine's own use."""
    assert registers(template_of("54", "SKL")) == (["RSP"], [])
    assert registers(template_of("5c", "SKL")) == ([], ["RSP"])


def test_second_access_is_known_by_its_base_alone() -> None:
    """The stack access of PUSH m has neither scale nor displacement, whatever the other address has."""
    first, second = template_of("ff742408", "SKL").memory_operands
    assert (first.base, first.scale, first.displacement) == ("RSP", 1, 8)
    assert (second.base, second.index, second.scale, second.displacement) == ("RSP", None, None, None)


@pytest.mark.parametrize(
    ("code", "serializing", "loads", "stores"),
    [
        ("0fa2", True, False, False),
        ("0faee8", True, True, False),
        ("0faef0", False, True, True),
        ("0faef8", False, False, True),
        ("f00106", False, False, False),
    ],
    ids=["cpuid", "lfence", "mfence", "sfence", "lock-add"],
)
def test_fences(code: str, serializing: bool, loads: bool, stores: bool) -> None:
    """Section 2.2: what waits for everything before it, and which fence holds back loads or stores."""
    (template,) = block_of(code, "SKL", options=PUBLISHED).instructions
    assert template.serializing is serializing
    assert template.load_serializing is loads
    assert template.store_serializing is stores


def test_canonical_registers() -> None:
    """Section 0: any width of a register renames as one; high bytes belong to their 64-bit register."""
    (source,) = template_of("0fb6d4", "SKL").register_inputs
    assert (source.name, source.canonical, source.width) == ("AH", "RAX", 8)
    (target,) = template_of("c5f458c2", "SKL").register_outputs
    assert (target.name, target.canonical) == ("YMM0", "XMM0")


def test_opmask_registers() -> None:
    """O1: a mask register is an input; without masking K0 is none."""
    assert "K1" in names(template_of("62f17c4958c2", "SKX").register_inputs)
    assert not {"K0", "K1"} & set(names(template_of("62f17c4858c2", "SKX").register_inputs))


@pytest.mark.parametrize(
    ("name", "load", "vector_load", "operations"),
    [
        # By code: cycles of the operation itself, by uops.info; of Intel's cores the whole is measured.
        ("SKL", 5, 5, {"480306": 1, "480faf06": 3, "f3480fb806": 3}),
        ("ZEN3", 4, 7, {"480306": 1, "480faf06": 3, "f3480fb806": 1, "c5f05806": 4, "660ffe06": 2}),
        ("ZEN5", 4, 7, {"480306": 1, "480faf06": 3, "f3480fb806": 1, "c5f05806": 3, "c4e1f89006": 2}),
    ],
)
def test_an_operation_on_memory_takes_a_load_and_the_operation(
    name: str, load: int, vector_load: int, operations: dict[str, int]
) -> None:
    """O10, from the address. Loads of vectors and masks take longer than those of general registers."""
    # add, imul and popcnt rax, [rsi]; vaddps xmm0, xmm1, [rsi]; paddd xmm0, [rsi]; kmovq k1, [rsi]
    for code, cycles in operations.items():
        template = template_of(code, name)
        wide = not template.register_outputs[0].name.startswith("R")
        found = {latency for key, latency in template.latencies.items() if key[::2] == ("addr", "reg")}
        assert found == {cycles + (vector_load if wide else load)}, template.name


def test_a_record_that_states_only_its_uop_takes_one_slot_everywhere() -> None:
    template = invented([register(0, "RAX", "rw")], ONE_UOP)
    assert (template.retire_slots, template.mite_uops, template.ms_uops) == (1, 1, 0)
    assert (template.fused_uops, template.idq_uops, template.uop_count) == ((1,), (1,), 1)
    assert (template.complex_decoder, template.divider_cycles) == (False, 0)
