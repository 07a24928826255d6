"""Out-of-order resources: how many instructions fit into each, counted as one counts them on hardware
(H. Wong, "Measuring Reorder Buffer Capacity"): a chain of square roots keeps everything behind it from
retiring, and what issues until it is through is what there is room for."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, MoveElimination
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from msgspec.structs import replace
from testkit.blocks import block_of
from testkit.simulated import cycles, rows_of, simulated

ON = ModelOptions(resources=True)
OFF = ModelOptions(resources=False)

ROOT = "f20f51c0"  # sqrtsd xmm0, xmm0
ROOTS = 12
FILLERS = 400
LOAD = "488b06"  # mov rax, [rsi]
STORE = "488907"  # mov [rdi], rax
BRANCH = "7400"  # jz to the next instruction
INTEGER = "8d4101"  # lea eax, [rcx+1]
VECTOR = "660ffeca"  # paddd xmm1, xmm2
NOP = "90"
POINTER = "66480f7ec3"  # movq rbx, xmm0
LOAD_THROUGH_POINTER = "488b03"  # mov rax, [rbx]
ROOM_IN_ROB = {"SNB": 168, "IVB": 168, "HSW": 192, "SKL": 224, "ICL": 352}
RETIRE_QUEUE = {"ZEN3": 256, "ZEN4": 320, "ZEN5": 448}
ROOM_IN_SCHEDULER = {"SNB": 54, "HSW": 60, "SKL": 97, "ICL": 160}
ADDITION = "4883c101"  # add rcx, 1
ADD_AT_RENAME = [name for name in registry.names() if registry.get(name).add_offset_limit]


def fits(filler: str, name: str, options: ModelOptions = ON, *, start: str = "", count: int = FILLERS) -> int:
    """How many instructions behind the square roots (and ``start``) issue before those have retired."""
    rows = rows_of(ROOTS * ROOT + start + count * filler, name, options=options)
    behind = ROOTS + len(start) // 10
    end = next(row.retired for row in rows if row.instruction == ROOTS - 1)
    assert end is not None
    issued = ((row.instruction, row.issued) for row in rows if row.instruction >= behind)
    return len({instruction for instruction, at in issued if at is not None and at <= end})


@pytest.mark.parametrize(
    ("name", "loads", "stores", "branches", "integers", "vectors"),
    [
        ("SNB", 64, 36, 48, 128, 111),
        ("IVB", 64, 36, 48, 130, 112),
        ("HSW", 72, 42, 48, 144, 137),
        ("SKL", 72, 56, None, 156, 137),
        ("ICL", 128, 72, None, 256, 193),
        ("ARL", 192, 114, 128, 248, 279),
    ],
)
def test_what_fits(
    name: str, loads: int, stores: int, branches: int | None, integers: int, vectors: int
) -> None:
    """The published sizes come out again; the last square root holds one of the vector registers."""
    assert fits(LOAD, name) == loads
    assert fits(STORE, name) == stores
    assert fits(INTEGER, name) == integers
    assert fits(VECTOR, name) == vectors
    if branches is not None:
        assert fits(BRANCH, name) == branches


@pytest.mark.parametrize(
    ("name", "size", "left"),
    [(name, size, "retired") for name, size in (ROOM_IN_ROB | RETIRE_QUEUE).items()]
    + [(name, size, "dispatched") for name, size in ROOM_IN_SCHEDULER.items()],
)
def test_a_buffer_is_filled_to_its_last_entry(name: str, size: int, left: str) -> None:
    """As many uops are in it at a time as it has entries by the makers' manuals: a group that just fits is
    issued. Behind the square roots come NOPs, which only have to retire (on Zen 4 two share an entry),
    or additions to the root."""
    plain = "4801c8" if name in RETIRE_QUEUE else NOP
    filler = plain if left == "retired" else "f20f58c1"
    found = 0
    for first in range(6):  # where groups of issue begin
        rows = rows_of(first * NOP + 2 * ROOTS * ROOT + 600 * filler, name, options=PUBLISHED)
        steps: Counter[int] = Counter()
        for row in rows:
            leaves = getattr(row, left)
            if row.issued is not None and leaves is not None:
                steps[row.issued] += 1
                steps[leaves] -= 1
        found = max(found, *accumulate(steps[cycle] for cycle in sorted(steps)))
    assert found == size


@pytest.mark.parametrize(("name", "registers"), [("SNB", 141), ("HSW", 177)])
def test_both_register_files_have_a_common_limit(name: str, registers: int) -> None:
    """Integer and vector results in turn: more fit than into one file, but not as many as into both."""
    assert fits(INTEGER + VECTOR, name) == registers - 1


def test_loads_that_cannot_execute_fill_the_load_matrix() -> None:
    """Loads through a pointer that the square roots compute wait for it; the others leave when they have
    executed. No size is known for Skylake: there the scheduler is the limit."""
    assert fits(LOAD_THROUGH_POINTER, "HSW", start=POINTER) == 32
    assert 32 < fits(LOAD_THROUGH_POINTER, "SKL", start=POINTER) < 97
    assert fits(LOAD, "HSW") > 32


@pytest.mark.parametrize("name", ROOM_IN_ROB)
@pytest.mark.parametrize("filler", [NOP, "31c0", "85c9"], ids=["nop", "xor eax, eax", "test ecx, ecx"])
def test_what_has_no_result_in_a_register_takes_none(name: str, filler: str) -> None:
    """Only the reorder buffer ends it, which issues whole groups."""
    room = ROOM_IN_ROB[name]
    assert room - 5 <= fits(filler, name) + 1 <= room


def test_an_eliminated_move_takes_no_register() -> None:
    """mov eax, ecx: it shares the register of its source."""
    move = "89c8"
    assert fits(move, "SKL", ModelOptions(resources=True, move_elimination=MoveElimination.NONE)) == 156
    assert fits(move, "SKL", ModelOptions(resources=True, move_elimination=MoveElimination.FULL)) > 200


@pytest.mark.parametrize("name", ADD_AT_RENAME)
@pytest.mark.parametrize("filler", [ADDITION, "48ffc9", "488d4105", "48b80500000000000000"])
def test_an_addition_that_the_renamer_carries_out_takes_no_register(filler: str, name: str) -> None:
    """add rcx, 1; dec rcx; lea rax, [rcx+5]; movabs rax, 5: they share the register of their source."""
    room = registry.get(name).reorder_buffer_size
    assert room - 10 <= fits(filler, name, count=600) <= room


@pytest.mark.parametrize("name", ADD_AT_RENAME)
@pytest.mark.parametrize("width", ["64", "32"])
@pytest.mark.parametrize("additions", [1, 3])
def test_a_loop_of_additions_goes_on_for_ever(additions: int, width: str, name: str) -> None:
    """Whether an addition is carried out or, without the prefix of 64 bits, executed: what it holds is free
    again once it has retired, so that the registers never run out."""
    body = "".join({"64": "48", "32": ""}[width] + f"83c{register}01" for register in range(additions))
    code = body + "49ffcf" + f"75{254 - len(body) // 2 - 3:02x}"
    limited = cycles(code, name, min_rounds=2000, options=ON)
    assert limited == cycles(code, name, min_rounds=2000, options=OFF)


@pytest.mark.parametrize("filler", [LOAD, STORE, BRANCH, INTEGER, VECTOR])
def test_without_resources_only_rob_and_rs_are_limited(filler: str) -> None:
    assert fits(filler, "HSW", OFF) > 144
    assert fits(filler, "HSW", PUBLISHED) == fits(filler, "HSW", OFF)


@pytest.mark.parametrize(("stores", "published", "limited"), [(56, 56.0, 56.0), (57, 57.0, 87.0)])
def test_what_does_not_fit_costs_the_overlap(stores: int, published: float, limited: float) -> None:
    """A chain of twenty multiplications (80 cycles) that starts anew in every iteration, with stores behind
    it: up to 56 of them, the store buffer of Skylake, the next chain begins while this one is under way."""
    code = "0f57c0" + 20 * "f20f59c0" + stores * STORE
    assert cycles(code, "SKL", min_rounds=60, options=OFF) == published
    assert cycles(code, "SKL", min_rounds=60, options=ON) == limited


def test_the_hardware_model_has_the_limits_of_hardware() -> None:
    """Unless told otherwise, they come with the hardware model."""
    code = "0f57c0" + 20 * "f20f59c0" + 57 * STORE
    hardware = ModelOptions(model=Model.HARDWARE)
    assert cycles(code, "SKL", min_rounds=60, options=hardware) == 87.0
    assert cycles(code, "SKL", min_rounds=60, options=replace(hardware, resources=False)) == 57.0


def test_an_instruction_that_needs_more_than_there_is_gets_it_alone() -> None:
    """cmpsb loads twice, and the load buffer has one entry."""
    code = "a6"
    small = replace(registry.get("HSW"), load_buffer_size=1)
    limited = simulate(block_of(code, "HSW"), small, options=ON).cycles_per_iteration
    assert limited > cycles(code, "HSW", options=ON)


@pytest.mark.parametrize("name", ["SNB", "HSW", "SKL", "ICL"])
@pytest.mark.parametrize(
    "code",
    [
        "488b0049ffcf75f8",  # a chain of loads
        "4889d84801c34889d94801cb49ffcf75ef",  # moves that may be eliminated
        "488b068948084889074883c6084883c70849ffcf75ea",  # loads and stores
        "f20f51c049ffcf75f7",  # a chain of square roots
    ],
)
def test_a_run_that_ends_when_its_state_repeats_has_the_same_figure(code: str, name: str) -> None:
    """The state covers what is held."""
    early = simulated(code, name, details=False, options=ON)
    full = simulated(code, name, details=True, options=ON)
    assert early.cycles_per_iteration == full.cycles_per_iteration
    assert early.simulated_cycles <= full.simulated_cycles
