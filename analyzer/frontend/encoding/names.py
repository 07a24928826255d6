"""Names of instructions in assembly text: synonyms, AT&T's suffixes, and comparisons with their predicate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.jumps import CONDITION_SYNONYMS
from cyclelens.analyzer.frontend.statements.operand_types import MemoryOperand, Operand, Register
from cyclelens.analyzer.isa import encodable
from cyclelens.analyzer.isa.encodable import Form
from msgspec import Struct

_SYNONYMS = {
    "cbtw": "cbw", "cwtl": "cwde", "cltq": "cdqe", "cwtd": "cwd", "cltd": "cdq", "cqto": "cqo", "sal": "shl",
    "fwait": "wait", "iret": "iretd", "pushf": "pushfq", "popf": "popfq", "lret": "retf", "lretq": "retfq",
    "icebp": "int1", "ud2a": "ud2", "xlat": "xlatb", "movabs": "mov", "movabsq": "mov",
    "pushfd": "pushfq", "ud2b": "ud1", "xstorerng": "xstore",
}  # fmt: skip
_CONDITIONAL = re.compile(r"(cmov|set)([a-z]{1,3})")
_WITH_CONDITION = re.compile(r"cmp([a-z]{1,3})xadd")
_ADDING = {"ae": "nb", "e": "z", "ne": "nz", "a": "nbe", "ge": "nl", "g": "nle"}
"""Conditions of CMPccXADD, which Intel names otherwise than those of jumps."""
_EXTENDING = re.compile(r"mov([sz])x?(b[wlq]?|w[lq]?)")
"""Extending moves, with the widths of their source and, perhaps, of their target."""
_FROM_32 = frozenset(["movsl", "movslq", "movsxl"])
_QUAD = re.compile(r"f(ild|istp|isttp)q")
_STRINGS = ("movs", "cmps", "stos", "lods", "scas", "ins", "outs")
_ARITHMETIC = re.compile(r"f(?:add|mul|subr?|divr?)")
_SWAPPED = re.compile(r"f(sub|div)(r?)(p?)")
_EXTRACTED = frozenset(["pextrw", "vpextrw", "pinsrw", "vpinsrw"])
_BITS = {"l": 32, "q": 64}
_IN_INTEL_SYNTAX = {"b": "b", "w": "w", "d": "l", "q": "q"}
"""Suffixes that GNU as takes in Intel syntax, and AT&T's; there it has none for x87's instructions."""
_ANY_REAL = frozenset(["fld", "fst", "fstp", "fcom", "fcomp"])
"""x87 instructions that may have AT&T's suffix of a double even if the operand is a register."""
_NARROW = frozenset(["popfw", "pushfw", "iretw", "retfw", "lretw", "retw"])
_FAR_RETURNS = {"retfq": "lretq", "retfd": "lretl"}
_FAR = re.compile(r"l(call|jmp)([wl]?)")
_STRING_COMPARISON = re.compile(r"(v?pcmpestr[im])([lq])")
_STATE = re.compile(r"(fxsave|fxrstor|xsave|xsavec|xsaves|xsaveopt|xrstor|xrstors)q")
_TO_GENERAL = r"v?cvtt?s[ds]2si|v?pmovmskb|v?movmskp[sd]"
_SSE = ("eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord")
_AVX = (
    "eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", "eq_uq", "nge", "ngt", "false", "neq_oq", "ge",
    "gt", "true", "eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s", "eq_us",
    "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us",
)  # fmt: skip
_AVX_SYNONYMS = {
    "eq_oq": 0, "lt_os": 1, "le_os": 2, "unord_q": 3, "neq_uq": 4, "nlt_us": 5, "nle_us": 6, "ord_q": 7,
    "nge_us": 9, "ngt_us": 10, "false_oq": 11, "ge_os": 13, "gt_os": 14, "true_uq": 15,
}  # fmt: skip
_INTEGER = {"eq": 0, "lt": 1, "le": 2, "neq": 4, "nlt": 5, "nle": 6, "ge": 5, "gt": 6, "nge": 1, "ngt": 2}
_XOP = ("lt", "le", "gt", "ge", "eq", "neq", "false", "true")
_COMPARING = re.compile(r"(v?)cmp([a-z_]+?)([ps][sdh])")
_COMPARING_INTEGERS = re.compile(r"vpcmp(n?[a-z]{2})(u?[bwdq])")
_COMPARING_XOP = re.compile(r"vpcom([a-z]+?)(u?[bwdq])")
_CARRYLESS = re.compile(r"(v?pclmul)([lh])q([lh])qdq")


