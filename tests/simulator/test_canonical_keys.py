"""Blocks that simulate identically are run once, and no other blocks are taken for them."""

from __future__ import annotations

import random

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Mode, Model, Pointers
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import Key, cycles_per_iteration, placement_of, simulate
from cyclelens.analyzer.simulator import key_of as core_key_of
from cyclelens.analyzer.simulator.core import loop_key
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block

FIGURE = RunRequest(details=False)


@pytest.fixture(scope="module")
def store() -> FactsStore:
    return open_store()


def block_of(
    code: str, store: FactsStore, name: str = "SKL", *, loop: bool = False, alignment: int = 0
) -> Block:
    instructions = decode(bytes.fromhex(code), store.caches)
    return build_block(instructions, registry.get(name), store, loop=loop, alignment=alignment)


def key_of(code: str, store: FactsStore, name: str = "SKL", options: ModelOptions = PUBLISHED) -> Key:
    block = block_of(code, store, name)
    return core_key_of(block, registry.get(name), options, store.caches)


HARDWARE = ModelOptions(model=Model.HARDWARE)
ALIKE = {
    "other registers": ("488b06 4801d8", "488b1f 4801cb"),  # mov rax, [rsi]; add rax, rbx
    "another operation of the same kind": ("4801d8", "4821d8"),  # add, and
    "other loads": ("488b5f08", "488b5f10"),
    "other places, relative to each other": ("48894708 488b5f08", "48894f08 488b5708"),
}
UNLIKE = {
    "who waits for whom": ("488b06 4801d8", "488b06 4801cb"),
    "a store that a load reads": ("48894708 488b5f08", "48894708 488b5f10"),
    "a constant that moves a pointer": ("4883c708 48894708", "4883c710 48894708"),
    "the stack pointer": ("50 4889e3", "50 4889eb"),  # push rax; mov rbx, rsp or rbp
    "lengths": ("4801d8", "01d8"),
    "vector registers": ("0f28c1", "480f45c1"),
}


@pytest.mark.parametrize(("one", "other"), ALIKE.values(), ids=ALIKE.keys())
def test_names_and_addresses_without_a_meaning_do_not_count(one: str, other: str, store: FactsStore) -> None:
    assert key_of(one, store) == key_of(other, store) != ()


def test_without_a_store_that_is_so_in_the_hardware_model(store: FactsStore) -> None:
    one, other = ALIKE["other registers"]
    assert key_of(one, store, options=HARDWARE) == key_of(other, store, options=HARDWARE) != ()


FOLLOWED = {
    "other registers": ("488b06 4801d8", "488b1f 4801cb", True),
    "registers without an address": ("4801d8", "4801cb", True),
    "another word of the line": ("488b5f08", "488b5f10", True),
    "another line": ("488b5f08 488b4f10", "488b5f48 488b4f10", True),
    "another half of a word": ("488b5f08", "488b5f0a", False),
    "another distance in the line": ("488b5f08 488b4f10", "488b5f08 488b4f18", False),
    "other steps of a pointer": ("4883c708 488b0f", "4883c710 488b0f", False),
    "the same steps within a line": ("83c708 488b0f", "83c748 488b0f", True),
    # mov rax, rdi; mov rcx, [rax + 8]; mov rdx, [rdi + 8], or + 16
    "one pointer in two registers": ("4889f8 488b4808 488b5708", "4889f8 488b4808 488b5710", False),
    "a pointer that is moved, or another": ("4883c708 488b0f", "4883c608 488b0f", False),
    "the stack pointer": ("488b4c2408", "488b4f08", False),
    "places of a store": ("48894708 488b5f08", "48894710 488b5f10", False),
    "what a load gets from a store": ("48894708 488b5f08", "48894708 488b5e08", False),
}


@pytest.mark.parametrize(("one", "other", "equal"), FOLLOWED.values(), ids=FOLLOWED.keys())
@pytest.mark.parametrize("options", [PUBLISHED, HARDWARE])
def test_where_values_are_followed_lines_count(
    options: ModelOptions, one: str, other: str, equal: bool, store: FactsStore
) -> None:
    """On Golden Cove, three loads that read one word of a line do not leave together (Z6)."""
    keys = [key_of(code, store, "GNR", options) for code in (one, other)]
    assert () not in keys
    assert (keys[0] == keys[1]) is equal


def test_the_frame_pointer_counts_where_it_points_to_the_stack(store: FactsStore) -> None:
    same = ModelOptions(assume=Pointers.STACK)
    one, other = "48894708 488b4d08", "48894708 488b4e08"  # a store to [rdi], a load from [rbp] or [rsi]
    assert key_of(one, store, "GNR", same) != key_of(other, store, "GNR", same)


