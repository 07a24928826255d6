"""What a core's published figures leave out: times that depend on later microcode or on operands."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclelens.analyzer.model.provenance import Certainty, Source
from msgspec import Struct

GATHERS = Source(
    Certainty.PUBLISHED,
    "SA-00828",
    "Intel-SA-00828, Gather Data Sampling (Downfall), 2023: the affected processors, and the microcode "
    "that delays data loaded by gathers",
)
BIT_MOVES = Source(
    Certainty.PUBLISHED,
    "llvm-project 217304",
    "llvm-project, pull request 217304: PDEP and PEXT take 18 to 290 cycles before Zen 3, by the mask's bits",
)
SLOW_DIVISIONS = Source(
    Certainty.PUBLISHED,
    "Agner Fog",
    "Agner Fog's instruction tables, Zen 1: divisions of doubles take 8 to 13 cycles, one in 4 to 5, by "
    "operands; GCC's znver.md has 13 and 5. The tables of the core have the slowest",
)
PAGE_ALIASING = Source(
    Certainty.MEASURED,
    "chains",
    "A chain of loads after stores 4,096 and 8,192 bytes away, measured on an Emerald Rapids: 13.00 "
    "cycles; 6.00 at 4,352 bytes, where both addresses wait for one register; 6.00 if the store's "
    "address is known",
)
MEMORY_WRITES = Source(
    Certainty.MEASURED,
    "written through",
    "Loops of 512-bit VMOVNTDQ and of CLFLUSHOPT to one line took 17 to 98 and 75 to 320 cycles per "
    "iteration on an Emerald Rapids, in several steady states; their uops take one",
)
REPETITIONS = Source(
    Certainty.PUBLISHED,
    "uops.info",
    "uops.info, tables of REP string instructions, RDRAND, RDSEED, CPUID, IN, OUT and XSAVE: one count, "
    "leaf, port or state was measured. RDRAND (R64) takes 3,971 cycles on Zen 3 and 65 on Zen 4: cores share "
    "a generator",
)
EMPTY_MASKS = Source(
    Certainty.MEASURED,
    "empty masks",
    "Loops of a masked load or store with an empty mask, on a page that the loop had not written, took 54 to "
    "330 cycles per iteration on an Emerald Rapids; 1 to 2 where another store wrote the page",
)
GATHER_SPREAD = Source(
    Certainty.MEASURED,
    "gathers on Zen 3 and 4",
    "Three loops with one VPGATHERDD of 256 bits took 8.2, 9.6 and 10.8 cycles per iteration on a Zen 3, by "
    "what else they held; uops.info published 8.0 and the model has 9.0 for all. On an EPYC 9004 one took 8 "
    "and so with loads or additions of vectors beside it, with one addition of integers 10.6 and with eight "
    "13.5 (the model 8.0 and 12.0), with a store of what it gathered 8.0 (9.0)",
)
UNCERTAIN_TARGETS = Source(
    Certainty.PUBLISHED,
    "llvm-project 206849",
    "llvm-project, issue 206849: BLSI, BLSR, BLSMSK and TZCNT wait for their target on some Zen 5, by AMD's "
    "guide and uops.info; on the EPYC 9005 that was measured here TZCNT does not. GCC and LLVM put zero "
    "idioms before permutations and others for Golden Cove and its successors; of these only VPERMQ was "
    "measured, on an Emerald Rapids, and does not wait",
)
HALF_CYCLES = Source(
    Certainty.MEASURED,
    "divisions on a Zen 3",
    "VDIVPS, VDIVPD, VSQRTPS and VSQRTPD take 10.5, 13.5, 14.5 and 20.5 cycles in copies of a chain and 11, "
    "13, 15 and 21 in a loop with one of them; independent VDIVPS 3.5 each, one in a loop 2.98",
)
LOOP_BRANCHES = Source(
    Certainty.MEASURED,
    "loops on a Zen 4",
    "Loops of 1, 2, 3, 4, 6, 8, 12 and 16 MULX of 64 bits took 1.75, 2.80, 4.00, 5.33, 7.33, 10.00, 12.00 "
    "and 16.00 cycles on an EPYC 9004, where the model has half a cycle more than their number; of 1, 2, 3, "
    "4, 6, 8 and 16 VMOVMSKPS 1.86, 2.83, 3.83, 5.25, 7.25, 9.24 and 16.83, where it has their number; "
    "straight-line code took 1.00 each. Of 110 loops of vector code and less than 1.6 cycles, 11 have "
    "COMISD or its kin beside other instructions, and took 1.19 to 1.50 where the model has 1.00; so did "
    "VPTEST with SETZ (1.46), and KTEST or KORTEST with it 1.41 (1.25). Loops of 1, 2, 3 and 8 SHLD of "
    "registers took 2.0, 4.0, 5.0 and 13.0, where each takes 1.5",
)
NARROWING_CONVERSIONS = Source(
    Certainty.MEASURED,
    "conversions on a Zen 4",
    "Loops of 1, 2, 4 and 8 VCVTPD2PS of 512 bits took 1.51, 3.02, 5.62 and 12.08 cycles on an EPYC 9004, "
    "other runs up to 1.70 each, and so did VCVTPD2DQ and VCVTPS2PH; uops.info publishes 1.33",
)
WIDTH_CONVERSIONS = Source(
    Certainty.MEASURED,
    "conversions on a Zen 5",
    "Copies of VCVTDQ2PD, VCVTPD2DQ, VCVTPH2PS, VCVTPS2PH and VCVTNEPS2BF16 of 256 and 512 bits took 0.80 "
    "cycles on an EPYC 9005, where their pipes allow 0.67, and of VCVTPS2PH to memory 1.02",
)
TERNARY_LOGIC = Source(
    Certainty.MEASURED,
    "VPTERNLOG on a Zen 4",
    "Loops of 4, 8 and 16 VPTERNLOGD of 256 bits took 1.14, 2.22 and 4.31 cycles on an EPYC 9004 (VPXORD "
    "1.00, 2.00 and 4.00), of 4 and 8 of 512 bits 2.61 and 4.52. With 4 and 6 vector stores 8 took 6.85 and "
    "8.72 (512 bits 14.4 and 17.6); with one or two 2.2 and 2.3 (5.3 and 7.4); 12 with 4 took 8.65 (16.75)",
)
LOCKED = Source(
    Certainty.MEASURED,
    "locked instructions on a Zen 4",
    "On an EPYC 9004 LOCK XADD took 7.9 cycles in a loop, and 14.8 beside 8 loads; LOCK ADC 7.6 and 14.6, "
    "LOCK CMPXCHG 9.0 and, beside 16 loads, 16.0, XCHG with memory 7.5 and 8.5 to 10.3; LOCK ADD 6.0 alone, "
    "6.9 to 7.5 each of several, and 8.0 each of three on different lines",
)
SHORT_LOOPS = Source(
    Certainty.MEASURED,
    "short loops on a Zen 3",
    "Of 78 loops of one instruction without memory that take a cycle in copies, 10 took 1.12 to 1.25 on a "
    "Zen 3, and one 1.6: BEXTR, RCL by one, CMOVZ and PTEST of one register, VUCOMISD and others",
)
MERGED_LOADS = Source(
    Certainty.MEASURED,
    "merged loads on a Zen 4",
    "A loop of VPADDD of 256 bits, MOVDQA from memory and PADDD of its result took 1.50 and 1.75 cycles on "
    "an EPYC 9004, with two loads and no PADDD 1.37; the model has 1.00",
)
PAUSES = Source(
    Certainty.MEASURED,
    "pause",
    "A loop of PAUSE on an Emerald Rapids took 41.8 cycles per iteration by time stamps; uops.info publishes "
    "160 for Alder Lake and Meteor Lake and 43 for Arrow Lake",
)
STORE_FENCES = Source(
    Certainty.MEASURED,
    "store fences",
    "A loop of SFENCE takes 5.9 to 6.0 cycles from Haswell to Alder Lake by uops.info; on an Emerald Rapids "
    "6.00, with one, two and four stores to different lines 7.00, 8.00 and 10.01, with two SFENCE and a "
    "store 12.99, with a locked ADD, which takes 18.0, 25.0; three locked ADD and three stores take 57.1. "
    "With 14 to 24 NOPs between them, three cycles or more, SFENCE cost no more than its issue slot: 3.00, "
    "3.17, 3.33, 3.50 and 4.50 for 14, 16, 17, 18 and 24; with 8 and 12 NOPs 5.95 and 6.04, with a store and "
    "16 or 24 NOPs 6.96 and 4.67, with a pair of SFENCE and 36 NOPs 11.98",
)
SHORT_GATHERS = Source(
    Certainty.MEASURED,
    "gathers of two",
    "Gathers of two elements took 2.00 cycles each on an Emerald Rapids (2.17 with a mask register), one, "
    "two or four of them in a loop; uops.info publishes 1.2 to 1.3 for Alder Lake",
)
SHARED_THROUGHPUT = Source(
    Certainty.MEASURED,
    "different forms together",
    "Loops of two instructions on an Emerald Rapids: LOCK ADD 18.0 and LOCK XADD 18.0, together 36.0; XCHG "
    "with memory and LOCK ADD 35.0; LOCK ADD of 32 and of 64 bits 36.0; LOCK CMPXCHG and LOCK ADD 37.1; "
    "VGATHERDPS and VPGATHERDD 4.1 each, together 8.2; AESKEYGENASSIST with and without VEX 14.0 each, "
    "together 27.0; RDTSC and RDTSCP 46 and 62, together 107; RDRAND of 64 and of 32 bits 102 each, together "
    "218",
)
MEASURED_OTHERWISE = Source(
    Certainty.MEASURED,
    "loops on a Zen 4",
    "On an EPYC 9004 loops of a chain of VPADDQ and 1, 2, 4 and 8 VPSADBW took 1.28, 1.52, 5.08 and 9.83 "
    "cycles, where the chain takes 1, 1, 4 and 8, of 8 VPADDQ and one VPSADBW 8.66; HADDPS into itself "
    "4.43 (4.00), VINSERTF128 from memory beside VEXTRACTF128 to memory 2.00 (1.00). KADDQ into itself "
    "took 1.55, four 5.00, and KSHIFTRQ, KUNPCKDQ and KADDQ in a chain 3.75 (3.00). SFENCE beside one "
    "store took 2.00 (1.00), beside four to different lines 5.00 (4.00), two beside two stores 4.00 "
    "(2.00). 2, 3, 4 and 8 PUSH of a constant and an addition to RSP took 1.94, 2.11, 3.00 and 5.00 "
    "(1.00, 1.69, 2.25 and 4.50). Two SETZ or CMOVZ that read the flags of the loop's DEC took 1.50 "
    "(2.00). A VPAND that updates a register and 1, 2 and 4 VPAND that read it took 1.00, 2.00 and 2.87, "
    "with VSHUFPS 0.93 to 1.32, VPADDD of 512 bits and VPCMPEQD into a mask 1.94, VPADDD with VPCMPEQD and "
    "VPMOVMSKB 2.00 (the model has 1.00, and 2.00 for four readers); four with eight 8.00 (4.00), with "
    "two 4.63; beside operations on other registers 1.00",
)
BEYOND_UNITS = Source(
    Certainty.PUBLISHED,
    "uops.info; loops on a Zen 4 and a Zen 5",
    "uops.info's throughputs beyond what units explain: SHA1MSG1 and SHA256MSG1 0.60 on Zen 3 (0.50), "
    "CVTPD2PI 0.78 and CVTPI2PD 0.75 (0.67). Loops of 2, 4 and 8 PUSH of 16 bits and an addition to RSP took "
    "3.00, 5.00 and 9.00 cycles on an EPYC 9004 (2.00, 2.01, 4.00), of 8 SHA1MSG1 "
    "and SHA256MSG1 4.77 and 5.29 (4.00). On an EPYC 9005 PUSH of 16 bits took 1.06 (0.50), POP 1.06 (0.41), "
    "XLAT 0.65 (0.32)",
)
TRANSFERRED_MASKS = Source(
    Certainty.MEASURED,
    "PMOVMSKB on a Zen 4",
    "VPCMPEQB with memory, VPMOVMSKB, an addition, TEST and the loop's end took 1.64 cycles per iteration "
    "on an EPYC 9004 (the model has 2.02), with AND beside them 2.17 (3.16)",
)
GATHERED_MASKS = Source(
    Certainty.INFERRED,
    "gathers on a Zen 4",
    "No chain through a gather's mask was measured on Zen 5. On Zen 4 a gather waits for its mask one cycle "
    "less than for its index, or two with a mask register, at least",
)
LANES = Source(
    Certainty.MEASURED,
    "chains across lanes on a Zen 3",
    "Chains of VPERMQ, VPMOVZXWD and VPERMD by its index, of 256 bits, took 6.55, 4.43 to 4.50 and 8.13 to "
    "8.64 cycles each on an EPYC 7003 where the tables have 6, 4 and 8; of VPERM2F128 and VEXTRACTI128 3.00 "
    "in a loop and 3.50 in copies (3); of VINSERTI128 and VBROADCASTSS 1.00 to 1.25 in a loop, 1.57 in "
    "copies and 2.07 decoded anew (1)",
)
WIDE_MASK_CYCLES = 0.55
"""Cycles by which an operation on masks of 64 bits took longer in a loop (MEASURED_OTHERWISE)."""
PUSHED_CONSTANT_CYCLES = 1.0
"""The same of loops that push constants."""
STORE_FENCE_CYCLES = 3
"""Cycles for which SFENCE keeps the order of stores busy if that is free when it is issued (STORE_FENCES)."""
STORE_FENCE_AFTER_WAIT = 6
"""Cycles for which it does if it waited for an earlier fence, locked access or store."""


class BitMoves(Struct, frozen=True):
    """Cycles of PDEP and PEXT on a core where they depend on the mask."""

    least: int
    most: int


_SLOWED_GATHERS = frozenset({"SKL", "SKX", "KBL", "CFL", "CLX", "ICL", "TGL", "RKL"})
_PAGE_ALIASING = {"ADL": 7, "SPR": 7}
_GATHER = re.compile(r"vp?gather[dq](?:[dq]|p[sd])")
_TO_MEMORY = (
    r"v?movnt(i|q|dq|p[sd]|s[sd])|v?maskmov(q|dqu)|clflush|clflushopt|clwb|cldemote|clzero|movdir(i|64b)"
)
_DECIDED = (
    (re.compile(_TO_MEMORY), "memory"),
    (re.compile(r"rep (movs|stos|cmps|scas|lods)[bwdq]"), "the count"),
    (re.compile(r"rd(rand|seed)"), "the random number generator"),
    (re.compile(r"cpuid"), "the leaf"),
    (re.compile(r"f?xsave(c|opt|s)?(64)?|f?xrstors?(64)?"), "the state that is in use"),
    (re.compile(r"in|out|(rep )?(in|out)s[bwd]"), "the device"),
)
"""Mnemonics, and what decides their time."""
_MASKED = re.compile(r"vp?maskmov(p[sd]|d|q)")
_BY_ELEMENT = r"vp?(gather|scatter|compress|expand)\w+"
_GATHER_SPREAD = {"ZEN3": (-9, 20), "ZEN4": (-12, 33)}
"""Per cent by which loops with a gather were measured to differ from the model's figure."""
_NEVER = "(?!)"
"""Matches nothing, not even the empty mnemonic of bytes that are no instruction."""
_UNCERTAIN_TARGETS = {
    "ZEN5": r"tzcnt|bls(i|r|msk)",
    **dict.fromkeys(
        ("ADL", "ARL", "GNR", "LNL", "MTL", "SPR"),
        r"vperm([dq]|p[sd])|vrange[ps][sd]|vpmullq|vfc?mulc[ps]h|vgetmant[ps][sdh]",
    ),
}
_HALF_CYCLES = {"ZEN3": r"v?(div|sqrt)[ps][sd]"}
_LOOP_BRANCHES = {
    "ZEN4": (
        (r"mulx?", 1.5),
        (r"sh[lr]d", 1.0),
        (r"v?movmskp[sd]", 1.3),
        (r"v?u?comis[sd]|v?ptest|vtestp[sd]", 0.5),
        (r"k(or)?test[bwdq]", 0.2),
    )
}
_NARROWING_CONVERSIONS = {"ZEN4": (r"vcvt(ps2ph|t?pd2u?dq|pd2ps|u?qq2ps)", 28)}
_CHANGED_WIDTHS = {"ZEN5": r"vcvt(u?dq2pd|t?pd2u?dq|pd2ps|ps2pd|ph2ps|ps2ph|ne2?ps2bf16)"}
_CHANGED_WIDTHS_PERCENT = 53
_TERNARY_LOGIC = {"ZEN4": (31, 116)}
_LOCKED = {"ZEN4": ((r"xadd|adc|sbb|cmpxchg", 89), (r"xchg", 35), (r".*", 16))}
_MERGED_LOADS = {"ZEN4": 0.75}
_ACROSS_LANES = {
    "ZEN3": (
        (r"v(insert[fi]128|p?broadcast[bwdq]|broadcasts[sd])", 1.1),
        (r"v(perm2[fi]128|extract[fi]128|perm[dq]|permp[sd]|pmov[sz]x\w+)", 0.65),
    )
}
_BEYOND_UNITS = {
    "ZEN3": ((r"sha(1|256)msg1", 0.1), (r"cvt(t?pd2pi|pi2pd)", 0.12)),
    "ZEN4": ((r"sha(1|256)msg1", 0.17), (r"push of 16 bits", 0.75)),
    "ZEN5": ((r"(push|pop) of 16 bits", 0.75), (r"xlatb?", 0.33)),
}
_JUMPS = {"ICL": 1.8, "TGL": 1.8, "RKL": 1.62, "ADL": 2.08, "ZEN": 2.0, "ZEN+": 2.0, "ZEN2": 1.4}
_ELSEWHERE = {core: {"jmp": (core, cycles)} for core, cycles in _JUMPS.items()} | {
    **{core: {"leave": ("ADL", 2.0)} for core in ("GNR", "ARL", "LNL")},
    "MTL": {"leave": ("ADL", 2.0), "jmp": ("ADL", 2.08)},
    "ZEN5": dict.fromkeys(("adc", "sbb", "adcx"), ("ZEN5", 0.46)),
    "IVB": {f"prefetch{hint}": ("IVB", 43.0) for hint in ("nta", "t0", "t1", "t2")},
}
_INFERRED_MASKS = frozenset({"ZEN5"})
_SHORT_LOOPS = {"ZEN3": (1.1, 25)}
_PAUSES = {"SPR": 42}
_SHORTEST_GATHERS = {"SPR": 2}
_BIT_MOVES = dict.fromkeys(("ZEN", "ZEN+", "ZEN2"), BitMoves(18, 290))
_SLOW_DIVISIONS = frozenset({"ZEN", "ZEN+"})
_OF_DOUBLES = r"v?div[ps]d"


