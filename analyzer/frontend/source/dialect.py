"""Detects the dialect of a text, and whether a semicolon begins a comment in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.lexer import BLOCK_COMMENT, COMMENT_SIGN
from msgspec import Struct


class Dialect(Struct, frozen=True):
    """Assembly dialect: AT&T's syntax or Intel's, and whether registers may lack ``%``."""

    is_att: bool
    """AT&T syntax: sources come first."""
    bare_registers: bool
    is_gnu: bool = True
    """Written for GNU as; NASM and MASM write numbers differently."""
    is_nasm: bool = False
    """Written for NASM, which makes other choices between several encodings."""
    is_masm: bool = False
    """Written for MASM: names may have more characters, and memory operands with names are RIP-relative."""
    is_relative: bool = False
    """Addresses without a register are RIP-relative: after NASM's ``default rel``, and always in MASM."""

    @property
    def name(self) -> str:
        """``att`` or ``intel``."""
        return "att" if self.is_att else "intel"

    @property
    def is_intel_gnu(self) -> bool:
        """GNU as's Intel syntax."""
        return self.is_gnu and not self.is_att


class AssemblerStyle(StrEnum):
    """The assembler that a text is written for."""

    GAS = "gas"
    NASM = "nasm"
    MASM = "masm"


ATT = Dialect(is_att=True, bare_registers=False)
INTEL = Dialect(is_att=False, bare_registers=True)
_ATT_BARE = Dialect(is_att=True, bare_registers=True)
MASM = Dialect(is_att=False, bare_registers=True, is_gnu=False, is_masm=True, is_relative=True)
NASM = Dialect(is_att=False, bare_registers=True, is_gnu=False, is_nasm=True)
BY_NAME = {"att": ATT, "intel": INTEL}

_SYNTAX_DIRECTIVE = re.compile(r"^[ \t]*\.(intel|att)_syntax\b", re.MULTILINE)
_GNU_DIRECTIVE = re.compile(
    r"^[ \t]*\.(?:intel_syntax|att_syntax|text|data|bss|section|globl|global|p2align|align|balign|type|size|"
    r"file|cfi_\w+|set|equ|macro|rept|string|ascii|asciz|byte|long|quad|ident|loc)\b",
    re.MULTILINE,
)
_REGISTER = (
    r"(?:[re]?(?:ax|bx|cx|dx|si|di|bp|sp)|[abcd][lh]|(?:si|di|bp|sp)l|r(?:8|9|1[0-5])[dwb]?|[xyz]mm\d+|rip)"
)
_ATT_EVIDENCE = re.compile(rf"%{_REGISTER}\b|[ \t,]\$-?\w", re.IGNORECASE)
_INTEL_EVIDENCE = re.compile(
    rf"\b(?:[xyzoqdt]?(?:mm)?word|byte)[ \t]+(?:ptr\b|\[)|\[[^\]]*{_REGISTER}\b|"
    rf"^[^%]*[ \t,]{_REGISTER}[ \t]*(?:,|$)",
    re.IGNORECASE,
)
_CLEAR_EVIDENCE = 50
"""Lead in lines of evidence that decides between the dialects."""
_ALONE = (
    r"(?:lock|rep\w*|[lm]?ret[fq]?|nop|leave|cl[cdi]|st[cdi]|cmc|cbw|cwde|cdqe|cwd|cdq|cqo|(?:movs|stos|lods|scas|cmps)[bwdq]|"
    r"pause|[lms]fence|syscall|cpuid|rdtscp?|vzero\w+|ud2|int3|emms|[ls]ahf|pushfq?|popfq?)"
)
_INTEL_STATEMENT = (
    rf"(?i)\s*(?:[\w.$]+:\s*)*(?:{_ALONE}?\s*$|\.\w|(?:j[a-z]+|call|loop\w*)\s+(?:short\s+)?[\w.$]+\s*$|"
    rf"[a-z]\w*\s*(?:\[|-?\d|(?:{_REGISTER}|[xyzqd]?(?:mm)?word|byte)\b\s*(?:$|[,\[;]|ptr)))"
)


def detect(source: SourceText) -> Dialect:
    """The dialect of a file's first statements: by majority of evidence; without any, by the first syntax
    directive; otherwise AT&T, GNU as's default. Directives in the text switch the dialect later."""
    written_for = style(source)
    if written_for is not AssemblerStyle.GAS:
        return NASM if written_for is AssemblerStyle.NASM else MASM
    directive = None
    if source.has(_SYNTAX_DIRECTIVE.search):
        directive = _SYNTAX_DIRECTIVE.search(source.text)
    balance = 0
    for step in _evidence(source, directive.start() if directive else len(source.text)):
        balance += step
        if abs(balance) >= _CLEAR_EVIDENCE:
            break
    if balance == 0:
        return BY_NAME[directive.group(1)] if directive else ATT
    return ATT if balance > 0 else INTEL


def _evidence(source: SourceText, end: int) -> Iterator[int]:
    """1 for every line before an offset that can only be AT&T, -1 for every line that can only be Intel."""
    offset = 0
    for chunk in source.chunks:
        if offset + len(chunk.text) > end or chunk.has(_leaves_comment_open):
            yield from _evidence_of(source.text[offset:end])
            break
        yield from chunk.ask(_evidence_of)
        offset += len(chunk.text)


def _leaves_comment_open(text: str) -> bool:
    return "/*" in text and any(match[1] is None for match in BLOCK_COMMENT.finditer(text))


