"""The face of the compiled core.

A block runs on a core, with the options of a model: ``simulate`` returns what the run showed, and
``cycles_per_iteration`` only its figure. Both release the global interpreter lock while cycles are simulated,
so the runs of several threads go side by side; a ``Caches`` belongs to one thread.
"""

from collections.abc import Callable
from typing import TypeAlias

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.uops import Block, Entry
from cyclelens.analyzer.simulator.run_request import RunRequest

Key: TypeAlias = tuple[object, ...]
"""What the figure of a block depends on."""

def simulate(
    block: Block,
    microarchitecture: Microarchitecture,
    *,
    request: RunRequest = ...,
    options: ModelOptions = ...,
    cancel: Callable[[], bool] | None = None,
    caches: Caches | None = None,
) -> Simulation:
    """Run the block for as long as ``request`` says.

    ``options`` selects the variant of the model (``variant`` applies its part of them to the
    microarchitecture). ``caches`` keep the pipeline for the next run. Raises Cancelled if ``cancel`` returns
    true, SimulationStuck if nothing retires any more, ValueError for an empty block.
    """

def cycles_per_iteration(
    block: Block,
    microarchitecture: Microarchitecture,
    options: ModelOptions = ...,
    caches: Caches | None = None,
    key: Key | None = None,
) -> float:
    """Only the figure that ``simulate`` finds, which takes less time: blocks that run alike are simulated
    once. ``key``: the block's key (``key_of``), if known. Raises what ``simulate`` raises."""

def key_of(block: Block, microarchitecture: Microarchitecture, options: ModelOptions, caches: Caches) -> Key:
    """Key by which blocks that run alike are found."""

def loop_key(key: Key, placement: bytes) -> Key:
    """The key of a loop whose placement is known (``placement_of``): more loops are alike."""

def laid_out(entry: Entry) -> tuple[list[int], tuple[int, int, int, int, int], list[int] | None]:
    """What an entry of a block is laid out as: its integers, the value that it makes, and its row for cores
    that count macro-ops (None without one)."""

def placement_of(
    block: Block, microarchitecture: Microarchitecture, options: ModelOptions, caches: Caches
) -> bytes:
    """What a run depends on of the code's position: blocks of the same instructions with equal values run
    alike."""

def rounds_to_settle(block: Block, microarchitecture: Microarchitecture) -> int:
    """Rounds after which uops issue as fast as they retire in the second half of them: enough to fill the
    reorder buffer four times."""

REFUSALS: tuple[str, ...]
"""Reasons for empty issue slots; the first one means that none stayed empty."""

POLICIES: dict[str, dict[str, type]]
"""The classes of every kind of policy, by the name that a core gives."""

# The interfaces of the policies.
class Addition: ...
class Binding: ...
class CommitRule: ...
class DispatchRule: ...
class Elimination: ...
class FrontEnd: ...
class LateOperands: ...
class LoadRenaming: ...
class MemoryRenaming: ...
class Picker: ...
class SchedulerChoice: ...
