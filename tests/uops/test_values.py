"""What instructions do to the values that addresses are made of."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.uops.values import (
    LOADED,
    SUM,
    UNKNOWN_VALUE,
    ValueRule,
    symbol_delta,
    symbol_rule,
    value_rule,
)
from testkit.blocks import template_of
from testkit.narrowing import some
from testkit.single_statements import code_of

RULES = {
    "mov rax, rbx": ValueRule(SUM, "RBX"),
    "mov rax, 5": ValueRule(SUM, delta=5),
    "movsxd rax, ebx": ValueRule(SUM, "EBX"),
    "lea rax, [rbx+rcx*4-8]": ValueRule(SUM, "RBX", "RCX", 4, -8),
    "lea rax, [rbx+16]": ValueRule(SUM, "RBX", delta=16),
    "inc rax": ValueRule(SUM, "RAX", delta=1),
    "dec rax": ValueRule(SUM, "RAX", delta=-1),
    "add rax, 8": ValueRule(SUM, "RAX", delta=8),
    "sub rax, 8": ValueRule(SUM, "RAX", delta=-8),
    "add rax, rbx": ValueRule(SUM, "RAX", "RBX"),
    "xor eax, eax": ValueRule(SUM),
    "mov rax, [rsi]": ValueRule(LOADED),
    "mov eax, [rsi]": ValueRule(LOADED),
    "movsxd rax, dword ptr [rsi]": ValueRule(LOADED),
    "pop rax": ValueRule(LOADED),
    "mov al, [rsi]": ValueRule(UNKNOWN_VALUE),
    "mov ax, [rsi]": ValueRule(UNKNOWN_VALUE),
    "movzx eax, byte ptr [rsi]": ValueRule(UNKNOWN_VALUE),
    "add rax, [rsi]": ValueRule(UNKNOWN_VALUE),
    "lea rax, [rip+8]": ValueRule(UNKNOWN_VALUE),
    "sub rax, rbx": ValueRule(UNKNOWN_VALUE),
    "imul rax, rbx": ValueRule(UNKNOWN_VALUE),
    "and rax, 8": ValueRule(UNKNOWN_VALUE),
    "movabs rax, 0x7fffffffffffff": ValueRule(UNKNOWN_VALUE),
    "movabs rax, 0xffffffffff": ValueRule(SUM, delta=0xFFFFFFFFFF),
    "movabs rax, 0x10000000000": ValueRule(UNKNOWN_VALUE),
    "movabs rax, -0xffffffffff": ValueRule(SUM, delta=-0xFFFFFFFFFF),
    "movabs rax, -0x10000000000": ValueRule(UNKNOWN_VALUE),
    "xchg rax, rbx": ValueRule(UNKNOWN_VALUE),
}
PUBLISHED = {
    "mov rax, rbx": (True, 0),
    "movzx eax, bl": (True, 0),
    "cmovz rax, rbx": (False, 0),
    "add rax, 8": (True, 8),
    "inc rax": (True, 1),
    "sub rax, 8": (True, -8),
    "dec rax": (True, -1),
    "add rax, rbx": (False, 0),
    "sub rax, rbx": (False, 0),
    "lea rax, [rbx+8]": (False, 0),
    "mov rax, 5": (False, 0),
}


@pytest.mark.parametrize(("text", "rule"), RULES.items())
def test_the_finer_rules(text: str, rule: ValueRule) -> None:
    template = template_of(some(code_of(text, "intel")).hex(), "SKL")
    found = value_rule(template, template.instruction)
    assert (found.kind, found.base, found.index, found.delta) == (
        rule.kind,
        rule.base,
        rule.index,
        rule.delta,
    )
    assert found.index is None or found.scale == rule.scale


@pytest.mark.parametrize(("text", "rule"), PUBLISHED.items())
def test_the_published_rules(text: str, rule: tuple[bool, int]) -> None:
    """4.2 of the uiCA model."""
    template = template_of(some(code_of(text, "intel")).hex(), "SKL")
    continues, sign = symbol_rule(template, template.instruction)
    assert (continues, symbol_delta(sign, template.instruction)) == rule
