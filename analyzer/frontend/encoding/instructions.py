"""Parses one instruction statement into bytes, or into a request to an assembler.

Jumps, NOPs, prefixes, segment overrides and absolute addresses are encoded here, because Keystone gets them
wrong. Everything else is requested, and the answer is compared with the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.encoding.choice import Asked
from cyclelens.analyzer.frontend.encoding.nasm_choices import (
    ACCUMULATORS,
    as_nasm_chooses,
    narrowed,
    shortest,
)
from cyclelens.analyzer.frontend.encoding.requests import MARK, EncodingRequest, Repair, is_segment
from cyclelens.analyzer.frontend.encoding.string_instructions import OPCODES, STRING, string_instruction
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL, Dialect
from cyclelens.analyzer.frontend.source.lexer import SYMBOL, has_odd_blank
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.expressions import without_characters
from cyclelens.analyzer.frontend.statements.jumps import COUNTING_ECX, JUMPS, Jump, JumpForms
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    MemoryOperand,
    Operand,
    OperandError,
    Register,
    Scope,
    Target,
    UnsupportedError,
)
from cyclelens.analyzer.frontend.statements.operands import parse_att, parse_intel, split_operands
from cyclelens.analyzer.frontend.statements.prefixes import (
    PREFIXES,
    SEGMENT_BYTES,
    before_jump,
    check,
    prefixed,
    renamed,
)
from cyclelens.analyzer.frontend.statements.refusals import refuse_apx
from cyclelens.analyzer.frontend.statements.rendering import needs_evex, render_att, render_intel
from cyclelens.analyzer.frontend.statements.set_apart import SET_APART, SetApart
from msgspec import Struct
from msgspec.structs import replace

_FIXED = {
    "nop": b"\x90",
    "endbr64": b"\xf3\x0f\x1e\xfa",
    "endbr32": b"\xf3\x0f\x1e\xfb",
    "finit": b"\x9b\xdb\xe3",
    "fclex": b"\x9b\xdb\xe2",
}
WAITING = {
    "fstcw": "fnstcw",
    "fstsw": "fnstsw",
    "fstenv": "fnstenv",
    "fsave": "fnsave",
}
"""Mnemonics that stand for FWAIT and a second instruction, by that instruction."""
_WAIT = b"\x9b"
_MNEMONIC = re.compile(r"[a-z][a-z0-9_]{0,19}")
_WORD = re.compile(r"\s*([A-Za-z][\w.]*)")
_PLAIN_JUMP = re.compile(r"([a-z]+)[ \t]+(?![rR]\d)([A-Za-z_.][\w.]*)", re.ASCII)
_PLAIN_JUMPS = JUMPS.keys() - COUNTING_ECX
"""Most jumps are one of these and a name that can be nothing else; nothing more is looked for then."""
_HINT = re.compile(r",p([tn])(?=\s)")
_NAME = re.compile(rf"{SET_APART}|(?<![%\w.$@]){SYMBOL}")
_INVALID = re.compile(r"[=?`\\]")
_WISH = re.compile(
    r"\s*\{\s*(vex|vex2|vex3|evex|disp8|disp16|disp32|load|store|rex|nooptimize)\s*\}\s*", re.IGNORECASE
)
"""Pseudo-prefixes that choose an encoding."""
_WISHES = re.compile(r"\w+")
_SUFFIX = re.compile(r"(?<=[a-z0-9])\.(s|d8|d32)$")
"""GNU as's older suffixes that choose an encoding: the alternative one, or a displacement size."""
_SCALAR_VECTOR = re.compile(
    r"(v(?:add|sub|mul|div|min|max|sqrt)s[sd]|vf(?:n?m(?:add|sub))(?:132|213|231)s[sd]|vcvt(?:sd2ss|ss2sd))"
)
_TO_INTEGER = re.compile(r"vcvtt?s[sd]2si")
_BYTES_OF = {"b": 1, "w": 2, "l": 4, "d": 4, "q": 8, "byte": 1, "word": 2, "dword": 4, "qword": 8}
_INTEL_NAMES = {"pushf": "pushfq", "popf": "popfq", "iret": "iretd"}
"""Mnemonics that Keystone's Intel parser would take for their 16-bit forms."""
_NARROWING = frozenset(["vcvtpd2dq", "vcvttpd2dq", "vcvtpd2ps"])
"""Mnemonics with a suffix for the memory operand's width, in Keystone's Intel dialect too."""

