"""Random programs with everything that makes their control flow hard to find."""

from __future__ import annotations

from random import Random

_PLAIN = (
    "add $1, %rax",
    "mov (%rdi,%rcx,8), %rdx",
    "vpaddd %ymm1, %ymm2, %ymm3",
    "imul %rsi, %rax",
    "lea 8(%rdi), %rdi",
    "mov %rax, 8(%rsi)",
    "addl $1000, 64(%rsi,%rcx,4)",
    "nop",
)
_ENDS = ("ret", "ret", "jmp g", "ud2", "call abort", "jmp *%rax", "jmp *g@GOTPCREL(%rip)", ".byte 0xf3, 0xc3")
_STUBS = """\
.section .plt, "ax", @progbits
.p2align 4
.Lplt:
    pushq 8(%rip)
    jmp *16(%rip)
    nopl (%rax)
stub1:
    jmp *24(%rip)
    pushq $0
    jmp .Lplt
stub2:
    jmp *32(%rip)
    pushq $1
    jmp .Lplt
"""


def program(seed: int) -> str:
    """A text for GNU as: functions that branch to and fro, with jumps and calls through registers, memory
    and tables, calls that do not come back, parts in another section, stubs of a linker, padding and
    constants."""
    chance = Random(seed)
    names = [f"f{number}" for number in range(chance.randint(1, 4))]
    lines = [line for name in names for line in _function(chance, name, names)]
    if chance.random() < 0.3:
        lines += [".data", f".quad {chance.choice(names)}"]
    return "\n".join(lines) + "\n" + chance.choice(["", "", _STUBS])


def _function(chance: Random, name: str, names: list[str]) -> list[str]:
    labels = [f".L{name}_{number}" for number in range(chance.randint(1, 8))]
    cold = chance.sample(labels[1:], len(labels) // 4) if chance.random() < 0.3 else []
    lines = [".text", *([".p2align 4"] if chance.random() < 0.7 else [])]
    lines += [*([f".globl {name}"] if chance.random() < 0.7 else []), f".type {name}, @function", f"{name}:"]
    for label in labels:
        lines += [] if label in cold else _block(chance, label, labels, names)
    lines += [chance.choice([*_ENDS, f"jmp {labels[0]}"]), f".size {name}, .-{name}"]
    if chance.random() < 0.2:
        lines += [".quad 0x3ff0000000000000"]
    if cold:
        lines += [
            '.section .text.unlikely, "ax", @progbits',
            f".type {name}.cold, @function",
            f"{name}.cold:",
        ]
        for label in cold:
            lines += [*_block(chance, label, labels, names), f"jmp {chance.choice(labels)}"]
        lines += [f".size {name}.cold, .-{name}.cold"]
    return lines


def _block(chance: Random, label: str, labels: list[str], names: list[str]) -> list[str]:
    body = [chance.choice(_PLAIN) for _ in range(chance.randint(0, 4))]
    kinds = ("on", "branch", "jump", "call", "leave", "table")
    kind = chance.choices(kinds, (4, 8, 3, 2, 1, 1))[0]
    if kind == "branch":
        body += [f"test %rax, %rax\nj{chance.choice(['e', 'ne', 's', 'b'])} {chance.choice(labels)}"]
    elif kind == "jump":
        body += [f"jmp {chance.choice(labels)}"]
    elif kind == "call":
        body += [f"call {chance.choice([*names, 'g', 'abort', 'g@PLT', '*%rax', '*8(%rdi)'])}"]
    elif kind == "leave":
        body += [chance.choice(_ENDS)]
    elif kind == "table":
        body += _switch(chance, f"{label}_table", chance.choices(labels, k=chance.randint(2, 4)))
    return [*([".p2align 4,,10"] if chance.random() < 0.2 else []), f"{label}:", *body]


def _switch(chance: Random, table: str, targets: list[str]) -> list[str]:
    """A jump through a table, whose entries are addresses or distances."""
    if chance.random() < 0.5:
        jump = chance.choice(
            [[f"jmp *{table}(,%rax,8)"], [f"mov {table}(,%rax,8), %rax", "jmp *%rax"]],
        )
        entries = [f".quad {target}" for target in targets]
    else:
        jump = [f"lea {table}(%rip), %r8", "movslq (%r8,%rax,4), %rax", "add %r8, %rax", "jmp *%rax"]
        entries = [f".long {target}-{table}" for target in targets]
    return [*jump, ".pushsection .rodata", ".p2align 3", f"{table}:", *entries, ".popsection"]
