"""Runs further simulations that explain a block's figure."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.insight.explain import steady_state
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from msgspec import Struct, field

_FIGURE = RunRequest(details=False)


class Runs(Struct, frozen=True):
    """A core and the settings that all runs share."""

    microarchitecture: Microarchitecture
    options: ModelOptions = DEFAULT
    cancel: Callable[[], bool] | None = None
    caches: Caches = field(default_factory=Caches)

    def cycles(self, block: Block) -> float:
        """Cycles per iteration in the steady state. Raises like ``simulate``."""
        simulation = simulate(
            block,
            self.microarchitecture,
            request=_FIGURE,
            options=self.options,
            cancel=self.cancel,
            caches=self.caches,
        )
        return steady_state(simulation)
