"""Checks an assembler's bytes: decodes them with iced-x86 and compares the result with the parsed
operands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.jumps import CONDITION_SYNONYMS
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    MemoryOperand,
    Operand,
    Register,
    Rounding,
)
from cyclelens.analyzer.isa import decoder
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind
from msgspec import Struct

_CONDITIONAL = re.compile(r"(cmov|set)([a-z]{1,3})")
_SYNONYMS = {
    "cbtw": "cbw",
    "cwtl": "cwde",
    "cltq": "cdqe",
    "cwtd": "cwd",
    "cltd": "cdq",
    "cqto": "cqo",
    "movabs": "mov",
    "sal": "shl",
    "xlatb": "xlat",
    "wait": "fwait",
    "iret": "iretd",
    "movslq": "movsxd",
    "pushf": "pushfq",
    "popf": "popfq",
    "lret": "retf",
    "retfq": "retf",
    "icebp": "int1",
    "ud2a": "ud2",
}
_DECODED_NAMES = {"ret far": "retf"}
_IMPLIED_XMM0 = frozenset(["blendvpd", "blendvps", "pblendvb", "sha256rnds2"])
"""Instructions whose last operand is always xmm0, which the decoder leaves out."""
_EXTENDING = re.compile(r"mov([sz])([bwl])([wlq]?)")
_PREDICATE = re.compile(r"(v?cmp(?=[a-z_]+[ps][sdh]\Z)|v?pcom)([a-z]+?(?:_[a-z]+?)?)((?:p|s)[sdh]|u?[bwdq])")
_INTEGER_PREDICATE = re.compile(r"vpcmp(?:eq|lt|le|neq|nlt|nle)(u?[bwdq])")
_CARRYLESS = re.compile(r"(v?pclmul)[lh]q[lh]qdq")
_STRING_SUFFIX = {"b": "b", "w": "w", "l": "d", "q": "q"}
_STRINGS = ("movs", "cmps", "stos", "lods", "scas", "ins", "outs")
_SIGN_EXTENDING = frozenset(
    ["adc", "add", "and", "cmp", "imul", "mov", "or", "push", "sbb", "sub", "test", "xor"]
)
_EVEX = 0x62
_ZERO_EXTENDING = frozenset(
    f"{vex}{name}" for vex in ("", "v") for name in ("movmskpd", "movmskps", "pextrb", "pextrw", "pmovmskb")
)
"""Instructions whose 64-bit destination is encoded as the 32-bit register."""
_COMMUTATIVE = frozenset(["xchg", "test"])


class Written(Struct, frozen=True):
    """An instruction as written in the text."""

    mnemonic: str
    operands: Sequence[Operand]
    """In Intel order."""
    is_att: bool


def mismatch(
    written: Written,
    code: bytes,
    *,
    evex: bool = False,
    cut: bool = False,
    caches: Caches | None = None,
) -> str:
    """Difference between the bytes and the text of one instruction; empty if they agree.

    ``evex``: AVX-512 forms are accepted. Keystone, which cannot scale their displacements, sometimes uses
    them instead of VEX forms. ``cut``: immediates may be truncated to their operand, which GNU as does with a
    warning. ``caches`` keep decoded instructions.
    """
    mnemonic, operands = written.mnemonic, written.operands
    decoded = decoder.decode(code, caches)
    if len(decoded) != 1 or not decoded[0].mnemonic:
        return f"the bytes {code.hex()} are not one instruction"
    instruction = decoded[0]
    if code[0] == _EVEX and not evex:
        return "the bytes are an AVX-512 form"
    if not mnemonic_agrees(mnemonic, instruction.mnemonic, written.is_att):
        return f"the bytes are a '{instruction.mnemonic}'"
    if mnemonic.startswith("f"):
        # x87: implied operands may be written or left out.
        return _memory_mismatch(operands, instruction)
    return (
        _decoration_mismatch(operands, instruction)
        or _memory_mismatch(operands, instruction)
        or _register_mismatch(operands, instruction)
        or _immediate_mismatch(written, instruction, cut=cut)
    )


def shortened(written: Written, code: bytes, caches: Caches | None = None) -> int | None:
    """The encoded immediate if it is less than the written one; ``code`` has passed :func:`mismatch`."""
    instruction = decoder.decode(code, caches)[-1]
    if not _immediate_mismatch(written, instruction):
        return None
    return instruction.immediate


def mnemonic_agrees(written: str, decoded: str, att: bool) -> bool:
    """Whether the decoded Intel mnemonic is the written one, up to synonyms and AT&T suffixes."""
    decoded = _with_condition(_DECODED_NAMES.get(decoded, decoded))
    if _normal(written) == decoded:
        return True
    if written == "movsx":
        return decoded in ("movsx", "movsxd")
    if written == "int":
        return decoded == "int3"
    if match := _PREDICATE.fullmatch(written):
        return decoded == match[1] + match[3]
    if match := _INTEGER_PREDICATE.fullmatch(written):
        return decoded == f"vpcmp{match[1]}"
    if decoded.endswith("64") and written == f"{decoded[:-2]}q":
        return att
    if match := _CARRYLESS.fullmatch(written):
        return decoded == f"{match[1]}qdq"
    if written in ("movd", "movq", "vmovd", "vmovq"):
        return decoded in ("mov", written[:-1] + "d", written[:-1] + "q")
    for stem in _STRINGS:
        if written in (stem, f"{stem}l") and decoded[: len(stem)] == stem:
            return written == stem or decoded == f"{stem}d"
    if written.startswith(("fsub", "fdiv")) and att:
        # AT&T syntax historically swaps the reversed forms.
        written = written.rstrip("slt") if written[4:] not in ("", "r", "p", "rp") else written
        return decoded.replace("r", "").removeprefix("i") in (
            written.replace("r", ""),
            written.replace("r", "").replace("fi", "f"),
        )
    if not att:
        return False
    if match := _EXTENDING.fullmatch(written):
        return decoded in ("movsx", "movsxd") if match[1] == "s" else decoded in ("movzx", "mov")
    suffixes = (
        ("ll", "s", "l", "t", "q") if written.startswith("f") else ("b", "w", "l", "q", "s", "x", "y", "z")
    )
    return any(
        written.endswith(suffix) and _normal(written[: -len(suffix)]) == decoded for suffix in suffixes
    )


def _normal(mnemonic: str) -> str:
    return _with_condition(_SYNONYMS.get(mnemonic, mnemonic))


def _with_condition(mnemonic: str) -> str:
    """Replaces a condition by its canonical synonym."""
    if match := _CONDITIONAL.fullmatch(mnemonic):
        return match[1] + CONDITION_SYNONYMS.get(match[2], match[2])
    return mnemonic


def _decoration_mismatch(operands: Sequence[Operand], instruction: Instruction) -> str:
    """Difference in mask, zeroing, broadcast or rounding; empty if they agree."""
    words = [
        word
        for operand in operands
        if isinstance(operand, Register | MemoryOperand)
        for word in operand.decorations
    ]
    words += [operand.text for operand in operands if isinstance(operand, Rounding)]
    mask = next((word.upper() for word in words if word[0] == "k"), None)
    broadcast = any(word == "bcst" or word.startswith("1to") for word in words)
    rounding = next((word for word in words if word.endswith("sae")), None)
    if rounding == "rn-sae":
        rounding = "rne-sae"  # the decoder's spelling
    agrees = (
        mask == instruction.mask
        and ("z" in words) == instruction.zeroing
        and broadcast == instruction.broadcast
        and (rounding is not None) == instruction.suppress_exceptions
        and (rounding is None or f"{{{rounding}}}" in instruction.text)
    )
    return "" if agrees else f"the bytes say '{instruction.text}'"


def _memory_mismatch(operands: Sequence[Operand], instruction: Instruction) -> str:
    written = [operand for operand in operands if isinstance(operand, MemoryOperand)]
    found = [
        operand for operand in instruction.operands if operand.kind in (OperandKind.MEMORY, OperandKind.AGEN)
    ]
    if len(written) != 1 or not found:
        # String instructions imply their addresses; no other instruction has two.
        return (
            "" if not written or not instruction.operands or len(written) == 2 else "no address is accessed"
        )
    if len(found) == 1 and not _same_address(written[0], found[0]):
        return f"the bytes say '{instruction.text}'"
    return ""


def _same_address(written: MemoryOperand, found: DecodedOperand) -> bool:
    def parts(base: str | None, index: str | None, scale: int) -> Counter[tuple[str, int]]:
        counted: Counter[tuple[str, int]] = Counter()
        if base:
            counted[base, 1] += 1
        if index:
            counted[index, scale] += 1
        return counted

    def name(register: str | None) -> str | None:
        return registers.model_name(register) if register else None

    if (written.displacement - found.displacement) % (1 << 32):
        return False
    base, index = name(written.base), name(written.index)
    if (base, index) == (found.base, found.index) and (index is None or written.scale == found.scale):
        return True
    wanted = parts(base, index, written.scale)
    got = parts(found.base, found.index, found.scale)
    if wanted == got:
        return True
    # [rax*2] is encoded as the shorter [rax+rax].
    return not written.base and written.scale == 2 and got == Counter({(index or "", 1): 2})


def _register_mismatch(operands: Sequence[Operand], instruction: Instruction) -> str:
    written = [registers.model_name(operand.name) for operand in operands if isinstance(operand, Register)]
    found = [operand.register for operand in instruction.operands if operand.register is not None]
    if instruction.mnemonic in _IMPLIED_XMM0 and written[-1:] == ["XMM0"] and len(operands) == 3:
        written.pop()
    if instruction.mnemonic in _COMMUTATIVE:
        written, found = sorted(written), sorted(found)
    if instruction.mnemonic == "mov" and any(name in found for name in ("CS", "DS", "ES", "FS", "GS", "SS")):
        # The width of the general-purpose register does not matter.
        return ""
    if instruction.mnemonic in _ZERO_EXTENDING and written and found:
        written[0] = _half(written[0], found[0])
    remaining = iter(found)
    if all(name in remaining for name in written) or not instruction.operands:
        return ""
    return f"the bytes say '{instruction.text}'"


def _half(wide: str, found: str) -> str:
    """The lower half of a 64-bit register if that was found; otherwise the register itself."""
    return found if found in (f"{wide}D", f"E{wide[1:]}") else wide


def _immediate_mismatch(written: Written, instruction: Instruction, *, cut: bool = False) -> str:
    numbers = [operand for operand in written.operands if isinstance(operand, Immediate)]
    if len(numbers) != 1:
        return ""
    number = numbers[0].value
    if instruction.immediate is None:
        return "" if number == 1 or instruction.mnemonic in ("int3", "int1") else "the number is missing"
    value = number - (1 << 64) if number >= 1 << 63 else number
    bits = instruction.immediate_bits
    if instruction.mnemonic in _SIGN_EXTENDING and not _is_byte_operation(written):
        bits = max(bits, 16 << (instruction.effective_operand_size - 1))
    fits = (cut and not numbers[0].is_address) or -(1 << (bits - 1)) <= value < (1 << bits) or bits == 64
    if fits and (value - instruction.immediate) % (1 << bits) == 0:
        return ""
    return f"the number does not fit: the bytes say '{instruction.text}'"


def _is_byte_operation(written: Written) -> bool:
    for operand in written.operands:
        if isinstance(operand, Register) and registers.width(operand.name) == 8:
            return True
        if isinstance(operand, MemoryOperand) and operand.size == "byte":
            return True
    return written.is_att and written.mnemonic.endswith("b") and written.mnemonic not in ("sub", "sbb")
