"""Prefixes that are written as words before an instruction: their bytes, and where GNU as accepts and places
them.

GNU as's rules are those of binutils 2.40 (``i386-opc.tbl``, and ``add_prefix``, ``check_hle``,
``output_branch`` and ``output_jump`` of ``tc-i386.c``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress, product

from cyclelens.analyzer.frontend.statements.operand_types import (
    MemoryOperand,
    Operand,
    OperandError,
    UnsupportedError,
)

PREFIXES = {
    "lock": 0xF0,
    "repne": 0xF2,
    "repnz": 0xF2,
    "bnd": 0xF2,
    "xacquire": 0xF2,
    "rep": 0xF3,
    "repe": 0xF3,
    "repz": 0xF3,
    "xrelease": 0xF3,
    "cs": 0x2E,
    "ss": 0x36,
    "ds": 0x3E,
    "notrack": 0x3E,
    "es": 0x26,
    "fs": 0x64,
    "gs": 0x65,
    "data16": 0x66,
    "addr32": 0x67,
}
SEGMENT_BYTES = {name: PREFIXES[name] for name in ("cs", "ds", "es", "fs", "gs", "ss")}
_REX, _W = 0x40, 8
for _bits in product((0, 1), repeat=4):
    # "rex.wb" is the same as "rex64z".
    for _start, _letters in (("rex.", "wrxb"), ("rex", ("64", "x", "y", "z"))):
        _name = (_start + "".join(compress(_letters, _bits))).rstrip(".")
        PREFIXES[_name] = _REX + int("".join(map(str, _bits)), 2)

_REPEATED = re.compile(
    r"(?:cmps|ins|lods|movs|outs|scas|stos|scmp|slod|smov|ssca|ssto)[bwlqd]?|nop|retq?|bs[fr][wlq]?"
    r"|montmul|x(?:crypt|sha|store).*"
)
_LOCKED = re.compile(
    r"(?:adc|add|and|bt[crs]|cmpxchg|dec|inc|neg|not|or|sbb|sub|xadd|xchg|xor)[bwlq]?|cmpxchg(?:8bq?|16b)"
)
_TAKING = {
    name: taking
    for names, taking in (
        ("rep repe repz repne repnz", _REPEATED),
        ("bnd", re.compile(r"(?:call|jmp|ret)q?|j[a-z]{1,3}")),
        ("notrack", re.compile(r"(?:call|jmp)q?")),
        ("lock xacquire", _LOCKED),
        ("xrelease", re.compile(rf"{_LOCKED.pattern}|mov[bwlq]?")),
        ("es ss", re.compile(r"(?!)")),  # nothing in 64-bit code
    )
    for name in names.split()
}
"""Instructions before which GNU as accepts a prefix."""
_WITHOUT_LOCK = r"(?:xchg|mov)[bwlq]?"
"""Instructions that may have XACQUIRE and XRELEASE without LOCK."""
_LOCKING = frozenset(["lock", "xacquire", "xrelease"])
_KINDS = (b"\x26\x2e\x36\x3e\x64\x65", b"\x67", b"\x66", b"\xf2\xf3", b"\xf0")
"""Groups of prefixes of which one may be used, in GNU as's order."""
_KINDS_OF_JUMPS = (*_KINDS[1:3], _KINDS[0], *_KINDS[3:])
_VIA = (b"\xf3\x0f\xa6", b"\xf3\x0f\xa7")
"""Instructions of VIA's processors that always repeat: GNU as ignores REP, and NASM puts a written prefix in
the place of theirs."""
_COUNTING = r"bs([fr])([wlq]?)"
_WIDE = frozenset(["fxsave", "fxrstor", "xsave", "xsavec", "xsaveopt", "xsaves", "xrstor", "xrstors"])
"""Instructions with a separate name for their REX.W form."""


def check(named: Sequence[str], mnemonic: str) -> None:
    """Raise OperandError for prefixes that GNU as does not accept before an instruction."""
    for name in named:
        if name in _TAKING and not _TAKING[name].fullmatch(mnemonic):
            raise OperandError(f"GNU as does not accept '{name}' before '{mnemonic}'.")
        if name.startswith("x") and "lock" not in named and not re.fullmatch(_WITHOUT_LOCK, mnemonic):
            raise OperandError(f"GNU as accepts '{name}' before '{mnemonic}' only with 'lock'.")
    _check_kinds(bytes(PREFIXES[name] for name in named))


