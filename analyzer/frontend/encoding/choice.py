"""Chooses the encoding of an instruction as GNU as does, out of those that the instruction set has for its
operands.

The rules are those of binutils 2.40 (``i386-opc.tbl``, and ``match_template``, ``optimize_imm`` and
``build_vex_prefix`` of ``tc-i386.c``); ``tests/frontend/test_choice.py`` compares every form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.encoding import names
from cyclelens.analyzer.frontend.encoding.names import Meaning
from cyclelens.analyzer.frontend.encoding.operand_forms import (
    IMPLIED,
    class_of,
    encoded_immediate,
    known_width,
    needs,
    shortened,
    written_out,
)
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    MemoryOperand,
    Operand,
    Register,
    Rounding,
)
from cyclelens.analyzer.isa import encodable
from cyclelens.analyzer.isa.encodable import Form
from cyclelens.analyzer.isa.encoder import Decoration, EncoderMemory
from msgspec import Struct
from msgspec.structs import replace

_SIZES = {
    "byte": 1, "word": 2, "dword": 4, "fword": 6, "qword": 8, "tbyte": 10, "xmmword": 16, "ymmword": 32,
    "zmmword": 64,
}  # fmt: skip
_ANY_SIZE = frozenset(["lea", "clflush", "clflushopt", "clwb", "cldemote", "invlpg"])
"""Instructions whose address may have any size, besides prefetches and MPX."""
_DEFAULT_64 = frozenset(["push", "pop", "call", "jmp"])
"""Instructions that access 64 bits unless the text says otherwise."""
_ENVIRONMENTS = frozenset(["fnstenv", "fldenv", "fnsave", "frstor"])
"""x87 instructions with a shorter form for 16-bit code."""
_ONLY_32 = frozenset(["vmovw", "umwait", "tpause", "sldt", "str"])
"""Instructions without the form for 64-bit registers that the encoding allows."""
_FAR = frozenset(["lds", "les", "lfs", "lgs", "lss"])
_SIZE_BEFORE_ADDRESS = re.compile(rb"^(\x9b?)\x66\x67")
"""GNU as writes these prefixes, perhaps after FWAIT, the other way round."""
_VECTOR_BYTES = (16, 32, 64)
_CLASSES = frozenset(["r8", "r16", "r32", "r64"])
_WORDS = {size: (word,) for word, size in _SIZES.items()}


class EncodingRequest(Struct, frozen=True):
    """An instruction to encode."""

    mnemonic: str
    operands: Sequence[Operand]
    """In Intel's order."""
    is_att: bool
    has_suffixes: bool = False
    """GNU as reads this Intel syntax, and takes suffixes of sizes in it, too."""
    wishes: frozenset[str] = frozenset()
    """Names of the pseudo-prefixes (``evex``, ``load``, ``disp32``)."""


class ChosenEncoding(Struct, frozen=True):
    """The encoding of an instruction."""

    code: bytes
    shortened: int | None = None
    """The encoded immediate if the written one is too long for its operand."""


def choose(request: EncodingRequest) -> ChosenEncoding | None:
    """The encoding of an instruction; None if GNU as rejects it or the instruction set lacks it."""
    ranked = sorted(_candidates(request), key=lambda each: each[0])
    if "swap" in request.wishes and all(isinstance(operand, Register) for operand in request.operands):
        # The registers the other way round; GNU as then does not look for the shorter VEX prefix.
        ranked.sort(key=lambda each: (*each[0][:2], each[0][-1]))
        ranked = ranked[1:2] or ranked
    if not ranked:
        return None
    _, code, shortened = ranked[0]
    code = _SIZE_BEFORE_ADDRESS.sub(b"\\1\x67\x66", code)
    return ChosenEncoding(code, shortened)


