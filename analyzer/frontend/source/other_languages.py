"""Recognises texts in languages or for processors that are not supported, and says what to do instead.

A statement counts for another instruction set if neither its name nor its operands are x86's. A text is
attributed to another instruction set only if hardly any line names an x86 register, because files may contain
code for several processors, and register names may be macros.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.source.chunks import Chunk, SourceText
from msgspec import Struct

_OBJECT = "Only x86-64 is simulated."
_BEGIN = r"^[ \t]*(?:[\w.$]+:[ \t]*)?"


class _Language(Struct, frozen=True):
    """A language, a pattern that no supported text matches, and advice."""

    what: str
    telling: str
    """A regular expression, compiled when a text may be in this language."""
    way_out: str
    is_sure: bool = False
    """One matching line is enough, regardless of other lines."""
    unless: str = ""
    """A regular expression: a text that it matches is supported nevertheless."""


class UnsupportedText(Struct, frozen=True):
    """An unsupported text: range of the first telling line, and a message."""

    start: int
    end: int
    message: str


_LANGUAGES = (
    _Language(
        "code of 32 or 16 bits",
        r"(?mi)^[ \t]*(?:\.code(?:32|16(?:gcc)?)|\[?[ \t]*bits[ \t]+(?:32|16)|use(?:32|16)|\.[3-6]86p?|"
        r"(?:push|pop)l?[ \t]+%?e(?:[abcd]x|[sd]i|[bs]p))\b",
        _OBJECT,
        True,
        # Code for several modes.
        r"(?mi)^[ \t]*(?:[#%.]?[ \t]*if|\.code64\b|\[?[ \t]*bits[ \t]+64\b|use64\b)",
    ),
    _Language(
        "the disassembly of code for another processor, or of 32-bit code",
        r"(?mi)^.*:[ \t]+file format (?!.*x86[-_]64|binary\b)\S.*",
        _OBJECT,
        True,
    ),
    _Language(
        "a disassembly without addresses and machine code",
        r"(?m)^[ \t]*(?:(?:bnd|notrack)[ \t]+)?(?:j\w+|callq?|loop\w*)[ \t]+"
        r"(?:[0-9a-f]+[ \t]+)?<[^>\n]+>[ \t]*$|"
        r"^[ \t]*(?:\d+\.\d+[ \t]+)?[↓↑←→][ \t]+[a-z]",
        "Let it show one of them (objdump -d without --no-show-raw-insn, perf annotate --stdio, opcodes in "
        "Compiler Explorer), or analyse the object: cyclelens analyze FILE.o.",
        True,
    ),
    _Language(
        "a report about assembly",
        r"(?m)^(?:\[1\]: #uOps|Intel\(R\) Architecture Code Analyzer|Open Source Architecture Code Analyzer|"
        r"Throughput Analysis Report)",
        "Analyse the assembly or the object that it is about: cyclelens analyze FILE.",
        True,
    ),
    _Language(
        "a table of a profiler",
        r"(?m)^(?![ \t]*[#;/*@])(?=[^\n]*\bAddress\b)(?=[^\n]*\bAssembly\b)[^\n,;\t]*[,;\t][^\n]*[,;\t].*",
        "Analyse the program that was profiled: cyclelens analyze PROGRAM --function NAME.",
        True,
    ),
    _Language(
        "a text quoted in a mail",
        r"(?m)^>{1,3}[ \t]+[.\w].*",
        "Remove the marks before its lines: sed 's/^[> ]*//' FILE | cyclelens analyze -.",
        True,
    ),
    _Language(
        "a patch",
        r"(?m)^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*",
        "Apply it and analyse the file that it changes: git apply PATCH, cyclelens analyze FILE.",
        True,
    ),
    _Language(
        "machine code in hexadecimal",
        r"(?mi)^[ \t]*(?:\\x[0-9a-f]{2}){4,}|"
        # A row that begins with db or dd is data of NASM.
        r"^[ \t]*\"?(?!d[bd][ \t])(?:0x)?[0-9a-f]{2}(?:[ ,]+(?:0x)?[0-9a-f]{2}){3,}[ \t,]*$",
        "Analyse it as what it is: cyclelens analyze --hex FILE.",
    ),
    _Language(
        "Go's assembly (Plan 9)",
        r"(?m)^.*\b(?:TEXT|GLOBL|DATA)[ \t]+[^\s,()]*(?:\+\d+)?\(SB\)",
        "Build the program (go build -o PROGRAM) and analyse its function: cyclelens analyze PROGRAM "
        "--function PACKAGE.NAME.",
        True,
    ),
    _Language(
        "Go's assembly (Plan 9)",
        r"(?m)^[ \t]*[A-Z][A-Z0-9]+[ \t]+.*\b\w+[+-]\d+\((?:FP|SP)\)",
        "Build the program (go build -o PROGRAM) and analyse its function: cyclelens analyze PROGRAM "
        "--function PACKAGE.NAME.",
        True,
    ),
    _Language(
        "FASM",
        r"(?mi)^[ \t]*(?:format[ \t]+(?:ELF(?:64)?|PE(?:64)?|MS64|COFF|MZ|binary|Mach-?O(?:64)?)\b|"
        r"section[ \t]+'[^'\n]*'(?:[ \t]+(?:executable|readable|writeable|code|data|align)\b)+|"
        r"segment(?:[ \t]+(?:readable|executable|writeable))+)",
        "Assemble it to an object (format ELF64; fasm FILE.asm FILE.o) and analyse that: "
        "cyclelens analyze FILE.o.",
        True,
    ),
    _Language(
        "DynASM",
        r"(?m)^[ \t]*\|[ \t]*(?:\.(?:arch|section|code|actionlist|globals|externnames|type|macro)\b|"
        r"->\w+:|=>[^\n]*:|\d+:|\w+[ \t]+.*[<>]\d+\b)",
        "Build the project and analyse the object that holds the code (cyclelens analyze FILE.o), or the "
        "bytes that it emits (cyclelens analyze --raw FILE).",
        True,
    ),
    _Language(
        "LLVM's intermediate language",
        r"(?m)^(?:define[ \t].*@[\w.$\"-]+\(|target triple[ \t]*=)",
        "Compile it and analyse the object: clang -O2 -c FILE.ll, cyclelens analyze FILE.o.",
        True,
    ),
    _Language(
        "PTX, the assembly of NVIDIA's processors",
        r"(?m)^[ \t]*\.(?:target[ \t]+sm_|visible[ \t]+\.(?:entry|func))",
        _OBJECT,
        True,
    ),
    _Language("WebAssembly", r"(?m)^[ \t]*(?:\(module|\.functype)\b", _OBJECT, True),
    _Language(
        "assembly for AArch64",
        rf"(?mi){_BEGIN}(?:\.arch[ \t]+armv8|[a-z][\w.]*[ \t]+\{{?[ \t]*(?:[xw](?:[12]?\d|30|zr)|"
        r"[vz](?:[12]?\d|3[01])\.\d*[bhsdq])\b|"
        r"b\.(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)[ \t])",
        _OBJECT,
    ),
    _Language(
        "assembly for ARM",
        rf"(?mi){_BEGIN}(?:\.(?:syntax[ \t]+unified|arm|thumb(?:_func)?|fpu|cpu)\b|"
        r"(?:ldr|str|ldm|stm|vld|vst|vpush|vpop|push|pop)[\w.]*[ \t]+(?:r\d+|sp|\{)|bx[ \t]+(?:lr|r\d+)|"
        r"(?:adds?|subs?|rsb|mov|cmp|and|orr|eor|bic|lsls?|lsrs?)[a-z]*[ \t]+r\d+,.*#\d)",
        _OBJECT,
    ),
    _Language(
        "assembly for RISC-V",
        rf"(?m){_BEGIN}(?:\.(?:attribute[ \t]+(?:arch|unaligned|stack)|option[ \t]+\w*(?:pic|rvc|relax)\b)|"
        r"(?:l[bhwd]u?|s[bhwd]|fl[wd]|fs[wd])[ \t]+(?:[astx]\d+|ra|sp|f[ats]?\d+),[^\n]*\(\w+\)|"
        r"(?:bnez|beqz|blez|bgez|bltz|bgtz|bne|beq|bltu?|bgeu?|addiw?|li|la|mv)[ \t]+"
        r"(?:[astx]\d+|sp|ra),|"
        r"vset(?:i?vli|vl)[ \t]|v[a-z0-9]+\.v[vxfi]+[ \t]+v\d)",
        _OBJECT,
    ),
    _Language(
        "assembly for POWER",
        rf"(?m){_BEGIN}(?:\.(?:machine|abiversion)[ \t]|(?:bdnz|mtctr|mflr|mtlr|lwzx?u?|stwu?|stdu?|ldu?|"
        r"lfdu?|stfdu?|lxv\w*|stxv\w*|lvx|stvx|addis?|rldic[lr]|xv\w+[ds]p)[ \t]+"
        r"(?:%?(?:r|f|vs?)?\d+,|[.\w]+[ \t]*$|\d)|"
        r"blr[ \t]*$)",
        _OBJECT,
    ),
    _Language(
        "assembly for MIPS",
        rf"(?m){_BEGIN}(?:\.(?:set[ \t]+no(?:reorder|macro|at|mips16|micromips)|abicalls|frame)\b|"
        r"(?:d?addiu|d?addu|d?subu|l[bhw]u?|s[bhwd]|ld|lui|li|la|move|ori|bne|beq|bnez|beqz|jr|jalr?)"
        r"[ \t]+"
        r"\$(?:\d+|[astvk]\d|sp|ra|fp|gp|zero)\b)",
        _OBJECT,
    ),
    _Language(
        "assembly for IBM Z",
        rf"(?m){_BEGIN}(?:\.machine[ \t]|(?:lg[frh]?[ir]?|lgr|stg|larl|lay?|brctg?|brasl|[ls]tm?g|lmg|stmg|"
        r"vlm?|vstm?|"
        r"a?g?hi|sgr|agr|clg\w*|mvc)[ \t]+%[rvfa]\d|br[ \t]+%r14)",
        _OBJECT,
    ),
    _Language(
        "assembly for SPARC",
        rf"(?m){_BEGIN}(?:\.register\b|[a-z][\w,]*[ \t]+[^\n]*%[goli][0-7]\b|retl\b)",
        _OBJECT,
    ),
    _Language(
        "assembly for LoongArch",
        rf"(?m){_BEGIN}(?:(?:ld|st|addi?|sub|fld|fst|fmadd|mul)\.[bhwds]u?|jirl|pcalau12i|x?v(?:ld|st))[ \t]+"
        r"\$(?:r\d+|f?[ats]\d+|sp|ra|fp|zero|x?vr\d+)\b",
        _OBJECT,
    ),
)
_WITHOUT_REGIONS = (
    _Language(
        "the output of LuaJIT (-jdump)",
        r"(?m)^---- TRACE \d+ .*",
        "Let gdb print the machine code of a trace (x/40i ADDRESS) and analyse that.",
    ),
    _Language(
        "the output of Bochs's debugger",
        r"(?m)^(?:<bochs:\d+>.*|[0-9a-f]{8,16}: \([^)\n]*\): .*; [0-9a-f]{2,30}[ \t]*$)",
        "Analyse the object that holds the code (cyclelens analyze FILE.o), or 64-bit machine code by "
        "itself: cyclelens analyze --hex FILE.",
    ),
    _Language(
        "the output of perf script",
        r"(?m)^[ \t]*\S.*?[ \t]\d+[ \t]+(?:\[\d+\][ \t]+)?\d+\.\d{3,9}:[ \t].*|"
        r"^.*\binsn: [0-9a-f]{2}\b.*",
        "Analyse the program, with the counts of perf script -F brstacksym if you have them: "
        "cyclelens analyze PROGRAM --function NAME --profile FILE.",
    ),
    _Language(
        "an answer of Compiler Explorer in JSON",
        r"\A\s*\{(?=[^\n]*\"asm\"[ \t]*:).*",
        "Analyse the text in it: jq -r '.asm[].text' FILE | cyclelens analyze -.",
    ),
    _Language(
        "a program that generates code (Xbyak, AsmJit)",
        r"(?m)^.*(?:\b(?:Xbyak|asmjit)::|#[ \t]*include[ \t]*[<\"](?:xbyak|asmjit)/).*",
        "Analyse the bytes that it emits: cyclelens analyze --raw FILE.",
    ),
    _Language(
        "Zig",
        r"(?m)^.*@import\(\".*|"
        r"^[ \t]*(?:pub[ \t]+)?(?:export[ \t]+)?fn[ \t]+\w+\([^\n]*\)[ \t]*!?\w[\w.]*[ \t]*\{.*",
        "Compile it and analyse the object: zig build-obj -O ReleaseFast FILE.zig, cyclelens analyze FILE.o.",
    ),
    _Language(
        "Rust",
        r"(?m)^.*\b(?:global_|naked_)?asm![ \t]*\(.*|"
        r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:unsafe[ \t]+)?fn[ \t]+\w+.*",
        "Compile it and see the cycles at its lines: cyclelens cc -- rustc -O --crate-type lib FILE.rs.",
    ),
    _Language(
        "Python",
        r"(?m)^(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+\w|def[ \t]+\w+\(|class[ \t]+\w+[(:]).*",
        "Analyse the machine code that it holds: cyclelens analyze --hex FILE.",
    ),
    _Language(
        "C or C++",
        r"(?m)^(?![ \t]*[#;/*@]).*\b(?:asm|__asm|__asm__)[ \t]*"
        r"(?:volatile|__volatile__|goto|inline)?[ \t]*[({].*|^template[ \t]*<.*|"
        r"^(?:class|struct|namespace|typedef|using)\b[^\n;]*[{;][ \t]*$|"
        r"^(?:static|inline|extern|const|unsigned|signed|struct|void|int|char|long|short|float|double|bool|"
        r"size_t|u?int\d+_t|__m\d+[di]?)\b[^\n;{}\"#]*\(.*",
        "Compile it and see the cycles at its lines: cyclelens cc -- gcc -O2 -c FILE.c.",
    ),
)
"""Texts that hold no assembly by themselves. A text with a region is none of them."""
_SURE = tuple(each for each in _LANGUAGES if each.is_sure)
_OF_X86 = re.compile(
    r"%(?:[re]?(?:[abcd]x|[sd]i|[bs]p)|[abcd][lh]|[xyz]mm\d)|\b(?:[re](?:[abcd]x|[sd]i|[bs]p|ip)|[xyz]mm\d+|"
    r"(?:byte|d?word|qword|[xy]mmword)[ \t]+ptr)\b",
    re.IGNORECASE,
)
"""Registers, and sizes of memory operands as MASM and GNU as write them; macros may stand for registers."""
_SHARE = 10
"""Lines of another instruction set per line with an x86 register or size, above which the text counts as that
set's."""
_FEWEST = 2
"""Minimum lines of another instruction set (fewer if the text has fewer). More lines with x86 registers than
this in one chunk make the text x86's."""
_HEAD = 40_000
"""Characters that are examined."""


