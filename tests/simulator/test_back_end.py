"""Renamer, ports, scheduler, memory and retirement. Rule labels as in docs/pipeline.md."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.model.options import PUBLISHED
from testkit.simulated import column, cycles, rows_of, simulated

DEC_JNZ = "49ffcf75"
ORS = "4809f0" + "4809f3" + "4809f1" + "4809f2"
"""OR of RSI into RAX, RBX, RCX and RDX: one cycle, any arithmetic port, no macro-fusion."""

# --- renamer (3.9) -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "width"), [("SNB", 4), ("HSW", 4), ("SKL", 4), ("ICL", 5), ("RKL", 5)])
def test_issue_width(name: str, width: int) -> None:
    """R4: fused uops issued in a cycle, from an LSD or DSB that delivers enough."""
    issued = column("90" * 15 + DEC_JNZ + "ee", name, "issued", rounds=2)
    counts = [issued.count(cycle) for cycle in {cycle for cycle in issued if cycle is not None}]
    assert max(counts) == width


def test_merge_uops_issue_alone() -> None:
    """R1: the merge uop has a cycle for itself, its instruction comes in a later one."""
    rows = rows_of("88dc01c80fb6d449ffc875f4", "SKL")
    merge = next(row for row in rows if row.kind == "merge")
    assert [row.kind for row in rows if row.issued == merge.issued] == ["merge"]
    (instruction,) = [row for row in rows if row.instruction == merge.instruction and row.kind == "uop"]
    assert instruction.issued is not None
    assert merge.issued is not None
    assert instruction.issued > merge.issued


def test_serialising_instruction() -> None:
    """R2: LFENCE issues when everything before it has retired."""
    rows = rows_of("480fafc1" * 3 + "0faee8" + "90", "SKL", rounds=2)
    for number in (0, 1):
        before = [row for row in rows if (row.round, row.instruction) < (number, 3)]
        (fence, *_) = [row for row in rows if (row.round, row.instruction) == (number, 3)]
        assert fence.issued is not None
        assert fence.issued >= max(row.retired or 0 for row in before)


def test_unlaminated_uops_issue_together() -> None:
    """R3: if both halves of an indexed load and addition do not fit in the cycle, both wait."""
    code = "90" * 3 + "c5f458043e" + "90"
    rows = rows_of(code, "SKL")
    assert [row.issued for row in rows] == [4, 4, 4, 5, 5, 5]


@pytest.mark.parametrize(
    ("name", "eliminated"), [("SNB", 0.0), ("ICL", 0.0), ("RKL", 1.0)], ids=["never", "off", "always"]
)
def test_share_of_eliminated_moves(name: str, eliminated: float) -> None:
    """V4, table 1.3: none on Sandy Bridge, off on Ice Lake, without limit on Rocket Lake."""
    result = simulated("4889d8" + "4889c3", name)
    assert [1 - share for share in result.elimination] == [eliminated] * 2


def test_vector_moves_on_ice_lake() -> None:
    """Table 1.3: elimination of vector moves has no limit there."""
    assert set(simulated("0f28c1" + "0f28c8", "ICL").elimination) == {0.0}


def test_slots_for_shared_values() -> None:
    """Table 1.3: with four slots some moves are eliminated and some are not."""
    for code in ("4889d8" + "4889c3" + "4889c1", "0f28c1" + "0f28c8" + "0f28d0"):
        result = simulated(code + DEC_JNZ + "f2", "IVB")
        assert 0 < sum(result.elimination[:3]) < 3


@pytest.mark.parametrize(("name", "eliminated"), [("IVB", True), ("HSW", False), ("SKL", False)])
def test_values_that_one_register_still_holds(name: str, eliminated: bool) -> None:
    """Y1: four values are shared, then their sources get others. On Ivy Bridge that frees the slots, on
    later chips each stays taken until the target is overwritten too."""
    moves = "4989c0" + "4989d9" + "4989ca" + "4989d3"
    overwritten = "488d06" + "488d1e" + "488d0e" + "488d16"
    last = rows_of(moves + overwritten + "90" * 24 + "4989f4", name)[-1]
    assert (last.port == "elim") is eliminated


def test_eliminated_move() -> None:
    """Y2: it has no port and completes when it issues; its reader waits for the source's producer."""
    rows = rows_of("480fafc1" + "4889c3" + "4801d9", "SKL")
    multiply, move, add = rows
    assert (move.port, move.ready, move.dispatched) == ("elim", None, None)
    assert move.executed == move.issued
    assert multiply.dispatched is not None
    assert add.dispatched == multiply.dispatched + 3


