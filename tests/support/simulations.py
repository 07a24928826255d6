"""Simulations as lines of text, so that two processes can be compared. As a program: tasks in, lines out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import NamedTuple

from blocks import block_of
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.simulator import clock, pipeline
from cyclelens.analyzer.simulator.wanted import Wanted


class Task(NamedTuple):
    code: str
    microarchitecture: str
    loop: bool
    alignment: int = 0
    resources: bool = False


def simulation_lines(task: Task) -> list[str]:
    """Everything about the simulation, one figure or event a line, and the figure of a run that stops as soon
    as its state repeats."""
    block = block_of(task.code, task.microarchitecture, loop=task.loop, alignment=task.alignment)
    model = registry.get(task.microarchitecture)
    options = ModelOptions(resources=task.resources)
    quick = pipeline.simulate(block, model, wanted=Wanted(details=False), options=options)
    return [
        f"quick {quick.cycles_per_iteration} {quick.period}",
        *_lines(pipeline.simulate(block, model, wanted=Wanted(trace=True, account=True), options=options)),
    ]


def _lines(simulation: Simulation) -> Iterator[str]:
    for name in simulation.__struct_fields__:
        if name != "trace":
            yield f"{name} {getattr(simulation, name)}"
    assert simulation.trace is not None
    for rows in (simulation.trace.rows, simulation.trace.scheduling, simulation.trace.refusals):
        yield from map(str, rows)
    yield str(simulation.trace.unfinished)


def main() -> None:
    """A first line with the file that the simulator came from, then the lines of each task as JSON."""
    print(clock.__file__)
    for line in sys.stdin:
        print(json.dumps(simulation_lines(Task(*json.loads(line)))))


if __name__ == "__main__":
    main()