def find(source: SourceText) -> UnsupportedText | None:
    """The unsupported language of a text, as far as its beginning tells; None if it is supported."""
    head = _head(source)
    if not head:
        return None
    is_x86 = any(chunk.ask(_lines_of_x86)[0] > _FEWEST for chunk in head)
    languages = _SURE if is_x86 else _LANGUAGES
    signs = {sign for chunk in head for sign in chunk.ask(_sure_signs if is_x86 else _signs)}
    text = "".join(chunk.text for chunk in head) if signs else ""
    for language in languages:
        if language.telling not in signs:
            continue
        telling = re.compile(language.telling)
        if language.unless and re.search(language.unless, text):
            continue
        if not language.is_sure and not _is_in(telling, text):
            continue
        match = telling.search(text)
        assert match is not None
        return _unsupported(language, text, match)
    return None


def without_regions(source: SourceText) -> UnsupportedText | None:
    """What a text is in which no region was found, as far as its beginning tells."""
    text = "".join(chunk.text for chunk in _head(source))
    for language in _WITHOUT_REGIONS:
        if match := re.search(language.telling, text):
            return _unsupported(language, text, match)
    return None


def _unsupported(language: _Language, text: str, match: re.Match[str]) -> UnsupportedText:
    found = text[match.start() :].partition("\n")[0]
    start = match.start() + len(found) - len(found.lstrip())
    message = f"This is {language.what}, which Cyclelens does not read. {language.way_out}"
    return UnsupportedText(start, max(match.start() + len(found.rstrip()), start), message)