def _candidates(request: EncodingRequest) -> Iterator[tuple[tuple[object, ...], bytes, int | None]]:
    """The possible encodings: their ranks, the lowest of which is chosen, their bytes, and the number that
    was truncated."""
    operands = [operand for operand in request.operands if not isinstance(operand, Rounding)]
    decoration = _decoration(request.operands)
    if not _is_decorated_right(request, operands, decoration):
        return
    meanings = names.meanings(
        request.mnemonic, is_att=request.is_att, has_suffixes=request.has_suffixes, operands=operands
    )
    for meaning in meanings:
        given = [*operands, *(Immediate(number) for number in meaning.predicate)]
        needed = needs(given, meaning.name)
        matching = []
        for order, form in enumerate(encodable.forms(meaning.name)):
            if any(form.accepts.isdisjoint(need) for need in needed):
                continue
            filled = written_out(form, given, meaning.name)
            if (
                filled is not None
                and names.has_suffix(form, meaning, given)
                and _fits(form, filled, decoration, request, meaning)
            ):
                matching.append((order, form, filled))
        matching = _of_one_size(matching, request, meaning, decoration)
        for order, form, filled in matching:
            width = known_width(form, filled, meaning.suffix)
            given_to = _given(form, filled, request, width)
            if given_to is None:
                continue
            code = encodable.code_of(form, given_to, decoration, long_vex="vex3" in request.wishes)
            if code is not None:
                rank = _rank(form, code, order, filled, request)
                yield rank, code, shortened(filled, given_to, width)


def _may_have(word: str, operand: Operand, *, is_target: bool) -> bool:
    """Whether a mask, ``z`` or a broadcast may follow an operand."""
    if word[0] in "kz":
        return is_target
    return isinstance(operand, MemoryOperand) and not word.endswith("sae")


_Matching = list[tuple[int, Form, Sequence[Operand]]]


def _of_one_size(
    matching: _Matching, request: EncodingRequest, meaning: Meaning, decoration: Decoration
) -> _Matching:
    """The matching forms if the text says how many bytes of memory are accessed; otherwise those of the
    default, if there is one."""
    memory = next((operand for operand in request.operands if isinstance(operand, MemoryOperand)), None)
    if memory is None or not matching:
        return matching
    if "bcst" in memory.decorations:
        # GNU as takes the longest vector that the broadcast may fill.
        return [each for each in matching if each[1].size == max(form.size for _, form, _ in matching)]
    if memory.size is not None or meaning.suffix:
        return matching
    sizes = {form.element if decoration.broadcast else form.size for _, form, _ in matching}
    if len(sizes) < 2:
        return matching
    if meaning.name in _DEFAULT_64:
        default = 8
    elif meaning.name in ("movzx", "movsx") and request.is_att:
        default = 1
    elif not request.is_att:
        return []
    elif meaning.name.startswith("fi"):
        default = 2
    else:
        default = 4
    if default not in sizes or any(size > 10 for size in sizes):
        return []
    return [each for each in matching if each[1].size == default]


def _rank(
    form: Form, code: bytes, order: int, operands: Sequence[Operand], request: EncodingRequest
) -> tuple[object, ...]:
    is_turned = (
        len(operands) > 1
        and all(isinstance(operand, Register) for operand in operands)
        and form.operands[:1] != ("k",)
    ) and (("store" in request.wishes and not form.stores) or ("load" in request.wishes and form.stores))
    has_memory = any(isinstance(operand, MemoryOperand) for operand in operands)
    by_number = has_memory and "r64/m" in form.operands and bool({"xmm", "mm"} & set(form.operands))
    fused = request.mnemonic.startswith("vf") and len(form.operands) == 4 and form.operands[-1].endswith("/m")
    return (
        is_turned,
        2 if form.is_late else form.encoding == "evex",
        by_number and form.encoding != "evex",
        len(code),
        "imm8s" not in form.operands,
        not fused,
        order,
    )


