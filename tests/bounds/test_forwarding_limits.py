"""The limits of forwarding in the bounds (O6d, W6): what is stored late, and which loads are renamed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cyclelens.analyzer.bounds import forwarding
from cyclelens.analyzer.bounds.forwarding import Forwarding, StoredValue, steps_late
from cyclelens.analyzer.bounds.latencies import waits_for_addition
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import Trait, Value, ValueKind
from msgspec.structs import replace
from testkit.blocks import block_of, template_of

RAX: Value = (ValueKind.REGISTER, "RAX")
XMM0: Value = (ValueKind.REGISTER, "XMM0")
CARRY: Value = (ValueKind.FLAGS, "C")
INSIDE: Value = (ValueKind.INTERNAL, "0")


@pytest.mark.parametrize(
    ("value", "latency", "owed", "steps"),
    [
        (RAX, None, False, 0),  # loaded or old
        (RAX, 1, False, 1),  # a fast operation
        (RAX, 2, False, 1),
        (RAX, 3, False, 0),  # as fast as a loaded word
        (RAX, 4, False, 0),
        (RAX, 3, True, 2),  # a constant is owed to it
        (RAX, None, True, 2),
        (XMM0, None, False, 2),  # a loaded vector
        (XMM0, 1, False, 1),
        (XMM0, 4, False, 0),
        (INSIDE, None, False, 0),
        (None, None, False, 0),  # a constant
    ],
)
def test_how_much_later_than_a_loaded_word(
    value: Value | None, latency: int | None, owed: bool, steps: int
) -> None:
    assert steps_late(StoredValue(8, value, None), latency, owed) == steps


def learning(kind: str) -> Microarchitecture:
    core = registry.get("GNR")
    return replace(core, policies=replace(core.policies, memory_renaming=kind))


LOOP = block_of("48ffc875fb", "GNR")
STORED = {"mov rax, [rsi]": "488b06", "mov eax, [rsi]": "8b06", "movzx eax, word ptr [rsi]": "0fb706"}


@pytest.mark.parametrize(
    ("load", "stored_bytes", "late", "renamed"),
    [
        ("mov rax, [rsi]", 8, 0, True),
        ("mov rax, [rsi]", 4, 0, False),  # more than was stored
        ("mov eax, [rsi]", 8, 0, True),
        ("mov eax, [rsi]", 4, 1, True),
        ("mov eax, [rsi]", 8, 2, False),  # a part of a register that is owed a constant
        ("mov rax, [rsi]", 8, 2, True),
        ("mov eax, [rsi]", 2, 0, False),  # no register of 16 bits is renamed
        ("movzx eax, word ptr [rsi]", 8, 0, False),
        ("movzx eax, word ptr [rsi]", 2, 0, False),
    ],
)
def test_which_loads_take_over_the_stored_register(
    load: str, stored_bytes: int, late: int, renamed: bool
) -> None:
    reader = template_of(STORED[load], "GNR")
    forwarded = Forwarding(LOOP, learning("learnt_pairs"))
    assert forwarded.is_renamed(StoredValue(stored_bytes, RAX, None), late, reader, 0) is renamed
    vector = StoredValue(stored_bytes, XMM0, None)
    assert not forwarded.is_renamed(vector, late, reader, 0)
    assert not forwarded.is_renamed(
        StoredValue(stored_bytes, RAX, None), late, replace(reader, joins_next=True), 0
    )
    unrolled = Forwarding(replace(LOOP, loop=False), learning("learnt_pairs"))
    assert not unrolled.is_renamed(StoredValue(stored_bytes, RAX, None), late, reader, 0)


def test_an_operation_on_memory_is_renamed_only_where_every_pair_is_learnt() -> None:
    alone, operation = template_of("488b06", "GNR"), template_of("480306", "GNR")  # mov, add rax, [rsi]
    data = StoredValue(8, RAX, None)
    found = {
        kind: tuple(
            Forwarding(LOOP, learning(kind)).is_renamed(data, 0, each, 0) for each in (alone, operation)
        )
        for kind in ("learnt_pairs", "learnt_loads", "stack_or_learnt", "")
    }
    assert found["learnt_loads"] == (True, False)
    assert found[""] == (False, False)
    assert found["learnt_pairs"] == (True, True)


def test_cycles_through_memory() -> None:
    """O6d: five from the data, nine from the address, and one more for each step that it comes late."""
    forwarded = Forwarding(LOOP, registry.get("GNR"))
    assert [forwarded.from_data(late) for late in range(3)] == [5, 6, 7]
    assert forwarded.from_address() == 9


def test_the_data_of_a_store() -> None:
    plain = forwarding.stored(template_of("488906", "GNR"), 0)  # mov [rsi], rax
    assert (plain.access_bytes, plain.value, plain.computed) == (8, RAX, None)
    changed = forwarding.stored(template_of("480106", "GNR"), 0)  # add [rsi], rax
    assert changed.value is not None and changed.value[0] is ValueKind.INTERNAL
    assert (changed.access_bytes, changed.computed) == (8, 1)
    constant = forwarding.stored(template_of("c70601000000", "GNR"), 0)  # mov dword ptr [rsi], 1
    assert (constant.access_bytes, constant.value, constant.computed) == (4, None, None)


def uop(traits: Trait, inputs: tuple[Value, ...] = (), outputs: tuple[Value, ...] = ()) -> Any:
    made = tuple((value, 3) for value in outputs)
    return SimpleNamespace(kind=UopKind.COMPUTE, traits=traits, inputs=inputs, outputs=made)


def test_who_waits_for_a_floating_point_addition() -> None:
    """M20: whatever takes its result, except another addition or comparison."""
    adds: Any = SimpleNamespace(uops=(uop(Trait.FP_ADD, (), (XMM0,)),))
    others: Any = SimpleNamespace(uops=(uop(Trait.NONE, (), (XMM0,)),))
    fast: Any = SimpleNamespace(uops=(uop(Trait.NONE, (XMM0,)), uop(Trait.TAKES_FP_ADD, (XMM0,))))
    slow: Any = SimpleNamespace(uops=(uop(Trait.NONE, (XMM0,)), uop(Trait.TAKES_FP_ADD, (RAX,))))
    unrelated: Any = SimpleNamespace(uops=(uop(Trait.NONE, (RAX,)),))
    assert waits_for_addition(adds, XMM0, slow)
    assert not waits_for_addition(adds, XMM0, fast)
    assert not waits_for_addition(adds, XMM0, unrelated)
    assert not waits_for_addition(others, XMM0, slow)
    assert not waits_for_addition(adds, RAX, unrelated)
    # The last uop that makes it decides.
    last: Any = SimpleNamespace(uops=(*adds.uops, *others.uops))
    assert not waits_for_addition(last, XMM0, slow)
    first: Any = SimpleNamespace(uops=(*others.uops, *adds.uops))
    assert waits_for_addition(first, XMM0, slow)
