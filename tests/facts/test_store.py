"""The shipped tables through their one reader, and its messages for files that are not tables."""

from __future__ import annotations

import pickle
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.facts import encoding
from cyclelens.analyzer.facts.store import FactsStore, TablesUnavailable, default_tables, open_store
from cyclelens.analyzer.model.facts import Figures, InstructionFacts, Latency
from testkit.published_tables import MEASURED

LARGEST_TABLES = 8_000_000
"""Bytes that may ship."""


@pytest.fixture(scope="module")
def store() -> Iterator[FactsStore]:
    store = open_store()
    yield store
    store.close()


def record(store: FactsStore, microarchitecture: str, iform: str, name: str) -> InstructionFacts:
    (found,) = (r for r in store.candidates(microarchitecture, iform) if r.name == name)
    return found


def test_what_ships(store: FactsStore) -> None:
    assert store.microarchitectures() == (
        *("SNB", "IVB", "HSW", "BDW", "SKL", "SKX", "KBL", "CFL", "CLX", "CNL", "ICL", "TGL", "RKL"),
        *(
            "ADL-P",
            "MTL-P",
            "ARL-P",
            "ZEN+",
            "ZEN2",
            "ZEN3",
            "ZEN4",
            "ZEN5",
            "Golden Cove",
            "Redwood Cove",
            "Lion Cove",
        ),
    )
    assert store.record_count == 203_037
    assert Path(default_tables()).stat().st_size < LARGEST_TABLES


@pytest.mark.parametrize(
    ("microarchitecture", "iform", "name", "ports"),
    [
        ("SKL", "ADD_GPRv_GPRv_01", "ADD_01 (R64, R64)", (("0156", 1),)),
        ("SNB", "ADD_GPRv_GPRv_01", "ADD_01 (R64, R64)", (("015", 1),)),
        ("SKL", "MUL_GPRv", "MUL (R64)", (("1", 1), ("5", 1))),
        ("SKL", "JZ_RELBRb", "JZ (Rel8)", (("6", 1),)),
        ("ICL", "JZ_RELBRb", "JZ (Rel8)", (("06", 1),)),
        ("SNB", "JZ_RELBRb", "JZ (Rel8)", (("5", 1),)),
        ("HSW", "PUSH_GPRv_50", "PUSH (R64)", (("237", 1), ("4", 1))),
        ("ADL-P", "MOV_GPRv_MEMv", "MOV (R64, M64)", (("23A", 1),)),
        ("ARL-P", "MOV_GPRv_MEMv", "MOV (R64, M64)", (("LD", 1),)),
        ("ZEN4", "VADDPD_XMMdq_XMMdq_XMMdq", "VADDPD (XMM, XMM, XMM)", (("CD", 1),)),
        ("ZEN4", "ADD_GPRv_GPRv_01", "ADD_01 (R64, R64)", (("0156", 1),)),
    ],
)
def test_known_ports(
    store: FactsStore,
    microarchitecture: str,
    iform: str,
    name: str,
    ports: tuple[tuple[str, int], ...],
) -> None:
    assert record(store, microarchitecture, iform, name).base.ports == ports


def test_a_multiplication_in_full(store: FactsStore) -> None:
    mul = record(store, "SKL", "MUL_GPRv", "MUL (R64)")
    assert (mul.attributes, mul.category, mul.constructed) == ({"eosz": "3"}, "BINARY", False)
    assert mul.base == Figures(
        uops=2,
        retire_slots=2,
        mite_uops=2,
        ms_uops=0,
        complex_decoder=True,
        available_simple_decoders=3,
        ports=(("1", 1), ("5", 1)),
    )
    factor, low, high, flags = mul.operands
    assert "R15" in factor.registers and not factor.suppressed
    assert (low.registers, low.read, low.written, low.suppressed) == (("RAX",), True, True, True)
    assert (high.registers, high.read, high.written) == (("RDX",), False, True)
    assert flags.kind == "flags" and flags.flags_written == {"C", "O"} and not flags.flags_read
    assert mul.latencies[1, 2] == Latency(cycles=3) and mul.latencies[1, 3] == Latency(cycles=4)


def test_an_indexed_address_takes_more_slots_on_sandy_bridge(store: FactsStore) -> None:
    add = record(store, "SNB", "ADD_GPRv_MEMv", "ADD (R64, M64)")
    assert (add.base.retire_slots, add.indexed.retire_slots) == (1, 2)
    assert add.latencies[2, 1] == Latency(address=6, address_index=6, memory=5)


def test_what_a_fence_a_lock_and_a_divider_block(store: FactsStore) -> None:
    (mfence,) = store.candidates("SKL", "MFENCE")
    assert mfence.base.tp is not None and mfence.base.tp > 1
    locked = [r for r in store.candidates("SKL", "XADD_LOCK_MEMv_GPRv") if r.locked]
    assert locked and all(r.base.tp is not None for r in locked)
    division = record(store, "SKL", "DIV_GPRv", "DIV (R64)")
    assert (division.base.divider_cycles, division.base.tp) == (7, 21)
    assert record(store, "SKL", "ADD_GPRv_GPRv_01", "ADD_01 (R64, R64)").base.tp is None


def test_what_fuses_with_a_branch(store: FactsStore) -> None:
    add = record(store, "SKL", "ADD_GPRv_GPRv_01", "ADD_01 (R64, R64)")
    assert "JZ (Rel8)" in add.macro_fusible_with and "JS (Rel8)" not in add.macro_fusible_with
    assert not record(store, "SKL", "MUL_GPRv", "MUL (R64)").macro_fusible_with


