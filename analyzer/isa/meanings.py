"""What instructions do, in one plain sentence each, by mnemonic.

A rule is a pattern of mnemonics and a sentence. A name in braces stands for the words of the pattern's
group of that name, or for the group itself where the words have none.
"""

from __future__ import annotations

import re
from functools import cache

_WORDS = {
    "f": {
        "ps": "packed floats", "pd": "packed doubles", "ph": "packed half-precision floats",
        "ss": "the lowest floats", "sd": "the lowest doubles", "sh": "the lowest half-precision floats",
    },
    "g": {
        "ps": "packed floats", "pd": "packed doubles", "ph": "packed half-precision floats",
        "ss": "the lowest float", "sd": "the lowest double", "sh": "the lowest half-precision float",
    },
    "i": {
        "b": "packed bytes", "w": "packed 16-bit integers", "d": "packed 32-bit integers",
        "q": "packed 64-bit integers",
    },
    "to": {"b": "bytes", "w": "16-bit integers", "d": "32-bit integers", "q": "64-bit integers"},
    "one": {
        "b": "byte", "w": "16-bit element", "d": "32-bit element", "q": "64-bit element", "ps": "float",
        "pd": "double", "ss": "float", "sd": "double",
    },
    "sign": {"s": "signed", "u": "unsigned", "": ""},
    "k": {"b": "8 bits", "w": "16 bits", "d": "32 bits", "q": "64 bits"},
    "op": {
        "add": "Adds", "sub": "Subtracts", "mul": "Multiplies", "div": "Divides",
        "min": "Takes the smaller of", "max": "Takes the larger of",
    },
    "logic": {
        "and": "Takes the bitwise AND of", "or": "Takes the bitwise OR of", "xor": "Takes the bitwise XOR of",
        "andn": "Inverts the first and takes the bitwise AND with the second of",
        "xnor": "Takes the inverted bitwise XOR of",
    },
    "half": {"h": "upper", "l": "lower"},
    "way": {"l": "left", "r": "right"},
    "cvt": {
        "ps": "packed floats", "pd": "packed doubles", "ph": "packed half-precision floats",
        "phx": "packed half-precision floats", "psx": "packed floats",
        "ss": "the lowest float", "sd": "the lowest double", "sh": "the lowest half-precision float",
        "dq": "packed signed 32-bit integers", "udq": "packed unsigned 32-bit integers",
        "qq": "packed signed 64-bit integers", "uqq": "packed unsigned 64-bit integers",
        "w": "packed signed 16-bit integers", "uw": "packed unsigned 16-bit integers",
        "si": "a signed integer of a general-purpose register",
        "usi": "an unsigned integer of a general-purpose register",
        "pi": "two signed 32-bit integers of an MMX register",
    },
    "cc": {
        "o": "the signed result overflowed (OF = 1)", "no": "the signed result did not overflow (OF = 0)",
        "b": "unsigned below (CF = 1)", "ae": "unsigned above or equal (CF = 0)",
        "e": "equal (ZF = 1)", "ne": "not equal (ZF = 0)",
        "be": "unsigned below or equal (CF = 1 or ZF = 1)", "a": "unsigned above (CF = 0 and ZF = 0)",
        "s": "the result is negative (SF = 1)", "ns": "the result is not negative (SF = 0)",
        "p": "the parity is even or operands are unordered (PF = 1)",
        "np": "the parity is odd or operands are ordered (PF = 0)",
        "l": "signed less (SF and OF differ)", "ge": "signed greater or equal (SF = OF)",
        "le": "signed less or equal (ZF = 1, or SF and OF differ)",
        "g": "signed greater (ZF = 0 and SF = OF)",
    },
}  # fmt: skip
"""Words of the groups, by the name of the group without its number."""
_SAME_CONDITION = {
    "c": "b", "nae": "b", "nb": "ae", "nc": "ae", "z": "e", "nz": "ne", "na": "be", "nbe": "a", "pe": "p",
    "po": "np", "nge": "l", "nl": "ge", "ng": "le", "nle": "g",
}  # fmt: skip
_ORDERS = {
    "132": "the first and the third operand and {} the second",
    "213": "the second and the first operand and {} the third",
    "231": "the second and the third operand and {} the first",
}  # fmt: skip
"""Which operands of a fused multiplication are factors, in Intel's order."""
_WORDS["fma"] = {
    f"{name}{digits}": f"Multiplies {order.format(words)}"
    for digits, order in _ORDERS.items()
    for name, words in {
        "madd": "adds", "msub": "subtracts", "nmadd": "adds the negated product to",
        "nmsub": "subtracts from the negated product",
        "maddsub": "subtracts (even elements) or adds (odd elements)",
        "msubadd": "adds (even elements) or subtracts (odd elements)",
    }.items()
}  # fmt: skip