_NOPS = {"nop": "", "nopw": "w", "nopl": "l", "nopq": "q"}
_WIDTH_SUFFIX = {8: "b", 16: "w", 32: "l", 64: "q"}
_SIZE_SUFFIX = {"word": "w", "dword": "l", "qword": "q"}
NARROW = {1: 0x55, 2: 0x4321}
"""Placeholders for unknown values in fields of 1 or 2 bytes."""
_MAXIMUM_REQUEST = 240


class Encoded(Struct, frozen=True):
    """Bytes that need no layout, and the backend that made them."""

    code: bytes
    backend: str = "cyclelens"
    shortened: int | None = None
    """The encoded immediate if the written one is too long for its operand."""


def prepare(text: str, dialect: Dialect, scope: Scope) -> Encoded | Jump | EncodingRequest:
    """Parse one instruction statement. Raises OperandError and UnsupportedError."""
    plain = _PLAIN_JUMP.fullmatch(text)
    if plain and plain[1] in _PLAIN_JUMPS and not scope.names_registers:
        mnemonic, name = plain.groups()
        if name.lower() not in registers.REGISTERS:
            return Jump(mnemonic, JUMPS[mnemonic], Target(name))
    if has_odd_blank(text):
        raise OperandError("This has a character that looks like a blank but is none (such as U+00A0).")
    refuse_apx(text, dialect.is_att, scope)
    prefix = b""
    wishes = ""
    named: list[str] = []
    """Names of the prefixes."""
    while match := _WISH.match(text):
        wish = match[1].lower()
        # GNU as optimises nothing without -O.
        wishes += f"{{{wish}}} " if wish != "nooptimize" else ""
        text = text[match.end() :]
    if text.startswith("{"):
        raise OperandError(f"'{text[:30]}' is not a statement.")
    while True:
        match = _WORD.match(text)
        if match is None:
            raise OperandError(f"'{text.strip()[:40]}' is not a statement.")
        mnemonic = match[1].lower()
        rest = text[match.end() :]
        if mnemonic not in PREFIXES or (rest.strip() and not _WORD.match(rest)):
            break
        prefix += bytes([PREFIXES[mnemonic]])
        named.append(mnemonic)
        if not rest.strip():
            if dialect.is_gnu and mnemonic in ("es", "ss"):
                raise OperandError(f"GNU as does not accept '{mnemonic}' in 64-bit code.")
            return Encoded(prefix)
        text = rest
    if dialect.is_att and mnemonic in JUMPS and (match := _HINT.match(rest)):
        # GNU as encodes branch hints as segment prefixes.
        named.append("ds" if match[1] == "t" else "cs")
        prefix += bytes([PREFIXES[named[-1]]])
        rest = rest[match.end() :]
    if rest[:1] not in ("", " ", "\t", "(", "[", "$", "*", "-"):
        raise OperandError(f"'{text.strip()[:40]}' is not a statement.")
    suffix = ""
    if dialect.is_gnu and (match := _SUFFIX.search(mnemonic)) and mnemonic[: match.start()] not in PREFIXES:
        mnemonic, suffix = mnemonic[: match.start()], match[0]
    if not _MNEMONIC.fullmatch(mnemonic):
        raise OperandError(f"'{mnemonic[:40]}' is not an instruction.")
    if named and dialect.is_gnu:
        check(named, mnemonic)
        prefix, mnemonic = renamed(prefix, mnemonic)
    rest = without_characters(rest)
    branch = mnemonic in JUMPS
    operands = _operands(rest, dialect, scope, is_branch=branch)
    if mnemonic in _FIXED and not operands:
        return Encoded(prefixed(prefix, _FIXED[mnemonic], is_nasm=dialect.is_nasm))
    before = _WAIT if mnemonic in WAITING else b""
    mnemonic = WAITING.get(mnemonic, mnemonic)
    if mnemonic in COUNTING_ECX and not dialect.is_att:
        raise OperandError(f"'{mnemonic}' is AT&T syntax: write addr32 {mnemonic[:-1]}.")
    if scope.looks_ahead:
        # NASM first assumes a long number, and nearby jumps may keep the size that they have then.
        raise UnsupportedError("Only NASM can encode a constant that is set further down.")
    if dialect.is_nasm:
        operands = as_nasm_chooses(mnemonic, operands)
    if branch and len(operands) == 1 and isinstance(operands[0], Target):
        if dialect.is_gnu and "notrack" in named:
            raise OperandError(f"GNU as does not accept 'notrack' before a direct '{mnemonic}'.")
        target = replace(operands[0], near=operands[0].near or suffix == ".d32" or "{disp32}" in wishes)
        return Jump(mnemonic, _with_prefixes(mnemonic, prefix, dialect), target)
    if not operands and mnemonic in OPCODES:
        raise OperandError(f"The size of '{mnemonic}' is unknown: add a suffix.")
    if (code := string_instruction(mnemonic, operands)) is not None:
        return Encoded(prefixed(prefix, code, is_nasm=dialect.is_nasm))
    if dialect.is_gnu and (code := shortest(mnemonic, operands)):
        return Encoded(prefixed(prefix, code))
    if STRING.fullmatch(mnemonic) or mnemonic in ("xlat", "xlatb"):
        _check_implied_address(mnemonic, operands)
    for operand in operands:
        if (
            isinstance(operand, MemoryOperand)
            and operand.segment is not None
            and not _default_segment(operand)
        ):
            prefix += bytes([SEGMENT_BYTES[operand.segment]])
    name = _Name(mnemonic, wishes, suffix)
    question = _asked(name, operands, prefix, dialect, branch)
    question.before, question.is_nasm = before, dialect.is_nasm
    if not any(isinstance(operand, Immediate) and operand.is_address for operand in operands):
        return question
    narrower = None
    for number in NARROW.values():
        smaller = [
            replace(operand, value=number)
            if isinstance(operand, Immediate) and operand.is_address
            else operand
            for operand in operands
        ]
        asked = _asked(name, smaller, prefix, dialect, branch)
        asked.narrower = narrower
        narrower = asked
    question.narrower = narrower
    return question