def test_zero_idiom_makes_its_register_ready() -> None:
    """W1: behind the idiom a long chain is cut."""
    chain = "480fafc0" * 2
    assert cycles(chain, "SKL") == 6
    assert cycles("31c0" + chain, "SKL") == 2


def test_zero_idiom_leaves_the_flags() -> None:
    """W1: an ADC behind XOR depends on the carry of the instruction before."""
    assert cycles("31c0" + "4811c3", "SKL") == 1
    assert cycles("31c0" + "4811c0", "SKL") == 1


@pytest.mark.parametrize(("condition", "producer"), [("44", 1), ("42", 0)], ids=["zero", "carry"])
def test_carry_and_the_other_flags_are_apart(condition: str, producer: int) -> None:
    """O4: INC behind a multiplication replaces the zero flag and leaves the carry to the multiplication."""
    rows = rows_of("480fafc1" + "48ffc6" + f"480f{condition}da", "SKL")
    dispatched = rows[producer].dispatched
    assert dispatched is not None
    # The value of INC comes one cycle behind the earliest moment, hence the extra cycle.
    assert rows[2].ready == dispatched + {0: 3, 1: 2}[producer]


# --- ports (3.11.1) ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ports"), [("SNB", "0510"), ("HSW", "6565"), ("SKL", "6565"), ("ICL", "6510")]
)
def test_first_ports(name: str, ports: str) -> None:
    """With all ports idle the place in the issue group decides, in the published model on all cores."""
    rows = rows_of(ORS, name, options=PUBLISHED)
    assert {row.issued for row in rows} == {4}
    assert "".join(row.port for row in rows) == ports


def test_fifth_slot_on_ice_lake() -> None:
    """The fifth uop of a cycle takes the first choice again."""
    rows = rows_of(ORS + "4909f0" + DEC_JNZ + "ec", "ICL")
    assert "".join(row.port for row in rows[:5]) == "65106"


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL"])
def test_loads_alternate(name: str) -> None:
    """Load ports take turns, whatever else happens; in the published model they begin with the lower one."""
    assert "".join(column("488b06" + "90", name, "port", rounds=6, options=PUBLISHED)) == "232323"
    assert "".join(column("488b06" + "90", name, "port", rounds=6)) in {"232323", "323232"}


def test_stores_alternate_on_ice_lake() -> None:
    """Store-data and store-address ports take turns there as well."""
    ports = column("488906", "ICL", "port", rounds=4)
    assert ports[0::2] == ["7", "8", "7", "8"]
    assert ports[1::2] == ["4", "9", "4", "9"]


def test_indexed_stores_keep_off_port_7() -> None:
    """U2: an indexed store on Haswell keeps off port 7, a plain one does not."""
    plain = simulated("488906", "HSW").usage[0].ports
    indexed = simulated("4889043e", "HSW").usage[0].ports
    assert "7" in plain
    assert set(indexed) == {"2", "3", "4"}


# --- scheduler (3.11.2 to 3.12) ------------------------------------------------------------------------


def test_issue_to_dispatch() -> None:
    """3.11.4: five cycles from issue to dispatch if nothing is awaited."""
    (row,) = rows_of("480fafc1", "SKL")
    assert (row.ready, row.dispatched, row.executed) == (9, 9, 12)


@pytest.mark.parametrize(
    ("code", "waits"),
    [("4801d8" + "4801d8", 2), ("480fafc1" + "4801d8", 3), ("f30fb8c1" + "4801d8", 3)],
    ids=["one cycle", "three cycles", "three cycles, popcnt"],
)
def test_input_that_just_arrives(code: str, waits: int) -> None:
    """3.11.4: a value that is there at the earliest moment or a cycle later costs one cycle more; a value
    that comes later does not."""
    first, second = rows_of(code, "SKL")
    assert first.dispatched is not None
    assert second.ready == first.dispatched + waits


def test_completion_takes_two_cycles() -> None:
    """3.12: even a one-cycle uop completes two cycles behind its dispatch, and retires a cycle later."""
    (row,) = rows_of("4801d8", "SKL")
    assert row.dispatched is not None
    assert (row.executed, row.retired) == (row.dispatched + 2, row.dispatched + 3)


