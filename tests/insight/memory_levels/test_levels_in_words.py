"""What is said of the data of a region, by values of each kind."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight.memory_levels.wording import (
    bytes_per_iteration,
    latencies,
    line,
    rough,
    sentences,
)
from cyclelens.analyzer.model.memory_levels import ChosenData, DataLevels, LevelFigure, Stream, Translation
from cyclelens.analyzer.model.provenance import Certainty, Source
from msgspec.structs import replace

NEAR = (LevelFigure("L1", 1.0, 4.0), LevelFigure("L2", 2.14, 14.4), LevelFigure("memory", 11.2))
LOADS = DataLevels((Stream("rsi", 64, 1.0), Stream("rdi", -32, 0.5)), figures=NEAR)
UNKNOWN = tuple(replace(figure, cycles=None) for figure in NEAR)
SOURCE = Source(Certainty.MEASURED, "here", "measured")
LINE = "1.00 in L1 · 2.1 L2 · 11 memory"
LEAST = "at least 1.00 in L1 · at least 2.1 L2 · at least 11 memory"
MOVES = "an iteration moves on by 96 bytes"
BY_LEVEL = "cycles per iteration by where the data are"
LATENCIES = "4 cycles from L1 · 14 L2"


@pytest.mark.parametrize(
    ("data", "least", "text"),
    [
        (LOADS, "", LINE),
        (LOADS, "at least ", LEAST),
        (replace(LOADS, streams=()), "", ""),
        (replace(LOADS, streams=(), scattered=(1,), chased=(1,)), "", LINE),
        # The farther figures lack what is neither a stream nor waited for.
        (replace(LOADS, scattered=(1,)), "", "1.00 in L1 · at least 2.1 L2 · at least 11 memory"),
        (replace(LOADS, scattered=(1,)), "at least ", LEAST),
        (replace(LOADS, far=(1,), figures=NEAR[:1]), "", "1.00 in L1"),
        (replace(LOADS, figures=UNKNOWN), "", ""),
        (replace(LOADS, figures=(NEAR[0], UNKNOWN[1])), "", "1.00 in L1 · L2 not known"),
        (replace(LOADS, figures=(UNKNOWN[0], NEAR[1])), "", "L1 not known · 2.1 L2"),
    ],
)
def test_figures_by_level(data: DataLevels, least: str, text: str) -> None:
    assert line(data, least) == text


@pytest.mark.parametrize(
    ("nearest", "farther", "text"),
    [
        (1.25, (1.25, 1.254), "1.25 in L1 · 1.25 L2 · 1.25 memory"),
        (1.34, (1.34, 1.35), "1.34 in L1 · 1.34 L2 · 1.4 memory"),
        (1.34, (1.345, 1.6), "1.34 in L1 · 1.34 L2 · 1.6 memory"),
        (1.32, (1.33, 1.36), "1.32 in L1 · 1.33 L2 · 1.4 memory"),
        (12.3, (12.3, 12.4), "12.30 in L1 · 12.30 L2 · 12.40 memory"),
        (4.0, (4.0, 4.02), "4.00 in L1 · 4.00 L2 · 4.0 memory"),
    ],
)
def test_no_level_looks_faster_than_a_nearer_one(
    nearest: float, farther: tuple[float, float], text: str
) -> None:
    figures = [LevelFigure("L1", nearest)]
    figures += [LevelFigure(name, time) for name, time in zip(("L2", "memory"), farther, strict=True)]
    assert line(replace(LOADS, figures=tuple(figures))) == text


@pytest.mark.parametrize(("cycles", "text"), [(1.0, "1.0"), (9.94, "9.9"), (9.96, "10"), (10.6, "11")])
def test_two_digits(cycles: float, text: str) -> None:
    assert rough(cycles) == text


def test_latencies_by_level() -> None:
    assert latencies(LOADS) == LATENCIES
    assert latencies(replace(LOADS, figures=NEAR[1:])) == "14 cycles from L2"
    assert latencies(replace(LOADS, figures=NEAR[2:])) == ""


def test_an_iteration_moves_by_the_steps_of_all_streams() -> None:
    assert bytes_per_iteration(LOADS) == 96
    assert bytes_per_iteration(replace(LOADS, streams=())) == 0


SCATTERED = replace(LOADS, scattered=(1,))
CHASED = replace(LOADS, streams=(), scattered=(1,), chased=(1,))
ONLY_L1 = (
    "All data come from the first-level cache, although {}: the times of the other levels are not known for "
    "this core."
)
NOT_NEAREST = "Data in L3 has no figure, so the figure is for L1."
DECIDES = "The data decide which addresses are touched: a load takes {}, and the figure is for L1."
TLB = (
    "Beyond 64 pages (256 KiB of 4 KiB pages) a load takes up to 7 cycles longer, for the translation of its "
    "address."
)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (LOADS, f"{LINE}: {BY_LEVEL}; {MOVES}."),
        (
            replace(LOADS, streams=(Stream("rsi", 1, 0.1),)),
            f"{LINE}: {BY_LEVEL}; an iteration moves on by 1 byte.",
        ),
        (replace(LOADS, file="l.json"), f"{LINE}: {BY_LEVEL} (levels measured: l.json); {MOVES}."),
        (
            replace(LOADS, chosen=ChosenData("data in L3")),
            f"{LINE}: {BY_LEVEL}; {MOVES}. {NOT_NEAREST}",
        ),
        (replace(LOADS, chosen=ChosenData("data in L2", 2.14)), f"{LINE}: {BY_LEVEL}; {MOVES}."),
        (
            replace(LOADS, streams=(replace(LOADS.streams[0], step=96, non_temporal=True),)),
            f"{LINE}: {BY_LEVEL}; {MOVES}. Non-temporal stores go to memory in any case.",
        ),
        (CHASED, f"{LINE}: {BY_LEVEL}; each iteration waits for a load whose address the data decide."),
        (
            replace(CHASED, translation=Translation(64, 7.0, SOURCE)),
            f"{LINE}: {BY_LEVEL}; each iteration waits for a load whose address the data decide. {TLB}",
        ),
        (replace(LOADS, translation=Translation(64, 7.0, SOURCE)), f"{LINE}: {BY_LEVEL}; {MOVES}."),
        (
            SCATTERED,
            f"{LEAST[9:]}: {BY_LEVEL}; {MOVES}. {DECIDES.format(LATENCIES)}",
        ),
        # Nothing is known of the levels, or of their times alone.
        (replace(LOADS, figures=()), ONLY_L1.format(MOVES)),
        (
            replace(SCATTERED, figures=(), far=(2,)),
            ONLY_L1.format(
                f"{MOVES} and the data decide which addresses are touched and addresses move on by more "
                "than a page"
            ),
        ),
        (
            replace(LOADS, figures=(), chosen=ChosenData("data in L3")),
            f"{ONLY_L1.format(MOVES)} {NOT_NEAREST}",
        ),
        (
            replace(LOADS, streams=(), far=(2,)),
            f"Addresses move on by more than a page: a load takes {LATENCIES}, and the figure is for L1.",
        ),
        (
            replace(LOADS, figures=UNKNOWN, far=(2,)),
            f"An iteration moves on by 96 bytes and addresses move on by more than a page: a load takes "
            f"{LATENCIES}, and the figure is for L1.",
        ),
    ],
)
def test_sentences(data: DataLevels, text: str) -> None:
    assert sentences(data) == text
