"""Uops and units from performance counters, or from throughput alone where there are none."""

from functools import partial

import pytest
from cyclelens.analyzer.characterizing.characterize import Characterizer
from cyclelens.analyzer.characterizing.machines import (
    ALL_THE_SAME,
    Counting,
    MeasuredMachine,
    RememberedMachine,
    RepeatedRun,
    SimulatedMachine,
    opened,
)
from cyclelens.analyzer.characterizing.ports import table_ports
from cyclelens.analyzer.characterizing.unit_times import KnownUops, sums
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.measuring.harness import Clock, Harness
from cyclelens.analyzer.measuring.requests import BUSY, Measurement
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.events import events
from cyclelens.analyzer.model.choices import Clocks, Pages
from msgspec.structs import replace
from testkit.narrowing import some


@pytest.fixture
def from_cycles(characterizer):
    """A characterizer of a simulated core without counters."""
    return partial(characterizer, counted=False)


def named(store, core, name):
    return next(f for form in store.forms() for f in store.candidates(core, form) if f.name == name)


@pytest.mark.parametrize(
    ("core", "names"),
    [
        (
            "SKL",
            ["IMUL (R64, R64)", "PSHUFB (XMM, XMM)", "SETZ (R8l)", "VPADDD (YMM, YMM, YMM)", "MUL (R64)"],
        ),
        ("HSW", ["IMUL (R64, R64)", "SHR (R64, I8)", "SUB_29 (R64, R64)"]),
        # What is written must not be what the blocking instructions read, and some units of Ice Lake take
        # no vector uop while 512-bit uops wait.
        ("ICL", ["AND (R64, I8)", "CMOVNZ (R64, R64)", "POP (R16)", "VPOPCNTB (ZMM, K, M512)"]),
        ("ZEN4", ["IMUL (R64, R64)", "ROL (R64, I8)", "ADD (R64, M64)", "MOV (M64, R64)", "XADD (R64, R64)"]),
        # Only its throughput tells FP0123 and FP123 apart.
        ("ZEN4", ["PXOR (XMM, XMM)"]),
        ("ZEN2", ["ADD (R64, M64)", "MOV (M64, R64)", "IMUL (R64, R64)", "PSHUFB (XMM, XMM)"]),
    ],
)
def test_units_are_found_from_throughput_alone(store, from_cycles, core, names):
    model, characterizer = registry.get(core), from_cycles(core)
    for name in names:
        facts = named(store, core, name)
        row = characterizer.row(facts)
        known = table_ports(facts, model)
        assert row.ports == known, name
        assert known is not None
        assert row.uops == sum(known.values())


def test_what_no_other_unit_takes_can_use_all_that_the_renamer_fills(store, from_cycles):
    """Four units and four slots a cycle on Skylake: these cannot be blocked. What has a slot uses them,
    unless it may share it with a load or a store: only where flags are written, it must be there. Vectors
    are known to use three of them, so that a load of a vector is a load alone."""
    characterizer = from_cycles("SKL")
    assert characterizer.row(named(store, "SKL", "MOVDDUP (XMM, M64)")).ports == {frozenset("23"): 1}
    # As fast as the load that is known to be one.
    assert characterizer.row(named(store, "SKL", "MOVZX (R32, M16)")).ports == {frozenset("23"): 1}
    assert characterizer.row(named(store, "SKL", "XADD (R64, R64)")).ports == {frozenset("0156"): 3}
    assert characterizer.row(named(store, "SKL", "ADD (R64, M64)")).ports == {
        frozenset("23"): 1,
        frozenset("0156"): 1,
    }
    stored = characterizer.row(named(store, "SKL", "SETNLE (M8)"))
    assert stored.ports is None
    assert stored.ports_problem == "cycles do not tell apart: 1*p4+1*p06+1*p237 or 1*p4+1*p06+1*p237+1*p0156"
    assert stored.uops is None
    # What depends on nothing the renamer may write.
    constant = characterizer.row(named(store, "SKL", "CLC"))
    assert (constant.ports, constant.ports_problem) == (None, "cycles do not tell apart: 0 or 1*p0156")


class Counters:
    """A harness of a core whose counters count: the simulator behind the raw numbers of events."""

    clock = Clock(Clocks.COUNTERS, 3.0)
    machine: SimulatedMachine

    def __init__(self, *, clock=Clocks.AUTO, events=(), pages=Pages.PRIVATE):
        assert len(events) <= 4
        self._events = events

    def __enter__(self):
        return self

    def __exit__(self, *about):
        pass

    def measure(self, request):
        known = some(events(registry.get("SKL")))
        if self._events == known.delivered:
            assert not request.loop
            straight = self.machine.straight(request.code)
            assert isinstance(straight, RepeatedRun)
            return Measurement(1.0, events=(some(straight.decoded), some(straight.microcode)))
        run = self.machine.run(request.code)
        assert isinstance(run, RepeatedRun)
        units = run.units or {}
        counted = [
            some(run.slots) if raw == known.slots else sum(units[name] for name in known.units[raw])
            for raw in self._events
        ]
        return Measurement(run.cycles, events=tuple(counted))