def is_slow_division(mnemonic: str, name: str) -> bool:
    """True if the core's records of a division hold for its slowest operands; the others hold for fast ones
    (SLOW_DIVISIONS)."""
    return name in _SLOW_DIVISIONS and re.fullmatch(_OF_DOUBLES, mnemonic) is not None


def is_slowed_gather(mnemonic: str, name: str) -> bool:
    """True if later microcode of the core makes it slower than its published figures (GATHERS)."""
    return name in _SLOWED_GATHERS and _GATHER.fullmatch(mnemonic) is not None


def bit_moves(mnemonic: str, name: str) -> BitMoves | None:
    """Cycles of PDEP or PEXT on the core; None for other instructions, and on cores where the time
    is constant (BIT_MOVES)."""
    return _BIT_MOVES.get(name) if mnemonic in ("pdep", "pext") else None


def page_aliasing_cycles(name: str) -> int:
    """Extra cycles of a load that seems to depend on an earlier store, if measured and not a rule of the
    core; 0: not known (PAGE_ALIASING)."""
    return _PAGE_ALIASING.get(name, 0)


def pause_cycles(name: str) -> int:
    """Cycles of PAUSE where a core was measured that shares its records with others; 0: as recorded
    (PAUSES)."""
    return _PAUSES.get(name, 0)


