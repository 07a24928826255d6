"""The cycle-accurate simulator.

``core`` is one compiled module, written in Cython with a file for every stage and policy (``core.pyx``); the
other files describe requests, variants and failures.
"""

from cyclelens.analyzer.simulator.core import (
    Key,
    cycles_per_iteration,
    key_of,
    placement_of,
    rounds_to_settle,
    simulate,
)

__all__ = ["Key", "cycles_per_iteration", "key_of", "placement_of", "rounds_to_settle", "simulate"]