def check_target(named: Sequence[str], mnemonic: str, operands: Sequence[Operand]) -> None:
    """Raise OperandError for a lock on an instruction that writes no memory. ``operands`` are in Intel's
    order."""
    targets = operands if mnemonic.startswith("xchg") else operands[:1]
    if _LOCKING.intersection(named) and not any(isinstance(each, MemoryOperand) for each in targets):
        raise OperandError(f"GNU as accepts '{named[0]}' only before an instruction that writes memory.")


def renamed(prefix: bytes, mnemonic: str) -> tuple[bytes, str]:
    """The instruction that a prefix turns another one into, and the remaining prefixes."""
    if b"\xf3" in prefix and (match := re.fullmatch(_COUNTING, mnemonic)):
        return prefix.replace(b"\xf3", b""), {"f": "tzcnt", "r": "lzcnt"}[match[1]] + match[2]
    if mnemonic in _WIDE and bytes([_REX | _W]) in prefix:
        return prefix.replace(bytes([_REX | _W]), b""), f"{mnemonic}64"
    return prefix, mnemonic


def before_jump(prefix: bytes, mnemonic: str, *, has_short: bool, has_near: bool) -> tuple[bytes, bool]:
    """Prefixes that GNU as keeps before a direct jump, and whether processors read only its short form as
    intended. Raises UnsupportedError."""
    ignored = b"\x64\x65"
    is_narrow = False
    if not has_near:
        ignored += b"\x66"
    else:
        ignored += b"\x67"
        is_narrow = b"\x66" in prefix and not any(_is_rex(byte) and byte & _W for byte in prefix)
    if not has_short:
        ignored += b"\x2e\x3e"
        if is_narrow:
            raise UnsupportedError(
                f"GNU as writes a 16-bit distance for 'data16 {mnemonic}', but processors read 32 bits."
            )
    return bytes(byte for byte in prefix if byte not in ignored), is_narrow


def prefixed(prefix: bytes, code: bytes, *, is_nasm: bool = False, is_jump: bool = False) -> bytes:
    """An instruction with prefixes in GNU as's order: segment (of a direct jump behind the sizes), address
    size, operand size, repeat, lock, REX. NASM puts repeat and lock first. Raises OperandError."""
    if not prefix:
        return code
    if is_nasm:
        first = bytes(byte for byte in prefix if byte in b"\xf0\xf2\xf3")
        if code.startswith(_VIA) and first.strip(b"\xf0"):
            code = code[1:]
        return first + bytes(byte for byte in prefix if byte not in first) + code
    legacy = bytes(byte for byte in prefix if not _is_rex(byte))
    rest = code.lstrip(b"\x66\x67")
    sizes = code[: len(code) - len(rest)]
    if b"\x67" in sizes:
        legacy = legacy.replace(b"\x67", b"")  # what a 32-bit address says anyway
    legacy += sizes
    if rest.startswith(_VIA):
        legacy = legacy.replace(b"\xf3", b"")
        _check_kinds(legacy + rest[:1])
    _check_kinds(legacy)
    kinds = _KINDS_OF_JUMPS if is_jump else _KINDS
    legacy = bytes(sorted(legacy, key=lambda byte: next(at for at, kind in enumerate(kinds) if byte in kind)))
    rex = bytes(byte for byte in prefix if _is_rex(byte))
    if rex:
        at = len(rest) - len(rest.lstrip(b"\xf2\xf3\xf0"))
        opcode = rest[at:]
        if _is_rex(opcode[0]):
            rex, opcode = rex + opcode[:1], opcode[1:]
        _check_kinds(rex)
        whole = 0
        for byte in rex:
            whole |= byte
        rest = rest[:at] + bytes([whole]) + opcode
    return legacy + rest


def changing(prefix: bytes) -> bool:
    """Whether prefixes may change an instruction's operands: operand size, address size and REX."""
    return any(byte in b"\x66\x67" or _is_rex(byte) for byte in prefix)


def _check_kinds(prefix: bytes) -> None:
    """Raise OperandError for two prefixes of the same group; two REX prefixes only conflict if they set the
    same bit."""
    bits = 0
    twice = any(sum(byte in kind for byte in prefix) > 1 for kind in _KINDS)
    for byte in filter(_is_rex, prefix):
        twice = twice or bool(bits & byte & 0xF)
        bits |= byte
    if twice:
        raise OperandError("GNU as does not accept two prefixes of the same kind.")


def _is_rex(byte: int) -> bool:
    return byte & 0xF0 == _REX
