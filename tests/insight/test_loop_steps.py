"""Unrolled loops access what the loop accesses, and advance their pointers once."""

from __future__ import annotations

import random

import pytest
from cyclelens.analyzer.insight.loop_steps import UnrolledLoop, _decides, unrolled
from testkit.blocks import templates_of
from testkit.loop_emulator import accessed
from testkit.narrowing import some
from testkit.single_statements import code_of

START = {"RSI": 1 << 40, "RDI": 1 << 41, "RBX": 3, "RAX": 0, "RCX": 0, "RDX": 0}
TURNS = 12
"""Iterations, which two, three and four copies divide."""


def loop_of(statements: str, jump: bytes = b"\x75\x00") -> UnrolledLoop:
    code = b"".join([*encoded(statements), jump])
    return UnrolledLoop(templates_of(code.hex(), "SKL"))


def body(loop: UnrolledLoop, times: int) -> list[bytes] | None:
    """The instructions of some copies without the jump."""
    found = unrolled(loop, times)
    return None if found is None else [code for _, code in found]


def encoded(statements: str) -> list[bytes]:
    """The instructions of a text in which semicolons separate them."""
    return [some(code_of(each, "intel")) for each in statements.split("; ")]


POOL = (
    "mov rax, [rsi{d}]", "mov [rdi{d}], rbx", "movups xmm0, [rsi+rcx*8{d}]", "movups [rdi+rcx*2{d}], xmm1",
    "mov rbx, [rsi+rsi*1{d}]", "mov rax, rsi", "mov rbx, [rax{d}]", "lea rax, [rdi{d}]", "add rax, rcx",
    "mov rdi, [rsi{d}]", "cmp rax, rbx",
)  # fmt: skip
"""Statements that read and write; ``{d}`` is a displacement."""
ADVANCES = ("add {r}, {n}", "sub {r}, -{n}", "sub {r}, {n}", "lea {r}, [{r}+{n}]", "inc {r}", "dec {r}")


def written_at_random(choice: random.Random) -> list[str]:
    """A loop of some statements and steps that ends by a counter or a pointer."""
    found = [
        each.format(d=f"+{choice.choice((0, 8, 100, 120, 4096))}")
        for each in choice.choices(POOL, k=choice.randint(1, 4))
    ]
    for register in choice.choice((("rsi",), ("rsi", "rdi"), ("rsi", "rdi", "rdi"), ("rdi", "rax"))):
        step = choice.choice(ADVANCES).format(r=register, n=choice.choice((4, 16, 32, 64)))
        found.insert(choice.randint(0, len(found)), step)
    return found + choice.choice((["dec rcx"], ["sub rcx, 2"], ["add rcx, 1"], ["inc rcx", "cmp rcx, rdx"]))


COUNTS = {"dec rcx": TURNS, "sub rcx, 2": 2 * TURNS, "add rcx, 1": -TURNS, "cmp rcx, rdx": 0}
"""First value of the counter, by the last statement of a loop."""


def test_copies_access_what_the_iterations_access() -> None:
    choice, unrolls = random.Random(5), 0
    for _ in range(60):
        statements = written_at_random(choice)
        loop = loop_of("; ".join(statements))
        state = START | {"RDX": TURNS, "RCX": COUNTS[statements[-1]] % (1 << 64)}
        expected = list(accessed(b"".join(each.instruction.code for each in loop.templates), state))
        for times in (2, 3, 4):
            copies = body(loop, times)
            if copies is not None:
                assert list(accessed(b"".join([*copies, b"\x75\x00"]), state)) == expected, (
                    statements,
                    times,
                )
                unrolls += 1
    assert unrolls > 100


