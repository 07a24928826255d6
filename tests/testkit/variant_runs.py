"""Runs of mixtures in variants of the model and of a core, as rows of ``tests/tables/NAME/runs.txt``.

A row has the figures of a run that ends once its state repeats, and sums of all that a traced run records:
the events of every uop, what each waited for, and the figures by instruction with the account of issue slots.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache

import msgspec
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Binding, MeasuredIn, Model, MoveElimination, Pointers
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import cycles_per_iteration, simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.simulator.variants import other_bindings, unbound
from cyclelens.analyzer.uops.block import build_block
from msgspec import Struct
from msgspec.structs import replace

from testkit.blocks import in_a_loop, store
from testkit.narrowing import some
from testkit.wide_core import WIDE

HEAD = """\
# mode and bytes | cycles per iteration, period in cycles/iterations, cycles of the run, cycles visited,
# and what a run says of which only the figure is asked, if it is another one
# | of a traced run: its cycles, and the sums of the uops' events, of what they waited for, and of the figures
"""
FULL = RunRequest(trace=True, account=True, min_rounds=7, min_cycles=140)
_OPTIONS: dict[str, dict[str, object]] = {
    "uica": {"model": Model.UICA},
    "same": {"assume": Pointers.SAME},
    "stack": {"assume": Pointers.STACK},
    "bhive": {"assume": Pointers.BHIVE},
    "simple": {"simple_front_end": True},
    "unfused": {"micro_fusion": False},
    "nomacro": {"macro_fusion": False},
    "robunfused": {"unfused_reorder_buffer": True},
    "nolsd": {"lsd_unrolling": False},
    "noelim": {"move_elimination": MoveElimination.NONE},
    "seed": {"port_seed": 1},
    "ufs": {"binding": Binding.UFS},
    "limited": {"resources": True},
    "unlimited": {"resources": False},
    "onepage": {"harness": MeasuredIn.ONE_PAGE},
}
"""Words of a mode that change the options."""
_SMALL = {
    "load_buffer_size": 5,
    "store_buffer_size": 3,
    "branch_buffer_size": 2,
    "load_matrix_size": 3,
    "integer_registers": 40,
    "vector_registers": 40,
}
_OTHERS = {f"other{place}": place for place in (0, 1, 2, 9)}
"""Words for one of the other rules of binding (``other_bindings``)."""


class Runs(Struct, frozen=True):
    """A mixture on a core, both as the mode says."""

    block: Block
    core: Microarchitecture
    options: ModelOptions

    def run(self, request: RunRequest) -> Simulation:
        return simulate(self.block, self.core, request=request, options=self.options, caches=store().caches)


def row(mode: str, code: str, name: str) -> str:
    """A run on one core."""
    runs = made(mode, code, name)
    early = runs.run(RunRequest(details=False))
    period = "-" if early.period is None else "{}/{}".format(*early.period)
    figures = f"{early.cycles_per_iteration:.3f} {period} {early.simulated_cycles} {early.visited_cycles}"
    alone = cycles_per_iteration(runs.block, runs.core, runs.options, caches=store().caches)
    if alone != early.cycles_per_iteration:
        figures += f" alone {alone:.3f}"
    full = runs.run(FULL)
    return f"{mode} {code} | {figures} | {full.simulated_cycles} {' '.join(sums(full))}"


def made(mode: str, code: str, name: str) -> Runs:
    """The mixture, in its mode: ``loop`` or ``unroll``, words that change options or core, and the place."""
    words, _, place = mode.partition("@")
    repeated, *changes = words.split(":")
    core, options = changed(name, tuple(changes))
    whole = in_a_loop(code) if repeated == "loop" else code
    block = build_block(
        decode(bytes.fromhex(whole), store().caches),
        core,
        store(),
        loop=repeated == "loop",
        alignment=int(place or 0),
        options=options,
    )
    return Runs(block, core, options)


@cache
def changed(name: str, words: tuple[str, ...]) -> tuple[Microarchitecture, ModelOptions]:
    """A core and options, as the words change them."""
    fields: dict[str, object] = {}
    for word in words:
        fields |= _OPTIONS.get(word, {})
    options = ModelOptions(**fields)  # type: ignore[arg-type]
    core = variant(WIDE if "wide" in words else registry.get(name), options)
    for word in words:
        if word in _CORES:
            core = _CORES[word](core)
        elif word in _OTHERS:
            core, options = list(other_bindings(core, options, pipes=True))[_OTHERS[word]]
    return core, options


def small(core: Microarchitecture) -> Microarchitecture:
    """Buffers of a few entries, where the core has a limit."""
    return _with_buffers(core, _SMALL)


def tiny(core: Microarchitecture) -> Microarchitecture:
    """Buffers of one entry, where the core has a limit."""
    return _with_buffers(core, {name: size if size == 40 else 1 for name, size in _SMALL.items()})


def _with_buffers(core: Microarchitecture, sizes: dict[str, int]) -> Microarchitecture:
    limits = {name: size for name, size in sizes.items() if getattr(core, name) is not None}
    waiting = 24 if core.schedulers else 12
    return replace(core, reorder_buffer_size=20, reservation_station_size=waiting, **limits)


def few(core: Microarchitecture) -> Microarchitecture:
    """An entry for each scheduler."""
    return replace(core, reservation_station_size=1)


_CORES: dict[str, Callable[[Microarchitecture], Microarchitecture]] = {
    "small": small,
    "tiny": tiny,
    "few": few,
    "unbound": unbound,
}


def sums(simulation: Simulation) -> tuple[str, str, str]:
    """Of a traced run: events, what was waited for, and figures by instruction with the account."""
    trace, account = some(simulation.trace), some(simulation.account)
    others = replace(simulation, trace=None, account=None, period=None)
    lost = sorted((cause, line, slots) for (cause, line), slots in account.lost.items())
    return (
        _sum(trace.rows, trace.later),
        _sum(trace.inputs, trace.scheduling, trace.refusals, trace.unfinished, trace.buffers),
        _sum(others, account.used, account.rounds, account.slots, lost),
    )


def _sum(*values: object) -> str:
    return f"{zlib.crc32(msgspec.json.encode(values)):08x}"
