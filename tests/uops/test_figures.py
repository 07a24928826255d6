"""Which of a record's figures apply to an encoding (rules V1 to V8), and what has no record (T4)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.model.facts import Figures, Latency
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import ValueKind
from testkit.blocks import template_of, templates_of
from testkit.records import invented, memory, register
from testkit.unit_sets import texts


def test_base_figures_apply_first() -> None:
    """V1: two different registers and no index leave the base figures alone."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RBX", "r")],
        Figures(uops=1, ports=(("06", 1),)),
        same_register=Figures(uops=0, ports=()),
        indexed=Figures(uops=2, ports=(("5", 2),)),
    )
    assert (template.uop_count, texts(template.uses)) == (1, (("06", 1),))


@pytest.mark.parametrize(
    ("code", "name"),
    [("31c0", "SNB"), ("31c0", "SKL"), ("4529c0", "HSW"), ("660fefc0", "SKL"), ("c5f1efc9", "ICL")],
    ids=["xor-snb", "xor-skl", "sub-hsw", "pxor-skl", "vpxor-icl"],
)
def test_zero_idiom(code: str, name: str) -> None:
    """V2: with equal registers a zero idiom is one empty uop that depends on nothing."""
    template = template_of(code, name)
    assert (template.uop_count, texts(template.uses), template.register_inputs) == (0, (), ())
    assert [uop.kind for uop in template.uops] == [UopKind.EMPTY]
    assert len(template.register_outputs) == 1


@pytest.mark.parametrize("code", ["31d8", "660fefc1"], ids=["xor", "pxor"])
def test_different_registers_are_no_idiom(code: str) -> None:
    """V1: the same instruction on two registers computes and depends on both."""
    template = template_of(code, "SKL")
    assert template.uop_count == 1
    assert len(template.register_inputs) == 2


def test_same_register_means_the_canonical_register() -> None:
    """V2: AL and AH, XMM1 and YMM1 count as equal registers."""
    same = Figures(uops=3)
    for pair in (("AL", "AH"), ("EAX", "RAX"), ("XMM1", "YMM1")):
        operands = [register(number, name, "rw") for number, name in enumerate(pair)]
        assert invented(operands, Figures(uops=1), same_register=same).uop_count == 3


def test_same_register_needs_two_operands() -> None:
    """V2: an instruction with a single register operand has nothing to compare."""
    template = invented([register(0, "RAX", "rw")], Figures(uops=1), same_register=Figures(uops=3))
    assert template.uop_count == 1