def _operands(text: str, dialect: Dialect, scope: Scope, *, is_branch: bool) -> list[Operand]:
    """Parse the operands of an instruction. Raises OperandError and UnsupportedError."""
    apart = SetApart(text, dialect)
    scope = apart.scope(scope)
    try:
        parts = split_operands(apart.text)
        if scope.names_registers:
            parts = [_with_registers(part, scope) for part in parts]
        if dialect.is_gnu:
            _check_characters(parts)
        operands: list[Operand] = [
            parse_att(part, scope, branch=is_branch, bare_registers=dialect.bare_registers)
            if dialect.is_att
            else parse_intel(
                part, scope, branch=is_branch, relative=dialect.is_relative, masm=dialect.is_masm
            )
            for part in parts
        ]
    except (OperandError, UnsupportedError) as error:
        raise type(error)(apart.written(str(error))) from None
    return [
        replace(operand, text=apart.written(operand.text)) if isinstance(operand, Target) else operand
        for operand in operands
    ]


def _with_prefixes(mnemonic: str, prefix: bytes, dialect: Dialect) -> JumpForms:
    """Forms of a direct jump, including its prefixes. Raises UnsupportedError."""
    short, near = JUMPS[mnemonic].short, JUMPS[mnemonic].near
    if not prefix:
        return JUMPS[mnemonic]
    if dialect.is_gnu:
        prefix, is_short = before_jump(
            prefix, mnemonic, has_short=short is not None, has_near=near is not None
        )
        near = None if is_short else near
    is_nasm = dialect.is_nasm
    return JumpForms(
        None if short is None else prefixed(prefix, short, is_nasm=is_nasm),
        None if near is None else prefixed(prefix, near, is_nasm=is_nasm),
    )


class _Name(Struct, frozen=True):
    """A mnemonic with its pseudo-prefixes and suffix, which choose the encoding."""

    mnemonic: str
    wishes: str
    suffix: str


def _asked(
    name: _Name, operands: list[Operand], prefix: bytes, dialect: Dialect, branch: bool
) -> EncodingRequest:
    """The request to the assemblers."""
    mnemonic, wishes, suffix = name.mnemonic, name.wishes, name.suffix
    ordered = _intel_order(mnemonic, operands, dialect.is_att)
    asked = Asked(mnemonic, ordered, dialect.is_att, _wished(wishes, suffix))
    reason = ""
    if not (wishes or suffix or _is_beyond_keystone(mnemonic, operands)):
        try:
            if mnemonic in _NOPS and len(operands) == 1:
                question = _nop(mnemonic, operands[0], prefix)
            else:
                question = _question(mnemonic, operands, prefix, dialect, branch)
            question.asked = asked
            return question
        except UnsupportedError as error:
            reason = str(error)
    return EncodingRequest(None, mnemonic, ordered, prefix, asked=asked, reason=reason)


