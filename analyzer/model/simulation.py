"""Results of the pipeline itself: a run's figure, and on request the events of every uop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cyclelens.analyzer.model.buffer import Buffer
from msgspec import Struct

if TYPE_CHECKING:
    from cyclelens.analyzer.model.account import Account


class TraceRow(Struct, frozen=True):
    """All events of one uop instance, in cycles; None if the event did not happen."""

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
    """Bound port; empty if none."""
    ports: str
    """Allowed ports."""


class Input(Struct, frozen=True):
    """A value that a uop reads from another one."""

    producer: int
    """Row of the trace; rows of ``later`` are numbered after the others."""
    value: str
    """Register or flag group; ``memory`` for data that a load gets from a store, for which it waits after
    dispatch; empty between uops of one instruction."""
    ready: int | None
    """First cycle in which the value can be used."""


class Scheduling(Struct, frozen=True):
    """What a uop waited for between issue and dispatch, as the scheduler recorded it."""

    allowed: int | None = None
    """First cycle in which it could have left if nothing had been missing."""
    last: int | None = None
    """Index of the input that arrived last, in the row's inputs; None if it waited for none."""
    inputs_ready: int | None = None
    """First cycle that the inputs allow."""
    held: str = ""
    """What delayed it after its inputs arrived: ``fence``, ``unit`` (busy with the
    previous instance) or empty."""
    queued: str = ""
    """What it waited for once ready: ``port``, ``divider``, ``pair`` (two that may not
    leave together) or empty."""
    behind: int | None = None
    """The row that it waited for once ready; None if there was none."""


class Refusal(Struct, frozen=True):
    """Why issue slots of a cycle stayed empty, as the renamer recorded it."""

    what: str
    """Cause in the front end or the renamer, or the full buffer (``Cause.what``); empty
    if no slot stayed empty."""
    full: bool
    """True if a buffer was full."""
    uop: int | None
    """Row of the uop that caused it; None if the front end did."""


class Trace(Struct, frozen=True):
    """Rows in program order, round by round."""

    rows: tuple[TraceRow, ...]
    cycles: int
    """Simulated cycles."""
    inputs: tuple[tuple[Input, ...], ...] = ()
    """Values that each row read from other uops."""
    scheduling: tuple[Scheduling, ...] = ()
    """What each row waited for in the scheduler."""
    later: tuple[TraceRow, ...] = ()
    """Uops of rounds after the last one of ``rows``, as far as they got: they occupied buffers and ports."""
    refusals: tuple[Refusal, ...] = ()
    """By cycle: why issue slots stayed empty."""
    unfinished: tuple[int | None, ...] = ()
    """By cycle: row of the uop that blocked retirement; None if only the width did, or nothing."""
    buffers: tuple[Buffer, ...] = ()
    """The core's buffers, in the order in which uops pass through them."""


class FailedForward(Struct, frozen=True):
    """Loads of an instruction that needed more bytes than a store in flight held,
    and waited for the cache."""

    times: float
    """Loads per round."""
    cycles: float
    """Average cycles from the store's retirement to the load's data."""
    store: int
    """Index of the storing instruction."""
    mistaken: bool = False
    """True if they do not need the store's data but look as if they did."""


class LineUsage(Struct, frozen=True):
    """Averages of one instruction per round over the relevant rounds (docs/pipeline.md 5.4), in uops."""

    sources: Mapping[str, float]
    """IDQ uops by front-end source: MITE, MS, DSB, LSD."""
    issued: float
    executed: float
    ports: Mapping[str, float]
    """Bound port -> uops."""
    divider: float = 0.0
    """Cycles of divider occupancy."""


class Simulation(Struct, frozen=True):
    """Results of the pipeline, without interpretation."""

    cycles_per_iteration: float
    """Window value, rounded to 2 decimals (docs/pipeline.md 5.2)."""
    simulated_cycles: int
    visited_cycles: int
    """Those of them that were simulated one by one; nothing could happen in the others."""
    first_round: int
    last_round: int
    """The relevant rounds (5.3)."""
    usage: tuple[LineUsage, ...]
    """One per instruction of the block."""
    merge_usage: tuple[LineUsage | None, ...]
    sync_usage: tuple[LineUsage | None, ...]
    first_sources: tuple[str, ...]
    """Front-end source of each instruction's first relevant instance (5.5); empty for
    second halves of fused pairs."""
    elimination: tuple[float, ...]
    """Share of relevant instances whose move, or addition at rename, was NOT eliminated; 1.0
    for all other instructions."""
    busiest_port: float
    """Largest number of uops bound to one port, per round."""
    renamed_loads: tuple[float, ...] = ()
    """Loads of each instruction that were renamed to a stored value (W6), per round."""
    colliding_loads: tuple[float, ...] = ()
    """Loads of each instruction that waited because two others read the same word (Z6), per round."""
    merging_stores: tuple[float, ...] = ()
    """Stores of each instruction that waited to be merged with bytes on their way to the cache (M28), per
    round."""
    failed_forwards: tuple[FailedForward | None, ...] = ()
    """Per instruction; None if every load got its data."""
    lsd_unroll: int = 0
    """Rounds that the LSD places at once; 0 if the LSD does not deliver."""
    period: tuple[int, int] | None = None
    """(cycles, rounds) after which the pipeline's state repeats; their ratio is the exact asymptotic
    throughput. None if no repetition was seen."""
    trace: Trace | None = None
    account: Account | None = None
    """What happened to every issue slot; None unless requested."""
