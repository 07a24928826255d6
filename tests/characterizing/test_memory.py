"""``cyclelens characterize --memory`` measures the levels of memory, and the model with its parameters gives
what was measured."""

import pytest
from cyclelens.analyzer.characterizing.memory import Kind, LevelTime, fitted, request, sizes
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.insight.memory_levels.ecm import InCore, cycles
from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.machine_memory import MachineMemory
from cyclelens.analyzer.measuring.requests import REGISTERS, Measurement
from cyclelens.analyzer.measuring.walks import ADDRESS
from cyclelens.analyzer.microarchitectures.memory_levels import levels_of
from cyclelens.analyzer.model.memory_levels import Stream
from cyclelens.analyzer.model.provenance import Certainty, Source
from testkit.loop_emulator import accessed
from testkit.narrowing import some

SOURCE = Source(Certainty.MEASURED, "measured", "measured in a test")
MACHINE = MachineMemory({"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}, 1 << 30)
LOADED, STORED = Stream("rsi", 64, 1.0), Stream("rdi", 64, 1.0, stored=True)
PAST = Stream("rdi", 64, 1.0, loaded=False, stored=True, non_temporal=True)
CORE = InCore(1.0, 1.0)


def times_of(levels):
    """What a core with these levels would measure."""
    for level in levels.levels:
        for kind, stream in ((Kind.LOAD, LOADED), (Kind.STORE, STORED), (Kind.NON_TEMPORAL, PAST)):
            core = CORE if kind is Kind.LOAD else InCore(0.0, 0.0)
            time = cycles(levels, core, [stream], [level.name])
            yield LevelTime(level.name, 1024, kind, Measurement(time))


@pytest.mark.parametrize("core", ["SNB", "HSW", "SKX", "ZEN2", "ZEN4"])
def test_the_fit_finds_the_parameters_that_gave_the_times(core):
    levels = some(levels_of(core))
    times = [each for each in times_of(levels) if each.measured.cycles is not None]
    found = fitted(levels, times, MACHINE, SOURCE)
    again = [each.measured.cycles for each in times_of(found)]
    assert again == pytest.approx([each.measured.cycles for each in times_of(levels)])


@pytest.mark.parametrize("core", ["SNB", "HSW", "ZEN2"])
def test_the_parameters_are_those_of_the_core(core):
    levels = some(levels_of(core))
    found = fitted(levels, list(times_of(levels)), MACHINE, SOURCE)
    for made, level in zip(found.levels[1:], levels.levels[1:], strict=True):
        assert some(made.load).value == pytest.approx(some(level.load).value)
        assert some(made.write_back).value == pytest.approx(some(level.write_back).value)
        assert some(made.load).source is SOURCE


def test_latencies_and_sizes_are_taken_as_measured():
    levels = some(levels_of("ZEN4"))
    found = fitted(levels, [LevelTime("L2", 1024, Kind.LATENCY, Measurement(15.5))], MACHINE, SOURCE)
    assert some(found.levels[1].latency).value == 15.5
    assert found.levels[2].latency == levels.levels[2].latency
    assert some(found.levels[1].size).value == 1 << 20


def test_every_level_is_measured_within_its_size():
    assert dict(sizes(MACHINE)) == {"L1": 16 << 10, "L2": 128 << 10, "L3": 4 << 20, "memory": 256 << 20}
    assert "memory" not in sizes(MachineMemory(MACHINE.caches, 1 << 20))
    assert sizes(MachineMemory({})) == {}


@pytest.mark.parametrize("kind", [Kind.LOAD, Kind.STORE, Kind.COPY, Kind.NON_TEMPORAL])
def test_a_pass_covers_the_working_set_once(kind):
    size = 16 << 10
    made = request(kind, size)
    walk = some(made.walk)
    registers = dict.fromkeys(REGISTERS, 0) | dict(made.inputs.registers) | {"R15": walk.rounds}
    addresses = list(accessed(made.code + some(loop_end(decode(made.code))), registers))
    assert len({address // 64 for address in addresses}) == size // 64
    assert len(addresses) == len(set(addresses)) == size // 32
    assert ADDRESS <= min(addresses) < max(addresses) < ADDRESS + walk.bytes


def test_a_chase_visits_every_line():
    chain = some(some(request(Kind.LATENCY, 16 << 10).walk).chain)
    assert (chain.nodes, chain.node_bytes) == (256, 64)


def test_a_simulator_has_no_memory(capsys):
    assert main(["characterize", "--memory", "--machine", "sim:SKL"]) == 1
    assert "a simulator has no levels of memory" in capsys.readouterr().err
