"""What loops of integer code took on a core by rules that the model lacks, and where that was measured."""

from __future__ import annotations

from cyclelens.analyzer.model.provenance import Certainty, Source

ZERO_COUNTS = Source(
    Certainty.MEASURED,
    "zero counts on a Zen 4",
    "A loop of a shift by CL and an instruction that reads its flags took 33.0 cycles on an EPYC 9004 with "
    "CL 0, 64 or 128, and 1.0 with 1, 5, 63 or 65; two such pairs 65.8, SHLD with ADC 36.0 (2.0)",
)
ZERO_COUNT_CYCLES = 32
"""Cycles by which an instruction that reads the flags of a shift by zero took longer (ZERO_COUNTS)."""
NESTED_FRAMES = Source(
    Certainty.PUBLISHED,
    "Agner Fog, uops.info",
    "Agner Fog: Instruction tables, Sandy Bridge to Ice Lake: ENTER with level 0 has 12 uops and takes "
    "some 8 cycles, with others 87 and 2 per level; the 92 to 117 at uops.info are those of a nested frame. "
    "stackoverflow.com/questions/5959890 has 10 to 20 uops, and 8 cycles on a Core 2",
)
FORWARDING = Source(
    Certainty.PUBLISHED,
    "uarch-bench 81, gist bc9af3a0",
    "travisdowns/uarch-bench, issue 81: a store, DEC and a load of the stored word took 6.3 cycles on Sandy "
    "Bridge and Ivy Bridge, the load first 5.0, with six NOPs between 5.0; 4.5 on a Skylake, 3 at best. "
    "gist.github.com/travisdowns/bc9af3a0aaca5399824cf182f85b9e9c: a store and a load took 5.6 cycles on a "
    "Sandy Bridge, 5.3 on a Haswell and 4.4 on a Skylake, of 16 bytes 7.4, 6.0 and 5.0; a store of 16 bytes, "
    "a load of 8 and MOVQ 7.1, 6.3 and 6.3 (the model 6.0, 6.0 and 7.0), 7.3 on an Ice Lake (7.0), with a "
    "second load and PINSRQ 8.0, 8.0, 7.5 and 7.3 (8.0, 8.0, 9.0 and 9.0)",
)
_OLDER, _LATER = ((0.0, 1.3), (0.0, 2.4)), ((0.0, 0.3), (0.0, 1.0))
_SKYLAKE, _VECTORS_ONLY = ((-2.0, 0.0), (-1.6, 0.0)), ((0.0, 0.0), (-2.0, 0.3))
FORWARDING_TIMES = {
    **dict.fromkeys(("SNB", "IVB"), _OLDER),
    **dict.fromkeys(("HSW", "BDW"), _LATER),
    **dict.fromkeys(("SKL", "SKX", "KBL", "CFL", "CLX"), _SKYLAKE),
    **dict.fromkeys(("ICL", "TGL", "RKL"), _VECTORS_ONLY),
}
"""Cycles by which forwarding takes less and more than in the model, of integers and vectors (FORWARDING)."""
CHASES = Source(
    Certainty.PUBLISHED,
    "stackoverflow 54084992",
    "stackoverflow.com/questions/54084992: on an Ivy Bridge MOV RAX, [RAX] before a store to RAX+8 took 9 "
    "cycles, with a load of RAX+16 behind it 6.8, behind the store 5.4; with the store to RAX+32 4.2 and 5.3",
)
CHASED_STORES_MEASURED_ON = "IVB"
"""The core of CHASES; the others are assumed to do the same."""
CHASED_STORE_CYCLES = 9
"""Cycles of such a loop, at most (CHASES)."""
OTHER_PAGES = Source(
    Certainty.PUBLISHED,
    "stackoverflow 52351397",
    "stackoverflow.com/questions/52351397: a load from a pointer plus 8 took 9 cycles on a Core i7-4770K "
    "where the sum is on another page than the pointer, and 5 with ALU work or a displacement of 4,096",
)
OTHER_PAGE_CYCLES = 9
"""Cycles of a load whose address was begun with the wrong page (OTHER_PAGES)."""
TWICE_IN_A_UNIT = Source(
    Certainty.PUBLISHED,
    "agner.org 627",
    "agner.org/optimize/blog/read.php?i=627 (2016), Haswell and Skylake: a load across the end of a 64-byte "
    "line reads two lines and needs both load paths of a cycle; such loads halve the throughput",
)
LOOP_KINDS = Source(
    Certainty.MEASURED,
    "kinds of loops on a Zen 4",
    "On an EPYC 9004 IMUL by a constant, or PDEP, PEXT and CRC32, beside 3, 4, 5 and 6 LEA took 1.50, "
    "1.75, 2.00 and 2.00 cycles (the model 1.25, 1.50, 1.75, 2.00), beside three additions 1.58 to 1.66, "
    "two in a row beside 3, 4, 5 and 8 LEA 2.00, 2.75, 3.25 and 3.75 (2.00, 2.00, 2.00, 3.00), apart 2.00 "
    "to 3.67, four and seven 6.50 (5.00). VMOVQ from a general register took 1.28 beside two vector "
    "operations or a store and one, 1.38 beside three (1.00), two beside four 2.66 (2.00), VCVTSI2SD "
    "beside two 1.63 (1.25). VUCOMISS took 1.20 beside a load, 1.25 beside CMP, 1.50 beside SETB or CMOVB "
    "(1.00), VMOVSD of memory, VUCOMISD and ANDPS of memory 1.50 (1.00), four VUCOMISS beside 4, 8 and 12 "
    "CMP 5.3, 6.2 and 5.8 (4.00, 4.39, 5.27). VCVTSI2SD beside any operation had states of 1.32, 1.56 and "
    "1.69 (1.25). VMOVD to a general register took 2.00 beside NOT, 1.50 beside LEA, VPMOVMSKB, SUB and "
    "VPCMPGTB 1.57 (1.00), two VCVTTSD2SI and LEA 2.75 (2.00), beside two and three LEA 1.67 and 1.83 "
    "(1.60, 1.86). MUL and IMUL of words beside a MOV into AX took 2.00, beside two CMOV or two IMUL 3.00 "
    "(2.50, 3.50, 4.00). IMUL of RCX and RAX took 1.79, two 2.75 (1.50, 2.50). RCR by three took 4.00 "
    "beside LAHF or CMC (3.00). Four loads, or loads and stores, beside one ADD, SHL, LEA or CMP took "
    "1.50, beside a MOV or VPADDD 1.33 (1.33 all). IMUL and two SHL took 1.75 to 1.83 (1.50). VEXTRACTI128 "
    "or VPERMQ into itself, VPSHUFB of it and VSHUFPS took 4.00 and 5.00 (3.00, 4.00). VADDPS into itself, "
    "another one that adds its result to its own, and a third vector operation took 4.00 (3.00), of FMAs "
    "4.72 to 5.06 (4.00). VPSUBD, VPSHUFB, VPSUBD and VPERMQ or VPERM2I128 took 1.32 to 1.34 (1.00). Two "
    "XCHG or XADD of bytes or words took 1.53 (1.25). MOV from a segment register beside 1, 2 and 3 loads "
    "took 1.17, 1.49 and 1.85 (1.00, 1.00, 1.50), to 16 bits beside three 2.00 (1.00). FADD of memory "
    "beside FLD and FSTP of registers took 1.50, beside FLDZ 2.00, beside FLD of memory 1.12 (1.00). PUSH, "
    "POP and two stores took 3.00 (2.00). NEG and SUB of a register, CMOVZ of the difference, BT and SHL "
    "took 3.00 (2.26), of 27 such chains whose operations wait for units eight took 9 to 33 % longer than "
    "in the model. IMUL into itself and four SHL took 3.50, two such IMUL and three to five shifts 3.50 to "
    "3.67 (3.00). VPERMILPS or VPADDD into itself beside four additions and products took 1.90 and 1.91 "
    "(1.25, 1.50), with VPADDD and LEA 2.36 (1.50). INC of memory beside two loads took 1.44 to 1.50, XOR "
    "of memory beside one 1.14 to 1.18 (1.00). Of 770 random loops of two to four usual instructions 119 "
    "of integers took at most 1.3 cycles and stored: of those with a load 13 of 37 took 6 to 26 % longer "
    "than in the model, of others 6 of 82, with all ALUs busy",
)
COMPILED_LOOPS = Source(
    Certainty.MEASURED,
    "compiled loops on a Zen 4",
    "On an EPYC 9004 MOV from [RDI], ADD RDI, 8 and ADD RDX, RCX took 1.19 cycles, with TEST in place of "
    "the last 1.19, with a load from [RSI], too, 1.47, and with two sums 1.38 (the model 1.00 for all); "
    "where the load's address is not counted or nothing reads the word, 1.00. MOV, SHLX, OR, SHRX and MOV "
    "to memory with INC took 1.87 (1.33). Of 993 loops that gcc 12 and clang 14 made of 95 C functions 144 "
    "read in such a way while ALUs or the dispatch are busy for 80 %: 70 took 10 to 50 % longer than in the "
    "model. Of 39 whose accesses at counted addresses occupy all units 25 did (bytes interleaved 1.50, the "
    "model 1.33), of 74 whose vector operations occupy all pipes 54 (products of SplitMix64 7.31, the model "
    "5.55), of 60 such random loops 46. Of 700 loops of other programs' basic blocks none is of these "
    "kinds. VMOVUPS of 512 bits from [RDI+8] took 1.50, three 4.51, beside an aligned one 3.00 (1.00, 3.00, "
    "2.00), to [RDI+8] 3.00 (2.38), two 5.0, four 9.0. PUSH and POP beside three loads took 1.83 (1.67), "
    "beside two 1.47 (1.34). Of 79 random loops of at most 1.6 cycles in which three or more vector "
    "instructions are partly of 512 bits 54 took 11 to 70 % longer. VUNPCKLPS of 512 bits into itself took "
    "1.14 to 1.21, VPADDD of counted memory 1.15, of a register 1.00 (1.00). FMA of three arrays of 256 bits "
    "took 1.66 with and without its store (1.50), at addresses that stay 1.50, of 128 bits 1.52, products of "
    "complex numbers 3.32 (3.00)",
)
MULTIPLICATION_CYCLES = 0.63
"""Cycles by which a loop took longer for each multiplication beside other operations (LOOP_KINDS)."""
TRANSFER_CYCLES = 0.6
"""The same for each transfer from a general register beside vector operations."""
CONVERSION_CYCLES = 0.44
"""The same for each insertion or conversion from a general register, beside what else the loop has."""
TRANSFER_OUT_CYCLES = 1.0
"""The same for each transfer to a general register beside an operation of integers."""
TRANSFER_OUT_NEAR = 1.3
"""Most cycles per such transfer of a figure of these loops."""
WORD_PRODUCT_CYCLES = -1.0
"""The same for each product of words in two registers."""
WIDE_PRODUCT_CYCLES = 0.3
"""The same for each product of longer operands there."""
ROTATION_CYCLES = 1.0
"""The same for each rotation through the carry in a chain."""
WAITING_CHAIN_CYCLES = 0.75
"""The same for a chain of integer operations that wait for units."""
CHAINED_MULTIPLICATION_CYCLES = 1.0
"""The same for a chain of multiplications whose units others occupy, too."""
OWN_CHAIN_CYCLES = 0.86
"""The same for short vector operations on their own results beside longer ones."""
CHANGE_CYCLES = 0.5
"""The same for each word that is changed in memory, beside loads."""
GROUP_CYCLES = 0.17
"""The same for a loop of one dispatch group with four accesses."""
TO_FLAGS_CYCLES = 0.51
"""The same for each comparison of vectors that sets flags."""
READ_LONG_CHAIN_CYCLES = 1.07
"""The same for a chain of vector operations that another chain reads."""
CROSSING_CYCLES = 0.35
"""The same for an operation across lanes among other vector operations that occupy all pipes."""
NARROW_EXCHANGE_CYCLES = 0.29
"""The same for two exchanges of parts of registers."""
SEGMENT_CYCLES = 0.5
"""The same for a copy of a segment register beside accesses to memory; of 16 bits twice that."""
X87_MEMORY_CYCLES = 1.0
"""The same for each x87 operation on memory."""
COUNTED_LOAD_SHARE = 0.5
"""Share of the figure by which loops took longer whose integer operations read what is loaded from a counted
address (COMPILED_LOOPS)."""
COUNTED_ACCESS_SHARE = 0.35
"""The same of loops whose accesses at counted addresses occupy all units."""
VECTOR_STREAM_SHARE = 0.2
"""The same of loops that walk through memory by two loads of 256 bits per cycle."""
FULL_PIPES_SHARE = 0.4
"""The same of loops whose vector operations occupy all pipes."""
LINE_CYCLES = 0.75
"""Cycles by which a loop took longer for each load of 512 bits across lines (COMPILED_LOOPS)."""
POPPED_CYCLES = 0.6
"""The same for each word that is popped among accesses that occupy all units."""
WIDE_CHAIN_CYCLES = 0.21
"""The same for vectors of 512 bits on their own results."""
SHORT_AND_WIDE_CYCLES = 0.7
"""The same for vectors of 512 bits among others in a loop of few cycles."""
SHORT_LOOP_CYCLES = 0.27
"""The same for loops of few cycles with stores of integers."""


def has_slow_frame(code: bytes, name: str) -> bool:
    """True for the bytes of ENTER with level 0 on the cores whose records hold for a nested frame
    (NESTED_FRAMES)."""
    return not code[-1] and not name.startswith("ZEN")