def _decoration(operands: Sequence[Operand]) -> Decoration:
    words = [
        word
        for operand in operands
        if isinstance(operand, Register | MemoryOperand)
        for word in operand.decorations
    ]
    rounding = next((operand.text for operand in operands if isinstance(operand, Rounding)), "")
    return Decoration(
        mask=next((word.upper() for word in words if word[0] == "k"), ""),
        zeroing="z" in words,
        broadcast=any(word == "bcst" or word.startswith("1to") for word in words),
        suppress_exceptions=bool(rounding),
        rounding=rounding.partition("-")[0] if "-" in rounding else "",
    )


def _is_decorated_right(
    request: EncodingRequest, operands: Sequence[Operand], decoration: Decoration
) -> bool:
    """Whether GNU as accepts the masks, broadcasts and rounding at their operands."""
    for number, operand in enumerate(operands):
        words = operand.decorations if isinstance(operand, Register | MemoryOperand) else ()
        if any(not _may_have(word, operand, is_target=number == 0) for word in words):
            return False
        if len({word[0] for word in words}) < len(words):
            return False
    if decoration.zeroing and not decoration.mask:
        return False
    if decoration.mask == "K0" or (decoration.zeroing and isinstance(operands[0], MemoryOperand)):
        return False
    if not request.is_att and any(
        isinstance(operand, MemoryOperand)
        and operand.is_absolute
        and operand.decorations not in ((), ("bcst",))
        for operand in operands
    ):
        return False
    at = next((at for at, operand in enumerate(request.operands) if isinstance(operand, Rounding)), None)
    if at is None:
        return True
    if any(isinstance(operand, MemoryOperand) for operand in operands):
        return False
    if at == 0 or isinstance(request.operands[at - 1], Immediate):
        return False
    behind = request.operands[at + 1 :]
    last = operands[-1]
    if len(operands) == 3 and isinstance(last, Register) and registers.width(last.name):
        # A general-purpose source: the one place where the dialects differ.
        return len(behind) == 1 if request.is_att else len(behind) <= request.has_suffixes
    return all(isinstance(operand, Immediate) for operand in behind)


def _fits(
    form: Form,
    operands: Sequence[Operand],
    decoration: Decoration,
    request: EncodingRequest,
    meaning: Meaning,
) -> bool:
    """Whether a form has such operands, whatever the values of numbers."""
    wishes = request.wishes
    if "evex" in wishes and form.encoding != "evex":
        return False
    if "rex" in wishes and form.encoding != "legacy":
        return False
    if not wishes.isdisjoint(("vex", "vex2", "vex3")) and form.encoding != "vex":
        return False
    if (decoration.mask and not form.masked) or (form.needs_mask and not decoration.mask):
        return False
    if decoration.zeroing and not form.zeroed:
        return False
    if decoration.rounding and not form.rounds:
        return False
    if decoration.suppress_exceptions and not decoration.rounding and (form.rounds or not form.suppresses):
        return False
    if form.needs_other_target and any(_bare(operands[0]) == _bare(operand) for operand in operands[1:]):
        return False
    if form.needs_different and len({_bare(each) for each in operands}) < len(operands):
        return False
    if form.width == 16 and not meaning.suffix and form.operands and _is_odd(form, meaning):
        return False
    if meaning.written.startswith("movabs") and not {"moffs", "imm64"} & set(form.operands):
        return False
    if (
        len(operands) > len(request.operands)
        and "eax" not in form.operands
        and meaning.written in ("in", "out")
    ):
        return False  # the accumulator is left out, and no suffix says its width
    if meaning.name == "xchg" and form.operands[1] == "eax" and operands[0] == operands[1]:
        return False  # a NOP, which leaves the upper half of RAX
    if meaning.name == "bswap" and form.width == 16:
        return False
    if meaning.name == "movsxd" and (form.width == 16 or (form.width != 64 and meaning.written == "movsx")):
        return False
    if (meaning.name in _FAR and form.width == 64) or (meaning.name in _ONLY_32 and "r64" in form.accepts):
        return False
    named = (kind for kind in form.operands if not kind.startswith(IMPLIED))
    return all(
        _is_kind(kind, operand, form, meaning)
        for kind, operand in zip(named, operands, strict=bool(operands))
    )


