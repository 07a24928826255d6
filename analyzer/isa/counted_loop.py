"""Turns a block into a counted loop: one or more copies followed by ``dec REG; jnz``."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.register_use import GENERAL_PURPOSE, used_bits
from cyclelens.analyzer.model.instruction import Instruction

_COUNTERS = [GENERAL_PURPOSE.index(name) for name in ("RBP", "RDI", "RSI", "RDX", "RCX", "RBX", "RAX")]
_COUNTERS[:0] = range(15, 7, -1)
_JNZ_SHORT, _JNZ_NEAR = b"\x75", b"\x0f\x85"
_INSTRUCTIONS = 256
_MOST_COPIES = 250
_MOST_BYTES = 4096
_MOST_KEPT = 16_384
_EIGHT_TO_FIFTEEN = 0xFF00
"""R8 to R15, which are tried first."""
_HIGH: dict[str | None, int] = {
    f"R{number}{width}": 1 << number for number in range(8, 16) for width in ("", "D", "W", "B")
}
"""Bits of R8 to R15 by operand name."""
_NAME_ONLY = frozenset({"nop", "ud0", "ud1"})
"""Instructions whose register operands are not used."""
_USED = 1 << len(GENERAL_PURPOSE)
"""Set in every remembered set of registers, because a cached value may not be 0."""


class _Counted:
    """Caches for making loops of blocks."""

    def __init__(self, caches: Caches) -> None:
        self.used: Recent[bytes, int] = caches.recent(_MOST_KEPT)
        """``used_bits`` of an instruction, by its code."""
        self.ends: Recent[tuple[int, int], tuple[Instruction, ...]] = caches.recent(_MOST_KEPT)
        """Loop ends by counter register and length; there are few different ones."""


def counted_loop(code: bytes, copies: int = 1) -> bytes | None:
    """``copies`` of the block followed by ``dec REG; jnz`` to the first, as BHive and uiCA make loops.

    REG is the first of R15, R14 .. RAX (without RSP) that no instruction uses in any width, explicitly or
    implicitly. None if all are used. The jump is short if it reaches.
    """
    end = loop_end(decode(code), copies)
    return None if end is None else code * copies + end


def loop_end(
    instructions: Sequence[Instruction], copies: int = 1, caches: Caches | None = None
) -> bytes | None:
    """Bytes that ``counted_loop`` appends to that many copies of these instructions; None if no register is
    free."""
    end = decoded_end(instructions, copies, Caches() if caches is None else caches)
    return None if end is None else b"".join([each.code for each in end])


def decoded_end(
    instructions: Sequence[Instruction], copies: int, caches: Caches
) -> tuple[Instruction, ...] | None:
    """Like ``loop_end``, but decoded."""
    counted = caches.of(_Counted)
    used = size = 0
    for instruction in instructions:
        used |= instruction.high_bits or _high_bits(instruction)
        size += len(instruction.code)
    if used & _EIGHT_TO_FIFTEEN == _EIGHT_TO_FIFTEEN:
        known = counted.used
        for instruction in instructions:
            code = instruction.code
            bits = known.get(code)
            if bits is None:
                bits = known[code] = used_bits(code) | _USED
            used |= bits
    for number in _COUNTERS:
        if not used >> number & 1:
            break
    else:
        return None
    key = (number, copies * size)
    end = counted.ends.get(key)
    if end is None:
        end = counted.ends[key] = decode(_end(*key), caches)
    return end


def _end(number: int, size: int) -> bytes:
    """``dec REG; jnz`` after ``size`` bytes; ``number`` is the counter's register number."""
    decrement = bytes([0x49 if number >= 8 else 0x48, 0xFF, 0xC8 | number & 7])
    length = size + len(decrement)
    displacement = -(length + 2)
    if displacement >= -128:
        return decrement + _JNZ_SHORT + displacement.to_bytes(1, "little", signed=True)
    displacement = -(length + 6)
    return decrement + _JNZ_NEAR + displacement.to_bytes(4, "little", signed=True)


def _high_bits(instruction: Instruction) -> int:
    """Bits of the used registers, at least of R8 to R15: these are always explicit operands, except of
    instructions without operands such as SYSCALL."""
    bits = _USED
    if instruction.registers and instruction.encoding.mnemonic not in _NAME_ONLY:
        for name in instruction.registers:
            bits |= _HIGH.get(name, 0)
    else:
        bits |= used_bits(instruction.code)
    instruction.high_bits = bits
    return bits


def back(branch: bytes, before: int) -> bytes:
    """Re-encode ``branch`` so that it jumps ``before`` bytes back from its own start, in the shortest form
    that reaches, as assemblers do. Branches with only one form (LOOP, JRCXZ) are returned unchanged."""
    if len(branch) == 2 and (branch[0] == 0xEB or branch[0] >> 4 == 7):
        short = branch[:1]
    elif len(branch) == 5 and branch[0] == 0xE9:
        short = b"\xeb"
    elif len(branch) == 6 and branch[0] == 0x0F and branch[1] >> 4 == 8:
        short = bytes([branch[1] - 0x10])
    else:
        return branch
    if before + 2 <= 128:
        return short + (-before - 2).to_bytes(1, "little", signed=True)
    near = b"\xe9" if short == b"\xeb" else bytes([0x0F, short[0] + 0x10])
    return near + (-before - len(near) - 4).to_bytes(4, "little", signed=True)


def usual_copies(instructions: Sequence[Instruction]) -> int:
    """Number of copies that hides the loop's overhead but still fits the uop cache: about 256 instructions,
    and at most 250 copies or 4,096 bytes."""
    size = sum([len(instruction.code) for instruction in instructions])
    return max(1, min(_INSTRUCTIONS // len(instructions), _MOST_COPIES, _MOST_BYTES // size))