def test_same_register_latencies_replace_the_whole_table() -> None:
    """V2: once equal registers have latencies, a pair without one counts as latency 1."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RAX", "r")],
        Figures(uops=1, ports=(("1", 1),)),
        latencies={(0, 0): Latency(cycles=7, same_register=4), (1, 0): Latency(cycles=7)},
    )
    assert template.latencies["reg", 0, "reg", 0] == 4
    assert template.latencies["reg", 1, "reg", 0] == 1


def test_same_register_latencies_know_no_addresses() -> None:
    """V2: with equal registers the latencies from address and memory count as not stated either."""
    template = invented(
        [register(0, "XMM1", "w"), register(1, "XMM1", "r"), memory(2, "RSI", "r")],
        Figures(uops=2, ports=(("01", 1), ("23", 1))),
        latencies={(1, 0): Latency(cycles=4, same_register=3), (2, 0): Latency(address=9, memory=7)},
    )
    assert template.latencies["reg", 0, "reg", 0] == 3
    assert template.latencies["addr", 0, "reg", 0] == 1
    assert template.latencies["mem", 0, "reg", 0] == 1


def test_indexed_figures_replace_counts_but_not_latencies() -> None:
    """V3: an index register brings the counts measured with one; what they do not state stays."""
    template = invented(
        [register(0, "RAX", "rw"), memory(1, "RSI", "r", index="RDI")],
        Figures(uops=2, retire_slots=1, mite_uops=1, ports=(("0156", 1), ("23", 1))),
        indexed=Figures(retire_slots=2),
        latencies={(0, 0): 6},
    )
    assert (template.uop_count, template.retire_slots, template.mite_uops) == (2, 2, 1)
    assert template.latencies["reg", 0, "reg", 0] == 6


@pytest.mark.parametrize(
    ("code", "retire_slots"),
    [
        ("4803043e", {"SNB": 2, "HSW": 1, "SKL": 1, "ICL": 1}),
        ("48390c3e", {"SNB": 2, "HSW": 2, "SKL": 2, "ICL": 2}),
        ("4889043e", {"SNB": 2, "HSW": 1, "SKL": 1, "ICL": 1}),
        ("c5f458043e", {"SNB": 2, "HSW": 2, "SKL": 2, "ICL": 2}),
        ("4801043e", {"SNB": 4, "HSW": 3, "SKL": 3, "ICL": 3}),
    ],
    ids=["add-load", "cmp-load", "store", "three-operand-load", "read-modify-write"],
)
def test_indexed_unlamination_by_microarchitecture(code: str, retire_slots: dict[str, int]) -> None:
    """V3: what an index register costs at issue differs by chip and by kind of instruction."""
    assert {name: template_of(code, name).retire_slots for name in retire_slots} == retire_slots


@pytest.mark.parametrize(
    ("code", "eliminable"),
    [
        ("4889d8", {"SNB": False, "IVB": True, "HSW": True, "SKL": True, "ICL": False, "RKL": True}),
        ("660f6fc1", {"SNB": False, "IVB": True, "HSW": True, "SKL": True, "ICL": True, "RKL": True}),
        ("0fb6c8", {"SNB": False, "IVB": True, "HSW": True, "SKL": True, "ICL": False}),
        ("88d8", {"IVB": False, "SKL": False}),
    ],
    ids=["mov", "movdqa", "movzx", "mov-low-byte"],
)
def test_eliminable_moves(code: str, eliminable: dict[str, bool]) -> None:
    """V4: a MOV with no uops, one register in and one out can be eliminated; a byte MOV merges."""
    assert {name: template_of(code, name).eliminable_move for name in eliminable} == eliminable


@pytest.mark.parametrize("code", ["400fb6cc", "410fb6cc", "410fb6cf"], ids=["spl", "r12b", "r15b"])
def test_excluded_movzx(code: str) -> None:
    """V4: MOVZX from SPL, R12B and the like is eliminated on Ivy Bridge only."""
    assert template_of(code, "IVB").eliminable_move
    for name in ("HSW", "SKL"):
        template = template_of(code, name)
        assert not template.eliminable_move
        assert (template.uop_count, texts(template.uses)) == (1, (("0156", 1),))


@pytest.mark.parametrize("code", ["410fb6c8", "410fb6cb"], ids=["r8b", "r11b"])
def test_movzx_from_other_new_registers_is_not_excluded(code: str) -> None:
    """V4: R8B to R11B are not among the excluded sources."""
    assert template_of(code, "HSW").eliminable_move


def test_move_that_is_not_eliminated() -> None:
    """V5: the uop of such a move is that of a MOV between equal registers: one uop, one cycle."""
    template = template_of("4889d8", "HSW")
    (uop,) = template.uops
    assert template.uop_count == 1
    assert (uop.units.text, uop.inputs) == ("0156", ((ValueKind.REGISTER, "RBX"),))
    assert uop.outputs == (((ValueKind.REGISTER, "RAX"), 1),)


VPADDD_ZMM = "62f17548fec2"
VPADDD_YMM = "c5ddfeeb"


def test_512_bit_code_closes_port_1_to_vector_instructions() -> None:
    """V6: next to a ZMM register a vector instruction on ports 0, 1 and 5 is left with 0 and 5."""
    _, narrow = templates_of(VPADDD_ZMM + VPADDD_YMM, "SKX")
    assert [uop.units.text for uop in narrow.uops] == ["05"]


def test_512_bit_code_elsewhere_changes_nothing() -> None:
    """V6: the rule is about one block: blocks without ZMM registers keep port 1, whatever came before."""
    before = template_of(VPADDD_YMM, "SKX")
    templates_of(VPADDD_ZMM + VPADDD_YMM, "SKX")
    after = template_of(VPADDD_YMM, "SKX")
    assert texts(before.uses) == texts(after.uses) == (("015", 1),)


def test_512_bit_code_leaves_scalar_instructions_alone() -> None:
    """V6: instructions without vector operands keep port 1."""
    _, scalar = templates_of(VPADDD_ZMM + "4801d8", "SKX")
    assert texts(scalar.uses) == (("0156", 1),)


def test_512_bit_code_leaves_port_1_where_it_is_the_only_one() -> None:
    """V6: what can run on port 1 alone stays there."""
    template = invented(
        [register(0, "ZMM0", "w"), register(1, "ZMM1", "r")],
        Figures(uops=3, ports=(("1", 1), ("015", 1), ("05", 1))),
        microarchitecture="SKX",
    )
    assert texts(template.uses) == (("1", 1), ("05", 2))


@pytest.mark.parametrize(
    ("mite", "ms", "stated", "expected"),
    [(1, 0, None, False), (1, 0, True, True), (2, 0, None, True), (1, 1, None, True), (1, 0, False, False)],
)
def test_complex_decoder(mite: int, ms: int, stated: bool | None, expected: bool) -> None:
    """V7: microcode, or more than one decoded uop, needs the complex decoder even if the table is silent."""
    figures = Figures(uops=1, mite_uops=mite, ms_uops=ms, complex_decoder=stated)
    assert invented([], figures).complex_decoder is expected


@pytest.mark.parametrize("code", ["5c", "415c"], ids=["rsp", "r12"])
def test_pop_of_rsp_or_r12(code: str) -> None:
    """V8: POP RSP and POP R12 need the complex decoder; before Skylake nothing decodes beside them."""
    decoders = {name: template_of(code, name) for name in ("SNB", "HSW", "SKL", "ICL")}
    assert all(template.complex_decoder for template in decoders.values())
    assert {name: template.available_simple_decoders for name, template in decoders.items()} == {
        "SNB": 0,
        "HSW": 0,
        "SKL": 4,
        "ICL": 4,
    }


@pytest.mark.parametrize("code", ["58", "415d", "66415d"], ids=["rax", "r13", "r13w"])
def test_other_pops(code: str) -> None:
    """V8: no other POP ends the group of decoded instructions."""
    template = template_of(code, "HSW")
    assert template.available_simple_decoders == 4
    assert not template.complex_decoder


def test_unknown_instruction() -> None:
    """T4: without a record an instruction is one empty fused uop without dependencies, and says so."""
    template = template_of("0f0b", "SKL")
    assert template.facts is None
    assert [uop.kind for uop in template.uops] == [UopKind.EMPTY]
    assert (template.fused_uops, template.idq_uops, template.retire_slots) == ((1,), (1,), 1)
    assert (template.mite_uops, template.ms_uops, template.uop_count) == (1, 0, 0)
    assert not (template.register_inputs or template.register_outputs or template.memory_operands)
    assert not (template.is_branch or template.macro_fusible or template.complex_decoder)
