"""The watch over instruction counts: what it accepts, and what it does not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "watch.py"


@pytest.fixture(scope="module")
def watch() -> ModuleType:
    spec = importlib.util.spec_from_file_location("watch", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["watch"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("now", "excused", "code"),
    [
        ({"start": 102.9, "edit": 50.0}, set(), 0),
        ({"start": 103.1, "edit": 50.0}, set(), 1),
        ({"start": 96.0, "edit": 50.0}, set(), 1),
        ({"start": 110.0, "edit": 50.0}, {"start"}, 0),
        ({"start": 110.0, "edit": 60.0}, {"start"}, 1),
        ({"start": 100.0, "edit": 50.0, "new": 1.0}, set(), 1),
    ],
)
def test_more_than_three_percent_need_a_reason(
    watch: ModuleType, now: dict[str, float], excused: set[str], code: int
) -> None:
    assert watch.report({"start": 100.0, "edit": 50.0}, now, excused, {}, "") == code


def test_a_reason_is_written_to_the_row_of_its_job_only(
    watch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "FILE", tmp_path / "watch.csv")
    rows = {name: watch.Row(name, value, "first") for name, value in (("start", 100.0), ("edit", 50.0))}
    before = {name: row.instructions for name, row in rows.items()}
    watch.report(before, {"start": 120.0, "edit": 50.5}, {"start"}, rows, "more options")
    made_with, found = watch.read((tmp_path / "watch.csv").read_text())
    assert made_with == watch.environment()
    assert found == {"start": watch.Row("start", 120.0, "more options"), "edit": rows["edit"]}


def test_every_job_has_a_row_with_a_reason(watch: ModuleType) -> None:
    _, rows = watch.read(watch.FILE.read_text())
    assert list(rows) == [job.name for job in watch.JOBS]
    assert all(row.reason and row.instructions > 0 for row in rows.values())
