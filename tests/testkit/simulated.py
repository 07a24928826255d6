"""Simulations of hexadecimal code with the tables that ship."""

from __future__ import annotations

from typing import Any

from cyclelens.analyzer.isa.counted_loop import counted_loop, usual_copies
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.simulation import Simulation, TraceRow
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest

from testkit.blocks import block_of, store


def simulated(
    code: str,
    name: str,
    *,
    loop: bool | None = None,
    alignment: int = 0,
    options: ModelOptions = DEFAULT,
    **limits: Any,
) -> Simulation:
    """The simulation of these bytes; ``limits`` as ``simulate`` takes them."""
    block = block_of(code, name, loop=loop, alignment=alignment, options=options)
    return simulate(
        block,
        variant(registry.get(name), options),
        request=RunRequest(**limits),
        options=options,
        caches=store().caches,
    )


def cycles(code: str, name: str, **options: Any) -> float:
    """Cycles per iteration of these bytes."""
    return simulated(code, name, **options).cycles_per_iteration


def in_mode(name: str, code: str, mode: str) -> float:
    """Cycles of a block in a mode of the measured sets: ``straight`` (decoded anew), ``loop``, or ``copies``
    (of one copy among those of a loop). All registers hold the same address."""
    options = ModelOptions(assume=Pointers.SAME)
    if mode == "straight":
        return cycles(code, name, loop=False, options=options)
    copies = usual_copies(decode(bytes.fromhex(code))) if mode == "copies" else 1
    looped = counted_loop(bytes.fromhex(code), copies)
    assert looped is not None
    return cycles(looped.hex(), name, loop=True, options=options) / copies


def rows_of(code: str, name: str, *, rounds: int = 1, **options: Any) -> list[TraceRow]:
    """The events of the first rounds."""
    options = {"min_rounds": rounds + 3, "min_cycles": 60} | options
    trace = simulated(code, name, trace=True, **options).trace
    assert trace is not None
    return [row for row in trace.rows if row.round < rounds]


def column(code: str, name: str, field: str, *, rounds: int = 1, **options: Any) -> list[Any]:
    """One event of every uop of the first rounds, in program order."""
    return [getattr(row, field) for row in rows_of(code, name, rounds=rounds, **options)]
