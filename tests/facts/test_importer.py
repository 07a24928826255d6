"""The importer, on small XML texts of our own in the schema of uops.info."""

from __future__ import annotations

import io
import lzma
import os
import random
import sqlite3
from pathlib import Path

import pytest
from cyclelens.analyzer.facts import importer
from cyclelens.analyzer.facts.command import run_import
from cyclelens.analyzer.facts.importer import ImportProblem, import_tables
from cyclelens.analyzer.facts.store import default_tables, open_store
from cyclelens.analyzer.model.facts import Figures, InstructionFacts, Latency

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


# Whatever the source is, the answer is one clear problem, and the tables from before stay.
WHOLE = document(ADD).encode()
BAD_SOURCES = {
    "empty": (b"", "not an XML file"),
    "garbage": (bytes(range(256)) * 50, "not an XML file"),
    "plain text": (b"just some text\n", "not an XML file"),
    "html": (b"<html><body><p>Not found</p></body></html>", "holds no measurements"),
    "many foreign elements": (b"<root>" + b"<row a='1'/>" * 3000 + b"</root>", "holds no measurements"),
    "no measurements": (document('<instruction iform="X" string="X"/>').encode(), "holds no measurements"),
    "cut off": (WHOLE[: len(WHOLE) * 2 // 3], "damaged"),
    "cut off xz": (lzma.compress(WHOLE)[:-40], "damaged"),
    "damaged xz": (lzma.compress(WHOLE)[:60] + b"\0" * 40 + lzma.compress(WHOLE)[100:], "damaged"),
    "no name": (document('<instruction iform="X"/>').encode(), "without a name"),
    "no number": (document(instruction('uops="many"')).encode(), "THING (R64): uops="),
    "infinite": (document(instruction('uops="inf"')).encode(), "THING (R64): uops="),
    "odd ports": (document(instruction('ports="p01"')).encode(), "THING (R64): ports="),
    "odd latency": (document(instruction(latencies='<latency cycles="1"/>')).encode(), "without operands"),
    "odd operand": (document(instruction(operands='<operand name="REG0"/>')).encode(), "without number"),
}


ENDLESS = {
    "an attribute": b'<instruction iform="',
    "a text": b"<instruction>",
    "a comment": b"<!-- <",
    "parts of an instruction": b"<instruction>",
    "elements behind the last instruction": b"",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_a_packed_file_swells_to_is_not_read_to_its_end(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_MOST_BETWEEN", 1 << 20)
    read = 0

    class Counted(lzma.LZMAFile):
        def read(self, size: int | None = -1) -> bytes:
            nonlocal read
            data = super().read(size)
            read += len(data)
            return data

    monkeypatch.setattr(lzma, "LZMAFile", Counted)
    filler = b"<operand/>" if "s " in kind else b"x" * 10
    begin = WHOLE.replace(b"</extension></root>", b"")
    source = tmp_path / "bomb.xml.xz"
    source.write_bytes(lzma.compress(begin + ENDLESS[kind] + filler * 1_000_000, preset=0))
    with pytest.raises(ImportProblem, match="behind it hold no other instruction"):
        import_tables(source, tmp_path / "tables")
    assert read < 2 << 20


def test_any_mistyped_source_is_imported_or_is_one_problem(tmp_path: Path) -> None:
    source, target = tmp_path / "facts.xml", tmp_path / "tables.sqlite"
    chance = random.Random(1)
    outcomes = set()
    for number in range(400):
        content = bytearray(WHOLE if number % 4 else lzma.compress(WHOLE))
        place = chance.randrange(len(content))
        content[place : place + chance.randrange(20)] = chance.choices(b'0159<>"=/ az*+\xff', k=3)
        source.write_bytes(content)
        try:
            import_tables(source, target)
            outcomes.add("imported")
        except ImportProblem:
            outcomes.add("problem")
    assert outcomes == {"imported", "problem"}


@pytest.mark.parametrize("kind", BAD_SOURCES)
def test_a_bad_source_is_one_problem_and_the_old_tables_stay(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_FOREIGN_AFTER", 1000)
    content, message = BAD_SOURCES[kind]
    target = imported(tmp_path, ADD)
    before = target.read_bytes()
    source = tmp_path / "bad.xml.xz"
    source.write_bytes(content)
    names = sorted(os.listdir(tmp_path))
    with pytest.raises(ImportProblem) as problem:
        import_tables(source, target)
    assert message in str(problem.value)
    assert str(source) in str(problem.value)
    assert "\n" not in str(problem.value)
    assert target.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == names


def test_a_foreign_file_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "_FOREIGN_AFTER", 1000)
    source = tmp_path / "foreign.xml"
    # Reading on would meet the syntax error at the end.
    source.write_bytes(b"<root>" + b"<row/>" * 200_000 + b"<<<")
    with pytest.raises(ImportProblem, match="holds no measurements"):
        import_tables(source, tmp_path / "tables.sqlite")


def test_entities_cannot_pull_in_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    operand = '<operand idx="1" name="REG0" type="reg">&other;</operand>'
    source = tmp_path / "facts.xml"
    entity = f'<!DOCTYPE root [<!ENTITY other SYSTEM "{secret.as_uri()}">]>'
    source.write_text(entity + document(instruction(operands=operand)))
    target = tmp_path / "tables.sqlite"
    import_tables(source, target)
    assert b"SECRET" not in target.read_bytes()


def test_a_source_that_is_missing_or_a_folder(tmp_path: Path) -> None:
    for source in (tmp_path / "nowhere.xml", tmp_path):
        with pytest.raises(ImportProblem, match="cannot be read"):
            import_tables(source, tmp_path / "tables.sqlite")
    assert not list(tmp_path.iterdir())


def test_a_target_that_cannot_be_written(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(ADD))
    folder = tmp_path / "folder"
    folder.mkdir()
    for target in (tmp_path / "nowhere" / "tables.sqlite", folder):
        with pytest.raises(ImportProblem, match="cannot be written"):
            import_tables(source, target)
    assert sorted(os.listdir(tmp_path)) == ["facts.xml", "folder"]


def test_the_source_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(ADD))
    with pytest.raises(ImportProblem, match="choose another"):
        import_tables(source, source)
    assert source.read_text() == document(ADD)


def test_a_failure_while_writing_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = imported(tmp_path, ADD)
    before, names = target.read_bytes(), sorted(os.listdir(tmp_path))

    def full(collector: object, path: Path) -> None:
        path.write_bytes(b"half a table")
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(importer._Collector, "write", full)
    with pytest.raises(ImportProblem, match="disk is full"):
        import_tables(tmp_path / "facts.xml", target)
    assert target.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == names


def test_progress_grows_to_the_size_of_the_source(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(*(instruction(name=f"I{n}") for n in range(2000))))
    calls: list[tuple[int, int]] = []
    import_tables(source, tmp_path / "tables.sqlite", lambda done, total: calls.append((done, total)))
    done = [d for d, _ in calls]
    assert {total for _, total in calls} == {source.stat().st_size}
    assert done == sorted(done) and done[0] < done[-1] == source.stat().st_size


def test_what_has_been_read_is_taken_out_of_the_tree(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(*(instruction() for _ in range(50))))
    with source.open("rb") as stream:
        for element in importer._instructions(importer._Measured(stream)):
            parent = element.getparent()
            assert parent is not None and parent.index(element) <= 1
            previous = element.getprevious()
            assert previous is None or len(previous) == len(previous.attrib) == 0


def test_the_command_writes_the_tables_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "facts.xml", tmp_path / "tables.sqlite"
    source.write_text(document(ADD))
    assert run_import(source, target).records == 2
    assert target.is_file()
    assert capfd.readouterr() == ("", "")


def test_the_command_shows_its_progress_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    source = tmp_path / "facts.xml"
    source.write_text(document(ADD))
    run_import(source, tmp_path / "tables.sqlite")
    assert "Importing" in screen.getvalue()


SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "facts" / "instructions.xml.xz"


@pytest.mark.skipif(
    not SHARED.is_file(), reason="the facts that the shipped tables are made from are not here"
)
def test_the_shipped_tables_are_what_the_import_makes(tmp_path: Path) -> None:
    """The whole file, some ten seconds."""
    summary = import_tables(SHARED, tmp_path / "tables.sqlite")
    assert (summary.variants, summary.records) == (16_103, 202_882)
    assert (tmp_path / "tables.sqlite").read_bytes() == default_tables().read_bytes()
