"""Blocks in which events happen that test no model of the core are rejected, where they are counted."""

import io

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.measuring import harness
from cyclelens.analyzer.measuring.harness import Clock
from cyclelens.analyzer.measuring.requests import BUSY, FAULTS, Measurement
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.events import events
from cyclelens.analyzer.model.choices import Clocks, Pages
from testkit.narrowing import some

FINE, MISSES, SPLITS, DISTURBED = "4801d8", "488b06", "488906", "4829d8"
"""Blocks: an addition, a load, a store, a subtraction."""


class CountedEvents:
    """A harness whose counters count what the test says: events of a block by their raw numbers."""

    source = Clocks.COUNTERS

    def __init__(self, *, clock=Clocks.AUTO, events=(), pages=Pages.PRIVATE, milliseconds=0):
        self._events, self.clock = events, Clock(self.source, 3.0)

    def __enter__(self):
        return self

    def __exit__(self, *about):
        pass

    def measure(self, request):
        code = request.code.hex()
        if self._events and DISTURBED in code:
            return Measurement(None, BUSY)
        happens = {MISSES: 0x0151, SPLITS: 0x42D0}
        raw = next((event for block, event in happens.items() if block in code), 0)
        return Measurement(2.0, events=tuple(0.5 if each == raw else 0.004 for each in self._events))


@pytest.fixture
def measured(monkeypatch, capsys):
    """Runs the command on all blocks; returns their rows without the block, or the error."""

    def run(core, *words):
        monkeypatch.setattr(harness, "Harness", CountedEvents)
        monkeypatch.setattr(registry, "native", lambda: registry.get(core))
        blocks = "\n".join((FINE, MISSES, SPLITS, DISTURBED)).encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(blocks)))
        main(["measure", "--blocks", "--mode", "copies", *words])
        out, err = capsys.readouterr()
        return [(row[1], row[-1]) for row in (line.split(",") for line in out.splitlines()[1:])], err

    return run


@pytest.mark.parametrize("core", ["SKL", "ICL", "SPR"])
def test_what_misses_the_cache_or_crosses_lines_is_rejected(measured, core):
    rows, _ = measured(core, "--reject-events")
    assert rows == [
        ("2.0000", ""),
        ("", "rejected: 0.50 misses of the first-level data cache per copy"),
        ("", "rejected: 0.50 stores across two cache lines per copy"),
        ("", BUSY),
    ]


def test_nothing_is_rejected_unless_asked(measured):
    rows, _ = measured("SKL")
    assert rows == [("2.0000", "")] * 4


def test_events_that_cannot_be_counted_are_not_taken_for_none(measured, monkeypatch):
    rows, said = measured("ZEN4", "--reject-events")
    assert rows == [] and "the events of this machine's core are not known" in said


def test_without_counters_context_switches_and_page_faults_reject(measured, monkeypatch):
    monkeypatch.setattr(CountedEvents, "source", Clocks.TIME_STAMPS)
    always = Measurement.read("status=busy attempts=40 switched=0 faulted=40")
    usual = CountedEvents.measure

    def measure(self, request):
        return always if MISSES in request.code.hex() else usual(self, request)

    monkeypatch.setattr(CountedEvents, "measure", measure)
    rows, said = measured("SKL", "--reject-events")
    assert rows == [("2.0000", ""), ("", FAULTS), ("2.0000", ""), ("2.0000", "")]
    assert "by context switches and page faults alone" in said


def test_a_core_counts_at_most_four_events_at_once():
    cores = [registry.get(name) for name in registry.names()]
    for known in (some(events(core)) for core in cores if events(core) is not None):
        assert len(known.disturbing) <= harness.MOST_EVENTS