@pytest.mark.parametrize(
    ("statements", "times", "expected"),
    [
        (
            "mov rax, [rsi]; add rsi, 8; dec rcx",
            3,
            "mov rax, [rsi]; mov rax, [rsi+8]; mov rax, [rsi+16]; add rsi, 24; sub rcx, 3",
        ),
        # Behind the step the address is ahead of the pointer, except in the last copy.
        (
            "add rsi, 8; mov rax, [rsi]; cmp rsi, rdx",
            2,
            "mov rax, [rsi+8]; add rsi, 16; mov rax, [rsi]; cmp rsi, rdx",
        ),
        (
            "mov al, [rsi+rcx*4]; inc rcx; cmp rcx, rdx",
            2,
            "mov al, [rsi+rcx*4]; mov al, [rsi+rcx*4+4]; add rcx, 2; cmp rcx, rdx",
        ),
        (
            "mov al, [rsi]; lea rsi, [rsi-16]; dec ecx",
            2,
            "mov al, [rsi]; mov al, [rsi-16]; lea rsi, [rsi-32]; sub ecx, 2",
        ),
        # 128 does not fit a signed byte, but -128 does.
        (
            "mov al, [rsi]; add rsi, 64; dec rcx",
            2,
            "mov al, [rsi]; mov al, [rsi+64]; sub rsi, -128; sub rcx, 2",
        ),
        (
            "mov al, [rsi]; sub rsi, 64; dec rcx",
            2,
            "mov al, [rsi]; mov al, [rsi-64]; add rsi, -128; sub rcx, 2",
        ),
        # Whoever reads a pointer as a number, or half of it, needs it in every copy.
        (
            "add rbx, rsi; add rsi, 8; dec rcx",
            2,
            "add rbx, rsi; add rsi, 8; add rbx, rsi; add rsi, 8; sub rcx, 2",
        ),
        (
            "mov al, [esi]; add rsi, 8; dec rcx",
            2,
            "mov al, [esi]; add rsi, 8; mov al, [esi]; add rsi, 8; sub rcx, 2",
        ),
    ],
)
def test_a_pointer_advances_once(statements: str, times: int, expected: str) -> None:
    assert body(loop_of(statements), times) == encoded(expected)


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param("mov rax, [rsi]; add rsi, 8; test rax, rax", id="ends by its data"),
        pytest.param("add rsi, 8; cmp [rsi], rbx", id="compares memory"),
        pytest.param("cmp rsi, rdx; lea rsi, [rsi+8]", id="compares before the step"),
        pytest.param("add rsi, 8; adc rbx, [rsi]; dec rcx", id="reads flags of a step"),
        pytest.param("adc rbx, [rsi]; dec rcx", id="reads flags of the iteration before"),
        pytest.param("push rax; dec rcx", id="moves the stack"),
        pytest.param("call [rax]; dec rcx", id="calls"),
        pytest.param("rep movsb; dec rdx", id="repeats by rcx"),
        pytest.param("dec cx", id="counts in 16 bits"),
        pytest.param("mov rax, [rsi]", id="no flags"),
        pytest.param("shr rcx, 1", id="no constant step"),
    ],
)
def test_a_loop_that_needs_each_of_its_ends_is_not_unrolled(statements: str) -> None:
    assert body(loop_of(statements), 2) is None


def test_a_step_that_is_too_large_for_one_instruction_is_an_error() -> None:
    with pytest.raises(ValueError, match="4 steps of 1073741824 do not fit"):
        body(loop_of("add rsi, 1073741824; dec rcx"), 4)


@pytest.mark.parametrize(
    ("jump", "decides"),
    [
        ("75", {"dec rcx": True, "sub rcx, 1": True, "sub rcx, 1; lea rax, [rbx]": True}),  # jnz
        # INC and DEC leave the carry of the instruction before them.
        ("77", {"dec rcx": False, "sub rcx, 1": True, "add rcx, 1; dec rdx": False}),  # ja
        ("72", {"dec rcx": False, "sub rcx, 1": True, "sub rcx, 1; dec rdx": True}),  # jb
    ],
)
def test_one_instruction_sets_all_flags_that_the_jump_reads(jump: str, decides: dict[str, bool]) -> None:
    for statements, alone in decides.items():
        loop = loop_of(statements, bytes.fromhex(jump) + b"\x00")
        assert (_decides(loop) is not None) is alone, statements
