"""Random statements for every encoding of the instruction set, some with operands that do not fit."""

from __future__ import annotations

import random
import re
from collections.abc import Collection

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
from msgspec.structs import replace

from testkit.rendering import render_att, render_intel

_GENERAL = {
    "r64": sorted(registers.GENERAL_64),
    "r32": sorted(registers.GENERAL_32),
    "r16": sorted(registers.GENERAL_16),
    # GNU as 2.40 encodes AH and its like with a REX prefix as other registers.
    "r8": [name for name in sorted(registers.GENERAL_8) if name[-1] != "h" and not re.match(r"r\d+l", name)],
}
_WORDS = {1: "byte", 2: "word", 4: "dword", 6: "fword", 8: "qword", 10: "tbyte", 16: "xmmword", 32: "ymmword"}
_WORDS[64] = "zmmword"
_DISPLACEMENTS = (0, 0, 1, 64, -64, 127, -128, 128, 256, 0x1000, -0x1000, 0x12345678)
_ABSOLUTE = (0x1234, 0x12345678, -0x1000, 0x7FFFFFFF)
_NUMBERS = (
    0, 1, 2, -1, 3, 127, 128, -128, -129, 255, 256, 0x1234, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x12345678,
    0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, -0x80000000, 0x100000000, 0x123456789ABCDEF0,
)  # fmt: skip
_OTHERS = ("r8", "r16", "r32", "r64", "xmm", "ymm", "zmm", "k", "m", "mm", "imm8")
_WISHES = ("evex", "vex", "vex3", "load", "store", "disp32")
_LEFT_OUT = frozenset(
    # Encoded by other parts; far jumps; and names that GNU as 2.40 reads in ways of its own.
    [
        "call",
        "jmp",
        "nop",
        "ud0",
        "ud1",
        "getsec",
        "sysret",
        "sysexit",
        "iretd",
        "lar",
        "lsl",
        "crc32",
        "movsxd",
    ]
)


_ODD_REGISTERS = (
    "ah",
    "ch",
    "sil",
    "r9b",
    "cs",
    "ds",
    "rsp",
    "esp",
    "st(3)",
    "cr3",
    "xmm20",
    "ymm1",
    "mm3",
    "cl",
)
_ODD_ADDRESSES = (
    MemoryOperand(base="rax", index="ecx"),
    MemoryOperand(base="eax", index="r10"),
    MemoryOperand(index="rsp", scale=2),
    MemoryOperand(base="bx", index="si"),
    MemoryOperand(base="rip", index="rax"),
    MemoryOperand(base="al"),
    MemoryOperand(base="rdx", index="xmm3", scale=4),
    MemoryOperand(base="rdx", index="rcx", scale=3),
    MemoryOperand(base="rdx", displacement=0x1_2345_6789),
)


def statements(rng: random.Random, dialect: str, *, encodings: Collection[str], each: int) -> list[str]:
    """``each`` statements for every form with one of these encodings, without repetitions."""
    made = []
    for name in encodable.mnemonics():
        for form in encodable.forms(name):
            if form.encoding in encodings and name not in _LEFT_OUT and not name.startswith("bnd"):
                made += [_statement(rng, name, form, dialect) for _ in range(each)]
    return list(dict.fromkeys(made))


def _statement(rng: random.Random, name: str, form: Form, dialect: str) -> str:
    operands = _operands(rng, form)
    has_memory = any(isinstance(operand, MemoryOperand) for operand in operands)
    if operands and not isinstance(operands[0], Immediate | Rounding):
        wanted = 0.4 if form.masked else 0.95 if form.needs_mask else 0.01
        if rng.random() < wanted and isinstance(operands[0], Register | MemoryOperand):
            mask: tuple[str, ...] = (f"k{rng.randrange(0 if rng.random() < 0.1 else 1, 8)}",)
            mask += ("z",) if rng.random() < 0.4 else ()
            operands[0] = replace(operands[0], decorations=operands[0].decorations + mask)
    if operands and not has_memory and (form.rounds or form.suppresses) and rng.random() < 0.4:
        at = next((at for at, each in enumerate(operands) if isinstance(each, Immediate)), len(operands))
        word = f"r{rng.choice('nduz')}-sae" if form.rounds != (rng.random() < 0.1) else "sae"
        operands.insert(at, Rounding(word))
    return _text(rng, name, form, operands, dialect)


def _text(rng: random.Random, name: str, form: Form, operands: list[Operand], dialect: str) -> str:
    wish = f"{{{rng.choice(_WISHES)}}} " if operands and rng.random() < 0.03 else ""
    if dialect == "intel":
        return f"{wish}{name} {','.join(render_intel(operand) for operand in operands)}".strip()
    spelled = name if rng.random() < 0.3 or " " in form.att else form.att
    if rng.random() < 0.1:
        spelled = name + rng.choice("bwlqsxyz")
    if not name.startswith(("enter", "bound")):
        operands.reverse()
    return f"{wish}{spelled} {','.join(render_att(operand, indirect=False) for operand in operands)}".strip()


