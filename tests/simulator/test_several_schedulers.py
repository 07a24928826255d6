"""A core of 17 units in three schedulers, which only its own file and the registry know."""

from __future__ import annotations

import json

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.reports.registry import render
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.simulated import cycles, rows_of, simulated
from testkit.wide_core import INTEGER, MEMORY, UNITS, VECTOR, WIDE

ADDS = "4883c0014883c3014883c1014883c2014883c6014883c701"
"""add rax, 1; add rbx, 1; ..: six chains."""
LOADS = "498b00498b18498b08498b10"
"""mov rax, [r8]; mov rbx, [r8]; .."""
DIVISIONS = "f20f5ec1" * 4
"""divsd xmm0, xmm1: a chain of the vector scheduler."""
LOOP = "49ffcf75"


def loop(code: str) -> str:
    """The code with dec r15; jnz to its start."""
    size = len(code) // 2 + 5
    return (
        f"{code}{LOOP}{256 - size:02x}" if size < 128 else f"{code}49ffcf0f85{(-size - 4) & 0xFFFFFFFF:08x}"
    )


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._MODELS, "WIDE", WIDE)


def test_it_is_as_wide_as_its_file_says() -> None:
    assert len(UNITS) == 17
    assert len(WIDE.schedulers) == 3
    assert sum(each.entries for each in WIDE.schedulers) == WIDE.reservation_station_size


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(ADDS, 1.17, id="six chains of add and the loop's own on six ALUs"),
        pytest.param(2 * LOADS, 2, id="eight loads on four units"),
        pytest.param("498900498958084989481049895018", 2, id="four stores on two data units"),
        pytest.param(LOADS + "c5f158d0c5f158d8", 1, id="loads and two vector additions"),
    ],
)
def test_units_of_each_class_work_side_by_side(code: str, expected: float) -> None:
    assert cycles(loop(code), "WIDE") == pytest.approx(expected, abs=0.02)


def waiting(code: str, unit_prefixes: tuple[str, ...]) -> int:
    """The most uops of these units that were in their scheduler at the end of a cycle."""
    rows = [row for row in rows_of(code, "WIDE", rounds=40) if row.port.startswith(unit_prefixes)]
    assert rows
    last = max(row.issued or 0 for row in rows)
    return max(
        sum(
            1
            for row in rows
            if row.issued is not None and row.issued <= cycle and (row.dispatched or last + 1) > cycle
        )
        for cycle in range(last + 1)
    )


def test_a_full_scheduler_holds_back_what_needs_it() -> None:
    """A chain of divisions fills the vector scheduler; the others are far from full."""
    code = loop(DIVISIONS + "4883c001")
    assert waiting(code, ("FP", "F2I")) == VECTOR.entries
    assert waiting(code, ("ALU",)) < INTEGER.entries
    assert simulated(code, "WIDE", min_cycles=5000).period is not None


def test_no_scheduler_holds_more_than_its_entries() -> None:
    chain = loop(DIVISIONS[:8] + "f20f5808" + 6 * "480fafc0" + "48890648037e08")
    assert waiting(chain, ("FP", "F2I")) <= VECTOR.entries
    assert waiting(chain, ("ALU",)) <= INTEGER.entries
    assert waiting(chain, ("AGU", "ST")) <= MEMORY.entries


def test_entries_are_held_from_issue_to_dispatch() -> None:
    """Six cycles pass in between: n entries let n / 6 uops a cycle through, of the seven of a round."""
    block = block_of(loop(ADDS), "WIDE", loop=True)
    figures = []
    for entries in (144, 72, 36):
        core = replace(WIDE, reservation_station_size=entries)
        figures.append(simulate(block, core).cycles_per_iteration)
        assert figures[-1] >= round(7 / min(6, core.scheduler_sizes[0] / 6), 2)
    assert figures == sorted(set(figures))


def test_reports_name_its_units() -> None:
    text = ".intel_syntax noprefix\n# cyclelens-begin x arch=WIDE\n.L: imul rax, rbx\nadd rcx, [rsi]\n"
    text += "dec r15\njnz .L\n# cyclelens-end\n"
    analysis = Analyzer().analyze(text, AnalysisOptions())
    table = render(analysis, "x.s", "text")
    assert "ALU1" in table and "AGU3" in table
    (region,) = json.loads(render(analysis, "x.s", "json"))["regions"]
    used = {port for line in region["predictions"][0]["rows"] for port in line["ports"]}
    assert used <= set(UNITS.names) and {"ALU1"} < used