def shortest_gather(name: str) -> int:
    """Cycles that the gather of fewest elements takes; 0: as recorded (SHORT_GATHERS)."""
    return _SHORTEST_GATHERS.get(name, 0)


def decided_by(mnemonic: str) -> str:
    """What decides the time of an instruction beyond the core: ``memory`` for non-temporal stores and for
    operations that write cache lines back (MEMORY_WRITES), ``the count`` for repetitions of a string
    instruction, and others (REPETITIONS); empty for most. ``mnemonic``: with its prefix ``rep``."""
    return next((what for pattern, what in _DECIDED if pattern.fullmatch(mnemonic)), "")


def masks_memory(mnemonic: str, *, opmask: bool) -> bool:
    """True for an access that leaves out elements of one piece of memory; ``opmask``: it has an opmask. An
    empty mask may take an assist (EMPTY_MASKS)."""
    return _MASKED.fullmatch(mnemonic) is not None or (opmask and not re.fullmatch(_BY_ELEMENT, mnemonic))


def gather_spread(mnemonic: str, name: str) -> tuple[int, int] | None:
    """Per cent by which measured loops with this gather differ from the figure, least and most; None if not
    measured (GATHER_SPREAD)."""
    return _GATHER_SPREAD.get(name) if _GATHER.fullmatch(mnemonic) else None