def test_counters_say_uops_units_and_slots(store, monkeypatch):
    """Nine events of Skylake, four at a time."""
    model = registry.get("SKL")
    simulated = SimulatedMachine(model, store)
    monkeypatch.setattr(Counters, "machine", simulated, raising=False)
    monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.Harness", Counters)
    with opened(model) as machine:
        code = bytes.fromhex("480306480fafc3")
        counted, known = machine.run(code), simulated.run(code)
        assert isinstance(counted, RepeatedRun) and isinstance(known, RepeatedRun)
        assert counted.units == known.units
        assert (counted.cycles, counted.uops, counted.slots) == pytest.approx((known.cycles, 3, known.slots))
        row = Characterizer(machine, store, model).row(named(store, "SKL", "ADD (R64, M64)"))
    assert row.ports == {frozenset("23"): 1, frozenset("0156"): 1}
    assert row.uops == pytest.approx(2)
    assert row.front_end.slots == 1
    assert (row.front_end.decoded, row.front_end.microcode) == (1, 0)


def test_counters_say_what_comes_from_microcode(store, monkeypatch, tmp_path):
    """They count straight-line code, which no uop cache delivers; the file of finished runs keeps it."""
    model = registry.get("SKL")
    monkeypatch.setattr(Counters, "machine", SimulatedMachine(model, store), raising=False)
    monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.Harness", Counters)
    code, answers = bytes.fromhex("0fbb06"), []  # btc dword ptr [rsi], eax
    with opened(model) as machine:
        for _ in range(2):
            remembered = RememberedMachine(machine, tmp_path / "runs")
            answers.append(remembered.straight(code))
            remembered.close()
            monkeypatch.setattr(Counters, "machine", None)
    first, again = answers
    assert isinstance(first, RepeatedRun)
    assert (first.decoded, first.microcode) == (4, 6)
    assert again == first


def test_an_unknown_core_is_not_counted(monkeypatch):
    """What its events mean is not known."""
    monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.Harness", Counters)
    with opened(None) as machine:
        answers = type("Any", (), {"run": lambda self, code: RepeatedRun(1.0)})()
        monkeypatch.setattr(Counters, "machine", answers, raising=False)
        assert machine.run(b"\x90") == RepeatedRun(1.0)


def test_units_that_are_counted_together_share_what_is_counted():
    class Both(Harness):
        def __init__(self):
            pass

        def measure(self, request):
            return Measurement(1.0, events=(3.0, 4.0))

    machine = MeasuredMachine(Both(), [Counting(Both(), ((), ("2", "3")))], complete=True)
    assert machine.run(b"\x90") == RepeatedRun(1.0, 4.0, {"2": 2.0, "3": 2.0}, 3.0)


@pytest.mark.parametrize("core", registry.names())
def test_events_name_units_of_the_core(core):
    """Every one of them, where they are complete."""
    model = registry.get(core)
    known = events(model)
    if known is None:
        assert model.facts_name == "Lion Cove"
        return
    units = [name for names in known.units.values() for name in names]
    own = {unit.name for unit in model.units.all}
    assert len(units) == len(set(units))
    assert (set(units) == own) if known.complete else (set(units) <= own)


def test_the_same_command_repeats_what_a_busy_machine_left_open(tmp_path, monkeypatch, capsys):
    """What was run stays beside the output."""

    class Busy(SimulatedMachine):
        def run(self, code, start=ALL_THE_SAME):
            return BUSY

    monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.SimulatedMachine", Busy)
    output = tmp_path / "skl.xml"
    words = ["characterize", "--machine", "sim:SKL", "--forms", "^IMUL .R64, R64.$", "--output", str(output)]
    assert main(words) == 0
    assert "run the command again to retry them" in capsys.readouterr().out
    assert (tmp_path / "skl.xml.runs").exists()
    monkeypatch.undo()
    assert main(words) == 0
    assert "1 of 1 variants" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["skl.xml"]


class BusyFor(Harness):
    """A harness that cannot measure undisturbed for so many seconds of waiting."""

    def __init__(self, seconds, monkeypatch):
        self._until, self._now, self.measured, self.renewed = seconds, 0.0, 0, 0
        monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.sleep", self._wait)
        monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.monotonic", lambda: self._now)

    def _wait(self, seconds):
        self._now += seconds

    def renew(self):
        self.renewed += 1

    def measure(self, request):
        self.measured += 1
        return Measurement(None, BUSY) if self._now < self._until else Measurement(1.0)


class Slow(BusyFor):
    """One whose tries end at the time limit of a block."""

    def measure(self, request):
        self._wait(3.0)
        return super().measure(request)


