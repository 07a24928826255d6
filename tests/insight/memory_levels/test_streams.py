"""The streams of a loop: pointer, step, lines per iteration, and what is no stream."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.insight.addresses import accesses
from cyclelens.analyzer.insight.memory_levels.streams import data_levels, streams_of
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.memory_levels import DataLevels, Stream
from msgspec.structs import replace
from testkit.blocks import templates_of
from testkit.factories import prediction


def found(code: str) -> DataLevels:
    templates = templates_of(code.replace(" ", ""), "SKL")
    return streams_of(templates, accesses(templates))


def the_stream(code: str) -> Stream:
    (stream,) = found(code).streams
    return stream


LOAD, STORE = "c5fc1006", "c5fc1107"  # vmovups ymm0, [rsi]; vmovups [rdi], ymm0
RSI, RDI = "4883c620", "4883c720"  # add rsi, 32; add rdi, 32


def test_a_copy_has_two_streams() -> None:
    loaded, stored = found(LOAD + STORE + RSI + RDI).streams
    assert loaded == Stream("rsi", 32, 0.5, instructions=(0,))
    assert stored == Stream("rdi", 32, 0.5, stored=True, instructions=(1,))


def test_an_index_moves_and_its_base_names_the_array() -> None:
    # mov rax, [rsi+8*rcx]; mov [rdi+8*rcx], rax; dec rcx
    loaded, stored = found("488b04ce 488904cf 48ffc9").streams
    assert (loaded.pointer, loaded.step, stored.pointer, stored.step) == ("rsi", -8, "rdi", -8)
    assert loaded.lines == stored.lines == 8 / 64


def test_neighbours_share_a_line() -> None:
    # mov rax, [rsi]; mov rbx, [rsi+8]; add rsi, 16
    assert the_stream("488b06 488b5e08 4883c610") == Stream("rsi", 16, 0.25, instructions=(0, 1))


@pytest.mark.parametrize(
    ("step", "lines"),
    [("40", 1), ("60", 1), ("78", 1)],
    ids=["64 bytes", "96 bytes", "120 bytes"],
)
def test_a_long_step_skips_lines(step: str, lines: float) -> None:
    """One access per iteration touches one new line, however far the next one is."""
    assert the_stream(f"488b06 4883c6{step}").lines == lines


def test_every_line_of_an_unrolled_loop_counts() -> None:
    # vmovups ymm0, [rsi]; vmovups ymm1, [rsi+64]; add rsi, 96
    assert the_stream("c5fc1006 c5fc104e40 4883c660").lines == 1.5


def test_a_value_that_is_changed_in_place_is_one_stream() -> None:
    # add [rsi], rax; add rsi, 8
    changed = the_stream("480106 4883c608")
    assert changed.loaded
    assert changed.stored


def test_a_non_temporal_store_reads_no_line() -> None:
    # vmovntps [rdi], ymm0; add rdi, 32
    past = the_stream("c5fc2b07" + RDI)
    assert past.non_temporal
    assert not past.loaded


def test_rows_of_one_array_are_a_distance_apart() -> None:
    # mov rax, [rsi]; add rax, [rsi+0x2000]; add rax, [rsi+0x4000]; add rsi, 8
    rows = the_stream("488b06 48038600200000 48038600400000 4883c608")
    assert rows.distances == (0x2000, 0x2000)
    assert rows.loads_through(32 * 1024) == 3 * 8 / 64
    assert rows.loads_through(1024 * 1024) == 8 / 64


def test_a_chased_pointer_is_no_stream() -> None:
    assert found("488b00") == DataLevels((), scattered=(0,))  # mov rax, [rax]


@pytest.mark.parametrize(("added", "chased"), [(3.9, ()), (4.0, (0,)), (4.5, (0,)), (13.0, (0,))])
def test_what_waits_for_a_whole_load_is_chased(added: float, chased: tuple[int, ...]) -> None:
    """The first-level cache of Skylake takes 4 cycles; a shorter part of the chain is another operand's."""
    templates = templates_of("488b00", "SKL")  # mov rax, [rax]
    for mode in (Mode.LOOP, Mode.UNROLL):
        made = replace(prediction(templates, mode=mode), chain=((0, added),))
        levels = data_levels(made, accesses(templates))
        assert (levels is None) is (mode is Mode.UNROLL), "only a loop has data to walk through"
        assert levels is None or levels.chased == chased


def test_a_gather_is_no_stream() -> None:
    # vpgatherdd ymm0, [rsi+ymm1*4], ymm2; add rsi, 32
    assert found("c4e26d90048e" + RSI).scattered == (0,)


def test_a_step_beyond_a_page_is_no_stream() -> None:
    # mov rax, [rsi]; add rsi, 8192
    assert found("488b06 4881c600200000") == DataLevels((), far=(0,))


def test_what_does_not_move_is_no_stream() -> None:
    assert found("488b06") == DataLevels(())