def test_oldest_first() -> None:
    """3.12: of several ready uops on one port the oldest goes first."""
    rows = rows_of("480fafc1480fafd1480faff1", "SKL")
    assert [row.port for row in rows] == ["1", "1", "1"]
    assert [row.dispatched for row in rows] == [9, 10, 11]


def test_divider() -> None:
    """Z3: a second division waits until the first leaves the divider, other uops use port 0 meanwhile."""
    rows = rows_of("0f5ec1" + "0f5ed3" + "0f5ee5", "SKL")
    dispatched = [row.dispatched for row in rows]
    assert [row.port for row in rows] == ["0", "0", "0"]
    assert [cycle - dispatched[0] for cycle in dispatched if cycle and dispatched[0]] == [0, 3, 6]
    assert simulated("0f5ec1", "SKL").usage[0].divider == 3.0


@pytest.mark.parametrize(
    ("code", "published", "expected"),
    [("f00106", 18, 18), ("f00106" + "f0010f", 36, 36), ("f00106" + "f048010f", 18, 36)],
    ids=["one", "two of a kind", "two kinds"],
)
def test_throughput_of_locked_instructions(code: str, published: float, expected: float) -> None:
    """3.11.5: instances of one variant keep the distance that the table states, whatever their operands; in
    the published model other variants do not matter, on a real core they do (D9)."""
    assert cycles(code, "SKL", options=PUBLISHED) == pytest.approx(published, abs=0.5)
    assert cycles(code, "SKL") == pytest.approx(expected, abs=0.5)


# --- memory (3.11.2, 3.11.3, chapter 4) ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("488b00", 4),
        ("488b4008", 4),
        ("488b40f8", 5),
        ("488b80ff070000", 4),
        ("488b8000080000", 5),
        ("488b0418", 5),
        ("31db" + "488b0418", 4),
        ("488b18" + "4889d8", 4),
        ("8b18" + "89d8", 5),
        ("488b00" + "4889c0", 6),
        ("488b00" + "4883c008", 6),
        ("488b00" + "4801d8", 6),
        ("8b00", 4),
    ],
    ids=[
        "plain",
        "small displacement",
        "negative displacement",
        "largest displacement",
        "too large",
        "index",
        "zeroed index",
        "eliminated move",
        "eliminated 32-bit move",
        "move to itself",
        "constant added",
        "register added",
        "32 bits",
    ],
)
def test_fast_pointer_chasing(code: str, expected: float) -> None:
    """3.11.3: four cycles if the base comes straight from a load, with a displacement below 2048 and no
    live index; moves are looked through."""
    assert cycles(code + DEC_JNZ + "00", "SKL") == expected


def test_no_fast_pointer_chasing_on_ice_lake() -> None:
    """Table 1.3: loads always take five cycles."""
    assert cycles("488b00", "ICL") == 5


def test_forwarding() -> None:
    """3.11.2: a load ends four cycles after address and data of its store are known, not earlier."""
    address, data, load = rows_of("48890424" + "488b0424", "SKL")
    assert address.dispatched is not None
    assert data.dispatched is not None
    assert load.executed == max(address.dispatched + 5, data.dispatched + 1) + 4


@pytest.mark.parametrize(
    ("store", "load", "forwards"),
    [
        ("48894608", "488b4608", True),
        ("48894608", "488b4610", False),
        ("4889043e", "488b043e", True),
        ("4889043e", "488b0437", False),
        ("48894608", "8b4608", True),
        ("48890424", "58", True),
    ],
    ids=[
        "same",
        "other displacement",
        "same index",
        "base and index swapped",
        "other width",
        "stack",
    ],
)
def test_which_accesses_meet(store: str, load: str, forwards: bool) -> None:
    """4.1: base value, index value, scale and displacement must agree; width does not matter."""
    assert (cycles(store + load, "SKL", loop=False) >= 5) is forwards


@pytest.mark.parametrize(
    ("between", "forwards"),
    [
        ("4883c608" + "4883ee08" + "488b06", True),
        ("4883c608" + "4883ee10" + "488b06", False),
        ("48ffc6" + "48ffce" + "488b06", True),
        ("4889f7" + "488b07", True),
        ("488d36" + "488b06", False),
        ("4883c608" + "488b46f8", False),
    ],
    ids=["add, sub", "add, more sub", "inc, dec", "mov", "lea", "same place by another sum"],
)
def test_symbolic_addresses(between: str, forwards: bool) -> None:
    """4.2: the published model follows register values through MOV, ADD, SUB, INC and DEC of constants,
    nothing else; base value and displacement are compared apart."""
    rows = rows_of("48890e" + between, "SKL", options=PUBLISHED)
    load = rows[-1]
    assert load.dispatched is not None
    assert load.executed is not None
    assert (load.executed - load.dispatched > 5) is forwards


