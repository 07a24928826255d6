"""The importer, on small XML texts of our own in the schema of uops.info."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from cyclelens.analyzer.facts.importer import import_tables
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.model.facts import Figures, Latency
from testkit.published_tables import ADD, base, document, facts, imported, instruction


def test_a_whole_record(tmp_path: Path) -> None:
    (record,) = facts(tmp_path, ADD, iform="ADD_GPRv_MEMv")
    assert (record.name, record.iform, record.microarchitecture) == ("ADD (R64, M64)", "ADD_GPRv_MEMv", "SKL")
    assert (record.category, record.extension, record.attributes) == ("BINARY", "BASE", {"eosz": "3"})
    assert not record.locked and not record.constructed
    assert record.base == Figures(
        uops=2,
        retire_slots=1,
        mite_uops=1,
        ms_uops=0,
        complex_decoder=False,
        available_simple_decoders=4,
        ports=(("0156", 1), ("23", 1)),
    )
    assert record.same_register == Figures()
    assert record.indexed == Figures(uops=2, retire_slots=2, ports=(("0156", 1), ("23", 1)))
    assert record.latencies == {
        (1, 1): Latency(cycles=1),
        (2, 1): Latency(address=6, address_index=7, memory=5),
    }
    assert record.macro_fusible_with == {"JB (Rel8)", "JZ (Rel8)"}
    register, memory, flags = record.operands
    assert register.registers == ("RAX", "RCX") and register.read and register.written
    assert (memory.index, memory.name, memory.kind, memory.width) == (2, "MEM0", "mem", 64)
    assert memory.read and not memory.written and not memory.suppressed
    assert (flags.kind, flags.suppressed, flags.flags_written) == ("flags", True, frozenset("CSPAZO"))


def test_identical_records_are_stored_once_and_only_measured_microarchitectures_exist(tmp_path: Path) -> None:
    source, target = tmp_path / "facts.xml", tmp_path / "tables.sqlite"
    source.write_text(document(ADD))
    summary = import_tables(source, target)
    assert summary.microarchitectures == ("SKL", "KBL")
    assert (summary.variants, summary.records, summary.distinct_records) == (1, 2, 1)
    assert summary.size == target.stat().st_size
    store = open_store(target)
    (measured,), (constructed,) = (store.candidates(name, "ADD_GPRv_MEMv") for name in ("SKL", "KBL"))
    assert (measured.constructed, constructed.constructed) == (False, True)
    assert measured.base is constructed.base


def test_nothing_but_names_and_figures_is_kept(tmp_path: Path) -> None:
    tables = imported(tmp_path, ADD).read_bytes()
    assert b"ADD (R64, M64)" in tables
    for text in (b"html-instr", b"summary", b"qword ptr", b"IACA", b"2020", b"I86"):
        assert text not in tables


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    plain, packed = tmp_path / "facts.xml", tmp_path / "facts.xml.xz"
    text = document(ADD, instruction(name="A", iform="A"), instruction(name="B", iform="B")).encode()
    plain.write_bytes(text)
    packed.write_bytes(lzma.compress(text))
    results = []
    for number, source in enumerate((plain, plain, packed)):
        target = tmp_path / f"{number}.sqlite"
        import_tables(source, target)
        results.append(target.read_bytes())
    assert results[0] == results[1] == results[2]


def test_records_of_a_form_keep_the_order_of_the_file(tmp_path: Path) -> None:
    names = ["Z", "A", "M"]
    found = facts(
        tmp_path,
        instruction(name="Z"),
        instruction(name="between", iform="OTHER"),
        instruction(name="A"),
        instruction(name="elsewhere", architecture="ICL"),
        instruction(name="M"),
    )
    assert [record.name for record in found] == names


def test_d1_defaults_and_at_least_one(tmp_path: Path) -> None:
    complete = Figures(
        uops=0,
        retire_slots=1,
        mite_uops=1,
        ms_uops=0,
        complex_decoder=False,
        available_simple_decoders=4,
        ports=(),
    )
    assert base(tmp_path, "") == complete
    assert base(tmp_path, 'uops_retire_slots="0" uops_MITE="0"') == complete
    (record,) = facts(
        tmp_path,
        instruction(
            'uops="1" ports="1*p5" uops_retire_slots_same_reg="0" uops_MITE_same_reg="0" '
            'complex_decoder_indexed="1" available_simple_decoders_indexed="0"'
        ),
    )
    assert record.same_register == Figures(retire_slots=1, mite_uops=1)
    assert record.indexed == Figures(complex_decoder=True, available_simple_decoders=0)


@pytest.mark.parametrize(
    ("measurement", "divider", "tp"),
    [
        ('div_cycles="8"', 8, None),
        ('div_cycles="8" TP_unrolled="4.90"', 4, None),
        ('div_cycles="8" TP_unrolled="8.00"', 8, None),
        ('div_cycles="8" TP_unrolled="21.40"', 8, 21),
        ('TP_unrolled="21.40" TP_loop="20.00"', None, None),
    ],
)
def test_d2_divider(tmp_path: Path, measurement: str, divider: int | None, tp: int | None) -> None:
    figures = base(tmp_path, measurement)
    assert (figures.divider_cycles, figures.tp) == (divider, tp)


@pytest.mark.parametrize(
    ("name", "attributes", "measurement", "tp"),
    [
        ("MFENCE", "", 'TP_loop="33.90" TP_unrolled="35.00"', 33),
        ("PAUSE", "", 'TP_unrolled="140.20"', 140),
        ("RDTSC", "", 'TP_loop="25.00"', 25),
        ("CPUID", "", "", None),
        ("RDTSCP", "", 'TP_loop="32.00"', None),
        ("ADD_LOCK (M64, R64)", 'locked="1"', 'TP_loop="19.00" TP_unrolled="18.50"', 18),
        ("ADD (M64, R64)", 'locked="0"', 'TP_loop="19.00" TP_unrolled="18.50"', None),
    ],
)
def test_d3_throughput_limited(
    tmp_path: Path, name: str, attributes: str, measurement: str, tp: int | None
) -> None:
    assert base(tmp_path, measurement, name=name, attributes=attributes).tp == tp


def test_d3_takes_the_figures_of_the_same_variant(tmp_path: Path) -> None:
    (record,) = facts(
        tmp_path,
        instruction(
            'TP_loop="18.00" TP_unrolled="18.00" TP_loop_indexed="19.00" TP_unrolled_indexed="20.00"',
            attributes='locked="1"',
        ),
    )
    assert record.locked
    assert (record.base.tp, record.indexed.tp, record.same_register.tp) == (18, 19, None)


def test_d5_the_lower_end_of_a_range_counts(tmp_path: Path) -> None:
    (record,) = facts(
        tmp_path,
        instruction(
            latencies='<latency start_op="1" target_op="1" cycles="4" min_cycles="3" max_cycles="4"/>'
            '<latency start_op="2" target_op="1" min_cycles="0" max_cycles="7" cycles_is_upper_bound="1"/>'
            '<latency start_op="3" target_op="1" cycles="2" cycles_same_reg="0"/>'
        ),
    )
    assert record.latencies == {
        (1, 1): Latency(cycles=3),
        (2, 1): Latency(cycles=0),
        (3, 1): Latency(cycles=2, same_register=0),
    }


@pytest.mark.parametrize(
    ("architecture", "category", "ports", "expected"),
    [
        ("SKL", "COND_BR", "1*p06", "6"),
        ("MTL-P", "COND_BR", "1*p06", "6"),
        ("ICL", "COND_BR", "1*p06", "06"),
        ("TGL", "COND_BR", "1*p06", "06"),
        ("RKL", "COND_BR", "1*p06", "06"),
        ("ADL-P", "COND_BR", "1*p06", "06"),
        ("SKL", "UNCOND_BR", "1*p06", "06"),
        ("SNB", "COND_BR", "1*p5", "5"),
        ("ZEN3", "COND_BR", "", "06"),
    ],
)
def test_d6_taken_branches(
    tmp_path: Path, architecture: str, category: str, ports: str, expected: str
) -> None:
    figures = base(
        tmp_path, f'ports="{ports}"', architecture=architecture, attributes=f'category="{category}"'
    )
    assert figures.ports == ((expected, 1),)


def test_d7_no_uop_means_no_port(tmp_path: Path) -> None:
    (record,) = facts(tmp_path, instruction('ports="1*p5" uops="1" uops_same_reg="0" uops_indexed="2"'))
    assert record.same_register.ports == ()
    assert record.indexed.ports is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*p5+1*p0156+1*p23A", (("5", 2), ("0156", 1), ("23A", 1))),
        ("1*FP0123", (("FP0123", 1),)),
        ("1*LD+2*pALU", (("LD", 1), ("ALU", 2))),
        ("12*p06", (("06", 12),)),
    ],
)
def test_ports_keep_the_order_of_the_text_and_foreign_names(
    tmp_path: Path, text: str, expected: tuple[tuple[str, int], ...]
) -> None:
    assert base(tmp_path, f'ports="{text}"').ports == expected


@pytest.mark.parametrize(
    ("access", "read", "written"),
    [
        ("r", True, False),
        ("w", False, True),
        ("cw", True, True),
        ("r/w", True, True),
        ("r/cw", True, True),
        ("undef", False, False),
    ],
)
def test_flag_access(tmp_path: Path, access: str, read: bool, written: bool) -> None:
    operand = f'<operand idx="1" name="REG0" type="flags" flag_ZF="{access}" flag_DF="w" flag_AC="w"/>'
    (record,) = facts(tmp_path, instruction(operands=operand))
    (flags,) = record.operands
    assert flags.flags_read == (frozenset("Z") if read else frozenset())
    assert flags.flags_written == (frozenset("Z") if written else frozenset())


def test_operands_of_implicit_memory_and_registers(tmp_path: Path) -> None:
    operands = (
        '<operand idx="1" name="REG0" type="reg" w="1" conditionalWrite="1" opmask="1">K1,K2</operand>'
        '<operand idx="2" name="REG1" type="reg" r="1" implicit="1">CL</operand>'
        '<operand idx="3" name="MEM0" type="mem" r="1" suppressed="1" base="RBX" index="AL" width="8"/>'
        '<operand idx="4" name="IMM0" type="imm" r="1" implicit="1" width="8">1</operand>'
    )
    (record,) = facts(tmp_path, instruction(operands=operands))
    mask, count, memory, one = record.operands
    assert mask.conditional_write and mask.opmask and mask.written and not mask.read
    assert count.registers == ("CL",) and count.implicit
    assert (memory.base, memory.index_register, memory.suppressed) == ("RBX", "AL", True)
    assert one.registers == ()


def test_matching_attributes_are_kept_even_when_empty(tmp_path: Path) -> None:
    attributes = 'high8="" rm="4,5,6,7" mask="0" zeroing="0" agen="B_IS_D8" evex="1" cpl="3"'
    (record,) = facts(tmp_path, instruction(attributes=attributes))
    assert record.attributes == {
        "agen": "B_IS_D8",
        "high8": "",
        "mask": "0",
        "rm": "4,5,6,7",
        "zeroing": "0",
    }


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("MOVSXD (R64, M32)", "MOVSXD_GPRv_MEMz"),
        ("MOVZX (R32, M16)", "MOVZX_GPRv_MEMw"),
        ("MOVZX (R64, M16)", "MOVZX_GPRv_MEMw"),
        ("MOVSX (R32, M16)", "MOVSX_GPRv_MEMw"),
        ("MOVSX (R64, M16)", "MOVSX_GPRv_MEMw"),
    ],
)
def test_variants_with_an_outdated_form_are_filed_under_todays(tmp_path: Path, name: str, form: str) -> None:
    (record,) = facts(tmp_path, instruction(name=name, iform="OLD_NAME"), iform=form)
    assert (record.name, record.iform) == (name, form)