def _evidence_of(text: str) -> tuple[int, ...]:
    if "/*" in text:
        text = BLOCK_COMMENT.sub(" ", text)
    found = []
    for line in text.split("\n"):
        statement = re.split(COMMENT_SIGN, line[:200], maxsplit=1)[0].rstrip()
        if _ATT_EVIDENCE.search(statement):
            found.append(1)
        elif _INTEL_EVIDENCE.search(statement):
            found.append(-1)
    return tuple(found)


def of_directive(name: str, arguments: str) -> Dialect | None:
    """Dialect that ``.intel_syntax`` or ``.att_syntax`` selects; None for any other directive."""
    if name == "att_syntax":
        return _ATT_BARE if arguments.strip().lower() == "noprefix" else ATT
    return INTEL if name == "intel_syntax" else None


_OF_JULIA = re.compile(r"^[ \t]*;[ \t]*[│┌└]", re.MULTILINE)
"""Brackets around inlined functions, in front of the instructions of ``code_native``."""


def semicolon_starts_comment(source: SourceText, dialect: Dialect) -> bool:
    """Whether a semicolon begins a comment, as in NASM and MASM, or separates statements, as in GNU as. It
    begins a comment only in an Intel text without GNU directives in which the text after some semicolon
    cannot be a statement, and in Julia's output."""
    if ";" not in source.text:
        return False
    if source.has(_OF_JULIA.search):
        return True
    if dialect.is_att:
        return False
    if style(source) is not AssemblerStyle.GAS:
        return True
    return not source.has(_GNU_DIRECTIVE.search) and source.has(_has_semicolon_comment)


_NOT_NASM = re.compile(rf"%{_REGISTER}\b|\bptr\b|^[ \t]*(?:#|//)", re.MULTILINE | re.IGNORECASE)


def _has_semicolon_comment(text: str) -> bool:
    for line in text.split("\n"):
        head, semicolon, tail = line[:400].partition(";")
        if not semicolon or "#" in head or "//" in head:
            continue
        if not head.strip() or not re.match(_INTEL_STATEMENT, tail):
            return True
    return False


_NASM_SURE = re.compile(
    r"^[ \t]*%(?:[ix]?(?:macro|define|assign)|include|if\w*|rep|use)\b", re.MULTILINE | re.IGNORECASE
)
_NASM_LIKELY = re.compile(
    r"^[ \t]*(?:\[?(?:bits|default[ \t]+(?:rel|abs))\b|(?:[\w.$?@]+:?[ \t]+)?(?:times[ \t]+\S|"
    r"equ[ \t]+\S|(?:d|res)[bwdqtoyz][ \t]+\S|istruc\b|struc[ \t])|"
    r"global[ \t]+\w|extern[ \t]+\w|alignb?[ \t]+\d|\[?(?:section|segment)[ \t]+[.\w])",
    re.MULTILINE | re.IGNORECASE,
)
_NASM_MACROS = re.compile(
    r"^[ \t]*(?:%(?!%)[a-z{]|(?:[\w.$?@]+:?[ \t]+)?(?:times[ \t]+\S|(?:d|res)[bwdqtoyz][ \t]+\S|istruc\b|"
    r"struc[ \t]|incbin\b)|[\w.$?@]+[#~][\w.$?@#~]*[ \t]*:)",
    re.MULTILINE | re.IGNORECASE,
)
"""Constructs outside the subset of NASM that is read without running it; the last one: labels with other
characters."""
_MASM_SURE = re.compile(
    r"^[ \t]*(?:[\w@?$]+[ \t]+(?:proc|endp|segment|macro)\b|(?:endm|exitm|rept)\b(?![ \t]*:)|"
    r"\.code\b(?![ \t]*\d)|\.model\b|option[ \t]+casemap|(?:@@|\$L[LN]?\w*@\w+)[ \t]*:|"
    r"[\w.@?$]+::[ \t]*(?:;.*)?$)",
    re.MULTILINE | re.IGNORECASE,
)
"""The last alternatives are anonymous labels, the labels in MSVC's listings, and public labels."""
_SUFFIXED = re.compile(r"^[^;#%\n\"']*[ \t,\[+*-]\d[0-9a-f]*h\b", re.MULTILINE | re.IGNORECASE)
"""A number as only NASM and MASM write it: ``0FFh``."""
_PTR = re.compile(r"\bptr\b", re.IGNORECASE)


def style(source: SourceText) -> AssemblerStyle:
    """The assembler whose language the file uses; ``gas`` unless there is evidence for another."""
    if source.has(_MASM_SURE.search):
        return AssemblerStyle.MASM
    if source.has(_NASM_SURE.search):
        return AssemblerStyle.NASM
    if source.has(_GNU_DIRECTIVE.search):
        return AssemblerStyle.GAS
    if source.has(_NASM_LIKELY.search) or _is_plain_nasm(source):
        return AssemblerStyle.NASM
    if source.has(_SUFFIXED.search) and source.has(_is_intel):
        return AssemblerStyle.MASM if source.has(_PTR.search) else AssemblerStyle.NASM
    return AssemblerStyle.GAS


def comment_sign(source: SourceText) -> str:
    """Characters that begin a comment in this text, for lines inserted into it."""
    return "#" if style(source) is AssemblerStyle.GAS else ";"


def _is_plain_nasm(source: SourceText) -> bool:
    """Whether bare instructions are NASM's: GNU as separates statements by semicolons, and MASM writes PTR
    after a size."""
    return (
        ";" in source.text
        and source.has(_has_semicolon_comment)
        and source.has(_is_intel)
        and not source.has(_NOT_NASM.search)
    )


def _is_intel(text: str) -> bool:
    return -1 in _evidence_of(text)


def needs_nasm(source: SourceText) -> bool:
    """Whether the text uses features that only NASM can process: macros, repetitions, data."""
    return source.has(_NASM_MACROS.search)