def _is_beyond_keystone(mnemonic: str, operands: Sequence[Operand]) -> bool:
    """Whether Keystone lacks the instruction: AVX-512, AMX and MPX."""
    return mnemonic.startswith("bnd") or any(
        needs_evex(operand) or (isinstance(operand, Register) and operand.name in registers.TILES)
        for operand in operands
    )


_SUFFIXES = {".s": "swap", ".d8": "disp8", ".d32": "disp32"}


def _wished(wishes: str, suffix: str) -> frozenset[str]:
    """Names of the pseudo-prefixes that choose an encoding."""
    return frozenset(_WISHES.findall(wishes)) | ({_SUFFIXES[suffix]} if suffix else frozenset())


def _with_registers(text: str, scope: Scope) -> str:
    """Replace names that were assigned to registers in an operand."""

    def named(match: re.Match[str]) -> str:
        register = scope.register(match[0])
        return f"%{register}" if register is not None else match[0]

    return _NAME.sub(named, text)


def _check_characters(parts: Sequence[str]) -> None:
    """Refuse operators that GNU as accepts in directives but not in operands."""
    for part in parts:
        if match := _INVALID.search(part):
            raise OperandError(f"GNU as does not accept '{match[0]}' in an operand.")


def _intel_order(mnemonic: str, operands: Sequence[Operand], att: bool) -> tuple[Operand, ...]:
    return (
        tuple(reversed(operands)) if att and not mnemonic.startswith(("enter", "bound")) else tuple(operands)
    )


def _check_implied_address(mnemonic: str, operands: Sequence[Operand]) -> None:
    """Refuse explicit addresses that differ from the implied one, which the bytes cannot express."""
    if any(isinstance(operand, Register) and operand.name in registers.VECTORS for operand in operands):
        return  # MOVSD and CMPSD of SSE2
    for operand in operands:
        if not isinstance(operand, MemoryOperand):
            continue
        is_other = operand.segment is not None and not _default_segment(operand)
        if is_other or operand.base not in ("rsi", "rdi", "rbx"):
            raise UnsupportedError(f"'{mnemonic}' with this address is not supported.")


def _default_segment(memory: MemoryOperand) -> bool:
    """Whether the segment is the address's default, so that it needs no prefix."""
    stack = memory.base in ("rsp", "esp", "rbp", "ebp")
    return memory.segment == ("ss" if stack else "ds")


def _question(
    mnemonic: str, operands: list[Operand], prefix: bytes, dialect: Dialect, indirect: bool
) -> EncodingRequest:
    att = dialect.is_att
    if (
        att
        and operands
        and isinstance(operands[0], MemoryOperand)
        and (match := _SCALAR_VECTOR.fullmatch(mnemonic))
    ):
        return _scalar_vector(match[1], operands, prefix)
    if mnemonic == "vextractps" and not att and len(operands) == 3:
        # Keystone's Intel parser chooses the EVEX form here.
        return _question(mnemonic, operands[::-1], prefix, ATT, False)
    if not att and _TO_INTEGER.fullmatch(mnemonic) and isinstance(operands[-1], MemoryOperand):
        return _question(mnemonic, operands[::-1], prefix, ATT, False)
    asked = list(operands)
    if mnemonic in ("mov", "movq") and any(is_segment(operand) for operand in operands):
        # The 64-bit form has a redundant prefix, which GNU as leaves out.
        mnemonic = "mov"
        asked = [narrowed(operand) for operand in operands]
    repair = Repair.NONE
    for number, operand in enumerate(operands):
        if isinstance(operand, MemoryOperand) and operand.is_absolute and mnemonic != "movabs":
            if not -(1 << 31) <= operand.displacement < (1 << 31):
                message = "An address of more than 32 bits needs 'movabs'."
                named = {one.name for one in operands if isinstance(one, Register)}
                is_cut = mnemonic == "lea" and not (dialect.is_gnu and 64 in map(registers.width, named))
                # Only these have a form with a 64-bit address, or one that truncates it.
                if is_cut or (mnemonic.startswith("mov") and named & {*ACCUMULATORS, "al"}):
                    raise UnsupportedError(message)
                raise OperandError(message)
            asked[number] = MemoryOperand(index="rax", scale=2, displacement=MARK, size=operand.size)
            repair = Repair.ABSOLUTE
    if att:
        rendered = [render_att(operand, indirect=indirect) for operand in asked]
        name = _explicit_widths(mnemonic, asked)
    else:
        rendered = [render_intel(operand) for operand in asked]
        name = _INTEL_NAMES.get(mnemonic, mnemonic)
        if mnemonic == "movsx" and _is_dword(operands[-1]):
            name = "movsxd"
        if mnemonic in _NARROWING and isinstance(operands[-1], MemoryOperand):
            name += {"xmmword": "x", "ymmword": "y"}.get(operands[-1].size or "", "")
    statement = f"{name} {','.join(rendered)}".strip()
    if len(statement) > _MAXIMUM_REQUEST:
        raise OperandError("The instruction is too long.")
    ordered = _intel_order(mnemonic, operands, att)
    return EncodingRequest((dialect.name, statement), mnemonic, ordered, prefix, repair)