def may_wait_for_target(mnemonic: str, name: str) -> bool:
    """True if the result waits for the target's old value on some processors only (UNCERTAIN_TARGETS)."""
    return re.fullmatch(_UNCERTAIN_TARGETS.get(name, _NEVER), mnemonic) is not None


def takes_half_cycles(mnemonic: str, name: str) -> bool:
    """True if an instruction takes half a cycle more and less in turn (HALF_CYCLES)."""
    return re.fullmatch(_HALF_CYCLES.get(name, _NEVER), mnemonic) is not None


def longer_in_loops(mnemonic: str, name: str) -> float:
    """Cycles by which measured loops with an instruction took longer than the figure; 0: not known to
    (LOOP_BRANCHES)."""
    known = _LOOP_BRANCHES.get(name, ())
    return next((cycles for pattern, cycles in known if re.fullmatch(pattern, mnemonic)), 0.0)


def slower_conversion_percent(mnemonic: str, name: str) -> int:
    """Per cent by which measured loops of a conversion from 512 to 256 bits took longer than the figure; 0:
    not known to (NARROWING_CONVERSIONS)."""
    pattern, percent = _NARROWING_CONVERSIONS.get(name, (_NEVER, 0))
    return percent if re.fullmatch(pattern, mnemonic) else 0