def _is_odd(form: Form, meaning: Meaning) -> bool:
    """Whether this is a 16-bit form that only a suffix asks for."""
    if meaning.name in _ENVIRONMENTS or meaning.name in ("ret", "retf", "enter"):
        return True
    return meaning.name == "push" and form.operands[0] in ("imm16", "imm8s", "fs", "gs")


def _bare(operand: Operand) -> Operand:
    return replace(operand, decorations=()) if isinstance(operand, Register) else operand


def _is_kind(kind: str, operand: Operand, form: Form, meaning: Meaning) -> bool:
    if isinstance(operand, Register):
        base = kind.removesuffix("/m")
        return (
            base == class_of(operand)
            or (base == operand.name and base not in _CLASSES)
            or (base == "st0" and operand.name in ("st", "st(0)"))
            or (base == "kp1" and class_of(operand) == "k")
        )
    if isinstance(operand, MemoryOperand):
        return _is_memory(kind, operand, form, meaning)
    return isinstance(operand, Immediate) and (
        kind.startswith("imm") or (kind == "one" and operand.value == 1)
    )


def _is_memory(kind: str, operand: MemoryOperand, form: Form, meaning: Meaning) -> bool:
    if (kind == "moffs") != (operand.is_far or meaning.written.startswith("movabs")):
        return operand.is_far and meaning.name == "lea"
    if kind == "moffs":
        return operand.is_absolute and operand.size in (None, *_WORDS.get(form.size, ()))
    size = form.size
    broadcast = next((word for word in operand.decorations if word == "bcst" or word.startswith("1to")), "")
    if broadcast:
        if not form.element or (broadcast != "bcst" and form.size != form.element * int(broadcast[3:])):
            return False
        size = form.element
    vector = operand.index[0] if operand.index in registers.VECTOR_INDEXES and operand.index else ""
    if kind[0] == "v":
        # A gather may have the size of one element, as for GNU as, of all, as for LLVM, or none.
        return vector == kind[1] and (
            operand.size is None or _SIZES[operand.size] in (form.size, *_VECTOR_BYTES)
        )
    elif vector or not (kind.endswith("/m") or kind == "m"):
        return False
    possible = (2, 6, 8) if operand.size else (8,)
    if meaning.name in ("call", "jmp") and not meaning.suffix and form.size not in possible:
        return False
    if operand.size is None or meaning.name in _ANY_SIZE or meaning.name.startswith(("prefetch", "bnd")):
        return True
    return _SIZES[operand.size] == size and (size < 64 or "zmm" in form.accepts)


_Given = str | int | EncoderMemory


def _given(
    form: Form, operands: Sequence[Operand], request: EncodingRequest, width: int
) -> list[_Given] | None:
    """The operands for the encoder; None if a number does not fit."""
    given: list[_Given] = []
    named = (kind for kind in form.operands if not kind.startswith(IMPLIED))
    for kind, operand in zip(named, operands, strict=bool(operands)):
        if isinstance(operand, Register):
            given.append(registers.model_name(operand.name))
        elif isinstance(operand, MemoryOperand):
            given.append(_address(operand, request))
        elif isinstance(operand, Immediate):
            number = encoded_immediate(kind, operand, width)
            if number is None:
                return None
            given.append(number)
    return given


def _address(operand: MemoryOperand, request: EncodingRequest) -> EncoderMemory:
    size = 1 if "disp8" in request.wishes else 4 if "disp32" in request.wishes else 0
    base, index = ((name or "").upper() for name in (operand.base, operand.index))
    return EncoderMemory(base, index, operand.scale, operand.displacement, size)
