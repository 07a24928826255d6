"""Draws the studies of UFS's paper again, its claims beside our figures.

    python benchmarks/ufs_figures.py [--output docs/figures/ufs.svg]

The paper: V. Palomares, D. Wong, D. Kuck, W. Jalby, "Evaluating Out-of-Order Engine Limitations Using Uop
Flow Simulation", Tools for High Performance Computing 2015. Its loop ``realft2_4_de`` is a compiler's code,
which is not at hand; ``docs/figures/realft.s`` computes the same formulas. All figures are of Sandy Bridge if
no other core is named. Needs the extra ``plots``; prints what it draws.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.evaluation.blocks import BlockBuilder
from cyclelens.analyzer.evaluation.datasets import Selection, read_samples
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.insight import sweeps
from cyclelens.analyzer.insight.whatif import SIZES, Experiment
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Binding
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.reports.figures import drawing, why_impossible
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from measuring import print_table
from msgspec.structs import replace

ROOT = Path(__file__).parents[1]
LOOP = ROOT / "docs" / "figures" / "realft.s"
MEASURED = ROOT / "tests" / "parity" / "measured"
UFS = ModelOptions(binding=Binding.UFS, unfused_reorder_buffer=True)
UFS_SIZES = {"reorder_buffer_size": 165, "reservation_station_size": 48}
"""Entries that UFS's table 3 has for Sandy Bridge where ours differ."""
UNLIMITED = 1000
"""Entries of every buffer in the paper's "unlimited" run."""
CLAIMS = {
    "measured": 23.36,
    "UFS": 23.01,
    "UFS, all buffers\n1000 entries": 19.03,
    "ports alone": 16.00,
}
"""Cycles per iteration of the paper's loop, from its text."""
CLAIMED_FIDELITY = 91.7
"""Per cent, the average of the paper's loops of two applications on a Sandy Bridge."""
CYCLES = "cycles per iteration"
SPEED_CYCLES = 100_000
FACTORS = tuple(0.4 + 0.2 * step for step in range(9))
LOAD_LATENCIES = tuple(range(4, 81, 4))
STORE_LATENCIES = tuple(range(1, 82, 4))
STUDIED = ("rs", "rob", "lb", "sb", "lm", "bb", "int", "vec", "regs")


def experiment(options: ModelOptions) -> Experiment:
    """The loop on Sandy Bridge, ready for changes."""
    target = Target(microarchitectures=("SNB",), model=options)
    (region,) = Analyzer().analyze(LOOP.read_text(), AnalysisOptions(target=target)).regions
    (prediction,) = region.predictions
    return Experiment(prediction, open_store(), options=options, settled=True)


def unlimited(model: Microarchitecture) -> Microarchitecture:
    """The core with ``UNLIMITED`` entries in every buffer behind the front end."""
    names = {SIZES[name]: UNLIMITED for name in STUDIED if getattr(model, SIZES[name]) is not None}
    return replace(model, **names)


def our_figures() -> dict[str, tuple[float, float]]:
    """Figures of ``CLAIMS``: by UFS's rules, and by the default model. Nothing here is measured."""
    ours, as_ufs = experiment(DEFAULT), experiment(UFS)
    sized = replace(as_ufs.model, **UFS_SIZES)
    ports = ours.prediction.bounds["Ports"]
    rows = (
        (as_ufs.with_model(sized), ours.baseline()),
        (as_ufs.with_model(unlimited(sized)), ours.with_model(unlimited(ours.model))),
    )
    figures = [(one.cycles_per_iteration, other.cycles_per_iteration) for one, other in rows]
    return dict(zip(list(CLAIMS)[1:], [*figures, (ports, ports)], strict=True))


def fidelity(path: Path) -> tuple[float, int]:
    """Mean of 100 % less the error, over blocks measured on a core, and their number."""
    samples = read_samples(path, Selection(microarchitectures=(path.stem,)))
    builder = BlockBuilder(DEFAULT)
    errors = [
        abs(builder.simulate(sample)[1].cycles_per_iteration - sample.cycles) / sample.cycles
        for sample in samples
    ]
    return 100 - 100 * statistics.fmean(errors), len(errors)


def cycles_per_second(subject: Experiment) -> float:
    """Simulated cycles of the loop per second of processor time, on this machine."""
    request = RunRequest(min_cycles=SPEED_CYCLES, every_cycle=True)
    begin = time.process_time()
    simulation = simulate(subject.block, subject.model, request=request, options=subject.options)
    return simulation.simulated_cycles / (time.process_time() - begin)


