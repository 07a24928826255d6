"""What a directive does, in one plain sentence each: those of GNU as, NASM and MASM.

A rule is a pattern of names, without the dot, and a sentence.
"""

from __future__ import annotations

import re

_NO_CODE = "It makes no code."
RULES: tuple[tuple[str, str], ...] = (
    # Data
    (r"d?byte|dc\.b", "Puts bytes here."),
    (r"2byte|hword|short|value|word|dc(\.w)?", "Puts 16-bit numbers here."),
    (r"4byte|int|long|dc\.l", "Puts 32-bit numbers here."),
    (r"8byte|quad|dc\.a", "Puts 64-bit numbers here."),
    (r"octa", "Puts 128-bit numbers here."),
    (r"float|single|dc\.s", "Puts floats here."),
    (r"double|dc\.d", "Puts doubles here."),
    (r"tfloat|dc\.x|ldouble", "Puts 80-bit floating-point numbers here."),
    (r"ascii", "Puts the characters of strings here."),
    (r"asciz|string8?", "Puts strings here, each with a zero byte behind it."),
    (r"string(16|32|64)", "Puts strings of wide characters here, each with a zero behind it."),
    (r"base64", "Puts the bytes that a Base64 text encodes here."),
    (r"zero|skip|space", "Leaves room: so many bytes of the same value, zero by default."),
    (r"fill", "Repeats a number of a given size."),
    (r"dcb?(\..)?", "Repeats a number."),
    (r"ds(\..)?", "Leaves room for so many numbers of a size, filled with zeros."),
    (r"[us]leb128", "Puts a number here in LEB128: seven bits per byte."),
    (r"nops", "Fills so many bytes with NOPs."),
    (r"org", "Moves to an address within the section."),
    (r"incbin", "Puts the bytes of a file here."),
    (r"insn", "Encodes an instruction that is given by its parts."),
    (r"p2align[wl]?", "Pads to a multiple of a power of two, given as its exponent; code with NOPs."),
    (r"b?align[wl]?", "Pads to a multiple of so many bytes; code with NOPs."),
    (r"bundle_(align_mode|lock|unlock)", "Keeps instructions within aligned bundles."),
    # Sections and symbols
    (r"text", "Goes to the section for code."),
    (r"data", "Goes to the section for data that may be changed."),
    (r"bss", "Goes to the section for data that begins as zero."),
    (r"section|sect(name)?|segment", "Goes to a section of this name."),
    (r"pushsection", "Goes to a section, until .popsection."),
    (r"popsection|previous", "Goes back to the section before."),
    (r"subsection", "Goes to a part of the section, by its number."),
    (r"struct|offset", "Counts offsets from a number, for the fields of a structure."),
    (r"global|globl|public", "Makes a symbol visible to other files."),
    (r"extern|extrn", "Names a symbol that another file defines."),
    (r"weak|weakref", "Makes a symbol weak: another file may define it instead, or nobody."),
    (r"local|hidden|internal|protected|private_extern", "Limits which files see a symbol."),
    (r"l?comm|zerofill", "Reserves room for a symbol whose data begins as zero."),
    (r"set|equ|equiv|eqv", "Gives a symbol a value."),
    (r"type|size", "Tells the linker and debuggers the kind or the size of a symbol. " + _NO_CODE),
    (r"symver|version|vtable_\w+|attach_to_group|linkonce|reloc|shstrtab",
     "Leaves a note for the linker. " + _NO_CODE),
    (r"cfi_startproc", "Begins the description of a function's stack frame. " + _NO_CODE),
    (r"cfi_endproc", "Ends the description of a function's stack frame. " + _NO_CODE),
    (r"cfi_\w+", "Describes the stack frame here, for debuggers and exceptions. " + _NO_CODE),
    # Macros and conditions
    (r"macro|%i?r?macro", "Begins a macro; the lines up to its end replace its name."),
    (r"endm|%endm(acro)?|exitm|%exitmacro", "Ends a macro, or leaves it."),
    (r"purgem|%un(i?def|macro|imacro)", "Forgets a macro."),
    (r"(no)?altmacro|mri", "Chooses how macros are read."),
    (r"rept|repeat|%rep|times", "Repeats what follows so many times."),
    (r"irpc?|forc?", "Repeats what follows for each of its values."),
    (r"endr|%endrep|endw|until(cxz)?|%exitrep|break|continue", "Ends a repetition, or leaves it."),
    (r"goto|while", "Repeats or skips lines while the file is assembled."),
    (r"%?if\w*", "Assembles the lines up to its end only if a condition holds."),
    (r"%?else(if)?|%elif\w*", "Begins the lines for the other case of a condition."),
    (r"%?endif", "Ends a condition."),
    (r"include|%include", "Reads another file here."),
    (r"%i?x?define|%i?assign|%i?defstr|%i?deftok|%strlen|%substr", "Gives a name a text or a value."),
    (r"%(push|pop|repl)", "Changes the context that local names of macros belong to."),
    (r"%(use|pragma|line|arg|stacksize|local|rotate|error|warning|fatal|clear|depend|pathsearch)",
     "Tells NASM's preprocessor something."),
    # Choices
    (r"intel_(syntax|mnemonic)", "Reads Intel syntax from here on: the destination comes first."),
    (r"att_(syntax|mnemonic)", "Reads AT&T syntax from here on: the destination comes last."),
    (r"code64", "Assembles 64-bit code."),
    (r"code(32|16|16gcc)|bits|use(16|32|64)", "Chooses the mode that code is assembled for."),
    (r"arch|cpu", "Chooses which instructions are allowed."),
    (r"default", "Chooses how addresses are written by default, such as relative to rip."),
    (r"file|loc|loc_mark_labels|ident|addrsig\w*|(gnu_)?attribute|build_version|\w+_version_min",
     "Tells debuggers or the linker where the code comes from. " + _NO_CODE),
    (r"subsections_via_symbols|indirect_symbol|desc", "Tells the linker of macOS something. " + _NO_CODE),
    (r"list|nolist|psize|title|sbttl|eject|pad_syntax", "Changes the listing. " + _NO_CODE),
    (r"print|warning", "Prints a message while the file is assembled. " + _NO_CODE),
    (r"error|err|abort", "Ends the assembly with an error."),
    (r"end|ent", "Marks where the program or a function ends or begins. " + _NO_CODE),
    # NASM's data
    (r"db", "Puts bytes here."),
    (r"dw", "Puts 16-bit numbers here."),
    (r"dd", "Puts 32-bit numbers or floats here."),
    (r"dq", "Puts 64-bit numbers or doubles here."),
    (r"dt", "Puts 80-bit floating-point numbers here."),
    (r"d[oyz]", "Puts numbers of a vector's size here."),
    (r"res[bwdqtoyz]", "Leaves room for so many numbers of a size."),
)  # fmt: skip


def directive_meaning(name: str) -> str:
    """A sentence about a directive; empty if none is known. ``name``: as written, with its dot or percent
    sign."""
    name = name.lower().removeprefix(".").removeprefix("[").removesuffix("]")
    return next((sentence for pattern, sentence in RULES if re.fullmatch(pattern, name)), "")