def test_a_busy_minute_is_waited_for(monkeypatch):
    machine = MeasuredMachine(BusyFor(60, monkeypatch))
    assert machine.run(b"\x90") == RepeatedRun(1.0)


def test_a_harness_that_finds_the_machine_busy_begins_anew(monkeypatch):
    harness = BusyFor(60, monkeypatch)
    MeasuredMachine(harness).run(b"\x90")
    assert harness.renewed > 0


def test_slow_code_is_given_up_after_the_time_that_a_busy_machine_gets(monkeypatch):
    harness = Slow(10**6, monkeypatch)
    assert MeasuredMachine(harness).run(b"\x0f\xa2") == BUSY
    assert harness._now < 200


def test_a_machine_that_stays_busy_is_given_up_soon(monkeypatch):
    """The first code waits; those behind it only try."""
    harness = BusyFor(10**6, monkeypatch)
    machine = MeasuredMachine(harness)
    assert machine.run(b"\x90") == BUSY
    tries = harness.measured
    assert machine.run(b"\x91") == BUSY
    assert harness.measured - tries <= tries / 10


def test_a_table_with_a_figure_missing_is_tried_again(tmp_path, monkeypatch, capsys):
    """The variant has a throughput, but the machine was busy when its latencies were to be found."""
    asked = []

    class BusyLater(SimulatedMachine):
        def run(self, code, start=ALL_THE_SAME):
            asked.append(code)
            return BUSY if len(asked) == 30 else super().run(code, start)

    monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.SimulatedMachine", BusyLater)
    output = tmp_path / "skl.xml"
    words = ["characterize", "--machine", "sim:SKL", "--forms", "^IMUL .R64, R64.$", "--output", str(output)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "1 of 1 variants" in shown
    assert "1 codes could not be measured" in shown
    assert (tmp_path / "skl.xml.runs").exists()


def test_a_load_on_more_units_than_the_tables_know_is_uncertain(store):
    """This machine has room for a third beside two a cycle: that the load has no uop would be wrong."""
    machine = SimulatedMachine(registry.get("SPR"), store, counted=False)
    row = Characterizer(machine, store, registry.get("SKL")).row(named(store, "SKL", "MOV (R64, M64)"))
    assert (row.ports, row.uops) == (None, None)
    assert row.ports_problem == "no sum of known uops explains the uops on blocked units"


def test_units_that_are_chosen_early_do_not_hide_one_of_them(store):
    """On a Zen 4 whose vector schedulers had two pipes each, a uop of FP0 to FP3 beside a load waits for some
    of them. It is not taken for one of two pipes; three and four cannot be told apart, as the documents say:
    nothing keeps three of these pipes busy."""
    model = registry.get("ZEN4")
    pipes = some(registry.get("ZEN5").macro_ops).pipes
    rules = replace(some(model.macro_ops), vector_pipes_shared=False, pipes=pipes)
    model = replace(model, macro_ops=rules)
    machine = SimulatedMachine(model, store, counted=False)
    characterizer = Characterizer(machine, store, model)
    beside = characterizer.row(named(store, "ZEN4", "ANDNPS (XMM, M128)"))
    assert beside.ports_problem == "cycles do not tell apart: 1*AGU01+1*FP123 or 1*AGU01+1*FP0123"
    alone = characterizer.row(named(store, "ZEN4", "ANDNPS (XMM, XMM)"))
    assert alone.ports == {frozenset(["FP0", "FP1", "FP2", "FP3"]): 1}


def test_several_sums_are_all_answers():
    """What one uop of a set adds to each block may be what two of others add together."""
    first, second, both = (frozenset(name) for name in ("1", "2", "12"))
    known = [
        KnownUops((first,), {first: 1.0, both: 1.0}),
        KnownUops((second,), {second: 1.0, both: 1.0}),
        KnownUops((both,), {both: 0.9}),
    ]
    assert list(sums({first: 1.0, second: 0.1, both: 1.1}, known, 2)) == [{first: 1}]
    assert list(sums({first: 1.0, second: 0.0, both: 2.0}, known, 2)) == [{first: 1, both: 1}]
    assert list(sums({first: 0.5, second: 0.0, both: 1.0}, known, 2)) == []
    alike = [*known, KnownUops((frozenset("123"),), {both: 0.7})]
    assert list(sums({first: 0.0, second: 0.0, both: 0.9}, alike, 2)) == [{both: 1}, {frozenset("123"): 1}]


@pytest.mark.parametrize(
    ("core", "name", "units"),
    [("SKL", "MOVAPS_0F28 (XMM, XMM)", 0), ("ZEN2", "VCVTSI2SD (XMM, XMM, R64)", 2)],
)
def test_only_what_is_removed_has_no_units(store, core, name, units):
    """The tables of Zen 2 state no latency from an integer to a vector, as if it were a move."""
    model = registry.get(core)
    row = Characterizer(SimulatedMachine(model, store), store, model).row(named(store, core, name))
    assert row.ports is not None
    assert sum(row.ports.values()) == units