def bars(axes: Any, ours: Mapping[str, tuple[float, float]]) -> None:
    """The paper's figures of its loop, beside ours by UFS's rules and by the default model."""
    places = range(len(CLAIMS))
    kinds = (
        ("paper", CLAIMS, "0.65"),
        ("ours, UFS's rules and sizes", {title: each[0] for title, each in ours.items()}, "tab:blue"),
        ("ours, default model", {title: each[1] for title, each in ours.items()}, "tab:orange"),
    )
    for number, (label, figures, colour) in enumerate(kinds):
        shown = [
            (place, figures[title]) for place, title in zip(places, CLAIMS, strict=True) if title in figures
        ]
        drawn = axes.bar(
            [place + 0.27 * (number - 1) for place, _ in shown],
            [cycles for _, cycles in shown],
            width=0.25,
            color=colour,
            label=label,
        )
        axes.bar_label(drawn, fmt="%.2f", fontsize=8)
    axes.set_xticks(places, list(CLAIMS))
    axes.set(title="The loop that ends a real FFT (the code is ours)", ylabel=CYCLES, ylim=(0, 33))
    axes.legend(fontsize=8, loc="upper right")


def faithful(axes: Any, fidelities: Mapping[str, tuple[float, int]]) -> None:
    """Fidelity, 100 % less the mean error: the paper's, and ours on blocks of other programs and cores."""
    titles = ["paper: loops of\ntwo applications, SNB"]
    titles += [f"ours: {count} blocks\nof BHive, {core}" for core, (_, count) in fidelities.items()]
    figures = [CLAIMED_FIDELITY, *(each for each, _ in fidelities.values())]
    drawn = axes.bar(titles, figures, width=0.5, color=["0.65", *["tab:orange"] * len(fidelities)])
    axes.bar_label(drawn, fmt="%.1f %%", fontsize=8)
    axes.set(
        title="Fidelity to measurements (of different code)",
        ylabel="100 % less the mean error",
        ylim=(0, 110),
    )


def one_by_one(axes: Any, subject: Experiment) -> None:
    """Each buffer scaled alone."""
    places, without_effect = [100 * factor for factor in FACTORS], []
    for name in STUDIED:
        (cycles,) = sweeps.sizes(subject, [name], FACTORS).cycles
        if len(set(cycles)) == 1:
            without_effect.append(name)
        else:
            axes.plot(places, cycles, marker=".", label=name)
    axes.plot(
        places, len(places) * [subject.baseline().cycles_per_iteration], "--", label=", ".join(without_effect)
    )
    axes.set(
        title="Ours: one buffer scaled, the others as they are", xlabel="per cent of its size", ylabel=CYCLES
    )
    axes.legend(fontsize=8)


def against_others(axes: Any, subject: Experiment) -> None:
    """The scheduler against all others."""
    sweep = sweeps.sizes(subject, ["rs", sweeps.OTHERS], FACTORS)
    for share, row in list(zip(sweep.sizes[1], sweep.cycles, strict=True))[::2]:
        axes.plot(sweep.sizes[0], row, marker=".", label=f"others at {share} %")
    axes.set(title="Ours: the scheduler against all others", xlabel="entries of the scheduler", ylabel=CYCLES)
    axes.legend(fontsize=8)


def latencies(axes: Any, sweep: sweeps.LatencySweep) -> None:
    """Latency of loads or stores."""
    axes.plot(sweep.latencies, sweep.cycles, marker=".")
    title = f"Ours: latency of {sweep.of}s, slope {sweep.slope:.2f} at the end"
    axes.set(title=title, xlabel=f"cycles of a {sweep.of}", ylabel=CYCLES, ylim=(0, None))


def draw(path: Path) -> list[tuple[str, ...]]:
    """Draw all panels; returns the rows of the printed table."""
    ours, subject = our_figures(), experiment(DEFAULT)
    fidelities = {core: fidelity(MEASURED / f"{core}.csv") for core in ("IVB", "HSW")}
    with drawing(path, 12, 12) as figure:
        figure.suptitle(
            "Studies of UFS (Palomares and others, 2015), made again with Cyclelens on Sandy Bridge"
        )
        bars(figure.add_subplot(3, 2, 1), ours)
        faithful(figure.add_subplot(3, 2, 2), fidelities)
        one_by_one(figure.add_subplot(3, 2, 3), subject)
        against_others(figure.add_subplot(3, 2, 4), subject)
        latencies(figure.add_subplot(3, 2, 5), sweeps.load_latency(subject, LOAD_LATENCIES))
        latencies(figure.add_subplot(3, 2, 6), sweeps.store_latency(subject, STORE_LATENCIES))
    rows: list[tuple[str, ...]] = []
    for title, claim in CLAIMS.items():
        figures = [f"{each:.2f}" for each in ours[title]] if title in ours else ["-", "-"]
        rows.append((title.replace("\n", " "), f"{claim:.2f}", *figures))
    for core, (each, count) in fidelities.items():
        rows.append(
            (f"fidelity, {count} blocks on {core}", f"{CLAIMED_FIDELITY} % (SNB)", "-", f"{each:.1f} %")
        )
    speed = cycles_per_second(subject) / 1e6
    rows.append(("simulated cycles per second", "hundreds of thousands", "-", f"{speed:.1f} million"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, default=LOOP.with_name("ufs.svg"))
    arguments = parser.parse_args()
    if problem := why_impossible(arguments.output):
        parser.error(problem)
    print_table(("", "paper", "ours, UFS's rules", "ours, default"), draw(arguments.output))


if __name__ == "__main__":
    main()
