"""Symbolic addresses, and the bounds of words and lines, against loops that are executed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest
from cyclelens.analyzer.bounds.lines import load_bound, store_bound
from cyclelens.analyzer.bounds.symbolic import Aliasing, SymbolicValues, may_be_anywhere, step_of
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.uops import InstructionTemplate
from testkit.blocks import block_of, template_of, templates_of
from testkit.loop_emulator import accessed
from testkit.narrowing import some
from testkit.single_statements import code_of

SPR = registry.get("SPR")
START = {name: (number + 1) << 40 for number, name in enumerate(("RSI", "RDI", "RAX", "RBX"))}
"""Registers far apart: the upper bits of an address say where it comes from."""
COUNTER = "RCX"
LINE, WORD = 64, 4


def code(statements: Sequence[str]) -> str:
    return "".join(some(code_of(each, "intel")).hex() for each in statements)


def executed(statements: Sequence[str], turns: int) -> list[int]:
    """Addresses of a loop's accesses in so many iterations."""
    loop = bytes.fromhex(code([*statements, "dec rcx"])) + b"\x75\x00"
    return list(accessed(loop, START | {COUNTER: turns}))


def places(templates: Sequence[InstructionTemplate], turns: int) -> list[tuple[object, int]]:
    """Origin and offset of the same accesses."""
    values = SymbolicValues(Aliasing.DIFFERENT, exact=True)
    found: list[tuple[object, int]] = []
    for _ in range(turns):
        for template in templates:
            found += [values.place(access, template) for access in template.memory_operands]
            values.advance(template, step_of(template, exact=True))
    return found


KNOWN = (
    "add {r}, {n}", "sub {r}, {n}", "inc {r}", "dec {r}", "lea {r}, [{q}+{n}]", "mov {r}, {q}",
    "mov r8, [{r}+{n}]", "mov [{r}-{n}], r8", "mov [{r}+{q}*4], r8",
)  # fmt: skip
UNKNOWN = ("add {r}, {q}", "mov {r}, {n}", "mov {r}, [{q}]", "add {r}, [{q}]", "lea {r}, [{q}+{r}*2]")


def drawn(choice: random.Random, pool: Sequence[str]) -> list[str]:
    return [
        each.format(r=choice.choice(REGISTERS), q=choice.choice(REGISTERS), n=choice.choice((1, 8, 300)))
        for each in choice.choices(pool, k=6)
    ] + ["mov r8, [rsi]"]


REGISTERS = ("rsi", "rdi", "rax", "rbx")


@pytest.mark.parametrize("pool", [KNOWN, (*KNOWN, *UNKNOWN)], ids=["steps only", "all"])
def test_addresses_of_one_origin_are_as_far_apart_as_their_offsets(pool: Sequence[str]) -> None:
    choice, pairs = random.Random(3), 0
    for _ in range(60):
        statements = drawn(choice, pool)
        real, symbolic = executed(statements, 3), places(templates_of(code(statements), "SPR"), 3)
        first: dict[object, tuple[int, int]] = {}
        for address, (origin, offset) in zip(real, symbolic, strict=True):
            other, before = first.setdefault(origin, (address, offset))
            assert (address - other - offset + before) % (1 << 64) == 0, statements
            pairs += other != address
    assert pairs > 100


def test_registers_that_only_take_steps_keep_their_origin() -> None:
    choice = random.Random(4)
    names = {value: name for name, value in START.items()}
    for _ in range(60):
        statements = [each for each in drawn(choice, KNOWN) if "*4" not in each]
        found = places(templates_of(code(statements), "SPR"), 3)
        for address, place in zip(executed(statements, 3), found, strict=True):
            origin = (address + (1 << 39)) >> 40 << 40
            assert place == ((names[origin],), address - origin), statements


@pytest.mark.parametrize(
    "statements",
    [
        ["push rax", "mov rbx, [rsp]"],
        ["mov rbx, [rsp-8]", "push rax"],
        ["push rax", "pop rbx"],
        ["push rax", "add rsp, 8", "mov rbx, [rsp-8]"],
    ],
)
def test_the_stack_is_followed(statements: list[str]) -> None:
    one, other = places(templates_of(code(statements), "SPR"), 1)
    assert one == other


def test_a_computed_address_may_be_anywhere_and_a_loaded_one_is_its_own() -> None:
    templates = templates_of(
        code(["imul rsi, rax", "mov r8, [rsi]", "mov rdi, [rdi]", "mov r8, [rdi]"]), "SPR"
    )
    computed, first, loaded = [origin for origin, _ in places(templates, 1)]
    assert [may_be_anywhere(each) for each in (computed, first, loaded)] == [True, False, False]  # type: ignore[arg-type]
    assert len({computed, first, loaded}) == 3


# Name of the register, and bytes.
LOADS = {1: "movzx r8d, byte ptr [{}]", 2: "movzx r8d, word ptr [{}]", 4: "mov r8d, [{}]", 8: "mov r8, [{}]",
         16: "movups xmm0, [{}]", 32: "vmovups ymm0, [{}]"}  # fmt: skip
STORES = {1: "mov [{}], r8b", 2: "mov [{}], r8w", 4: "mov [{}], r8d", 8: "mov [{}], r8",
          16: "movups [{}], xmm0", 32: "vmovups [{}], ymm0"}  # fmt: skip
