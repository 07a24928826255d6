"""Parses one instruction statement into its bytes, or into a jump whose bytes the layout decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.encoding.choice import EncodingRequest
from cyclelens.analyzer.frontend.encoding.encoded import Encoded, encoded
from cyclelens.analyzer.frontend.encoding.nasm_choices import as_nasm_chooses, shortest
from cyclelens.analyzer.frontend.encoding.string_instructions import OPCODES, STRING, string_instruction
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.lexer import SYMBOL, has_odd_blank
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.expressions import without_characters
from cyclelens.analyzer.frontend.statements.jumps import COUNTING_ECX, INDIRECT, JUMPS, Jump, JumpForms
from cyclelens.analyzer.frontend.statements.operand_types import (
    BranchTarget,
    MemoryOperand,
    Operand,
    OperandError,
    Register,
    Scope,
    UnsupportedError,
)
from cyclelens.analyzer.frontend.statements.operands import parse_att, parse_intel, split_operands
from cyclelens.analyzer.frontend.statements.prefixes import (
    PREFIXES,
    SEGMENT_BYTES,
    before_jump,
    check,
    check_target,
    prefixed,
    renamed,
)
from cyclelens.analyzer.frontend.statements.refusals import refuse_apx
from cyclelens.analyzer.frontend.statements.set_apart import SET_APART, SetApart
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


def prepare(text: str, dialect: Dialect, scope: Scope) -> Encoded | Jump:
    """Parse one instruction statement. Raises OperandError and UnsupportedError."""
    plain = _PLAIN_JUMP.fullmatch(text)
    if plain and plain[1] in _PLAIN_JUMPS and not scope.names_registers:
        mnemonic, name = plain.groups()
        if name.lower() not in registers.REGISTERS:
            return Jump(mnemonic, JUMPS[mnemonic], BranchTarget(name))
    if has_odd_blank(text):
        raise OperandError("This contains a character that only looks like a space (such as U+00A0).")
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
    branch = mnemonic in JUMPS or (dialect.is_att and mnemonic in INDIRECT)
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
    if mnemonic in JUMPS and len(operands) == 1 and isinstance(operands[0], BranchTarget):
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
        operands = [] if mnemonic.startswith("xlat") else operands
    for operand in operands:
        if (
            isinstance(operand, MemoryOperand)
            and operand.segment is not None
            and not _default_segment(operand)
        ):
            prefix += bytes([SEGMENT_BYTES[operand.segment]])
    ordered = _intel_order(mnemonic, operands, dialect.is_att)
    check_target(named, mnemonic, ordered)
    has_suffixes = dialect.is_gnu and not dialect.is_att
    request = EncodingRequest(mnemonic, ordered, dialect.is_att, has_suffixes, _wished(wishes, suffix))
    return encoded(request, prefix, before, is_nasm=dialect.is_nasm)


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
        replace(operand, text=apart.written(operand.text)) if isinstance(operand, BranchTarget) else operand
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