class Meaning(Struct, frozen=True):
    """What a written mnemonic may mean."""

    name: str
    """Intel's name, as iced-x86 has it."""
    suffix: str = ""
    """AT&T's suffix, which is not part of the name."""
    written: str = ""
    predicate: tuple[int, ...] = ()
    """The immediate that the name includes."""


def meanings(
    written: str, *, is_att: bool, operands: Sequence[Operand], has_suffixes: bool = False
) -> Iterator[Meaning]:
    """The meanings of a mnemonic, which may have none. ``has_suffixes``: Intel syntax as GNU as reads it."""
    name = _canonical(written)
    if not operands and _ARITHMETIC.fullmatch(name):
        name += "p"
    if name.endswith(("estri64", "estrm64")):
        return
    if is_att:
        name = _swapped(name, operands)
    yield Meaning(name, written=written)
    yield from _with_predicate(written)
    if name == "movsx" and _has_width(operands[-1:], 32):
        yield Meaning("movsxd", written=written)
    if name in ("movd", "vmovd") and _has_width(operands, 64):
        yield Meaning(f"{name[:-1]}q", written=written)
    if written in _NARROW:
        yield Meaning(written[:-1], "w", written)
    if match := _STRING_COMPARISON.fullmatch(written):
        yield Meaning(match[1] + ("64" if match[2] == "q" else ""), written=written)
    if match := _STATE.fullmatch(written):
        yield Meaning(f"{match[1]}64", written=written)
    if name == "movq":
        yield from (Meaning("mov", "q", written) for _ in [0] if is_att)
    if not is_att:
        if has_suffixes and written in ("lcall", "ljmp") and not _sizes(operands):
            yield Meaning(written[1:], "l", f"{written}l")
        if has_suffixes and written in ("call", "jmp") and _sizes(operands) == ["dword"]:
            yield Meaning(written, "w", f"l{written}w")
        if has_suffixes and written in _FAR_RETURNS:
            yield Meaning("retf", written[-1], _FAR_RETURNS[written])
        is_name = written not in ("movd", "movq") and encodable.forms(written)
        if has_suffixes and written[0] != "f" and written[-1] in _IN_INTEL_SYNTAX and not is_name:
            yield Meaning(_canonical(written[:-1]), _IN_INTEL_SYNTAX[written[-1]], written)
        return
    if match := _FAR.fullmatch(written):
        suffix = match[2] or "l"
        yield Meaning(match[1], suffix, f"l{match[1]}{suffix}")
        return
    if operands and (match := _EXTENDING.fullmatch(written)):
        yield Meaning(f"mov{match[1]}x", match[2], written)
        return
    if operands and written in _FROM_32:
        yield Meaning("movsxd", "lq", written)
        return
    if match := _QUAD.fullmatch(written):
        yield Meaning(f"f{match[1]}", "ll", f"f{match[1]}ll")
        return
    for length in (1, 2):
        if len(written) > length:
            base = _canonical(written[:-length])
            yield Meaning(_swapped(base, operands), written[-length:], written)
    if written[-1] == "l" and written[:-1] in _STRINGS:
        yield Meaning(f"{written[:-1]}d", written=written)


def _sizes(operands: Sequence[Operand]) -> list[str]:
    """The sizes of memory that the operands state."""
    return [each.size for each in operands if isinstance(each, MemoryOperand) and each.size]


def _has_width(operands: Sequence[Operand], bits: int) -> bool:
    """Whether an operand is a general-purpose register of this width, or a double word of memory."""
    return any(
        registers.width(each.name) == bits
        if isinstance(each, Register)
        else bits == 32 and isinstance(each, MemoryOperand) and each.size == "dword"
        for each in operands
    )


