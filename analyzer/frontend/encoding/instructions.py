"""Parses one instruction statement into its bytes, with the prefixes that the text has before it, or into a
jump whose bytes the layout decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.encoding.choice import EncodingRequest, choose
from cyclelens.analyzer.frontend.encoding.implied import STRING, string_instruction, without_implied
from cyclelens.analyzer.frontend.encoding.nasm_choices import (
    as_nasm_chooses,
    check_for_nasm,
    is_wide_address,
    loading,
    shortest,
)
from cyclelens.analyzer.frontend.encoding.wrong_operands import has_new_destination, reason
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.lexer import SYMBOL, has_odd_blank
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.expressions import without_characters
from cyclelens.analyzer.frontend.statements.jumps import COUNTING_ECX, INDIRECT, JUMPS, Jump, JumpForms
from cyclelens.analyzer.frontend.statements.operand_types import (
    BranchTarget,
    Immediate,
    MemoryOperand,
    Operand,
    OperandError,
    Register,
    Rounding,
    Scope,
    UnsupportedError,
)
from cyclelens.analyzer.frontend.statements.operands import parse_att, parse_intel, split_operands
from cyclelens.analyzer.frontend.statements.prefixes import (
    PREFIXES,
    SEGMENT_BYTES,
    before_jump,
    changing,
    check,
    check_target,
    prefixed,
    renamed,
)
from cyclelens.analyzer.frontend.statements.refusals import APX, refuse_apx, refused
from cyclelens.analyzer.frontend.statements.set_apart import SET_APART, SetApart
from cyclelens.analyzer.isa import decoder
from msgspec import Struct
from msgspec.structs import replace

NARROW = {1: 0x55, 2: 0x4321}
"""Placeholders for unknown values in fields of 1 or 2 bytes."""


class Encoded(Struct, frozen=True):
    """Bytes that need no layout, and the backend that made them."""

    code: bytes
    backend: str = "cyclelens"
    shortened: int | None = None
    """The encoded immediate if the written one is too long for its operand."""


def encoded(request: EncodingRequest, prefix: bytes, before: bytes, *, is_nasm: bool) -> Encoded:
    """The bytes of an instruction after its ``prefix`` bytes and the instruction ``before`` it, such as
    FWAIT. Raises OperandError for a prefix that GNU as does not accept there, or that would make it a
    different instruction, and UnsupportedError where GNU as accepts no encoding."""
    chosen = choose(request)
    if chosen is None:
        chosen = next(filter(None, map(choose, _narrower(request))), None)
    if chosen is None:
        raise _refusal(request)
    code = prefixed(prefix, chosen.code, is_nasm=is_nasm)
    if changing(prefix) and not _is_same(chosen.code, code):
        raise OperandError(f"The prefix would make '{request.mnemonic}' a different instruction.")
    return Encoded(before + (loading(code) if is_nasm else code), "iced-x86", chosen.shortened)


def _refusal(request: EncodingRequest) -> OperandError | UnsupportedError:
    """Why an instruction has no encoding."""
    for operand in request.operands:
        if isinstance(operand, MemoryOperand) and operand.is_far:
            return OperandError("An address of more than 32 bits needs 'movabs'.")
    small = [replace(each, value=1) if isinstance(each, Immediate) else each for each in request.operands]
    if small != request.operands and choose(replace(request, operands=small)) is not None:
        return OperandError(f"The number does not fit '{request.mnemonic}' with these operands.")
    if has_new_destination(request):
        return UnsupportedError(APX)
    said = refused(request.mnemonic, request.operands, "The built-in assembler", reason(request))
    return UnsupportedError(said)


def _narrower(request: EncodingRequest) -> list[EncodingRequest]:
    """The instruction with smaller placeholders for an address that is an immediate, if it has one."""
    if not any(isinstance(operand, Immediate) and operand.is_address for operand in request.operands):
        return []
    return [
        replace(
            request,
            operands=[
                replace(operand, value=number)
                if isinstance(operand, Immediate) and operand.is_address
                else operand
                for operand in request.operands
            ],
        )
        for _, number in sorted(NARROW.items(), reverse=True)
    ]


def _is_same(code: bytes, prefixed_code: bytes) -> bool:
    """Whether processors read the same operands with the prefixes as without them."""
    read = [decoder.decode(each) for each in (code, prefixed_code)]
    if len(read[1]) != 1:
        return False
    (one,), (other,) = read
    return (one.mnemonic, one.operands, one.immediate) == (other.mnemonic, other.operands, other.immediate)


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
_REX = b"\x40"
_HIGH = frozenset(["ah", "bh", "ch", "dh"])
"""Registers that an instruction with a REX prefix cannot have."""
_SUFFIX_OF_SIZE = {"byte": "b", "word": "w", "dword": "d", "qword": "q"}
_MNEMONIC = re.compile(r"[a-z][a-z0-9_]{0,19}")
_WORD = re.compile(r"\s*((?:(?i:xcrypt|xstore)-)?[A-Za-z][\w.]*)")
"""A mnemonic or a prefix; GNU as has a hyphen in some of VIA's mnemonics."""
_PLAIN_JUMP = re.compile(r"([a-z]+)[ \t]+(?![rR]\d)([A-Za-z_.][\w.]*)", re.ASCII)
_PLAIN_JUMPS = JUMPS.keys() - COUNTING_ECX
"""Most jumps are one of these and a name that can be nothing else; nothing more is looked for then."""
_HINT = r",p([tn])(?=\s)"
_NAME = rf"{SET_APART}|(?<![%\w.$@]){SYMBOL}"
_INVALID = re.compile(r"[=?`\\]")
_WISH = re.compile(
    r"\s*\{\s*(vex|vex2|vex3|evex|disp8|disp16|disp32|load|store|rex|nooptimize)\s*\}\s*", re.IGNORECASE
)
"""Pseudo-prefixes that choose an encoding; GNU as optimises nothing without -O, whatever they say."""
_OF_VEX = frozenset(["vex", "vex2", "vex3", "evex"])
_SUFFIX = re.compile(r"(?<=[a-z0-9])\.(s|d8|d32)$")
_SUFFIXES = {"s": "swap", "d8": "disp8", "d32": "disp32"}
"""GNU as's older suffixes that choose an encoding: the alternative one, or a displacement size."""