_CC = "(?P<cc>n?(?:[oszp]|[abgl]e?|c|e)|pe|po)"
_F, _P, _S = "(?P<f>[ps][sdh])", "(?P<f>p[sdh])", "(?P<g>[ps][sdh])"
_I, _TO = "(?P<i>[bwdq])", "(?P<to>[bwdq])"

RULES: tuple[tuple[str, str], ...] = (
    # integers in general-purpose registers
    ("add", "Adds the source to the destination."),
    ("adc", "Adds the source and the carry flag to the destination."),
    ("adcx", "Adds the source and the carry flag to the destination; writes only the carry flag."),
    ("adox", "Adds the source and the overflow flag to the destination; writes only the overflow flag."),
    ("sub", "Subtracts the source from the destination."),
    ("sbb", "Subtracts the source and the carry flag from the destination."),
    ("cmp", "Subtracts the operands and keeps only the flags."),
    ("test", "Takes the bitwise AND of the operands and keeps only the flags."),
    ("(?P<logic>and|or|xor)", "{logic} source and destination."),
    ("andn", "Inverts the first source and takes its bitwise AND with the second."),
    ("not", "Inverts all bits."),
    ("neg", "Negates the operand."),
    ("inc", "Adds 1; keeps the carry flag."),
    ("dec", "Subtracts 1; keeps the carry flag."),
    ("imul", "Multiplies signed integers."),
    ("mul", "Multiplies rAX by the operand, unsigned; the upper half of the product goes to rDX."),
    ("mulx", "Multiplies rDX by the source, unsigned, into two registers; keeps the flags."),
    ("idiv", "Divides rDX:rAX by the operand, signed; quotient in rAX, remainder in rDX."),
    ("div", "Divides rDX:rAX by the operand, unsigned; quotient in rAX, remainder in rDX."),
    ("shl|sal", "Shifts left and fills with zeros."),
    ("shr", "Shifts right and fills with zeros."),
    ("sar", "Shifts right and fills with the sign."),
    ("shlx", "Shifts left by a count in a register; keeps the flags."),
    ("shrx", "Shifts right by a count in a register and fills with zeros; keeps the flags."),
    ("sarx", "Shifts right by a count in a register and fills with the sign; keeps the flags."),
    ("ro(?P<way>[lr])", "Rotates to the {way}."),
    ("rorx", "Rotates to the right by a constant; keeps the flags."),
    ("rc(?P<way>[lr])", "Rotates to the {way} through the carry flag."),
    ("sh(?P<way>[lr])d", "Shifts to the {way} and fills with bits of the other operand."),
    ("bswap", "Reverses the order of the bytes."),
    ("bsf", "Gives the number of the lowest set bit; undefined for zero on some cores."),
    ("bsr", "Gives the number of the highest set bit; undefined for zero on some cores."),
    ("tzcnt", "Counts the zero bits below the lowest set bit."),
    ("lzcnt", "Counts the zero bits above the highest set bit."),
    ("popcnt", "Counts the set bits."),
    ("bt", "Copies a bit to the carry flag."),
    ("btc", "Copies a bit to the carry flag, then inverts it."),
    ("btr", "Copies a bit to the carry flag, then clears it."),
    ("bts", "Copies a bit to the carry flag, then sets it."),
    ("bextr", "Extracts a field of bits."),
    ("blsi", "Keeps only the lowest set bit."),
    ("blsr", "Clears the lowest set bit."),
    ("blsmsk", "Sets all bits up to the lowest set bit."),
    ("bzhi", "Clears the bits from a given number on."),
    ("pdep", "Spreads the low bits to the places that the mask sets."),
    ("pext", "Gathers the bits at the places that the mask sets into the low bits."),
    ("crc32", "Adds the source to a CRC-32C checksum."),
    ("cbw", "Sign-extends AL to AX."),
    ("cwde|cwtl", "Sign-extends AX to EAX."),
    ("cdqe|cltq", "Sign-extends EAX to RAX."),
    ("cwd", "Fills DX with the sign of AX."),
    ("cdq|cltd", "Fills EDX with the sign of EAX."),
    ("cqo|cqto", "Fills RDX with the sign of RAX."),
    # moves, addresses and the stack
    ("mov", "Copies the source to the destination."),
    ("movabs", "Copies a 64-bit constant, or accesses a 64-bit address."),
    ("movbe", "Copies between memory and a register, and reverses the order of the bytes."),
    ("movzx|movz[bw][lqw]", "Copies a smaller source and fills the rest with zeros."),
    ("movsxd?|movs[bw][lq]|movslq|movsbw", "Copies a smaller source and fills the rest with its sign."),
    (f"cmov{_CC}", "Copies the source if {cc}."),
    (f"set{_CC}", "Sets the byte to 1 if {cc}, otherwise to 0."),
    (f"j{_CC}", "Jumps if {cc}."),
    (f"cmp{_CC}xadd", "Compares memory with a register, and adds to memory if {cc}, in one atomic step."),
    ("xchg", "Exchanges the operands; atomic if one is in memory."),
    ("xadd", "Exchanges the operands, then stores their sum."),
    ("cmpxchg", "Compares rAX with the destination; if they are equal, stores the source there."),
    ("cmpxchg(?:8|16)b", "Compares rDX:rAX with memory; if they are equal, stores rCX:rBX there."),
    ("lea", "Computes the address without accessing memory."),
    ("push", "Stores the operand on the stack."),
    ("pop", "Loads the operand from the stack."),
    ("pushfq?", "Stores the flags on the stack."),
    ("popfq?", "Loads the flags from the stack."),
    ("enter", "Sets up a stack frame."),
    ("leave", "Removes the stack frame: copies RBP to RSP and pops RBP."),
    ("xlat", "Loads the byte at RBX plus AL into AL."),
    # jumps
    ("jmp", "Jumps to the target."),
    ("call", "Stores the return address on the stack and jumps to the target."),
    ("ret", "Takes the return address from the stack and jumps there."),
    ("j[er]?cxz", "Jumps if rCX is zero."),
    ("loop", "Subtracts 1 from rCX and jumps unless it is zero then."),
    ("loopn(?:e|z)", "Subtracts 1 from rCX and jumps unless it is zero then or ZF is set."),
    ("loop(?:e|z)", "Subtracts 1 from rCX and jumps unless it is zero then or ZF is clear."),
    # flags
    ("clc", "Clears the carry flag."), ("stc", "Sets the carry flag."), ("cmc", "Inverts the carry flag."),
    ("cld", "Clears the direction flag: string instructions go upwards."),
    ("std", "Sets the direction flag: string instructions go downwards."),
    ("cli", "Switches interrupts off."), ("sti", "Switches interrupts on."),
    ("lahf", "Copies the low flags to AH."), ("sahf", "Copies AH to the low flags."),
    # strings of memory
    ("lods[bwdq]", "Loads from RSI into the accumulator and moves RSI on."),
    ("stos[bwdq]", "Stores the accumulator at RDI and moves RDI on."),
    ("movs[bwq]", "Copies from memory at RSI to memory at RDI and moves both on."),
    ("scas[bwdq]", "Compares the accumulator with memory at RDI and moves RDI on."),
    ("cmps[bwq]", "Compares memory at RSI with memory at RDI and moves both on."),
    ("ins[bwd]", "Reads from a port into memory at RDI and moves RDI on."),
    ("outs[bwd]", "Writes memory at RSI to a port and moves RSI on."),
    ("in", "Reads from a port."), ("out", "Writes to a port."),
    # vectors of floating-point numbers
    (f"v?(?P<op>add|sub|mul|div|min|max){_F}", "{op} {f}."),
    (f"v?sqrt{_S}", "Takes the square root of {g}."),
    (f"v?addsub{_P}", "Subtracts even and adds odd elements of {f}."),
    (f"v?h(?P<op>add|sub){_P}", "{op} neighbouring elements of {f}."),
    (f"vf(?P<fma>n?m(?:add|sub)(?:132|213|231)){_S}", "{fma}, on {g}."),
    (f"vf(?P<fma>m(?:addsub|subadd)(?:132|213|231)){_P}", "{fma}, on {f}."),
    (f"v?rcp(?:14)?{_S}", "Approximates the reciprocal of {g}."),
    (f"v?rsqrt(?:14)?{_S}", "Approximates the reciprocal square root of {g}."),
    (f"v?round{_S}|vrndscale(?P<g2>[ps][sdh])", "Rounds {g} as the constant says."),
    (f"vreduce{_S}", "Subtracts the rounded value from {g}, which leaves the rest."),
    (f"vrange{_F}", "Takes minimum or maximum of {f}, also by absolute value, as the constant says."),
    (f"vgetexp{_S}", "Gives the exponent of {g} as a number."),
    (f"vgetmant{_S}", "Gives the mantissa of {g}."),
    (f"vscalef{_F}", "Multiplies by a power of two, on {f}."),
    (f"vfixupimm{_S}", "Replaces special values of {g} as a table says."),
    (f"vfpclass{_S}", "Tests {g} for zeros, infinities, NaNs and the like, into a mask."),
    (f"v?(?P<logic>and|or|xor|andn){_P}", "{logic} {f}."),
    ("cmpsd", "Compares the lowest doubles; without operands, 32 bits of memory at RSI and at RDI."),
    (f"(?!cmpsd$)v?cmp{_F}", "Compares {f}; the result is a mask."),
    ("v?u?comi(?P<one>s[sd])", "Compares the lowest {one} of both operands and sets the flags."),
    ("vu?comish", "Compares the lowest half-precision float of both operands and sets the flags."),
    ("v?dpp(?P<g>s|d)", "Multiplies packed elements and adds the products: a dot product."),
    ("vdpbf16ps", "Adds products of pairs of bfloat16 numbers to packed floats."),
    ("vf(?P<c>c?)maddc(?:ph|sh)", "Multiplies complex half-precision numbers{conj} and adds the product."),
    ("vf(?P<c>c?)mulc(?:ph|sh)", "Multiplies complex half-precision numbers{conj}."),
    ("vcvtne2ps2bf16", "Converts the floats of two vectors to bfloat16."),
    ("vcvtneps2bf16", "Converts packed floats to bfloat16."),
    ("vcvtne(?P<eo>[eo])e?(?P<h>bf16|ph)2ps", "Converts every second element of memory to packed floats."),
    ("vbcstne(?:bf16|sh)2ps", "Converts one element of memory to a float and copies it to all elements."),
    ("v?cvtt(?P<cvt>[ps][sdh])2(?P<cvt2>u?(?:dq|qq|w|si)|pi)", "Converts {cvt} to {cvt2}, rounding to zero."),
    ("v?cvt(?P<cvt>p[sdh]|s[sdh]|u?(?:dq|qq|w|si)|pi)2(?P<cvt2>p[sh]x|[ps][sdh]|u?(?:dq|qq|w|si)|pi)",
     "Converts {cvt} to {cvt2}."),
    # integers in vectors
    (f"v?p(?P<op>add|sub){_I}", "{op} {i}."),
    (f"v?p(?P<op>add|sub)(?P<sign>u?)s{_I}", "{op} {i} with {saturation} saturation."),
    (f"v?p(?P<op>min|max)(?P<sign>[su]){_I}", "{op} {sign} {i}."),
    (f"v?pabs{_I}", "Takes the absolute value of {i}."),
    (f"v?psign{_I}", "Negates, keeps or clears {i} by the sign of the other operand."),
    (f"v?pavg{_I}", "Takes the rounded average of unsigned {i}."),
    ("v?psadbw", "Adds up absolute differences of unsigned bytes, eight at a time."),
    ("v?mpsadbw|vdbpsadbw", "Adds up absolute differences of unsigned bytes, four at a time."),
    (f"v?pmull{_I}", "Multiplies {i} and keeps the lower halves."),
    ("v?pmulhw", "Multiplies signed packed 16-bit integers and keeps the upper halves."),
    ("v?pmulhuw", "Multiplies unsigned packed 16-bit integers and keeps the upper halves."),
    ("v?pmulhrsw", "Multiplies signed packed 16-bit integers and keeps the rounded upper halves."),
    ("v?pmuldq", "Multiplies signed 32-bit integers in even places to 64 bits."),
    ("v?pmuludq", "Multiplies unsigned 32-bit integers in even places to 64 bits."),
    ("v?pmaddwd", "Multiplies signed packed 16-bit integers and adds neighbouring products to 32 bits."),
    ("v?pmaddubsw", "Multiplies unsigned by signed bytes and adds neighbouring products to 16 bits."),
    ("vpmadd52(?P<half>[lh])uq", "Multiplies 52-bit integers and adds the {half} half of the products."),
    ("vpdpb[su][su]ds?", "Multiplies bytes and adds groups of four products to 32-bit integers."),
    ("vpdpw[su][su]ds?", "Multiplies 16-bit integers and adds pairs of products to 32-bit integers."),
    (f"v?ph(?P<op>add|sub)s?{_I}", "{op} neighbouring elements of {i}."),
    ("v?phminposuw", "Finds the smallest unsigned 16-bit integer and its place."),
    ("v?p(?P<logic>and|or|xor|andn)[dq]?", "{logic} two vectors."),
    ("vpternlog[dq]", "Combines the bits of three vectors by a table of eight results."),
    (f"v?pcmpeq{_I}", "Compares {i} for equality; the result is a mask."),
    (f"v?pcmpgt{_I}", "Compares signed {i} for greater; the result is a mask."),
    (f"vpcmp(?P<sign>u?){_I}", "Compares {i} as the constant says, into a mask register."),
    ("v?pcmp(?P<ei>[ei])str(?P<im>[im])(?:64)?", "Compares text in vectors; the result is {result}."),
    (f"vptestm{_I}", "Sets a mask bit for each of {i} whose AND is not zero."),
    (f"vptestnm{_I}", "Sets a mask bit for each of {i} whose AND is zero."),
    ("v?ptest", "Sets the flags by the AND of two vectors."),
    (f"vtest{_P}", "Sets the flags by the signs of the AND of {f}."),
    (f"v?psll{_I}|vpsllv(?P<i2>[wdq])", "Shifts {i} left and fills with zeros."),
    (f"v?psrl{_I}|vpsrlv(?P<i2>[wdq])", "Shifts {i} right and fills with zeros."),
    (f"v?psra{_I}|vpsrav(?P<i2>[wdq])", "Shifts {i} right and fills with the sign."),
    ("v?ps(?P<way>[lr])ldq", "Shifts each 128 bits to the {way} by bytes."),
    (f"vpro(?P<way>[lr])v?{_I}", "Rotates {i} to the {way}."),
    (f"vpsh(?P<way>[lr])dv?{_I}", "Shifts pairs of {i} to the {way} and keeps one half."),
    ("vpmultishiftqb", "Takes bytes from any bit position of 64-bit elements."),
    (f"vpopcnt{_I}", "Counts the set bits of {i}."),
    (f"vplzcnt{_I}", "Counts the leading zero bits of {i}."),
    (f"vpconflict{_I}", "Finds equal elements in front of each of {i}."),
    ("vp2intersect[dq]", "Marks the elements that both vectors contain, in two mask registers."),
    # order of elements
    ("v?punpck(?P<half>[lh])(?:bw|wd|dq|qdq)", "Interleaves the {half} elements of two vectors."),
    (f"v?unpck(?P<half>[lh]){_P}", "Interleaves the {half} elements of two vectors of {f}."),
    ("v?packss(?:wb|dw)", "Narrows signed integers with signed saturation."),
    ("v?packus(?:wb|dw)", "Narrows signed integers with unsigned saturation."),
    ("v?pmovsx(?P<i>[bwd])(?P<to>[wdq])", "Sign-extends {i} to {to}."),
    ("v?pmovzx(?P<i>[bwd])(?P<to>[wdq])", "Zero-extends {i} to {to}."),
    ("vpmov(?P<i>[wdq])(?P<to>[bwd])", "Narrows {i} to {to} by dropping upper bits."),
    ("vpmov(?P<sign>us?|s)(?P<i>[wdq])(?P<to>[bwd])", "Narrows {i} to {to} with saturation."),
    (f"vpmov{_I}2m", "Copies the signs of {i} to a mask register."),
    ("vpmovm2(?P<i>[bwdq])", "Fills {i} with ones where the mask is set, otherwise with zeros."),
    ("v?pmovmskb", "Copies the signs of all bytes to a general-purpose register."),
    (f"v?movmsk{_P}", "Copies the signs of {f} to a general-purpose register."),
    ("v?pshufb", "Moves bytes within each 128 bits as the other vector says."),
    ("v?pshufd", "Moves 32-bit elements within each 128 bits as the constant says."),
    ("v?pshuf(?P<half>[hl])w", "Moves the {half} 16-bit elements of each 128 bits as the constant says."),
    ("pshufw", "Moves 16-bit elements as the constant says."),
    ("vpshufbitqmb", "Selects bits of 64-bit elements into a mask register."),
    (f"v?shuf{_P}", "Takes {f} from two vectors within each 128 bits as the constant says."),
    ("vshuf[fi](?:32x4|64x2)", "Takes parts of 128 bits from two vectors as the constant says."),
    ("vperm2[fi]128", "Takes halves of 128 bits from two vectors as the constant says."),
    (f"vpermil{_P}", "Moves {f} within each 128 bits."),
    (f"vperm(?:{_I}|(?P<i2>p[sd]))", "Moves elements across the whole vector."),
    ("vperm[it]2(?:[bwdq]|p[sd])", "Takes elements from two vectors as a vector of places says."),
    ("v?palignr", "Joins two vectors and takes bytes from the middle, in each 128 bits."),
    ("valign[dq]", "Joins two vectors and takes elements from the middle."),
    (f"v?blendv?{_P}|vblendm(?P<f2>p[sd])", "Takes each element from one of two vectors of {f}."),
    ("v?p?blend[vm]?[bwdq]", "Takes each element from one of two integer vectors."),
    ("vbroadcast(?P<one>s[sd])", "Copies one {one} to all elements."),
    ("vpbroadcast(?P<one>[bwdq])", "Copies one {one} to all elements."),
    ("vbroadcast[fi](?:128|(?:32|64)x\\d)", "Copies a group of elements to all parts of the vector."),
    ("vpbroadcastm(?:b2q|w2d)", "Copies a mask register to all elements."),
    ("v?pextr(?P<one>[bwdq])", "Copies one {one} to a general-purpose register or to memory."),
    ("v?extractps", "Copies one float to a general-purpose register or to memory."),
    ("v?pinsr(?P<one>[bwdq])", "Puts one {one} into a vector."),
    ("v?insertps", "Puts one float into a vector, and clears elements as the constant says."),
    ("vextract[fi](?:128|(?:32|64)x\\d)", "Copies a part of a vector."),
    ("vinsert[fi](?:128|(?:32|64)x\\d)", "Puts a smaller vector into a part of a vector."),
    ("v?p?compress(?:p[sd]|[bwdq])", "Moves the elements that the mask selects next to each other."),
    ("v?p?expand(?:p[sd]|[bwdq])", "Spreads neighbouring elements to the places that the mask selects."),
    ("vp?gather[dq](?:p[sd]|[dq])", "Loads elements from addresses that a vector of indices gives."),
    ("vp?scatter[dq](?:p[sd]|[dq])", "Stores elements at addresses that a vector of indices gives."),
    ("extrq", "Extracts a field of bits from a vector."), ("insertq", "Puts a field of bits into a vector."),
    # moves of vectors
    (f"v?mova{_P}", "Copies {f}; memory has to be aligned."),
    (f"v?movu{_P}", "Copies {f}, wherever they lie in memory."),
    ("v?movdqa(?:32|64)?", "Copies an integer vector; memory has to be aligned."),
    ("v?movdqu(?:8|16|32|64)?", "Copies an integer vector, wherever it lies in memory."),
    ("v?lddqu", "Loads an integer vector, wherever it lies in memory."),
    ("movsd", "Copies the lowest double; without operands, 32 bits of memory at RSI to memory at RDI."),
    ("(?!movsd$)v?mov(?P<one>s[sd])", "Copies the lowest {one}."),
    ("vmovsh", "Copies the lowest half-precision float."),
    ("v?mov(?P<k>[wdq])", "Copies {k} to or from a vector register."),
    ("movdq2q|movq2dq", "Copies 64 bits between an MMX and a vector register."),
    ("v?mov(?P<half>[hl])p[sd]", "Copies 64 bits between memory and the {half} half of 128 bits."),
    ("v?movhlps", "Copies the upper half of one vector to the lower half of the other."),
    ("v?movlhps", "Copies the lower half of one vector to the upper half of the other."),
    ("v?movddup", "Copies each even double to the odd one behind it."),
    ("v?movsldup", "Copies each even float to the odd one behind it."),
    ("v?movshdup", "Copies each odd float to the even one in front of it."),
    ("v?movnt(?:dq|p[sd]|s[sd]|i|q)", "Stores past the caches."),
    ("v?movntdqa", "Loads past the caches where the memory allows it."),
    ("v?maskmov(?:dqu|q)", "Stores the selected bytes at RDI, past the caches."),
    ("vp?maskmov(?:p[sd]|[dq])", "Loads or stores the elements that the mask selects."),
    ("movdir64b", "Stores 64 bytes directly, past the caches."),
    ("movdiri", "Stores directly, past the caches."),
    ("vzeroupper", "Clears the bits of all vector registers above the lowest 128."),
    ("vzeroall", "Clears all vector registers."),
    ("emms", "Frees the x87 registers after MMX code."),
    # mask registers
    ("kmov[bwdq]", "Copies a mask."), ("kadd(?P<k>[bwdq])", "Adds masks of {k}."),
    ("k(?P<logic>andn?|or|xor|xnor)(?P<k>[bwdq])", "{logic} masks of {k}."),
    ("knot(?P<k>[bwdq])", "Inverts a mask of {k}."),
    ("kortest[bwdq]", "Sets the flags by the OR of two masks."),
    ("ktest[bwdq]", "Sets the flags by the AND of two masks."),
    ("kshift(?P<way>[lr])(?P<k>[bwdq])", "Shifts a mask of {k} to the {way}."),
    ("kunpck(?:bw|wd|dq)", "Joins two masks to one of twice the length."),
    # cryptography
    ("v?aes(?P<dir>enc|dec)(?P<last>last)?", "Performs {round} round of AES {direction}."),
    ("v?aesimc", "Transforms a round key for AES decryption."),
    ("v?aeskeygenassist", "Helps to compute the next round key of AES."),
    ("v?pclmulqdq", "Multiplies 64-bit polynomials without carries."),
    ("v?gf2p8mulb", "Multiplies bytes in the field GF(2^8)."),
    ("v?gf2p8affine(?:inv)?qb", "Transforms bytes by a matrix of bits."),
    ("v?sha(?P<n>1|256|512)(?:msg[12]|nexte)", "Prepares message words of SHA-{n}."),
    ("v?sha(?P<n>1|256|512)rnds[24]", "Performs rounds of SHA-{n}."),
    ("vsm3(?:msg[12])", "Prepares message words of SM3."), ("vsm3rnds2", "Performs two rounds of SM3."),
    # x87
    ("fld", "Pushes a number onto the x87 stack."),
    ("fild", "Pushes an integer of memory onto the x87 stack."),
    ("fld1", "Pushes 1 onto the x87 stack."), ("fldz", "Pushes 0 onto the x87 stack."),
    ("fi?st", "Stores the top of the x87 stack."),
    ("fi?stp", "Stores the top of the x87 stack and pops it."),
    ("f(?P<op>add|mul)p?", "{op} x87 numbers."), ("f(?P<op>sub|div)r?p?", "{op} x87 numbers."),
    ("fabs", "Takes the absolute value of the top of the x87 stack."),
    ("fchs", "Negates the top of the x87 stack."),
    ("fsqrt", "Takes the square root of the top of the x87 stack."),
    ("fu?comip?", "Compares x87 numbers and sets the flags."), ("fxam", "Tells the kind of an x87 number."),
    ("fxch", "Exchanges x87 registers."), ("fldcw", "Loads the x87 control word."),
    ("fnstcw", "Stores the x87 control word."), ("fnstsw", "Stores the x87 status word."),
    # memory, state and the system
    ("prefetch(?:nta|t[012]|w)?", "Asks for a cache line in advance."),
    ("clflush(?:opt)?", "Writes a cache line back and drops it."),
    ("clwb", "Writes a cache line back and keeps it."),
    ("clzero", "Clears a cache line."), ("lfence", "Waits until all instructions before it have finished."),
    ("sfence", "Orders stores: those before it become visible first."),
    ("mfence", "Orders loads and stores: those before it become visible first."),
    ("serialize", "Waits until everything before it has taken effect."),
    ("pause", "Waits a little in a loop that waits for another thread."), ("nop", "Does nothing."),
    ("v?ldmxcsr", "Loads the control register of vector arithmetic."),
    ("v?stmxcsr", "Stores the control register of vector arithmetic."),
    ("fxsave(?:64)?|xsave(?:c|opt|s)?(?:64)?", "Stores registers and state to memory."),
    ("cpuid", "Tells what the processor is and can do."), ("rdtscp?", "Reads the time-stamp counter."),
    ("rdpmc|rdpru", "Reads a performance counter."), ("rdrand|rdseed", "Gives a random number."),
    ("rdpid", "Reads the number of the logical processor."),
    ("rd(?P<n>[fg])sbase", "Reads the base address of the segment {n}s."),
    ("wr(?P<n>[fg])sbase", "Writes the base address of the segment {n}s."),
    ("rdmsr", "Reads a model-specific register."), ("wrmsr", "Writes a model-specific register."),
    ("rdpkru", "Reads the rights of protection keys."), ("wrpkru", "Writes the rights of protection keys."),
    ("xgetbv", "Reads an extended control register."), ("xsetbv", "Writes an extended control register."),
    ("invlpg", "Drops the translation of one page."), ("wbinvd", "Writes all caches back and empties them."),
    ("clts", "Clears the task-switched flag."), ("ptwrite", "Writes a value into the processor trace."),
    ("s(?:gdt|idt|ldt|msw)|str", "Stores a register of the system."),
    ("l(?:gdt|idt|ldt|msw)", "Loads a register of the system."),
    ("lar|lsl|ver[rw]", "Tells what a segment allows."),
    ("bnd\\w+", "Works on bounds registers, which new processors no longer have."),
)  # fmt: skip