def has_suffix(form: Form, meaning: Meaning, operands: Sequence[Operand]) -> bool:
    """Whether the suffix is that of a form."""
    suffix, name = meaning.suffix, meaning.name
    if not suffix:
        return True
    if name in ("movzx", "movsx") and _EXTENDING.fullmatch(meaning.written):
        source = {"b": "r8", "w": "r16"}[suffix[0]]
        target = form.operands[0]
        return form.operands[1].startswith(source) and (
            target != source
            if len(suffix) == 1
            else target == {"w": "r16", "l": "r32", "q": "r64"}[suffix[1]]
        )
    if meaning.written in _FROM_32:
        return form.width == 64
    if name in _EXTRACTED and suffix in _BITS:
        bits = _BITS[suffix]
        return any(isinstance(each, Register) and registers.width(each.name) == bits for each in operands)
    if name in ("sldt", "str", "smsw") and suffix == "w" and isinstance(operands[0], MemoryOperand):
        return form.width == 32
    if name in ("sldt", "str", "smsw") and isinstance(operands[0], MemoryOperand):
        return False
    if name == "cmpxchg8b":
        return suffix == "q"
    if name in ("lldt", "ltr", "verr", "verw", "lmsw", "lkgs"):
        return suffix == "w"
    if suffix == "w" and meaning.written in _NARROW:
        return form.width == 16
    if suffix in ("l", "q") and form.att == name and re.fullmatch(_TO_GENERAL, name):
        return isinstance(operands[0], Register) and registers.width(operands[0].name) == _BITS[suffix]
    if name in ("call", "jmp") and meaning.written[0] == "l":
        return form.att == meaning.written
    if name == "mov" and suffix == "q" and form.operands[1:] == ("imm64",):
        return True
    if name in _ANY_REAL and suffix == "l" and form.operands in (("sti",), ("st0", "sti")):
        return True
    if name == "mov" and "seg" in form.operands:
        return suffix in ("w", "l", "q") if all(isinstance(e, Register) for e in operands) else suffix == "w"
    return form.att in (name + suffix, meaning.written)


def _canonical(name: str) -> str:
    name = _SYNONYMS.get(name, name)
    if match := _CONDITIONAL.fullmatch(name):
        return match[1] + CONDITION_SYNONYMS.get(match[2], match[2])
    if match := _WITH_CONDITION.fullmatch(name):
        condition = CONDITION_SYNONYMS.get(match[1], match[1])
        return f"cmp{_ADDING.get(condition, condition)}xadd"
    return name


def _swapped(name: str, operands: Sequence[Operand]) -> str:
    """AT&T syntax has the reversed names of these for the forms that store into ``st(i)``."""
    match = _SWAPPED.fullmatch(name)
    if match is None or any(isinstance(each, MemoryOperand) for each in operands):
        return name
    target = operands[0] if operands else Register("st(1)")
    stores = match[3] or (
        len(operands) == 2 and isinstance(target, Register) and target.name not in ("st", "st(0)")
    )
    return f"f{match[1]}{'' if match[2] else 'r'}{match[3]}" if stores or not operands else name


def _with_predicate(written: str) -> Iterator[Meaning]:
    if match := _COMPARING.fullmatch(written):
        vex, predicate, kind = match.groups()
        known = _AVX if vex else _SSE
        if predicate in known:
            yield Meaning(f"{vex}cmp{kind}", written=written, predicate=(known.index(predicate),))
        elif vex and predicate in _AVX_SYNONYMS:
            yield Meaning(f"vcmp{kind}", written=written, predicate=(_AVX_SYNONYMS[predicate],))
    if (match := _COMPARING_INTEGERS.fullmatch(written)) and match[1] in _INTEGER:
        yield Meaning(f"vpcmp{match[2]}", written=written, predicate=(_INTEGER[match[1]],))
    if (match := _COMPARING_XOP.fullmatch(written)) and match[1] in _XOP:
        yield Meaning(f"vpcom{match[2]}", written=written, predicate=(_XOP.index(match[1]),))
    if match := _CARRYLESS.fullmatch(written):
        number = (match[2] == "h") + 16 * (match[3] == "h")
        yield Meaning(f"{match[1]}qdq", written=written, predicate=(number,))