ODD_BLANK_SEEN = "This contains a character that only looks like a space (such as U+00A0)."


def prepare(text: str, dialect: Dialect, scope: Scope) -> Encoded | Jump:
    """Parse one instruction statement. Raises OperandError and UnsupportedError."""
    plain = _PLAIN_JUMP.fullmatch(text)
    if plain and plain[1] in _PLAIN_JUMPS and not scope.names_registers:
        mnemonic, name = plain.groups()
        if name.lower() not in registers.REGISTERS:
            return Jump(mnemonic, JUMPS[mnemonic], BranchTarget(name))
    if has_odd_blank(text):
        raise OperandError(ODD_BLANK_SEEN)
    refuse_apx(text, dialect.is_att, scope)
    prefix = b""
    wishes: set[str] = set()
    named: list[str] = []
    """Names of the prefixes."""
    while True:
        while match := _WISH.match(text):
            wishes.add(match[1].lower())
            text = text[match.end() :]
        if text.startswith("{"):
            raise OperandError(f"'{text[:30]}' is not a statement.")
        match = _WORD.match(text)
        if match is None:
            raise OperandError(f"'{text.strip()[:40]}' is not a statement.")
        mnemonic = match[1].lower().replace("-", "") if dialect.is_gnu else match[1].lower()
        rest = text[match.end() :]
        if mnemonic not in PREFIXES or (rest.strip() and not _WORD.match(rest) and not _WISH.match(rest)):
            break
        prefix += bytes([PREFIXES[mnemonic]])
        named.append(mnemonic)
        if not rest.strip():
            if dialect.is_gnu and mnemonic in ("es", "ss"):
                raise OperandError(f"GNU as does not accept '{mnemonic}' in 64-bit code.")
            return Encoded(prefix)
        text = rest
    if dialect.is_att and mnemonic in JUMPS and (match := re.match(_HINT, rest)):
        # GNU as encodes branch hints as segment prefixes.
        named.append("ds" if match[1] == "t" else "cs")
        prefix += bytes([PREFIXES[named[-1]]])
        rest = rest[match.end() :]
    if rest[:1] not in ("", " ", "\t", "(", "[", "$", "*", "-"):
        raise OperandError(f"'{text.strip()[:40]}' is not a statement.")
    if dialect.is_gnu and (match := _SUFFIX.search(mnemonic)) and mnemonic[: match.start()] not in PREFIXES:
        mnemonic = mnemonic[: match.start()]
        wishes.add(_SUFFIXES[match[1]])
    if not _MNEMONIC.fullmatch(mnemonic):
        raise OperandError(f"'{mnemonic[:40]}' is not an instruction.")
    if named and dialect.is_gnu:
        check(named, mnemonic)
        prefix, mnemonic = renamed(prefix, mnemonic)
    rest = without_characters(rest)
    branch = mnemonic in JUMPS or (dialect.is_att and mnemonic in INDIRECT)
    operands = _operands(rest, dialect, scope, is_branch=branch)
    if dialect.is_intel_gnu:
        mnemonic, operands = _with_size(mnemonic, operands)
    operands, narrow = without_implied(mnemonic, operands)
    prefix += narrow
    if "rex" in wishes and not any(each.name in _HIGH for each in operands if isinstance(each, Register)):
        prefix += _REX
    if mnemonic in _FIXED and not operands:
        return Encoded(prefixed(prefix, _FIXED[mnemonic], is_nasm=dialect.is_nasm))
    before = _WAIT if mnemonic in WAITING else b""
    mnemonic = WAITING.get(mnemonic, mnemonic)
    if mnemonic == "callw" and any(isinstance(each, BranchTarget) for each in operands):
        raise UnsupportedError("GNU as writes a 16-bit distance for 'callw', but processors read 32 bits.")
    if mnemonic in COUNTING_ECX and not dialect.is_att:
        raise OperandError(f"'{mnemonic}' is AT&T syntax: write addr32 {mnemonic[:-1]}.")
    if scope.looks_ahead:
        # NASM first assumes a long number, and nearby jumps may keep the size that they have then.
        raise UnsupportedError("Only NASM can encode a constant that is set further down.")
    if dialect.is_nasm:
        check_for_nasm(mnemonic, named, operands, is_narrow=bool(narrow))
        operands = as_nasm_chooses(mnemonic, operands)
        if mnemonic == "mov" and is_wide_address(operands):
            mnemonic = "movabs"
    if mnemonic in JUMPS and len(operands) == 1 and isinstance(operands[0], BranchTarget):
        if dialect.is_gnu and "notrack" in named:
            raise OperandError(f"GNU as does not accept 'notrack' before a direct '{mnemonic}'.")
        if not wishes.isdisjoint(_OF_VEX):
            raise OperandError(f"'{mnemonic}' has no encoding with VEX or EVEX.")
        target = replace(operands[0], near=operands[0].near or "disp32" in wishes)
        return Jump(mnemonic, _with_prefixes(mnemonic, prefix, dialect), target)
    if (found := string_instruction(mnemonic, operands, is_att=dialect.is_att)) is not None:
        segment, code = found
        return Encoded(prefixed(prefix + segment, code, is_nasm=dialect.is_nasm))
    if dialect.is_gnu and (code := shortest(mnemonic, operands)):
        return Encoded(prefixed(prefix, code))
    if STRING.fullmatch(mnemonic):
        _check_implied_address(mnemonic, operands)
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
    request = EncodingRequest(mnemonic, ordered, dialect.is_att, has_suffixes, frozenset(wishes))
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
            else parse_intel(part, scope, dialect, branch=is_branch)
            for part in parts
        ]
        if dialect.is_intel_gnu:
            operands = _rounding_apart(operands)
    except (OperandError, UnsupportedError) as error:
        raise type(error)(apart.written(str(error))) from None
    return [
        replace(operand, text=apart.written(operand.text)) if isinstance(operand, BranchTarget) else operand
        for operand in operands
    ]