def _is_dword(operand: Operand) -> bool:
    if isinstance(operand, MemoryOperand):
        return operand.size == "dword"
    return isinstance(operand, Register) and registers.width(operand.name) == 32


def _scalar_vector(mnemonic: str, operands: Sequence[Operand], prefix: bytes) -> EncodingRequest:
    """Request in Intel syntax. Keystone's AT&T parser chooses the EVEX forms of these, with wrong
    displacements; its Intel parser is right."""
    memory = operands[0]
    assert isinstance(memory, MemoryOperand)
    is_single = mnemonic == "vcvtss2sd" or (mnemonic.endswith("ss") and mnemonic != "vcvtsd2ss")
    size = "dword" if is_single else "qword"
    ordered: list[Operand] = [*reversed(operands[1:]), replace(memory, size=size)]
    return _question(mnemonic, ordered, prefix, INTEL, False)


def _explicit_widths(mnemonic: str, operands: Sequence[Operand]) -> str:
    """``movzx %al,%eax`` -> ``movzbl``: in AT&T syntax Keystone only knows the mnemonic with both widths."""
    if mnemonic == "mov" and len(operands) == 2 and isinstance(operands[0], Immediate):
        # Without the suffix Keystone always chooses the form with a 64-bit immediate.
        target = operands[1]
        return "movq" if isinstance(target, Register) and registers.width(target.name) == 64 else mnemonic
    if _TO_INTEGER.fullmatch(mnemonic) and len(operands) == 2 and isinstance(operands[1], Register):
        # Without the suffix Keystone chooses the EVEX form.
        return mnemonic + _WIDTH_SUFFIX.get(registers.width(operands[1].name), "")
    if mnemonic not in ("movzx", "movsx", "movzb", "movsb", "movzw", "movsw") or len(operands) != 2:
        return mnemonic
    source, target = operands
    if not isinstance(target, Register):
        return mnemonic
    to = _WIDTH_SUFFIX.get(registers.width(target.name), "")
    if mnemonic[4] == "x":
        width = registers.width(source.name) if isinstance(source, Register) else 8
        if width == 32 and mnemonic == "movsx":
            return "movslq"
        return mnemonic[:4] + _WIDTH_SUFFIX.get(width, "") + to
    return mnemonic + to


def _nop(mnemonic: str, operand: Operand, prefix: bytes) -> EncodingRequest:
    """Request an instruction with the same address or register; its opcode is replaced afterwards."""
    suffix = _NOPS[mnemonic]
    if isinstance(operand, Register):
        suffix = _WIDTH_SUFFIX.get(registers.width(operand.name), "")
        statement = f"not{suffix} {render_att(operand, indirect=False)}"
        return EncodingRequest(("att", statement), "nop", (operand,), prefix, Repair.NOP_REGISTER)
    if not isinstance(operand, MemoryOperand) or operand.is_absolute:
        raise UnsupportedError("This form of NOP is not supported.")
    suffix = suffix or _SIZE_SUFFIX.get(operand.size or "", "l")
    target = {"w": "%ax", "l": "%eax", "q": "%rax"}[suffix]
    statement = f"lea{suffix} {render_att(operand, indirect=False)},{target}"
    return EncodingRequest(("att", statement), "nop", (operand,), prefix, Repair.NOP_MEMORY)