CROSSED = {
    "other registers": ("488b06 4801d8", "488b1f 4801cb", True),
    "who waits for whom": ("488b06 4801d8", "488b06 4801cb", False),
    "another place in the line": ("488b5f08", "488b5f30", True),
    "across the end of a line": ("488b5f08", "488b5f3c", False),
    "up to the end of a line": ("488b5f08", "488b5f38", True),
    "one byte across the end of a line": ("488b5f08", "488b5f39", False),
    "another place of a moved pointer": ("4883c704 488b5f08", "4883c704 488b5f10", False),
    "another step of it": ("4883c704 488b1f", "4883c708 488b1f", False),
    "another step of its lower half": ("83c704 488b1f", "83c708 488b1f", False),
    "a step back": ("4883ef08 488b1f", "4883c708 488b1f", False),
    "another constant": ("4883c004 488b1f", "4883c008 488b1f", True),
    "what the move of a pair copies": ("4889d8 4801c8 4801d3", "4889c8 4801c8 4801d3", False),
    "other operations of the op cache": ("4805ffffff00", "4883c07f", False),
}


@pytest.mark.parametrize(("one", "other", "equal"), CROSSED.values(), ids=CROSSED.keys())
@pytest.mark.parametrize("name", ["ZEN3", "ZEN4", "ZEN5"])
def test_macro_ops_only_count_which_loads_cross_a_line(
    name: str, one: str, other: str, equal: bool, store: FactsStore
) -> None:
    keys = [key_of(code, store, name, HARDWARE) for code in (one, other)]
    assert () not in keys
    assert (keys[0] == keys[1]) is equal


@pytest.mark.parametrize(
    "code",
    [
        *("48890f", "488b0f 488b01", "4801f7 488b07", "488b0437", "488b0508000000"),
        *("6683c708 488b1f", "4080c708 488b1f", "4883e7f0 488b1f", "48037e08 488b1f"),
    ],
)
def test_macro_ops_follow_other_addresses_as_numbers(code: str, store: FactsStore) -> None:
    """Of stores, of loaded or added pointers, of two registers and of the instruction pointer; of a pointer
    of which a part is moved, or that is masked, or moved by what is loaded."""
    assert key_of(code, store, "ZEN5", HARDWARE) == ()


@pytest.mark.parametrize(("one", "other"), UNLIKE.values(), ids=UNLIKE.keys())
def test_everything_else_counts(one: str, other: str, store: FactsStore) -> None:
    assert key_of(one, store) != key_of(other, store)


def test_mode_and_place_count(store: FactsStore) -> None:
    core = registry.get("SKL")
    instructions = decode(bytes.fromhex("4801d8"))
    keys = {
        core_key_of(
            build_block(instructions, core, store, loop=loop, alignment=place), core, PUBLISHED, store.caches
        )
        for loop in (False, True)
        for place in (0, 16)
    }
    assert len(keys) == 4


# dec r15; jnz back
END = "49ffcf 75"


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("488b06 4801d8", "488b4608 4821d8", True),  # eight and nine bytes, one line of the DSB
        ("488b06 4801d8", "488b06 480fafc3", False),  # another latency
        ("488b06 4801d8" + "90" * 20, "488b8600010000 4801d8" + "90" * 20, False),  # over the end of a line
        ("6681c03412", "6681c03512", True),
    ],
)
def test_lengths_of_a_loop_count_where_its_code_is_not_cached(
    one: str, other: str, equal: bool, store: FactsStore
) -> None:
    core, keys = registry.get("SKL"), []
    for code in (one, other):
        block = block_of(code + END + bytes([254 - len(bytes.fromhex(code)) - 3]).hex(), store, loop=True)
        placement = placement_of(block, core, PUBLISHED, store.caches)
        keys.append(loop_key(core_key_of(block, core, PUBLISHED, store.caches), placement))
        figure = cycles_per_iteration(block, core, caches=store.caches)
        assert figure == simulate(block, core, request=FIGURE).cycles_per_iteration
    assert (keys[0] == keys[1]) is equal


@pytest.mark.parametrize(
    ("code", "equal"),
    [
        ("488b06 4801d8", True),
        ("488b0508000000", False),  # mov rax, [rip+8]
        ("488d0508000000", False),  # lea rax, [rip+8]
    ],
)
@pytest.mark.parametrize("name", ["ZEN3", "ZEN5"])
def test_a_place_within_a_window_counts_if_an_address_follows_it(
    code: str, equal: bool, name: str, store: FactsStore
) -> None:
    core, whole = registry.get(name), code + END + bytes([254 - len(bytes.fromhex(code)) - 3]).hex()
    one, other = (
        placement_of(block_of(whole, store, name, loop=True, alignment=place), core, PUBLISHED, store.caches)
        for place in (0, 24)
    )
    assert (one == other) is equal


