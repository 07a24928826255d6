"""Counts figures that depend on port binding, and measurements within the predicted range.

Run it as ``python benchmarks/port_binding.py FOLDER``; docs/accuracy.md names the files of measured blocks.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.port_binding import port_binding
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.isa.counted_loop import decoded_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import PortBinding
from cyclelens.analyzer.simulator.core import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from msgspec import Struct

CLOSE = 0.03
"""Relative difference of repeated measurements."""
BHIVE = ModelOptions(model=Model.HARDWARE, assume=Pointers.BHIVE)
ONE_PLACE = ModelOptions(model=Model.HARDWARE, assume=Pointers.SAME)
HARDWARE = ModelOptions(model=Model.HARDWARE)


class Sample(Struct, frozen=True):
    """A measured block."""

    core: str
    code: bytes
    loop: bool
    measured: float
    options: ModelOptions


class Compared(Struct, frozen=True):
    """A block's figure and range; both ends equal the figure if it does not depend on binding."""

    measured: float
    figure: float
    least: float
    most: float


def samples(folder: Path) -> Iterator[Sample]:
    """Samples of all existing files."""
    for row in _rows(folder / "bhive-dev.csv"):
        yield Sample(
            row["microarchitecture"], bytes.fromhex(row["hex"]), False, float(row["measured_cycles"]), BHIVE
        )
    sets = (("redwood-cove-dev.csv", "GNR", ONE_PLACE), ("zen3-dev.csv", "ZEN3", HARDWARE))
    for name, core, options in (*sets, ("zen5-dev.csv", "ZEN5", HARDWARE)):
        for row in _rows(folder / name):
            for mode in ("unroll", "loop"):
                if row.get("status", "ok") == "ok" and row[f"{mode}_cycles"]:
                    cycles = float(row[f"{mode}_cycles"])
                    yield Sample(core, bytes.fromhex(row["hex"]), mode == "loop", cycles, options)


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def compared(workspace: Workspace, sample: Sample) -> Compared | None:
    """Predict a sample with its range; None for a block without a figure."""
    caches = workspace.store.caches
    core = variant(registry.get(sample.core), sample.options)
    instructions = decode(sample.code, caches)
    if sample.loop:
        end = decoded_end(instructions, 1, caches)
        if end is None:
            return None
        instructions += end
    try:
        block = build_block(
            instructions, core, workspace.store, loop=sample.loop, alignment=0, options=sample.options
        )
        simulation = simulate(block, core, request=RunRequest(), options=sample.options, caches=caches)
        prediction = explain(block, core, simulation, sample.options)
        found = port_binding(block, prediction, Runs(core, sample.options, None, caches))
    except Exception as error:
        print(f"{sample.core} {sample.code.hex()}: {error}", file=sys.stderr)
        return None
    if any(template.facts is None for template in block.instructions):
        return None
    figure = prediction.cycles_per_iteration
    binding = found or PortBinding(figure, figure)
    return Compared(sample.measured, figure, binding.least, binding.most)


def main(folder: Path, every: int) -> None:
    """Print the table from one block in ``every``."""
    workspace = Workspace()
    sets: dict[tuple[str, str], list[Compared]] = {}
    for sample in list(samples(folder))[::every]:
        result = compared(workspace, sample)
        if result is not None:
            sets.setdefault((sample.core, "loop" if sample.loop else "unroll"), []).append(result)
    print("| core | mode | blocks | with a range | measured within it | within 3 % of the figure alone |")
    print("|---|---|---|---|---|---|")
    for (core, mode), results in sets.items():
        ranged = [each for each in results if each.least < each.most]
        inside = sum(each.least * (1 - CLOSE) <= each.measured <= each.most * (1 + CLOSE) for each in ranged)
        close = sum(abs(each.measured / each.figure - 1) <= CLOSE for each in ranged)
        print(f"| {core} | {mode} | {len(results)} | {len(ranged)} | {inside} | {close} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
