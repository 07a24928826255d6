"""Simulates the kernels of a folder of reference traces and finds the first differences."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from cyclelens.analyzer.evaluation.blocks import BlockBuilder
from cyclelens.analyzer.evaluation.datasets import Sample, read_kernels
from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.evaluation.traces import TraceDifference, first_difference, read_traces
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from msgspec import Struct

TRACE_ROUNDS = 12
"""Rounds in the reference traces."""


class KernelComparison(Struct, frozen=True):
    """Comparison of one kernel's traces on one microarchitecture."""

    microarchitecture: str
    kernel: str
    finding: TraceDifference | str | None
    """The first difference, or why no comparison was possible; None if the traces agree."""


def trace_files(folder: Path) -> dict[str, Path]:
    """Trace files in ``folder`` by microarchitecture, as far as it is known."""
    by_name = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.csv*"))}
    return {name: by_name[name] for name in registry.names() if name in by_name}


def compare_kernels(
    folder: Path,
    kernels: Path,
    *,
    microarchitectures: Collection[str] = (),
    only: Collection[str] = (),
    rounds: int = TRACE_ROUNDS,
    options: ModelOptions = PUBLISHED,
) -> Iterator[KernelComparison]:
    """One comparison per trace, in file order. Empty choices mean all.

    ``options``: the model to compare, by default the published one, which produced the traces.

    Raises ``DatasetError`` if the folder holds no traces or the files cannot be read.
    """
    table = read_kernels(kernels)
    files = trace_files(folder)
    wanted = microarchitectures or files.keys()
    chosen = {name: path for name, path in files.items() if name in wanted}
    if not chosen:
        raise DatasetError(f"{folder} holds no trace of a known microarchitecture")
    builder = BlockBuilder(options)
    for microarchitecture, path in chosen.items():
        for kernel, reference in read_traces(path):
            if only and kernel not in only:
                continue
            if kernel not in table:
                yield KernelComparison(microarchitecture, kernel, "its bytes are not in the table of kernels")
                continue
            code, mode = table[kernel]
            sample = Sample(code, microarchitecture, mode, cycles=0.0, name=kernel)
            try:
                _, simulation = builder.simulate(sample, trace=True)
            except Exception as error:  # one kernel that fails must not hide the others
                yield KernelComparison(microarchitecture, kernel, f"{type(error).__name__}: {error}")
                continue
            assert simulation.trace is not None, "asked for"
            difference = first_difference(simulation.trace.rows, reference, rounds=rounds)
            yield KernelComparison(microarchitecture, kernel, difference)