@cache
def meaning(mnemonic: str) -> str:
    """A sentence about what the instruction does; empty if none is known. The mnemonic may be AT&T's, with
    its size suffix."""
    name = mnemonic.lower()
    found = _sentence(name)
    return found or (_sentence(name[:-1]) if name[-1:] in ("b", "w", "l", "q") else "")


def _sentence(name: str) -> str:
    for pattern, sentence in RULES:
        match = re.fullmatch(pattern, name)
        if match is not None:
            return _composed(sentence, match)
    return ""


def _composed(sentence: str, match: re.Match[str]) -> str:
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    words = {name: _words(name, value) for name, value in groups.items()}
    words |= {name.rstrip("2"): text for name, text in words.items() if name.rstrip("2") not in words}
    words["saturation"] = "unsigned" if groups.get("sign") == "u" else "signed"
    words["conj"] = ", the second one conjugated," if groups.get("c") else ""
    words["result"] = "a mask" if groups.get("im") == "m" else "an index"
    words["round"] = "the last" if "last" in groups else "one"
    words["direction"] = "decryption" if groups.get("dir") == "dec" else "encryption"
    return sentence.format_map(words).replace(",.", ".")


def _words(name: str, value: str) -> str:
    value = _SAME_CONDITION.get(value, value) if name == "cc" else value
    return _WORDS.get(name.rstrip("2"), {}).get(value, value)