STEPS = (0, 1, 4, 8, 12, 32, 64, 128)
TURNS = 64
"""Iterations after which every pointer is at the same offset in a line again."""


def streams(choice: random.Random, kinds: dict[int, str], *, aligned: bool) -> tuple[list[str], list[int]]:
    """Accesses through two pointers that advance, and the bytes of each access."""
    sizes = choice.choices(tuple(kinds), k=choice.randint(1, 5))
    statements = [
        kinds[size].format(
            f"{choice.choice(('rsi', 'rsi', 'rdi'))}+{choice.randrange(40) * (size if aligned else 1)}"
        )
        for size in sizes
    ]
    for register in ("rsi", "rdi"):
        if step := choice.choice([each for each in STEPS if not aligned or each % max(sizes) == 0]):
            statements.insert(choice.randint(0, len(statements)), f"add {register}, {step}")
    return statements, sizes


def test_two_loads_of_a_word_start_per_cycle() -> None:
    choice = random.Random(7)
    for _ in range(60):
        statements, sizes = streams(choice, LOADS, aligned=False)
        words: Counter[tuple[int, int]] = Counter()
        for address, size in zip(executed(statements, TURNS), sizes * TURNS, strict=True):
            first, last = address // WORD, (address + size - 1) // WORD
            words.update({(address >> 40, word % (LINE // WORD)) for word in range(first, last + 1)})
        expected = max(words.values()) / 2 / TURNS
        assert load_bound(block_of(code(statements), "SPR"), SPR) == pytest.approx(expected), statements


def test_two_stores_commit_per_cycle_if_they_follow_each_other_into_a_line() -> None:
    choice = random.Random(8)
    for _ in range(60):
        statements, sizes = streams(choice, STORES, aligned=True)
        lines = iter([address // LINE for address in executed(statements, 3 * TURNS)])
        cycles, pending = [0], None  # after each iteration
        for _ in range(3 * TURNS):
            for line in islice(lines, len(sizes)):
                pending = None if line == pending else line
                cycles[-1] += pending is not None
            cycles.append(cycles[-1])
        expected = (cycles[2 * TURNS] - cycles[TURNS]) / TURNS
        assert store_bound(block_of(code(statements), "SPR"), SPR) == pytest.approx(expected), statements


@pytest.mark.parametrize(
    ("statements", "apart", "cycles"),
    [
        (["mov [rsi], r8", "mov [rdi], r8"], True, 2.0),
        # Both may point to one line.
        (["mov [rsi], r8", "mov [rdi], r8"], False, 1.0),
        # So may a computed address.
        (["imul rsi, rax", "mov [rsi], r8", "mov [rdi], r8"], True, 1.0),
        # A whole line commits alone, also beside another store to it.
        (["vmovups [rsi], zmm0"], True, 1.0),
        (["vmovups [rsi], zmm0", "add rsi, 64"], True, 1.0),
        (["vmovups [rsi], zmm0", "mov [rsi], r8"], True, 1.5),
        ([], True, 0.0),
    ],
)
def test_stores_of_two_pointers_and_of_whole_lines(statements: list[str], apart: bool, cycles: float) -> None:
    assert store_bound(block_of(code([*statements, "nop"]), "SPR"), SPR, apart=apart) == cycles


def test_code_without_accesses_has_no_such_limits() -> None:
    block = block_of(code(["add rax, rbx"]), "SPR")
    assert (load_bound(block, SPR), store_bound(block, SPR)) == (0.0, 0.0)


def test_other_cores_have_no_such_limits() -> None:
    core = registry.get("ZEN4")
    block = block_of(code(["mov r8, [rsi]", "mov [rdi], r8"]), "ZEN4")
    assert (load_bound(block, core), store_bound(block, core)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("statement", "exact", "published"),
    [
        ("mov rax, rbx", 0, 0),
        ("mov rax, 5", None, 0),
        ("cmovz rax, rbx", None, None),
        ("add rax, 5", 5, 5),
        ("sub rax, 5", -5, -5),
        ("inc rax", 1, 1),
        ("dec rax", -1, -1),
        ("add rax, rbx", None, None),
        ("sub rax, rbx", None, None),
        ("imul rax, rbx, 5", None, None),
        ("lea rax, [rbx+8]", 8, None),
        ("lea rax, [rbx+rcx]", None, None),
    ],
)
def test_steps_of_results_from_their_first_inputs(
    statement: str, exact: int | None, published: int | None
) -> None:
    """Chapters 4.6 and 4.2 of docs/pipeline.md: what the instruction does, and what its name says."""
    template = template_of(code([statement]), "SKL")
    assert (step_of(template, exact=True), step_of(template, exact=False)) == (exact, published)


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        ("488908 4889d8 4883c340", 1.0),  # mov [rax], rcx; mov rax, rbx; add rbx, 64: a line each
        ("488908 4889d8 4883c320", 0.5),  # add rbx, 32: two to a line
        ("488908 4889d8", 0.5),  # one line
    ],
)
def test_the_step_of_a_copied_pointer_is_known_after_two_iterations(code: str, cycles: float) -> None:
    assert store_bound(block_of(code.replace(" ", ""), "SPR", loop=True), SPR) == cycles
