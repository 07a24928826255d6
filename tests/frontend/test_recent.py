"""Caches with eviction: a text stays cached whatever its size; intermediate versions do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.common.file_digests import FileDigests
from cyclelens.analyzer.common.recent import Caches, Recent
from hypothesis import given, settings
from hypothesis import strategies as st


def work_on(cache: Recent[object, str], needed: list[object]) -> list[object]:
    """One text with everything that it needs. Returns what was not known."""
    cache.next_text()
    missing = []
    for key in needed:
        if cache.get(key) is None:
            missing.append(key)
            cache[key] = f"value of {key}"
        assert cache.get(key) == f"value of {key}"
    return missing


@settings(deadline=None)
@given(st.integers(0, 3000), st.integers(1, 40), st.integers(1, 50))
def test_a_text_stays_known_while_it_is_edited(size: int, new: int, versions: int) -> None:
    cache: Recent[object, str] = Recent(10)
    text: list[object] = list(range(size))
    work_on(cache, text)
    for version in range(versions):
        typed: list[object] = [(version, number) for number in range(new)]
        assert work_on(cache, text + typed) == typed


@pytest.mark.parametrize("size", [0, 30, 3000])
def test_what_no_text_needs_any_more_is_forgotten(size: int) -> None:
    cache: Recent[object, str] = Recent(10)
    text: list[object] = list(range(size))
    lengths = []
    for version in range(20_000):
        work_on(cache, [*text[: 30 if version % 100 else None], ("typed", version)])
        lengths.append(cache.size())
    assert max(lengths[10_000:]) <= max(lengths[:10_000])
    assert max(lengths) <= 6 * size + 1200
    assert cache.get(("typed", 0)) is None


def test_a_small_text_makes_room_after_a_large_one() -> None:
    cache: Recent[object, str] = Recent(10)
    work_on(cache, list(range(20_000)))
    for version in range(2_000):
        work_on(cache, [*range(30), ("typed", version)])
    assert cache.size() < 1_000


@settings(deadline=None)
@given(st.integers(1, 100), st.lists(st.integers(0, 500), max_size=500))
def test_batches_keep_so_many(most: int, keys: list[int]) -> None:
    cache: Recent[int, int] = Recent(most)
    for key in keys:
        cache.next_batch()
        known = cache.get(key)
        assert known in (None, key)
        cache[key] = key
        assert cache.size() <= 2 * most


def test_files_are_known_by_what_they_hold(tmp_path: Path) -> None:
    file, other = tmp_path / "a", tmp_path / "b"
    digests = FileDigests(Caches())
    file.write_text("one")
    other.write_text("one")
    first = digests.of(str(file))
    assert digests.of(str(other)) == first
    other.rename(file)
    assert digests.of(str(file)) == first
    other.write_text("two")
    other.rename(file)
    assert digests.of(str(file)) != first
