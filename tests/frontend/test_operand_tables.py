"""What each form of an operand means in each dialect, and what is said of those that mean nothing.

The forms are those of the GNU as manual ("i386-Dependent") and of ``i386_intel_operand`` in binutils 2.40, of
the NASM manual (3.3, "Effective Addresses") and of MASM. GNU as itself is asked in ``test_differential.py``.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL, MASM, NASM, Dialect
from cyclelens.analyzer.frontend.statements.operand_types import (
    ABSOLUTE_BASE,
    BranchTarget,
    Immediate,
    MemoryOperand,
    Operand,
    OperandError,
    Register,
    Rounding,
    UnsupportedError,
)
from cyclelens.analyzer.frontend.statements.operands import parse_att, parse_intel, split_operands
from msgspec.structs import replace

Memory, PLACE = MemoryOperand, ABSOLUTE_BASE

ATT_OPERANDS: dict[str, Operand] = {
    "%rax": Register("rax"),
    "%st": Register("st"),
    "%st(3)": Register("st(3)"),
    "%st ( 3 )": Register("st(3)"),
    "%db3": Register("dr3"),
    "%dr3": Register("dr3"),
    "$5": Immediate(5),
    "$-5": Immediate(-5),
    "$x+4": Immediate(PLACE, is_address=True),
    "8(%rax,%rbx,4)": Memory(base="rax", index="rbx", scale=4, displacement=8),
    "(%rax)": Memory(base="rax"),
    "-8(,%rbx,8)": Memory(index="rbx", scale=8, displacement=-8),
    "(,%rbx)": Memory(index="rbx"),
    "(%rax,%rbx)": Memory(base="rax", index="rbx"),
    "(%rax,,4)": Memory(base="rax", scale=4),
    "x(%rip)": Memory(base="rip"),
    "x(%eip)": Memory(base="eip"),
    "%fs:8(%rax)": Memory(segment="fs", base="rax", displacement=8),
    "%gs:16": Memory(segment="gs", displacement=16),
    "4096": Memory(displacement=4096),
    "x": Memory(displacement=PLACE),
    "x+4": Memory(displacement=PLACE),
    "x-y": Memory(displacement=PLACE),
    "(x)": Memory(displacement=PLACE),
    "(5)": Memory(displacement=5),
    "(5)(%rax)": Memory(base="rax", displacement=5),
    "%es : (%rdi)": Memory(segment="es", base="rdi"),
    "(%dx)": Register("dx"),
    "( %dx )": Register("dx"),
    "8(%rax){1to16}": Memory(base="rax", displacement=8, decorations=("1to16",)),
    "%zmm1{%k1}{z}": Register("zmm1", decorations=("k1", "z")),
    "%zmm1{k1}{z}": Register("zmm1", decorations=("k1", "z")),
    "{rn-sae}": Rounding("rn-sae"),
    "{sae}": Rounding("sae"),
    "(%rsp,%rax)": Memory(base="rsp", index="rax"),
    "(%rax,%xmm1,2)": Memory(base="rax", index="xmm1", scale=2),
    "0x7fffffff(%rax)": Memory(base="rax", displacement=0x7FFFFFFF),
    "0xffffffff80000000(%rax)": Memory(base="rax", displacement=-0x80000000),
    "0xffffffff(%eax)": Memory(base="eax", displacement=0xFFFFFFFF),
    "0x8000000000000000": Memory(displacement=-0x8000000000000000),
    "0x7fffffffffffffff": Memory(displacement=0x7FFFFFFFFFFFFFFF),
    "(%rax,%rbx,(1+1)*2)": Memory(base="rax", index="rbx", scale=4),
    "%rax{k1}{sae}": Register("rax", decorations=("k1", "sae")),
}
ATT_TARGETS: dict[str, Operand] = {
    "x": BranchTarget("x"),
    "*x": Memory(displacement=PLACE),
    "*%rax": Register("rax"),
    "*8(%rax)": Memory(base="rax", displacement=8),
    "*x(%rip)": Memory(base="rip"),
    "%fs:x": Memory(segment="fs", displacement=PLACE),
    "8(%rax)": Memory(base="rax", displacement=8),
    "*%fs:16": Memory(segment="fs", displacement=16),
    "* %rax": Register("rax"),
    "1f": BranchTarget("1f"),
}
BARE_OPERANDS: dict[str, Operand] = {
    "rax": Register("rax"),
    "x(rax)": Memory(base="rax", displacement=PLACE),
    "(rax,rbx,2)": Memory(base="rax", index="rbx", scale=2),
    "8(rax)": Memory(base="rax", displacement=8),
    "(rip)": Memory(base="rip"),
    "(x)": Memory(displacement=PLACE),
}
INTEL_OPERANDS: dict[str, Operand] = {
    "rax": Register("rax"),
    "RAX": Register("rax"),
    "st(1)": Register("st(1)"),
    "st": Register("st"),
    "db7": Register("dr7"),
    "5": Immediate(5),
    "-5": Immediate(-5),
    "x": Memory(displacement=PLACE),
    "x+4": Memory(displacement=PLACE),
    "offset x": Immediate(PLACE, is_address=True),
    "OFFSET FLAT:x": Immediate(PLACE, is_address=True),
    "flat:x": Memory(displacement=PLACE),
    "x-y": Immediate(PLACE, is_address=True),
    "5*3": Immediate(15),
    "[rax]": Memory(base="rax"),
    "[rax+8]": Memory(base="rax", displacement=8),
    "[8+rax]": Memory(base="rax", displacement=8),
    "8[rax]": Memory(base="rax", displacement=8),
    "[rax+rbx*4-8]": Memory(base="rax", index="rbx", scale=4, displacement=-8),
    "[rbx*4+rax]": Memory(base="rax", index="rbx", scale=4),
    "[4*rbx+rax]": Memory(base="rax", index="rbx", scale=4),
    "[rax+rbx]": Memory(base="rax", index="rbx"),
    "[rax+rsp]": Memory(base="rsp", index="rax"),
    "[rsp+rax]": Memory(base="rsp", index="rax"),
    "[rsp*1+rax]": Memory(base="rsp", index="rax"),
    "[rbx*2]": Memory(index="rbx", scale=2),
    "[rax*1+rbx*2]": Memory(base="rax", index="rbx", scale=2),
    "[rax][rbx]": Memory(base="rax", index="rbx"),
    "8[rax][rbx*2]": Memory(base="rax", index="rbx", scale=2, displacement=8),
    "x[rip]": Memory(base="rip"),
    "[rip+x]": Memory(base="rip"),
    "x[rax]": Memory(base="rax", displacement=PLACE),
    "[x]": Memory(displacement=PLACE),
    "[x+rax*8+4]": Memory(index="rax", scale=8, displacement=PLACE),
    "dword ptr [rax]": Memory(base="rax", size="dword"),
    "dword [rax]": Memory(base="rax", size="dword"),
    "qword bcst [rax]": Memory(base="rax", size="qword", decorations=("bcst",)),
    "dword bcst [rax]": Memory(base="rax", size="dword", decorations=("bcst",)),
    "[QWORD PTR 8[rax]]": Memory(base="rax", displacement=8, size="qword"),
    "byte ptr x": Memory(displacement=PLACE, size="byte"),
    "byte ptr 5": Immediate(5, size="byte"),
    "fs:[rax]": Memory(segment="fs", base="rax"),
    "fs:16": Memory(segment="fs", displacement=16),
    "[fs:16]": Memory(segment="fs", displacement=16),
    "[fs:rax+8]": Memory(segment="fs", base="rax", displacement=8),
    "dword ptr fs:[rax+8]": Memory(segment="fs", base="rax", displacement=8, size="dword"),
    "es:x": Memory(segment="es", displacement=PLACE),
    "[rax-8]": Memory(base="rax", displacement=-8),
    "[rax+-8]": Memory(base="rax", displacement=-8),
    "[-8+rax]": Memory(base="rax", displacement=-8),
    "[rax*8]": Memory(index="rax", scale=8),
    "[xmm1]": Memory(index="xmm1"),
    "[rax+xmm1*4]": Memory(base="rax", index="xmm1", scale=4),
    "[xmm1+rax]": Memory(base="rax", index="xmm1"),
    "[(4+4)*2+rax]": Memory(base="rax", displacement=16),
    "[rax+(1+1)*2]": Memory(base="rax", displacement=4),
    "[rax+2*(3+4)]": Memory(base="rax", displacement=14),
    "x-y[rax]": Memory(base="rax", displacement=PLACE),
    "[rax+x-y]": Memory(base="rax", displacement=PLACE),
    "[rax]{k1}": Memory(base="rax", decorations=("k1",)),
    "[rax]{1to8}": Memory(base="rax", decorations=("1to8",)),
    "zmm1{k1}{z}": Register("zmm1", decorations=("k1", "z")),
    "{sae}": Rounding("sae"),
    "[eip+4]": Memory(base="eip", displacement=4),
    "[rax+0x7fffffff]": Memory(base="rax", displacement=0x7FFFFFFF),
    "[eax+0xffffffff]": Memory(base="eax", displacement=0xFFFFFFFF),
    "offset x[rax]": Memory(base="rax", displacement=PLACE),
    "offset [x]": Immediate(PLACE, is_address=True),
    "[offset x]": Immediate(PLACE, is_address=True),
    "[rax+rax]": Memory(base="rax", index="rax"),
    "[ebx+ecx*4]": Memory(base="ebx", index="ecx", scale=4),
    '"x"': Memory(displacement=PLACE),
    "[rax+~1]": Memory(base="rax", displacement=-2),
    "[rax+!0]": Memory(base="rax", displacement=1),
    "[r16]": Memory(displacement=PLACE),
    "word ptr [rax]": Memory(base="rax", size="word"),
    "tbyte ptr [rax]": Memory(base="rax", size="tbyte"),
    "tword ptr [rax]": Memory(base="rax", size="tbyte"),
    "oword ptr [rax]": Memory(base="rax", size="xmmword"),
    "mmword ptr [rax]": Memory(base="rax", size="qword"),
    "ymmword ptr [rax]": Memory(base="rax", size="ymmword"),
    "yword ptr [rax]": Memory(base="rax", size="ymmword"),
    "fword ptr [rax]": Memory(base="rax", size="fword"),
    "xmmword ptr [rax]": Memory(base="rax", size="xmmword"),
    "zmmword ptr [rax]": Memory(base="rax", size="zmmword"),
    "byte [rax]": Memory(base="rax", size="byte"),
    "[rax+8*1]": Memory(base="rax", displacement=8),
    "[rax+0-8]": Memory(base="rax", displacement=-8),
    "[rax + rbx * 2 + x]": Memory(base="rax", index="rbx", scale=2, displacement=PLACE),
    "[1+rax*2]": Memory(index="rax", scale=2, displacement=1),
    "[rax+rbx-1-2]": Memory(base="rax", index="rbx", displacement=-3),
    "[rax-1+2]": Memory(base="rax", displacement=1),
    "-1[rax]": Memory(base="rax", displacement=-1),
    "- 1 [rax]": Memory(base="rax", displacement=-1),
    "[rax]+8": Memory(base="rax", displacement=8),
    "[rax]-8": Memory(base="rax", displacement=-8),
    "8+[rax]": Memory(base="rax", displacement=8),
    "[rax*2+8]-4": Memory(index="rax", scale=2, displacement=4),
}
INTEL_TARGETS: dict[str, Operand] = {
    "x": BranchTarget("x"),
    "$": BranchTarget("$"),
    "$+5": BranchTarget("$+5"),
    "short x": BranchTarget("x"),
    "near ptr x": BranchTarget("x"),
    "near x": BranchTarget("x"),
    "far [rax]": Memory(base="rax", size="fword"),
    "far ptr [rax]": Memory(base="rax", size="fword"),
    "rax": Register("rax"),
    "[rax]": Memory(base="rax"),
    "qword ptr [rax]": Memory(base="rax", size="qword"),
    "fs:x": Memory(segment="fs", displacement=PLACE),
    "qword ptr x": Memory(displacement=PLACE, size="qword"),
    "1f": BranchTarget("1f"),
    "offset x": BranchTarget("x"),
    "SHORT x": BranchTarget("x"),
    "dword ptr [rax]": Memory(base="rax", size="dword"),
}
NASM_OPERANDS: dict[str, Operand] = {
    "x": Immediate(PLACE, is_address=True),
    "[x]": Memory(displacement=PLACE),
    "[rel x]": Memory(base="rip"),
    "[abs x]": Memory(displacement=PLACE),
    "[rel rax]": Memory(base="rax"),
    "[rax+x]": Memory(base="rax", displacement=PLACE),
    "[fs:x]": Memory(segment="fs", displacement=PLACE),
    "x+4": Immediate(PLACE, is_address=True),
    "5": Immediate(5),
    "dword [x]": Memory(displacement=PLACE, size="dword"),
    "word [rel x+4]": Memory(base="rip", size="word"),
    "[rel x+rax]": Memory(base="rax", displacement=PLACE),
    "[rax*8+x]": Memory(index="rax", scale=8, displacement=PLACE),
    "ds:x": Memory(segment="ds", displacement=PLACE),
    "x-y": Immediate(PLACE, is_address=True),
}
RELATIVE_OPERANDS: dict[str, Operand] = {
    "[x]": Memory(base="rip"),
    "dword [x]": Memory(base="rip", size="dword"),
}
MASM_OPERANDS: dict[str, Operand] = {
    "x": Memory(base="rip"),
    "[x]": Memory(base="rip"),
    "x+4": Memory(base="rip"),
    "dword [x]": Memory(base="rip", size="dword"),
}
NASM_TARGETS: dict[str, Operand] = {
    "near x": BranchTarget("x", near=True),
    "short x": BranchTarget("x"),
    "x": BranchTarget("x"),
    "$": BranchTarget("$"),
}
MASM_TARGETS: dict[str, Operand] = {
    "near x": BranchTarget("x"),
}
REFUSED: dict[tuple[str, bool], dict[str, str]] = {
    ("ATT", False): {
        " % rax": "'rax' needs a '%' to be a register in AT&T syntax.",
        "st(8)": "'st' needs a '%' to be a register in AT&T syntax.",
        "%cr16": "'%cr16' is not understood as an operand.",
        "fs:(%rax)": "'fs' needs a '%' to be a register in AT&T syntax.",
        "*%rax": "'*%rax' is not understood as an operand.",
        "{z}": "'{z}' does not follow an operand.",
        "%zmm1{": "'{' is not a mask, broadcast or rounding.",
        "%zmm1}": "The braces of the operand do not match.",
        "%zmm1{k8}": "'{k8}' is not a mask, broadcast or rounding.",
        "$1{k1}": "Braces must follow a register or an address.",
        "(%rax,%rbx,3)": "A scale must be 1, 2, 4 or 8, not '3'.",
        "(%rax,%rbx,4,1)": "'(%rax,%rbx,4,1)' has too many parts for an address.",
        "(%rax,%rsp)": "'rsp' cannot be used like this in an address.",
        "(%rip,%rax)": "An address relative to rip has no index.",
        "(%xmm1)": "'xmm1' cannot be used like this in an address.",
        "(%al)": "'%al' cannot be part of an address.",
        "rax": "'rax' needs a '%' to be a register in AT&T syntax.",
        "x(rax)": "'rax' needs a '%' to be a register in AT&T syntax.",
        "0x80000000(%rax)": "0x80000000 is out of the range of a displacement (32 bits with a sign).",
        "-0x80000001(%rax)": "-0x80000001 is out of the range of a displacement (32 bits with a sign).",
        "%foo": "'%foo' is not understood as an operand.",
        "8(%foo)": "'%foo' cannot be part of an address.",
        "x(%rip)+4": "'x(%rip)+4' is not understood as an operand.",
        "((%rax))": "'((%rax))' is not understood as an operand.",
        "(%rax": "'(%rax' is not understood as an operand.",
        "%rax)": "'%rax)' is not understood as an operand.",
        "(%rax,(2+2)*2)": "'(2+2)*2' cannot be part of an address.",
        "%fs:%rax": "'%rax' is not understood as an operand.",
    },
    ("INTEL", False): {
        "[rsp+rsp]": "'rsp' cannot be used like this in an address.",
        "[rax*2+rbx*1]": "An address has one scaled register only.",
        "[rax*2+rbx*2]": "An address has one scaled register only.",
        "[rax+rbx+rcx]": "An address has two registers at most.",
        "[rax - rbx]": "'rbx' cannot be part of an address.",
        "[-rax]": "The register 'rax' cannot be part of '[-rax]'.",
        "[rax*3]": "A scale must be 1, 2, 4 or 8, not '3'.",
        "[rax*rbx]": "'rax*rbx' cannot be part of an address.",
        "[2*rax*2]": "'2*rax*2' cannot be part of an address.",
        "[xmm1+xmm2]": "'xmm2' cannot be used like this in an address.",
        "[rax+xmm1+rbx]": "An address has two registers at most.",
        "[al]": "'al' cannot be part of an address.",
        "[rax": "The brackets of the address do not match.",
        "rax]": "']' is not understood.",
        "[rax]]": "The brackets of the address do not match.",
        "[]": "The address is incomplete.",
        "[ + ]": "The address is incomplete.",
        "['a'+rax]": "The brackets of the address do not match.",
        "[rax+2*x]": "How GNU as evaluates this displacement is unclear: set its symbols further up.",
        "ptr": "'ptr' is not complete.",
        "dword ptr": "An operand is missing.",
        "bcst": "'bcst' is not complete.",
        "5{k1}": "Braces must follow a register or an address.",
        "$5": "A number is written without '$' in Intel syntax.",
        "[rip+rax]": "An address relative to rip has no index.",
        "[rsp*2]": "'rsp' cannot be used like this in an address.",
        "[0x80000000+rax]": "0x80000000 is out of the range of a displacement (32 bits with a sign).",
        "-offset x": "'x' is not expected here.",
        "rax+1": "The register 'rax' cannot be part of 'rax+1'.",
        "1+rax": "The register 'rax' cannot be part of '1+rax'.",
        "x:y": "':y' is not understood.",
        "[cs]": "'cs' cannot be part of an address.",
    },
    ("INTEL", True): {
        "$5": "A number is written without '$' in Intel syntax.",
        "far x": "Far jumps are encoded only through memory.",
        "far ptr x": "Far jumps are encoded only through memory.",
    },
    ("NASM", False): {
        "[fs:rel x]": "'x' is not expected here.",
        "qword x": "'x' is not expected here.",
        "byte 5": "'5' is not expected here.",
        "dword x": "'x' is not expected here.",
    },
    ("NASM", True): {
        "far [rax]": "Far jumps are encoded only through memory.",
    },
}

RELATIVE = replace(NASM, is_relative=True)
TABLES: tuple[tuple[Dialect, bool, bool, dict[str, Operand]], ...] = (
    (ATT, False, False, ATT_OPERANDS),
    (ATT, True, False, ATT_TARGETS),
    (ATT, False, True, BARE_OPERANDS),
    (INTEL, False, False, INTEL_OPERANDS),
    (INTEL, True, False, INTEL_TARGETS),
    (NASM, False, False, NASM_OPERANDS),
    (NASM, True, False, NASM_TARGETS),
    (RELATIVE, False, False, RELATIVE_OPERANDS),
    (MASM, False, False, {**NASM_OPERANDS, **MASM_OPERANDS}),
    (MASM, True, False, {**NASM_TARGETS, **MASM_TARGETS}),
)
"""Dialect, whether a bare expression is the target of a jump, and whether registers need no ``%``."""
DIALECTS = {"ATT": ATT, "INTEL": INTEL, "NASM": NASM, "MASM": MASM}


def parsed(text: str, dialect: Dialect, is_target: bool, is_bare: bool = False) -> Operand:
    program = Program([Statement(StatementKind.INSTRUCTION, 0, "", dialect, ".text")])
    scope = StatementScope(program, 0)
    if dialect is ATT:
        return parse_att(text, scope, branch=is_target, bare_registers=is_bare)
    return parse_intel(text, scope, dialect, branch=is_target)


@pytest.mark.parametrize(("dialect", "is_target", "is_bare", "table"), TABLES)
def test_an_operand_means_what_its_dialect_says(
    dialect: Dialect, is_target: bool, is_bare: bool, table: dict[str, Operand]
) -> None:
    assert {text: parsed(text, dialect, is_target, is_bare) for text in table} == table


@pytest.mark.parametrize(("name", "is_target"), REFUSED)
def test_the_message_says_what_an_operand_lacks(name: str, is_target: bool) -> None:
    table = REFUSED[name, is_target]
    said = {}
    for text in table:
        with pytest.raises((OperandError, UnsupportedError)) as refused:
            parsed(text, DIALECTS[name], is_target)
        said[text] = str(refused.value)
    assert said == table


def test_operands_are_split_at_commas_outside_of_brackets() -> None:
    assert split_operands("") == split_operands("  ") == []
    assert split_operands(" 8(%rax, %rbx) , %rcx") == ["8(%rax, %rbx)", "%rcx"]
    assert split_operands("a, [b, c], {d, e}, (f)") == ["a", "[b, c]", "{d, e}", "(f)"]
    assert split_operands("a, b, c, d, e, f") == [*"abcdef"]
    for text, message in (
        ("a, b, c, d, e, f, g", "There are too many operands."),
        ("a,, b", "An operand is missing."),
        ("a,", "An operand is missing."),
        ("(a, b", "The brackets of the operands do not match."),
        ("a], b", "The brackets of the operands do not match."),
    ):
        with pytest.raises(OperandError) as refused:
            split_operands(text)
        assert str(refused.value) == message