def _head(source: SourceText) -> list[Chunk]:
    head, length = [], 0
    for chunk in source.chunks:
        if length > _HEAD:
            break
        head.append(chunk)
        length += len(chunk.text)
    return head


def _signs(text: str, languages: Sequence[_Language] = _LANGUAGES) -> frozenset[str]:
    """The patterns of languages that match somewhere in a text."""
    return frozenset(each.telling for each in languages if re.compile(each.telling).search(text))


def _sure_signs(text: str) -> frozenset[str]:
    """The patterns that are enough in a text that names x86's registers."""
    return _signs(text, _SURE)


def _lines_of_x86(text: str) -> tuple[int]:
    """Number of lines with an x86 register, up to the relevant maximum."""
    count = 0
    for line in text.split("\n"):
        count += _OF_X86.search(line) is not None
        if count > _FEWEST:
            break
    return (count,)


def _is_in(telling: re.Pattern[str], text: str) -> bool:
    count = statements = of_x86 = 0
    for line in text.split("\n"):
        code = line.partition("//")[0].partition(";")[0].strip()
        tells = telling.match(line) is not None
        if not code or code[0] in "#@/*." or code.endswith(":"):
            count += tells and code[:1] == "."
            continue
        statements += 1
        count += tells
        of_x86 += _OF_X86.search(code) is not None
    return count >= min(_FEWEST, statements or 1) and count > _SHARE * of_x86
