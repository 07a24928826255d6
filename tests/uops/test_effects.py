"""Effects of instructions on registers and words, carried out beside what Intel's manual says of them."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.uops import effects
from cyclelens.analyzer.uops.effects import OPERATIONS, Effect, effect_of
from cyclelens.analyzer.uops.rename_keys import KEYS
from testkit.blocks import template_of
from testkit.narrowing import some
from testkit.single_statements import code_of

RAX, RBX, RCX, RSI, RDI = 0x0123_4567_89AB_CDEF, 0x10_8000_0080, 3, 0x1000, 0x2000
WORD = 0x0FED_CBA9_8765_43A1
"""What memory holds."""
REGISTERS = {"RAX": RAX, "RBX": RBX, "RCX": RCX, "RSI": RSI, "RDI": RDI}
LOW, MODULUS = (1 << 32) - 1, 1 << 62
"""Values are kept modulo 2 to the 62."""
NAMES = dict(enumerate(KEYS.names))


def effect(text: str) -> Effect:
    template = template_of(some(code_of(text, "intel")).hex(), "ZEN4")
    written = [KEYS.register(output.name) for output in template.register_outputs]
    return effect_of(template, template.instruction, written)


def test_an_effect_that_says_nothing_reads_and_writes_nothing() -> None:
    nothing = Effect()
    assert nothing == Effect(effects.NOTHING)
    assert (nothing.target, nothing.source, nothing.index, nothing.memory) == (-1, -1, -1, -1)
    assert (nothing.scale, nothing.constant, nothing.target_bits, nothing.memory_bits) == (1, 0, 64, 64)
    assert not (nothing.high or nothing.from_instruction_pointer or nothing.unknown or nothing.operation)


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        *(
            (text, -1)
            for text in ("mov rax, rbx", "add rax, 5", "lea rax, [rbx]", "xor eax, eax", "imul rax, rbx")
        ),
        *((text, 0) for text in ("pop rax", "push rax", "push 5", "mov rax, [rsi]", "mov [rsi], rax")),
        *(
            (text, 0)
            for text in (
                "movzx eax, byte ptr [rsi]",
                "add rax, [rsi]",
                "add [rsi], rax",
                "inc dword ptr [rsi]",
            )
        ),
        *((text, 0) for text in ("movups [rsi], xmm0", "pop qword ptr [rsi]", "xadd [rsi], rax")),
    ],
)
def test_an_effect_names_the_first_memory_operand_if_there_is_one(text: str, memory: int) -> None:
    assert effect(text).memory == memory


def narrow(value: int, bits: int, signed: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def operated(operation: int, one: int, other: int) -> int:
    name = next(name for name, number in OPERATIONS.items() if number == operation)
    return {
        "add": lambda: one + other, "sub": lambda: one - other, "and": lambda: one & other,
        "or": lambda: one | other, "xor": lambda: one ^ other, "shl": lambda: one << other,
        "shr": lambda: one >> other, "sar": lambda: one >> other, "imul": lambda: one * other,
        "not": lambda: ~one, "neg": lambda: -one,
    }[name]()  # fmt: skip


def carried_out(found: Effect) -> dict[str, int]:
    """The register that an effect changes, or the word (``memory``), with its value."""
    register = {KEYS.register(name): value for name, value in REGISTERS.items()}
    word = narrow(WORD, found.memory_bits, 0)
    given = register[found.source] if found.source >= 0 else found.constant
    if found.kind == effects.STORE_WORD:
        return {"memory": narrow(given, found.memory_bits, 0)}
    if found.kind == effects.OPERATE_IN_MEMORY:
        return {"memory": narrow(operated(found.operation, word, given), found.memory_bits, 0)}
    old = register[found.target]
    if found.kind == effects.COPY:
        value = narrow(given, found.memory_bits, found.operation)
    elif found.kind == effects.CONSTANT:
        value = found.constant
    elif found.kind == effects.LOAD_WORD:
        value = narrow(WORD, found.memory_bits, found.operation)
    elif found.kind == effects.ADDRESS:
        value = found.constant + (register[found.source] if found.source >= 0 else 0)
        value += register[found.index] * found.scale if found.index >= 0 else 0
    else:
        assert found.kind == effects.OPERATE
        one = old & LOW if found.target_bits == 32 else old
        value = operated(found.operation, one, word if found.memory >= 0 else given)
    if found.target_bits == 32:
        value &= LOW
    elif found.target_bits < 32:
        shift = 8 if found.high else 0
        mask = ((1 << found.target_bits) - 1) << shift
        value = old & ~mask | value << shift & mask
    return {NAMES[found.target]: value % MODULUS}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov rax, rbx", RBX),
        ("mov eax, ebx", RBX & LOW),
        ("mov ax, bx", RAX & ~0xFFFF | RBX & 0xFFFF),
        ("mov al, bl", RAX & ~0xFF | RBX & 0xFF),
        ("mov rax, 5", 5),
        ("mov rax, -1", MODULUS - 1),
        ("mov eax, -1", LOW),
        ("mov ah, 5", RAX & ~0xFF00 | 0x500),
        ("mov rax, [rsi]", WORD),
        ("mov eax, [rsi]", WORD & LOW),
        ("mov al, [rsi]", RAX & ~0xFF | WORD & 0xFF),
        ("mov ah, [rsi]", RAX & ~0xFF00 | (WORD & 0xFF) << 8),
        ("movzx eax, bl", 0x80),
        ("movsx rax, bl", MODULUS - 0x80),
        ("movsx eax, bl", LOW + 1 - 0x80),
        ("movsxd rax, ebx", MODULUS - 0x8000_0000 + 0x80),
        ("movzx eax, byte ptr [rsi]", 0xA1),
        ("movsx rax, byte ptr [rsi]", MODULUS - 0x100 + 0xA1),
        ("movzx eax, word ptr [rsi]", 0x43A1),
        ("movsxd rax, dword ptr [rsi]", (WORD & LOW) - (1 << 32) + MODULUS),
        ("pop rax", WORD),
        ("lea rax, [rsi+rdi*4+8]", RSI + RDI * 4 + 8),
        ("lea rax, [rsi-8]", RSI - 8),
        ("lea rax, [rdi*8]", RDI * 8),
        ("lea eax, [rbx+rbx]", 2 * RBX & LOW),
        ("add rax, rbx", RAX + RBX),
        ("add eax, ebx", (RAX & LOW) + (RBX & LOW) & LOW),
        ("add rax, [rsi]", RAX + WORD),
        ("sub rax, 5", RAX - 5),
        ("sub rax, rbx", RAX - RBX),
        ("and rax, rbx", RAX & RBX),
        ("and eax, 15", RAX & 15),
        ("or rax, rbx", RAX | RBX),
        ("xor rax, rbx", RAX ^ RBX),
        ("xor eax, eax", 0),
        ("sub rax, rax", 0),
        ("inc rax", RAX + 1),
        ("dec rax", RAX - 1),
        ("shl rax, 4", (RAX << 4) % MODULUS),
        ("sal rax, 4", (RAX << 4) % MODULUS),
        ("shr rax, 4", RAX >> 4),
        ("shr rax, 1", RAX >> 1),
        ("sar rax, 4", RAX >> 4),
        ("imul rax, rbx", RAX * RBX % MODULUS),
        ("not rax", MODULUS - 1 - RAX),
        ("neg rax", MODULUS - RAX),
    ],
)
def test_a_register_gets_the_result(text: str, expected: int) -> None:
    found = effect(text)
    assert (carried_out(found), found.unknown) == ({"RAX": expected}, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov [rsi], rax", RAX),
        ("mov [rsi], eax", RAX & LOW),
        ("mov [rsi], al", RAX & 0xFF),
        ("mov dword ptr [rsi], 7", 7),
        ("push rax", RAX),
        ("push 5", 5),
        ("add [rsi], rbx", WORD + RBX),
        ("add dword ptr [rsi], 3", (WORD & LOW) + 3),
        ("sub [rsi], rbx", WORD - RBX),
        ("and [rsi], ebx", WORD & RBX & LOW),
        ("or [rsi], rbx", WORD | RBX),
        ("xor [rsi], rbx", WORD ^ RBX),
        ("inc qword ptr [rsi]", WORD + 1),
        ("dec dword ptr [rsi]", (WORD & LOW) - 1),
    ],
)
def test_a_word_gets_the_result(text: str, expected: int) -> None:
    found = effect(text)
    assert (carried_out(found), found.unknown) == ({"memory": expected}, ())


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("shl rax, cl", "RAX"),
        ("add al, bl", "RAX"),
        ("add rax, rax", None),
        ("mov al, bh", "RAX"),
        ("mov ah, bl", "RAX"),
        ("movzx eax, bh", "RAX"),
        ("imul rax, rbx, 5", "RAX"),
        ("popcnt rax, rbx", "RAX"),
        ("cmovz rax, rbx", "RAX"),
        ("mul rbx", "RAX RDX"),
        ("xchg rax, rbx", "RAX RBX"),
        ("movq rax, xmm0", "RAX"),
        ("lodsq", "RAX RSI"),
        ("paddd xmm0, xmm1", ""),
        ("movups xmm0, [rsi]", ""),
    ],
)
def test_what_is_not_followed_is_a_new_value(text: str, registers: str | None) -> None:
    found = effect(text)
    if registers is None:
        assert found.kind == effects.OPERATE
    else:
        assert found.kind == effects.ANY
        assert sorted(NAMES[key] for key in found.unknown) == registers.split()


@pytest.mark.parametrize(
    ("text", "bits", "vector", "registers"),
    [
        ("movups [rsi], xmm0", 128, 1, ""),
        ("movq [rsi], xmm0", 64, 1, ""),
        ("mov [rsi], ah", 8, 0, ""),
        ("not dword ptr [rsi]", 32, 0, ""),
        ("setz [rsi]", 8, 0, ""),
        ("stosq", 64, 0, "RDI"),
        ("movsq", 64, 0, "RDI RSI"),
        ("xadd [rsi], rax", 64, 0, "RAX"),
    ],
)
def test_a_word_that_is_not_followed_is_a_new_one(text: str, bits: int, vector: int, registers: str) -> None:
    found = effect(text)
    assert (found.kind, found.memory_bits, found.operation) == (effects.ANY_WORD, bits, vector)
    assert sorted(NAMES[key] for key in found.unknown) == registers.split()


@pytest.mark.parametrize("text", ["cmp rax, rbx", "test rax, rax", "nop", "bt rax, 3", "cmp [rsi], rax"])
def test_comparisons_change_nothing(text: str) -> None:
    assert effect(text) == Effect()


def test_an_address_of_code_is_relative_to_it() -> None:
    found = effect("lea rax, [rip+16]")
    assert (found.kind, found.source, found.from_instruction_pointer) == (effects.ADDRESS, -1, True)
    assert not effect("lea rax, [rsi+16]").from_instruction_pointer