def test_the_newest_store_forwards() -> None:
    """4.3: of two stores to one address the later one counts."""
    rows = rows_of("48890e" + "480fafd1" * 3 + "488916" + "488b3e", "SKL")
    last_data, load = rows[-2], rows[-1]
    assert last_data.dispatched is not None
    assert load.executed == last_data.dispatched + 1 + 4


@pytest.mark.parametrize(
    ("second", "expected"),
    [("48895e08", 1.0), ("48895e3f", 1.0), ("48895e40", 2.0), ("48891f", 2.0)],
    ids=["8 bytes apart", "63 bytes apart", "64 bytes apart", "other register"],
)
def test_paired_stores(second: str, expected: float) -> None:
    """Z1: on Ice Lake two stores go together if their addresses differ by less than 64 bytes."""
    assert cycles("488906" + second, "ICL") == expected


@pytest.mark.parametrize(("name", "expected"), [("SNB", 2.0), ("IVB", 2.0), ("HSW", 1.0)])
def test_256_bit_accesses(name: str, expected: float) -> None:
    """Z2, Z4: before Haswell two 256-bit loads take two cycles, and so does one store."""
    assert cycles("c5fc2806" + "c5fc280f", name) == expected
    assert cycles("c5fc2906", name) == expected


# --- fences (3.13) -------------------------------------------------------------------------------------


def test_load_fence() -> None:
    """MFENCE is ready when all older loads completed; younger loads and stores become ready behind it."""
    rows = rows_of("488b06" + "0faef0" + "488b1f", "SKL")
    first, fence, last = rows[0], rows[1], rows[-1]
    assert first.executed is not None
    assert fence.ready is not None
    assert fence.executed is not None
    assert fence.ready >= first.executed
    assert last.ready is not None
    assert last.ready >= fence.executed


def test_store_fence() -> None:
    """SFENCE holds back stores but not loads (published model; the hardware model: D8)."""
    code = "480fafc1" * 4 + "488906" + "0faef8" + "48890f" + "488b1b"
    rows = rows_of(code, "SKL", options=PUBLISHED)
    before = [row for row in rows if row.instruction == 4]
    fence = next(row for row in rows if row.instruction == 5)
    after = [row for row in rows if row.instruction == 6]
    load = rows[-1]
    assert fence.ready is not None
    assert fence.executed is not None
    assert fence.ready >= max(row.executed or 0 for row in before)
    assert min(row.ready or 0 for row in after) >= fence.executed
    assert load.ready is not None
    assert load.ready < fence.ready


# --- reorder buffer (3.10) -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "width"), [("SNB", 4), ("HSW", 4), ("SKL", 4), ("ICL", 8)])
def test_retire_width(name: str, width: int) -> None:
    """What piled up behind a slow instruction retires as fast as the width allows."""
    rows = rows_of("480fafc0" * 3 + "90" * 30, name)
    retired = [row.retired for row in rows]
    assert max(retired.count(cycle) for cycle in set(retired)) == width


@pytest.mark.parametrize(("name", "size", "width"), [("SNB", 168, 4), ("SKL", 224, 4), ("ICL", 352, 5)])
def test_reorder_buffer_size(name: str, size: int, width: int) -> None:
    """It takes no more when a full group might not fit, so it never holds more than its size."""
    rows = rows_of("48f7f1" * 8 + "90" * 400, name)
    fused = {(row.round, row.instruction, row.idq_uop, row.fused_uop): row for row in rows}.values()
    held = max(
        sum(1 for row in fused if (row.issued or 0) <= cycle < (row.retired or 0)) for cycle in range(300)
    )
    assert size - width < held <= size


def test_sixty_four_bit_addresses_are_addresses_too() -> None:
    """A MOV with an absolute address forwards from a store to the same address, and from no other."""
    store, load = "48a3{}", "48a1{}"
    here, there = "8877665544332211", "9977665544332211"
    same = cycles(store.format(here) + load.format(here), "SKL")
    other = cycles(store.format(here) + load.format(there), "SKL")
    assert same > other