def _rounding_apart(operands: Sequence[Operand]) -> list[Operand]:
    """The operands with the rounding that Intel syntax has behind the last source as one of its own."""
    count = len(operands) - sum(isinstance(operand, Immediate) for operand in operands)
    source = operands[count - 1] if count else None
    if not isinstance(source, Register) or not "".join(source.decorations[-1:]).endswith("sae"):
        return list(operands)
    plain = replace(source, decorations=source.decorations[:-1])
    return [*operands[: count - 1], plain, Rounding(source.decorations[-1]), *operands[count:]]


def _with_size(mnemonic: str, operands: Sequence[Operand]) -> tuple[str, list[Operand]]:
    """The mnemonic with the suffix for a size before a number, as GNU as reads ``push word ptr 1``."""
    sizes = {operand.size for operand in operands if isinstance(operand, Immediate)} - {""}
    plain = [replace(each, size="") if isinstance(each, Immediate) else each for each in operands]
    if len(sizes) != 1 or (mnemonic == "push" and sizes != {"word"}):
        return mnemonic, plain
    return mnemonic + _SUFFIX_OF_SIZE.get(sizes.pop(), ""), plain


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
        None if short is None else prefixed(prefix, short, is_nasm=is_nasm, is_jump=True),
        None if near is None else prefixed(prefix, near, is_nasm=is_nasm, is_jump=True),
    )


def _with_registers(text: str, scope: Scope) -> str:
    """Replace names that were assigned to registers in an operand."""

    def named(match: re.Match[str]) -> str:
        register = scope.register(match[0])
        return f"%{register}" if register is not None else match[0]

    return re.sub(_NAME, named, text)


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
    if mnemonic.startswith("movs") and any(isinstance(operand, Register) for operand in operands):
        return  # AT&T's extending moves
    if any(isinstance(operand, MemoryOperand) for operand in operands):
        raise UnsupportedError(f"'{mnemonic}' with this address is not supported.")


def _default_segment(memory: MemoryOperand) -> bool:
    """Whether the segment is the address's default, so that it needs no prefix."""
    stack = memory.base in ("rsp", "esp", "rbp", "ebp")
    return memory.segment == ("ss" if stack else "ds")
