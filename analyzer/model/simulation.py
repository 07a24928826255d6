"""What the pipeline itself says of a run: its figure, and every uop's way if that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.model.buffer import Buffer

if TYPE_CHECKING:
    from cyclelens.analyzer.model.account import Account


class TraceRow(NamedTuple):
    """All events of one uop instance; cycles, None where the event did not happen."""

    round: int
    instruction: int
    kind: str
    """``uop``, ``sync``, ``merge``, or ``fused`` for the second half of a macro-fused pair."""
    idq_uop: int
    fused_uop: int
    uop: int
    predecoded: int | None
    removed_from_iq: int | None
    source: str
    """``MITE MS DSB LSD SE``; empty for merge uops."""
    added_to_idq: int | None
    issued: int | None
    ready: int | None
    dispatched: int | None
    executed: int | None
    retired: int | None
    port: str
    """Bound port, ``""`` if none."""
    ports: str
    """Allowed ports."""


class Input(NamedTuple):
    """A value that a uop reads from another one."""

    producer: int
    """Row of the trace; those of ``later`` are counted on."""
    value: str
    """Register or flag group; ``memory`` for what a load gets from a store, which it waits for after it was
    dispatched; empty between uops of one instruction."""
    ready: int | None
    """First cycle in which the value can be used."""


class Scheduling(NamedTuple):
    """What a uop waited for between issue and dispatch, as the scheduler recorded it."""

    allowed: int | None = None
    """First cycle in which it could have left if nothing had been missing."""
    last: int | None = None
    """The input that came last, by its place in the row's inputs; None if it did not wait for any."""
    inputs_ready: int | None = None
    """First cycle that the inputs allow."""
    held: str = ""
    """What kept it back when its inputs were there: ``fence``, ``unit`` (busy with the same instruction of
    before) or nothing."""
    queued: str = ""
    """What it waited for once it was ready: ``port``, ``divider``, ``pair`` (two that may not leave together)
    or nothing."""
    behind: int | None = None
    """The row because of which it waited when it was ready, if there was one."""


class Refusal(NamedTuple):
    """Why issue slots of a cycle stayed empty, as the renamer recorded it."""

    what: str
    """The cause of the front end or of the renamer, or the buffer that was full (``Cause.what``); empty if no
    slot stayed empty."""
    full: bool
    """Whether a buffer was full."""
    uop: int | None
    """The row of the uop that caused it; None where that was the front end."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Rows in program order, round by round."""

    rows: tuple[TraceRow, ...]
    cycles: int
    """Simulated cycles."""
    inputs: tuple[tuple[Input, ...], ...] = ()
    """For every row the values that another uop made."""
    scheduling: tuple[Scheduling, ...] = ()
    """For every row what it waited for in the scheduler."""
    later: tuple[TraceRow, ...] = ()
    """The uops of rounds behind the last one of ``rows``, as far as they got: they took room and ports."""
    refusals: tuple[Refusal, ...] = ()
    """By cycle why issue slots stayed empty."""
    unfinished: tuple[int | None, ...] = ()
    """By cycle the row of the uop that kept others from retiring; None if only the width did, or nothing."""
    buffers: tuple[Buffer, ...] = ()
    """Those that the core has, in the order in which uops pass through them."""


class FailedForward(NamedTuple):
    """Loads of an instruction that needed more than a store in flight had, and waited for the cache."""

    times: float
    """Per round."""
    cycles: float
    """From the store's retirement to the load's data, on average."""
    store: int
    """The instruction that stores."""
    mistaken: bool = False
    """They need nothing of it, but look as if they did."""


@dataclass(frozen=True, slots=True)
class LineUsage:
    """Averages per round of one instruction over the relevant rounds (docs/pipeline.md 5.4), in uops."""

    sources: Mapping[str, float]
    """IDQ uops by front-end source: MITE, MS, DSB, LSD."""
    issued: float
    executed: float
    ports: Mapping[str, float]
    """Bound port -> uops."""
    divider: float = 0.0
    """Cycles of divider occupancy."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the pipeline itself says, without interpretation."""

    cycles_per_iteration: float
    """Window value, rounded to 2 decimals (docs/pipeline.md 5.2)."""
    simulated_cycles: int
    first_round: int
    last_round: int
    """The relevant rounds (5.3)."""
    usage: tuple[LineUsage, ...]
    """One per instruction of the block."""
    merge_usage: tuple[LineUsage | None, ...]
    sync_usage: tuple[LineUsage | None, ...]
    first_sources: tuple[str, ...]
    """Front-end source of each instruction's first relevant instance (5.5); '' for fused second halves."""
    elimination: tuple[float, ...]
    """Share of relevant instances whose move, or addition at rename, was NOT eliminated; 1.0 for everything
    else."""
    busiest_port: float
    """Largest number of uops bound to a single port, per round."""
    renamed_loads: tuple[float, ...] = ()
    """Loads of each instruction that took over a stored value (W6), per round."""
    colliding_loads: tuple[float, ...] = ()
    """Loads of each instruction that had to wait because two others read the same word (Z6), per round."""
    failed_forwards: tuple[FailedForward | None, ...] = ()
    """Of each instruction; None where every load got its data."""
    lsd_unroll: int = 0
    """Rounds the LSD places at once; 0 if the LSD does not deliver."""
    period: tuple[int, int] | None = None
    """Cycles and rounds after which the pipeline's state came again; their ratio is the exact asymptotic
    throughput. None if no repetition was seen within the run."""
    trace: Trace | None = None
    account: Account | None = None
    """What became of every issue slot, if it was asked for."""
