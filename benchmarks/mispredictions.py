"""A loop with a random branch at five probabilities, measured on this machine beside the prediction.

The loop is that of ``cyclelens characterize --core``. The prediction is the simulated figure plus the share
of mispredictions times the core's penalty, as ``mispredicted=`` adds it. The share is that of a predictor
that always predicts the more likely outcome: no predictor does better with random numbers.
"""

from __future__ import annotations

from cyclelens.analyzer.characterizing.machines import SimulatedMachine, opened
from cyclelens.analyzer.characterizing.mispredictions import cycles, penalty
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry

PROBABILITIES = (0.5, 0.25, 0.1, 0.05, 0.01)


def main() -> None:
    """Print a table in Markdown."""
    core = registry.native()
    if core is None or core.misprediction_penalty is None:
        raise SystemExit("the penalty of this machine's core is not known")
    base = cycles(SimulatedMachine(core, open_store(), counted=False), 0.0)
    assert not isinstance(base, str), base
    with opened(core) as machine:
        print(f"{core.name}: penalty {core.misprediction_penalty:g}, measured {penalty(machine).cycles}")
        print("| probability | measured | predicted | error |\n|---:|---:|---:|---:|")
        for probability in PROBABILITIES:
            measured = cycles(machine, probability)
            predicted = base + probability * core.misprediction_penalty
            if isinstance(measured, str):
                print(f"| {probability:g} | {measured} | {predicted:.2f} | |")
            else:
                error = predicted / measured - 1
                print(f"| {probability:g} | {measured:.2f} | {predicted:.2f} | {error:+.0%} |")


if __name__ == "__main__":
    main()
