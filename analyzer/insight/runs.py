"""How more blocks are simulated to explain what was found of one."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.insight.explain import steady_state
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.pipeline import simulate
from cyclelens.analyzer.simulator.wanted import Wanted

_FIGURE = Wanted(details=False)


@dataclass(frozen=True, slots=True)
class Runs:
    """A core, and what else every run has in common."""

    microarchitecture: Microarchitecture
    options: ModelOptions = DEFAULT
    cancel: Callable[[], bool] | None = None
    caches: Caches = field(default_factory=Caches)

    def cycles(self, block: Block) -> float:
        """Per iteration, of the steady state. Raises as ``simulate``."""
        simulation = simulate(
            block,
            self.microarchitecture,
            wanted=_FIGURE,
            options=self.options,
            cancel=self.cancel,
            caches=self.caches,
        )
        return steady_state(simulation)
