"""Codes of the assumptions behind a figure, which reports and settings keep from release to release."""

from __future__ import annotations

ONE_POSITION = "one-position"
ONE_PASS = "one-pass"
CARRIED_ARGUMENTS = "carried-arguments"
LINE_CROSSINGS = "line-crossings"
OWED_CONSTANTS = "owed-constants"
SAME_PAGE = "same-page"
FORWARDING_TIME = "forwarding-time"
CHASED_STORES = "chased-stores"
WARM_CACHES = "warm-caches"

CODES = {
    "operand-values": "divisions and square roots have fast operands, ENTER on Intel's cores and divisions "
    "of doubles on ZEN and ZEN+ slow ones",
    "few-mask-bits": "the masks of PDEP and PEXT have few bits set, on cores where the time depends on that",
    "masks-not-empty": "masked loads and stores have some element, or touch pages already written",
    "gather-neighbours": "the code around a gather does not change its time, on cores where loops differed",
    "inferred-latency": "a gather's latency from its mask, inferred from another core, on ZEN5",
    "half-cycles": "divisions that take half a cycle more and less in turn take their mean, on ZEN3",
    "target-not-awaited": "a result does not wait for its target's old value, on cores where this is unknown",
    "fastest-state": "a loop of one instruction is in its fastest state, on cores where some were not",
    "loop-branch": "a loop's branch does not wait for some instructions, on cores where loops took longer",
    "slower-conversions": "conversions between widths take the time that their pipes allow, on cores where "
    "loops took longer",
    "ternary-logic": "VPTERNLOG takes the published time, on cores where loops took longer",
    "locked-neighbours": "locked instructions take no longer beside loads and other locked ones, on cores "
    "where loops took longer",
    "measured-otherwise": "a loop takes the model's time, on cores where loops of its kind differed by an "
    "unknown rule",
    "published-throughput": "instructions take the time of their units, where more cycles are published",
    "counts-not-zero": "no count of a shift by CL whose flags are read is zero, on cores where that is slow",
    "older-microcode": "gathers take the time from before the microcode update against Downfall",
    "no-denormals": "no floating-point value is denormal",
    "same-address": "accesses at data-dependent addresses touch a different address each time",
    "no-overlap": "accesses through different pointers touch different memory; "
    "on a core with 4K aliasing, their lower 12 address bits differ too",
    LINE_CROSSINGS: "no access crosses the end of a cache line, on cores whose models leave that out",
    FORWARDING_TIME: "forwarding from a store always takes equally long, up to Rocket Lake",
    CHASED_STORES: "a store through a pointer does not delay the load of the next pointer, up to Skylake",
    SAME_PAGE: "a pointer and its sum with a displacement are on one page, on cores that assume so",
    OWED_CONSTANTS: "the code before a loop leaves no constant owed to a count of its shifts, on Golden Cove "
    "and later",
    "call-not-counted": "a called function takes no time",
    "predicted-branches": "branches out of the region are not taken, as predicted",
    WARM_CACHES: "all data are in the first-level cache",
    "older-meaning": "the core does not know an instruction and runs an older one",
    "unknown-offset": "the position of the region in memory",
    ONE_POSITION: "the other positions have the figure of the one that is simulated first",
    ONE_PASS: "one pass begins with an empty pipeline and its code in the uop cache",
    CARRIED_ARGUMENTS: "a call of a function finds in its arguments what the call before left there",
    "inner-branch": "the direction of a branch within the region",
    "not-executed": "no path through the region executes a part of it, such as code behind a loop",
}
"""Stable code of each kind, and what is assumed."""