def _operands(rng: random.Random, form: Form) -> list[Operand]:
    broadcasts = bool(form.element) and rng.random() < 0.4
    made: list[Operand] = []
    for kind in form.operands:
        if kind.startswith(("seg_", "es_")):
            continue
        if rng.random() < 0.04:
            kind = rng.choice(_OTHERS)
        base = kind.removesuffix("/m").replace("moffs", "m")
        if base in ("m", "vx", "vy", "vz") or (kind.endswith("/m") and rng.random() < 0.5):
            made.append(_memory(rng, base, form, broadcasts))
        elif base == "one":
            made.append(Immediate(1))
        elif base.startswith("imm"):
            small = base == "imm8" and rng.random() < 0.8
            made.append(Immediate(rng.randrange(-2, 130) if small else rng.choice(_NUMBERS)))
        else:
            made.append(_register(rng, base, form))
    return made


def _register(rng: random.Random, kind: str, form: Form) -> Register:
    if kind in _GENERAL:
        return Register(rng.choice(_GENERAL[kind]))
    if kind in ("xmm", "ymm", "zmm"):
        return Register(f"{kind}{rng.randrange(32 if form.encoding == 'evex' else 16)}")
    if kind in ("k", "kp1", "mm", "tmm"):
        return Register(f"{kind.removesuffix('p1')}{rng.randrange(8)}")
    fixed = {"st0": "st", "cr": "cr3", "dr": "dr7", "bnd": "bnd1"}
    if kind == "sti":
        return Register(f"st({rng.randrange(8)})")
    return Register(rng.choice(sorted(registers.SEGMENTS)) if kind == "seg" else fixed.get(kind, kind))


def _memory(rng: random.Random, kind: str, form: Form, broadcasts: bool) -> MemoryOperand:
    base: str | None = rng.choice(_GENERAL["r64"])
    index, scale, displacement = None, 1, rng.choice(_DISPLACEMENTS)
    if kind[0] == "v" and len(kind) == 2:
        index = f"{kind[1]}mm{rng.randrange(32 if form.encoding == 'evex' else 16)}"
        base, scale = rng.choice((base, None)), rng.choice((1, 2, 4, 8))
    elif rng.random() < 0.4:
        index, scale = (
            rng.choice([name for name in _GENERAL["r64"] if name != "rsp"]),
            rng.choice((1, 2, 4, 8)),
        )
    elif rng.random() < 0.1:
        base = "rip"
    elif rng.random() < 0.1:
        base, displacement = None, rng.choice(_ABSOLUTE)
    elif rng.random() < 0.1:
        base, index = rng.choice(_GENERAL["r32"]), rng.choice((None, "ecx", "r9d"))
    size = form.size
    decorations: tuple[str, ...] = ()
    if broadcasts:
        size = form.element
        count = form.size // size if rng.random() < 0.9 else rng.choice((2, 4, 8, 16))
        decorations = (f"1to{count}",)
    word = _WORDS.get(size)
    if rng.random() < 0.15:
        word = rng.choice(sorted(_WORDS.values()))
    if rng.random() < 0.25:
        word = None
    if kind[0] == "v" and len(kind) == 2:
        word = None
    return MemoryOperand(None, base, index, scale, displacement, word, decorations)


def misfits(rng: random.Random, dialect: str, encodings: Collection[str]) -> list[str]:
    """One statement for every form with one of these encodings, most of them with an operand that does not
    fit: of another size or class, a number that is too long, an address that cannot be, a high byte, one too
    few."""
    made = []
    for name in encodable.mnemonics():
        for form in encodable.forms(name):
            if form.encoding in encodings and name not in _LEFT_OUT and not name.startswith("bnd"):
                operands = _operands(rng, form)
                if operands:
                    operands[rng.randrange(len(operands))] = _odd(rng)
                made.append(_text(rng, name, form, operands[rng.random() < 0.1 :], dialect))
    return list(dict.fromkeys(made))


def _odd(rng: random.Random) -> Operand:
    kind = rng.random()
    if kind < 0.5:
        general = rng.choice(_GENERAL[rng.choice(sorted(_GENERAL))])
        return Register(rng.choice((general, rng.choice(_ODD_REGISTERS))))
    if kind < 0.75:
        return Immediate(rng.choice(_NUMBERS))
    return replace(rng.choice(_ODD_ADDRESSES), size=rng.choice((None, *_WORDS.values())))