def width_conversion_percent(mnemonic: str, name: str) -> int:
    """The same of a conversion between elements of different widths, in registers of 256 or 512 bits
    (WIDTH_CONVERSIONS)."""
    return _CHANGED_WIDTHS_PERCENT if re.fullmatch(_CHANGED_WIDTHS.get(name, _NEVER), mnemonic) else 0


def locked_percent(mnemonic: str, name: str) -> int:
    """Per cent by which loops with a locked instruction beside loads, or with several of them, took longer
    than the figure; 0: not known to (LOCKED)."""
    known = _LOCKED.get(name, ())
    return next((percent for pattern, percent in known if re.fullmatch(pattern, mnemonic)), 0)


def ternary_logic_percent(name: str, *, stores: bool) -> int:
    """Per cent by which measured loops of VPTERNLOG, or of it and vector stores, took longer than the figure;
    0: not known to (TERNARY_LOGIC)."""
    alone, beside_stores = _TERNARY_LOGIC.get(name, (0, 0))
    return beside_stores if stores else alone


def merged_load_cycles(name: str) -> float:
    """Cycles by which loops with a load that keeps an upper half took longer than the figure; 0: not known to
    (MERGED_LOADS)."""
    return _MERGED_LOADS.get(name, 0.0)


def short_loop_percent(cycles: float, name: str) -> int:
    """Per cent by which some loops of one instruction and this figure took longer; 0: not known to
    (SHORT_LOOPS)."""
    below, percent = _SHORT_LOOPS.get(name, (0.0, 0))
    return percent if cycles < below else 0