def test_constructed_records_say_so(store: FactsStore) -> None:
    measured = record(store, "SKL", "JZ_RELBRb", "JZ (Rel8)")
    constructed = record(store, "ICL", "JZ_RELBRb", "JZ (Rel8)")
    assert (measured.constructed, constructed.constructed) == (False, True)


def test_every_record_of_every_microarchitecture_can_be_read(store: FactsStore) -> None:
    with sqlite3.connect(default_tables()) as connection:
        forms = [form for (form,) in connection.execute("SELECT iform FROM forms")]
    found = 0
    for microarchitecture in store.microarchitectures():
        for form in forms:
            for facts in store.candidates(microarchitecture, form):
                found += 1
                numbers = {operand.index for operand in facts.operands}
                assert facts.base.uops is not None and facts.base.ports is not None
                assert all(start in numbers and target in numbers for start, target in facts.latencies)
    assert found == store.record_count


def test_look_ups_are_cached_and_unknown_forms_are_empty(store: FactsStore) -> None:
    assert store.candidates("SKL", "MUL_GPRv") is store.candidates("SKL", "MUL_GPRv")
    assert store.candidates("SKL", "NO_SUCH_FORM") == ()
    assert store.candidates("SKL", "") == ()


def test_an_unknown_microarchitecture_differs_from_an_unknown_form(store: FactsStore) -> None:
    with pytest.raises(TablesUnavailable, match="no figures for Z80, only for SNB, IVB"):
        store.candidates("Z80", "MUL_GPRv")


def test_facts_survive_the_way_to_another_process(store: FactsStore) -> None:
    facts = store.candidates("SKL", "MUL_GPRv")
    assert pickle.loads(pickle.dumps(facts)) == facts


def test_reading_leaves_no_trace_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "odd name #1?.sqlite"
    shutil.copy(default_tables(), path)
    path.chmod(0o444)
    store = open_store(path)
    assert store.candidates("SKL", "MUL_GPRv")
    store.close()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("folder", ["a b", "100%41", "what?#why", "\u00e9t\u00e9", "\udcff"])
def test_tables_are_opened_wherever_they_lie(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / "instructions.sqlite"
    shutil.copy(default_tables(), path)
    assert open_store(path).record_count > 0
    assert open_store(str(path)).candidates("SKL", "NOP_90")


def test_a_missing_file_tells_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(TablesUnavailable, match="missing: rebuild them with `cyclelens data import"):
        open_store(tmp_path / "instructions.sqlite")
    assert not list(tmp_path.iterdir())


def test_tables_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    shutil.copy(default_tables(), path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {encoding.SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(TablesUnavailable, match=f"have version {encoding.SCHEMA_VERSION + 1}"):
        open_store(path)


def test_files_that_are_not_tables(tmp_path: Path) -> None:
    empty, garbage, other = tmp_path / "empty", tmp_path / "garbage", tmp_path / "other"
    empty.write_bytes(b"")
    garbage.write_bytes(b"these are not tables" * 1000)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE forms (iform TEXT)")
    connection.close()
    for path in (empty, garbage, other):
        with pytest.raises(TablesUnavailable, match="does not hold instruction tables"):
            open_store(path)


def test_cut_off_tables_are_reported_not_half_read(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    content = Path(default_tables()).read_bytes()
    for size in (100, 4096, 8192, len(content) // 2):
        path.write_bytes(content[:size])
        with pytest.raises(TablesUnavailable):
            store = open_store(path)
            for form in ("ADD_GPRv_GPRv_01", "VPADDB_XMMdq_XMMdq_XMMdq", "XLAT", "AAA"):
                store.candidates("SKL", form)


def test_scattered_damage_is_reported_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    content = Path(default_tables()).read_bytes()
    chance = random.Random(1)
    reported = 0
    for _ in range(40):
        damaged = bytearray(content)
        for _ in range(2000):
            damaged[chance.randrange(100, len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            store = open_store(path)
            for microarchitecture in store.microarchitectures():
                store.candidates(microarchitecture, "LEA_GPRv_AGEN")
        except TablesUnavailable:
            reported += 1
    assert reported > 30


def test_an_overwritten_value_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    shutil.copy(default_tables(), path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE forms SET variants = '[[1,2' WHERE iform = 'MUL_GPRv'")
    connection.close()
    store = open_store(path)
    with pytest.raises(TablesUnavailable, match="is damaged: rebuild"):
        store.candidates("SKL", "MUL_GPRv")


def test_a_user_s_own_tables_are_used_where_they_are_named(tmp_path, capsys, monkeypatch):
    """A latency of 7 cycles that a file states is merged into tables of one's own; the shipped ones stay."""
    monkeypatch.setenv("CYCLELENS_DATA", "")
    shipped = Path(default_tables()).read_bytes()
    found, own, source = tmp_path / "found.xml", tmp_path / "own.sqlite", tmp_path / "chain.s"
    found.write_text(MEASURED.format(name="SKL").replace(' uops_same_reg="0"', ""))
    assert main(["data", "--data", str(own), "import", "--merge", str(found)]) == 0
    source.write_text("# cyclelens-begin\nimul %rax, %rax\n# cyclelens-end\n")
    capsys.readouterr()
    for words, cycles in ([], "7.00"), (["--data", str(own)], "7.00"):
        assert main(["analyze", str(source), "--arch", "SKL", *words]) == 0
        assert f"{cycles} cycles/iter" in capsys.readouterr().out
    monkeypatch.setenv("CYCLELENS_DATA", "")
    assert main(["analyze", str(source), "--arch", "SKL"]) == 0
    assert "3.00 cycles/iter" in capsys.readouterr().out
    assert Path(default_tables()).read_bytes() == shipped
    assert main(["analyze", str(source), "--data", str(tmp_path / "none")]) == 1
    assert "none are missing" in capsys.readouterr().err
