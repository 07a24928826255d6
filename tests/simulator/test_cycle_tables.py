"""Short blocks, one mechanism each, with every event of their first rounds as the uiCA model has it."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.model.options import PUBLISHED
from cyclelens.analyzer.model.simulation import TraceRow
from msgspec import Struct
from testkit.simulated import simulated


class Table(Struct, frozen=True):
    """One block; a row of ``rows`` is one uop, in the columns of ``COLUMNS``."""

    name: str
    about: str
    microarchitecture: str
    code: str
    cycles_per_iteration: float
    rows: str


COLUMNS = (
    *("round", "instruction", "source", "ports", "port"),
    *("predecoded", "added_to_idq", "issued", "ready", "dispatched", "executed", "retired"),
)
"""Of the second half of a fused pair there are only round and instruction, of a merge uop no source."""

TABLES = [
    Table(
        "dsb",
        "The DSB delivers a loop: a round a cycle, the chain of two additions sets the pace.",
        "SKL",
        "4801d84801c349ffcf75f5",
        2.0,
        """
        0 0 DSB   0156 6 - 0 1  6  6  8  9
        0 1 DSB   0156 5 - 0 1  8  8 10 11
        0 2 DSB   6    6 - 0 1  6  7  9 11
        0 3 fused
        1 0 DSB   0156 1 - 1 2  9  9 11 12
        1 1 DSB   0156 0 - 1 2 10 10 12 13
        1 2 DSB   6    6 - 1 2  9  9 11 13
        1 3 fused
        2 0 DSB   0156 5 - 2 3 11 11 13 14
        2 1 DSB   0156 1 - 2 3 12 12 14 15
        2 2 DSB   6    6 - 2 3 10 10 12 15
        2 3 fused
        """,
    ),
    Table(
        "lsd",
        "The LSD delivers from before the first cycle, rounds share issue cycles within a batch.",
        "HSW",
        "4801d84801c349ffcf75f5",
        2.0,
        """
        0 0 LSD   0156 6 - - 0  5  5  7  8
        0 1 LSD   0156 5 - - 0  7  7  9 10
        0 2 LSD   6    6 - - 0  5  6  8 10
        0 3 fused
        1 0 LSD   0156 5 - - 0  8  8 10 11
        1 1 LSD   0156 1 - - 1  9  9 11 12
        1 2 LSD   6    6 - - 1  8  8 10 12
        1 3 fused
        2 0 LSD   0156 1 - - 1 10 10 12 13
        2 1 LSD   0156 0 - - 1 11 11 13 14
        2 2 LSD   6    6 - - 2  9  9 11 14
        2 3 fused
        """,
    ),
    Table(
        "length-changing-prefix",
        "Three prefixed instructions begin in the first 16 bytes: nine cycles of predecoder stall.",
        "SKL",
        "6605341249ffcf",
        3.42,
        """
        0 0 MITE 0156 6  9 12 13 18 18 20 21
        0 1 MITE 0156 5  9 12 13 18 18 20 21
        1 0 MITE 0156 6  9 12 13 20 20 22 23
        1 1 MITE 0156 5  9 19 20 25 25 27 28
        2 0 MITE 0156 1 16 19 20 25 25 27 28
        2 1 MITE 0156 5 16 19 20 27 27 29 30
        3 0 MITE 0156 1 16 19 20 27 27 29 30
        3 1 MITE 0156 0 16 20 21 28 28 30 31
        """,
    ),
    Table(
        "predecoder",
        "Five instructions a cycle out of a 16-byte block; the last ones of a block come late.",
        "SKL",
        "4183ff0119c083e00885c98945c4b8010000000f4fc139c2",
        3.01,
        """
        0 0 MITE 0156 6 0 3  4  9  9 11 12
        0 1 MITE 06   0 0 3  4 11 11 13 14
        0 2 MITE 0156 6 0 3  4 12 12 14 15
        0 3 MITE 0156 5 0 3  4  9  9 11 15
        0 4 MITE 237  7 0 4  5 10 10 15 16
        0 4 MITE 4    4 0 4  5 13 13 15 16
        0 5 MITE 0156 1 2 5  6 11 11 13 16
        0 6 MITE 06   0 2 6  7 13 13 15 16
        0 7 MITE 0156 1 2 6  7 14 14 16 17
        1 0 MITE 0156 5 2 6  7 12 12 14 17
        1 1 MITE 06   6 2 6  7 14 14 16 17
        1 2 MITE 0156 5 4 7  8 15 15 17 18
        1 3 MITE 0156 1 4 7  8 13 13 15 18
        1 4 MITE 237  3 4 7  8 13 13 18 19
        1 4 MITE 4    4 4 7  8 16 16 18 19
        1 5 MITE 0156 1 4 7  8 13 15 17 19
        1 6 MITE 06   0 4 8  9 16 16 18 19
        1 7 MITE 0156 6 5 9 10 17 17 19 20
        """,
    ),
    Table(
        "dsb-to-microcode",
        "Two empty cycles before the microcode, then the DSB goes on at once.",
        "SKL",
        "48f726fc49ffcf75f7",
        6.0,
        """
        0 0 DSB   23   2 -  0  1  6  6 11 16
        0 0 DSB   1    1 -  0  1 11 11 15 16
        0 0 DSB   5    5 -  0  1 11 11 13 16
        0 1 DSB   0156 6 -  1  2  7  7  9 16
        0 1 MS    06   0 -  4  5 10 10 12 16
        0 1 MS    -    - -  4  5  -  -  5 17
        0 2 DSB   6    6 -  5  6 11 11 13 17
        0 3 fused
        1 0 DSB   23   3 -  6  7 12 12 17 22
        1 0 DSB   1    1 -  6  7 17 17 21 22
        1 0 DSB   5    5 -  6  7 17 17 19 22
        1 1 DSB   0156 0 -  7  8 13 13 15 22
        1 1 MS    06   6 - 10 11 16 16 18 22
        1 1 MS    -    - - 10 11  -  - 11 23
        1 2 DSB   6    6 - 11 12 17 17 19 23
        1 3 fused
        """,
    ),
    Table(
        "decoders-to-microcode",
        "One empty cycle before the microcode and one behind it.",
        "SKL",
        "4889d8fc4889d1",
        5.0,
        """
        0 0 MITE 0156 elim 0  3  4  -  -  4  5
        0 1 MITE 0156 6    0  4  5 10 10 12 13
        0 1 MS   06   0    0  6  7 12 12 14 15
        0 1 MS   -    -    0  6  7  -  -  7 15
        0 2 MITE 0156 elim 0  8  9  -  -  9 15
        1 0 MITE 0156 elim 0  8  9  -  -  9 15
        1 1 MITE 0156 5    0  9 10 15 15 17 18
        1 1 MS   06   6    0 11 12 17 17 19 20
        1 1 MS   -    -    0 11 12  -  - 12 20
        1 2 MITE 0156 elim 1 13 14  -  - 14 20
        2 0 MITE 0156 elim 2 13 14  -  - 14 20
        2 1 MITE 0156 1    2 14 15 20 20 22 23
        2 1 MS   06   0    2 16 17 22 22 24 25
        2 1 MS   -    -    2 16 17  -  - 17 25
        2 2 MITE 0156 elim 2 18 19  -  - 19 25
        """,
    ),
    Table(
        "stack-sync",
        "A load from the stack behind a PUSH needs the stack engine's uop first.",
        "SKL",
        "50488b5c240859",
        1.0,
        """
        0 0 MITE 237  7 0 3 4  9  9 14 15
        0 0 MITE 4    4 0 3 4  9  9 11 15
        0 1 SE   0156 5 0 3 4  9  9 11 15
        0 1 MITE 23   2 0 3 4 11 11 15 16
        0 2 MITE 23   3 0 3 4 11 11 15 16
        1 0 MITE 237  7 0 3 5 11 11 16 17
        1 0 MITE 4    4 0 3 5 10 10 12 17
        1 1 MITE 23   2 0 4 5 11 12 16 17
        1 2 MITE 23   3 1 4 5 11 12 20 21
        """,
    ),
    Table(
        "merge",
        "The merge uop issues alone in a cycle, the instruction that needs it in the next.",
        "SKL",
        "88dc01c80fb6d449ffc875f4",
        2.0,
        """
        0 0 DSB   0156 6 - 0 1  6  6  8  9
        0 1 merge 15   5 - - 2  8  8 10 11
        0 1 DSB   0156 1 - 0 3 10 10 12 13
        0 2 DSB   0156 0 - 0 3 11 11 13 14
        0 3 DSB   6    6 - 0 3  8  8 10 14
        0 4 fused
        1 0 DSB   0156 0 - 1 3  8  8 10 14
        1 1 merge 15   5 - - 4 10 10 12 14
        1 1 DSB   0156 1 - 1 5 12 12 14 15
        1 2 DSB   0156 6 - 1 5 13 13 15 16
        1 3 DSB   6    6 - 1 5 10 10 12 16
        1 4 fused
        """,
    ),
    Table(
        "store-forwarding",
        "A load gets its value four cycles after the store's data and address are known.",
        "SKL",
        "48890424488b0424",
        5.0,
        """
        0 0 MITE 237 7 0 3 4  9  9 14 15
        0 0 MITE 4   4 0 3 4  9  9 11 15
        0 1 MITE 23  2 0 3 4  9  9 18 19
        1 0 MITE 237 7 0 3 4  9 10 15 21
        1 0 MITE 4   4 0 3 4 18 18 20 21
        1 1 MITE 23  3 0 3 4  9  9 23 24
        2 0 MITE 237 3 1 4 5 10 10 15 26
        2 0 MITE 4   4 1 4 5 23 23 25 26
        2 1 MITE 23  2 1 4 5 10 10 28 29
        """,
    ),
    Table(
        "move-elimination",
        "Some moves get a port once the slots for shared values are taken.",
        "IVB",
        "4889d84889c349ffcf75f5",
        1.0,
        """
        0 0 LSD   015 elim - - 0  -  -  0  1
        0 1 LSD   015 elim - - 0  -  -  0  1
        0 2 LSD   5   5    - - 0  5  5  7  8
        0 3 fused
        1 0 LSD   015 elim - - 1  -  -  1  8
        1 1 LSD   015 elim - - 1  -  -  1  8
        1 2 LSD   5   5    - - 1  7  7  9 10
        1 3 fused
        2 0 LSD   015 0    - - 2  7  7  9 10
        2 1 LSD   015 5    - - 2  9  9 11 12
        2 2 LSD   5   5    - - 2  9 10 12 13
        2 3 fused
        3 0 LSD   015 elim - - 3  -  -  3 13
        3 1 LSD   015 1    - - 3 10 10 12 13
        3 2 LSD   5   5    - - 3 11 11 13 14
        3 3 fused
        4 0 LSD   015 elim - - 4  -  -  4 14
        4 1 LSD   015 elim - - 4  -  -  4 14
        4 2 LSD   5   5    - - 4 12 12 14 15
        4 3 fused
        5 0 LSD   015 elim - - 5  -  -  5 15
        5 1 LSD   015 0    - - 5 12 12 14 15
        5 2 LSD   5   5    - - 5 13 13 15 16
        5 3 fused
        """,
    ),
    Table(
        "read-modify-write",
        "The chain runs through memory: load, add, store, forward.",
        "SKL",
        "48830601",
        6.0,
        """
        0 0 MITE 23   2 0 3 4  9  9 14 17
        0 0 MITE 0156 6 0 3 4 14 14 16 17
        0 0 MITE 237  3 0 3 4  9  9 14 18
        0 0 MITE 4    4 0 3 4 15 15 17 18
        1 0 MITE 23   3 0 4 5 10 10 20 23
        1 0 MITE 0156 5 0 4 5 20 20 22 23
        1 0 MITE 237  3 0 4 5 10 11 16 24
        1 0 MITE 4    4 0 4 5 21 21 23 24
        """,
    ),
    Table(
        "unlamination",
        "Four issue slots: each uop retires on its own.",
        "SNB",
        "4801043e",
        6.0,
        """
        0 0 MITE 23  2 0 3 4  9  9 14 15
        0 0 MITE 015 5 0 3 4 14 14 16 17
        0 0 MITE 23  3 0 3 4  9  9 14 17
        0 0 MITE 4   4 0 3 4 15 15 17 18
        1 0 MITE 23  2 0 4 5 10 10 20 21
        1 0 MITE 015 5 0 4 5 20 20 22 23
        1 0 MITE 23  3 0 4 5 10 10 15 23
        1 0 MITE 4   4 0 4 5 21 21 23 24
        """,
    ),
    Table(
        "divider",
        "The divider takes one division at a time; its uops come late from microcode.",
        "SKL",
        "f7f1",
        24.0,
        """
        0 0 MITE 0    0 0  3  4  9  9 11 12
        0 0 MITE 0    0 0  3  4 11 11 35 36
        0 0 MITE 0156 6 0  3  4  9  9 11 36
        0 0 MS   0156 5 0  5  6 11 11 13 36
        0 0 MS   06   0 0  5  6 11 12 14 36
        0 0 MS   15   5 0  5  6 11 12 14 37
        0 0 MS   5    5 0  5  6 11 13 15 37
        0 0 MS   5    5 0  6  7 12 14 16 37
        0 0 MS   5    5 0  6  7 12 15 17 37
        0 0 MS   5    5 0  6  7 12 16 18 38
        1 0 MITE 0    0 0  8  9 14 14 16 38
        1 0 MITE 0    0 0  8  9 35 35 59 60
        1 0 MITE 0156 1 0  8  9 35 35 37 60
        1 0 MS   0156 6 0 10 11 35 35 37 60
        1 0 MS   06   6 0 10 11 35 36 38 60
        1 0 MS   15   1 0 10 11 35 36 38 61
        1 0 MS   5    5 0 10 11 35 35 37 61
        1 0 MS   5    5 0 11 12 35 36 38 61
        1 0 MS   5    5 0 11 12 35 37 39 61
        1 0 MS   5    5 0 11 12 35 38 40 62
        """,
    ),
]


def as_text(row: TraceRow) -> list[str]:
    """The row in the columns of the tables."""
    if row.kind == "fused":
        return [str(row.round), str(row.instruction), "fused"]
    values = [
        "-" if value in (None, "") else str(value) for value in (getattr(row, name) for name in COLUMNS)
    ]
    if row.kind == "merge":
        values[COLUMNS.index("source")] = "merge"
    return values


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_event(table: Table) -> None:
    """Each event of the first rounds happens in exactly the cycle stated, and the figure follows, in the
    published model."""
    result = simulated(table.code, table.microarchitecture, trace=True, options=PUBLISHED)
    expected = [line.split() for line in table.rows.strip().splitlines()]
    assert result.trace is not None
    assert [as_text(row) for row in result.trace.rows[: len(expected)]] == expected, table.about
    assert result.cycles_per_iteration == table.cycles_per_iteration


def test_sync_uops_are_recognized() -> None:
    """A stack-engine uop has the source SE and stands before its instruction."""
    table = next(table for table in TABLES if table.name == "stack-sync")
    result = simulated(table.code, table.microarchitecture, trace=True)
    assert result.trace is not None
    kinds = [(row.instruction, row.kind, row.source) for row in result.trace.rows if row.round == 0]
    assert kinds == [
        (0, "uop", "MITE"),
        (0, "uop", "MITE"),
        (1, "sync", "SE"),
        (1, "uop", "MITE"),
        (2, "uop", "MITE"),
    ]
