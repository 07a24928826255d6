"""Chains of known length give their true latency on any clock, beside busy programs, and while the clock
changes.

A core that another thread shares all the time gives no reading, and no wrong one; the tests then skip.
"""

import subprocess
import sys
from itertools import takewhile
from statistics import median
from time import sleep

import pytest
from cyclelens.analyzer.measuring.quiet_core import round_cycles
from cyclelens.analyzer.measuring.requests import BUSY, Counter, MeasurementRequest
from cyclelens.analyzer.model.choices import Clocks

pytestmark = pytest.mark.timed

TRIES = 6
PAUSE = 0.2
"""Seconds by which each try waits longer than the one before, for a neighbour to become quiet."""
FEWEST = 2
"""Steady tries that a failure needs: a neighbour as steady as the chain may disturb one."""
MILLISECONDS = 1000
"""Time limit of a reading, which takes a tenth of it where the core is not shared."""
RUNS = 3
EXACT = 0.003
STEADY = 0.002
"""Spread of a reading on a core of its own, at most: with so little the harness stops early."""

CHAINS = {
    "add": (MeasurementRequest(code=bytes.fromhex("4801d8"), instructions=1, loop=True), 1.0),
    "imul": (MeasurementRequest(code=bytes.fromhex("480fafc0"), instructions=1, loop=True), 3.0),
    "add, copies in a loop": (
        MeasurementRequest(code=bytes.fromhex("4801d8"), instructions=1, loop=True, copies=200),
        1.0,
    ),
    "add, straight": (MeasurementRequest(code=bytes.fromhex("4801d8"), instructions=1), 1.0),
    "add, straight out of the uop cache": (
        MeasurementRequest(code=bytes.fromhex("4801d8"), instructions=1, cached=True),
        1.0,
    ),
    "imul, a loop that ends itself": (
        MeasurementRequest(
            code=bytes.fromhex("480fafc048ffc975f7"),  # imul rax, rax; dec rcx; jnz
            instructions=3,
            loop=True,
            closed=True,
            counter=Counter(1),
        ),
        3.0,
    ),
}
"""A chain of ADD takes a cycle each on every processor; one of IMUL three, on those with this latency."""


@pytest.fixture
def busy():
    """Programs that compute all the time, one on each processor and one more."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    yield
    for program in programs:
        program.kill()
        program.wait()


def reads(harness, request, expected):
    """Whether a chain reads true to ``EXACT``, in a try that nothing disturbed: all its readings are
    ``STEADY``. Skips on a machine that is too busy for one."""
    found = []
    for number in range(TRIES):
        sleep(number * PAUSE)
        each = (harness.measure(request) for _ in range(RUNS))
        sound = list(takewhile(lambda one: one.cycles is not None, each))
        if len(sound) < RUNS:
            continue
        if max(one.spread for one in sound) > STEADY:
            continue
        cycles = median(one.cycles for one in sound)
        if abs(cycles - expected) <= EXACT * expected:
            return
        found.append(cycles)
    if len(found) < FEWEST:
        pytest.skip("the machine is too busy to measure anything")
    pytest.fail(f"expected {expected}: {found}")


def check(harness, name):
    request, expected = CHAINS[name]
    if expected == 3.0 and not 2.9 < harness.clock.imul < 3.1:
        pytest.skip(f"IMUL takes another time here: {harness.clock.imul}")
    reads(harness, request, expected)


# ``step``: ticks by which time stamps advance at once: on AMD's cores tens of them, on Intel's one or two.
# Every chain has its own code, and reads the clock like the others.
@pytest.mark.parametrize(("step", "name"), [*((0, name) for name in CHAINS), (24, "add"), (36, "imul")])
def test_a_chain_reads_true_by_time_stamps(open_harness, step, name):
    with open_harness(clock=Clocks.TIME_STAMPS, step=step, milliseconds=MILLISECONDS) as harness:
        check(harness, name)


@pytest.mark.parametrize("name", ["add", "imul"])
def test_a_chain_reads_true_by_counters(open_harness, name):
    with open_harness(clock=Clocks.COUNTERS) as harness:
        check(harness, name)


@pytest.mark.parametrize(("step", "name"), [(0, "imul"), (24, "add"), (36, "add")])
def test_a_chain_reads_true_beside_busy_programs(open_harness, busy, step, name):
    with open_harness(clock=Clocks.TIME_STAMPS, step=step, milliseconds=MILLISECONDS) as harness:
        check(harness, name)


@pytest.fixture
def core_takes(monkeypatch):
    """Sets the claimed time of the loop of NOPs on an idle core, as a factor of the true one."""

    def set_factor(factor):
        known = round_cycles()
        if known is None:
            pytest.skip("this machine's core has no model")
        said = None if factor is None else known * factor
        monkeypatch.setattr("cyclelens.analyzer.measuring.harness.round_cycles", lambda: said)

    return set_factor


def test_a_core_that_is_shared_all_the_time_gives_no_reading(open_harness, core_takes):
    """Its NOPs take twice the time, from the first look on. Without what the core's model says, this is taken
    for what they take alone."""
    core_takes(0.5)
    with open_harness(clock=Clocks.TIME_STAMPS, milliseconds=200) as harness:
        assert harness.clock.knows_core
        assert not harness.clock.caution
        for request, _ in CHAINS.values():
            found = harness.measure(request)
            assert (found.cycles, found.problem) == (None, BUSY)


@pytest.mark.parametrize("factor", [0.9, 1.3])
def test_a_model_may_be_a_little_wrong(open_harness, core_takes, factor):
    core_takes(factor)
    with open_harness(clock=Clocks.TIME_STAMPS, milliseconds=MILLISECONDS) as harness:
        check(harness, "add")


def test_without_a_model_of_the_core_figures_are_uncertain(open_harness, core_takes):
    core_takes(None)
    with open_harness(clock=Clocks.TIME_STAMPS) as harness:
        assert not harness.clock.knows_core
        assert "shares the core" in harness.clock.caution