@pytest.mark.parametrize(
    ("code", "name", "options"),
    [
        ("48894708", "ZEN4", PUBLISHED),  # follows addresses as numbers
        ("488b0418", "GNR", PUBLISHED),  # compares the sum of two registers as a number
        ("488b0508000000", "GNR", PUBLISHED),  # and a page of the code
        ("48890418", "SKL", HARDWARE),
        ("b401 4889c3", "SKL", PUBLISHED),  # mov ah, 1; mov rbx, rax: RAX is merged
    ],
)
def test_where_registers_matter_only_equal_code_shares_a_key(
    code: str, name: str, options: ModelOptions, store: FactsStore
) -> None:
    """And that at several places, which are looked for when there are some."""
    core, caches = registry.get(name), Caches()
    keys = [
        core_key_of(block_of(code, store, name, loop=True, alignment=place), core, options, caches)
        for place in (0, 32, 0, 32)
    ]
    assert keys[0] == ()
    assert keys[1] == keys[3] != keys[2] != ()
    assert loop_key(keys[1], b"there") == loop_key(keys[2], b"there")
    assert loop_key(keys[1], b"there") != loop_key(keys[2], b"here")


@pytest.mark.parametrize("options", [ModelOptions(port_seed=1), ModelOptions(simple_front_end=True)])
def test_where_the_offset_may_matter_no_key_is_shared(options: ModelOptions, store: FactsStore) -> None:
    assert key_of("4801d8", store, "SKL", options) == ()


CODES = (
    "4801d8 488b06 4883c608",
    "488b0500000000 4801d8",
    "480fafc0 0f1f8400000000000f1f840000000000 4801c3",
)


@pytest.mark.parametrize("name", ["SKL", "GNR", "LNL", "ZEN3", "ZEN5"])
def test_a_figure_holds_at_all_offsets_with_one_key(name: str) -> None:
    """Whatever was asked for before."""
    codes = [bytes.fromhex(code) for code in CODES]
    one = Predictor()
    for place in range(64):
        fresh = Predictor().predict_batch(codes, name, Mode.LOOP, place)
        assert one.predict_batch(codes, name, Mode.LOOP, place) == fresh


def test_a_figure_of_one_core_is_not_another_ones(store: FactsStore) -> None:
    figures: dict[str, float] = {}
    for name in ("SKL", "ICL", "SKL"):
        core = registry.get(name)
        block = block_of("0f28c1 0f28ca 0f28d3 0f28dc 0f28e5 0f28ee", store, name)
        figure = cycles_per_iteration(block, core, caches=store.caches)
        assert figure == simulate(block, core, request=FIGURE).cycles_per_iteration
        assert figures.setdefault(name, figure) == figure


OPCODES = ("4801", "488b", "4889", "4829")
OPERANDS = ("4708", "4e08", "5708", "c1", "cb", "d1")
LOADS = ("488b", "4803", "488d", "483b", "0fb6")
"""Loads and LEA, for cores on which three loads of one word matter."""
PLACES = ("4708", "4f0c", "5738", "4e08", "760c", "7f08", "07", "0f")


@pytest.mark.parametrize("options", [PUBLISHED, HARDWARE])
@pytest.mark.parametrize("name", ["SKL", "HSW", "ICL", "GNR", "LNL", "ZEN3", "ZEN4", "ZEN5"])
@pytest.mark.parametrize("loop", [False, True])
def test_the_figure_is_that_of_a_run(name: str, loop: bool, options: ModelOptions, store: FactsStore) -> None:
    """Small blocks with few registers and addresses, many of which are alike."""
    chance = random.Random(4)
    core = registry.get(name)
    keys = set()
    blocks = 160
    for number in range(blocks):
        opcodes, operands, count = (OPCODES, OPERANDS, 2) if number % 2 else (LOADS, PLACES, 3)
        parts = [f"{chance.choice(opcodes)}{chance.choice(operands)}" for _ in range(count)]
        block = block_of("".join(parts), store, name, loop=loop)
        keys.add(core_key_of(block, core, options, store.caches))
        figure = cycles_per_iteration(block, core, options, caches=store.caches)
        assert figure == simulate(block, core, options=options, request=FIGURE).cycles_per_iteration, parts
    assert len(keys) < blocks