def beyond_units(what: str, name: str) -> float:
    """Cycles by which an instruction was measured to take longer than its units explain; 0: not known to
    (BEYOND_UNITS). ``what``: its mnemonic, for some with words behind it."""
    known = _BEYOND_UNITS.get(name, ())
    return next((cycles for pattern, cycles in known if re.fullmatch(pattern, what)), 0.0)


def throughput_elsewhere(mnemonic: str, name: str) -> tuple[str, float] | None:
    """The nearest core with a published throughput of an instruction without one here, and its cycles.
    The tables leave out direct jumps: where the model does not limit them, the core itself has theirs. Those
    of prefetches on Ivy Bridge are Agner Fog's."""
    return _ELSEWHERE.get(name, {}).get(mnemonic)


def may_differ(mnemonics: Iterable[str], name: str) -> bool:
    """False if no loop of these instructions is known to differ from the figure on the core."""
    if measured_otherwise(name) or name in _ACROSS_LANES:
        return True
    return any(beyond_units(each + form, name) for each in mnemonics for form in ("", " of 16 bits"))


def has_inferred_mask(mnemonic: str, name: str) -> bool:
    """True for a gather whose latency from its mask is that of another core (GATHERED_MASKS)."""
    return name in _INFERRED_MASKS and _GATHER.fullmatch(mnemonic) is not None


def measured_otherwise(name: str) -> bool:
    """True if kinds of loops were measured to take other times than the model's (MEASURED_OTHERWISE)."""
    return name == "ZEN4"


def result_conflict_cycles(longer: int) -> float:
    """Cycles by which a chain of vector operations of one cycle took longer beside this many longer ones,
    at most (MEASURED_OTHERWISE)."""
    return min(float(longer), 0.75 + longer / 4)


def read_chain_cycles(updates: int, readers: float) -> float:
    """Cycles by which a chain of this many vector operations of one cycle took longer than they, at most, if
    other operations that use its register are on pipes for this many cycles (MEASURED_OTHERWISE)."""
    return min(readers, updates + 1.0)


def lane_crossing_cycles(mnemonic: str, name: str) -> float:
    """Cycles by which an operation between the halves of a register took longer in a chain, at most; 0: not
    known to (LANES)."""
    known = _ACROSS_LANES.get(name, ())
    return next((cycles for pattern, cycles in known if re.fullmatch(pattern, mnemonic)), 0.0)


def zero_counts_measured_on(name: str) -> str:
    """The core on which shifts by zero were measured that stands for this one; empty: none."""
    return "ZEN4" if name in ("ZEN3", "ZEN4", "ZEN5") else ""
