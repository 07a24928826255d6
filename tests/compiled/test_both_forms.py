"""The simulator's files run compiled and as plain Python, and say the same to the last event."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.form import compiled
from simulations import Task, simulation_lines

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"
MICROARCHITECTURES = registry.names()

pytestmark = pytest.mark.skipif(
    not compiled(), reason="the simulator is not compiled: there is no second form to compare with"
)

# Something for every stage: latencies, dividers, moves, partial registers, the stack, memory, microcode,
# prefixes that change lengths, fences, fused and unlaminated pairs.
# fmt: off
INSTRUCTIONS = (
    "4801d8", "4811d8", "48ffc1", "480fafc1", "f7f1", "48d3e0", "488d444b08", "4889d8", "88dc", "0fb6d4",
    "31c0", "90", "0f1f840000000000", "48baf0debc9a78563412", "66053412", "488b00", "488b3e", "4889043e",
    "4803043e", "48830601", "50", "59", "0f28c1", "660fefc9", "0f58c1", "0f5ec1", "fc", "f00106", "0faee8",
    "480fc7cb", "c5fc58c1", "c4e275b80e", "c5fc1006", "c5fc110f", "0fa2", "f3a4", "86c4", "4839c8", "7400",
)
# fmt: on


def examples() -> list[Task]:
    """Every example on one microarchitecture, in turn."""
    tasks = []
    for number, file in enumerate(sorted((ROOT / "examples").glob("*_intel.s"))):
        for region in assemble(file.read_text(encoding="utf-8")).regions:
            name = MICROARCHITECTURES[number % len(MICROARCHITECTURES)]
            tasks.append(Task(region.code.hex(), name, region.ends_in_jump_to_start))
    return tasks


def generated() -> list[Task]:
    """Blocks of one to eight of the instructions, as loops and unrolled, at any alignment, every second with
    limited resources."""
    choose = random.Random(4)
    tasks = []
    for number in range(3 * len(MICROARCHITECTURES)):
        code = "".join(choose.choices(INSTRUCTIONS, k=choose.randint(1, 8)))
        name = MICROARCHITECTURES[number % len(MICROARCHITECTURES)]
        alignment = choose.choice((0, 0, 13, 32, 57))
        end = loop_end(decode(bytes.fromhex(code)))
        resources = number % 2 == 1
        tasks.append(Task(code, name, False, alignment, resources))
        if end is not None:
            tasks.append(Task(code + end.hex(), name, True, alignment, resources))
    return tasks


TASKS = (*examples(), *generated())


@pytest.fixture(scope="module")
def plain() -> dict[Task, list[str]]:
    """The lines of every task as plain Python says them."""
    run = subprocess.run(
        [sys.executable, SUPPORT / "uncompiled.py", SUPPORT / "simulations.py"],
        input="\n".join(json.dumps(task) for task in TASKS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    file, *lines = run.stdout.splitlines()
    assert file.endswith("clock.py"), "this was not plain Python"
    return dict(zip(TASKS, map(json.loads, lines), strict=True))


@pytest.mark.parametrize(
    "task", TASKS, ids=lambda task: f"{task.microarchitecture}-{task.code[:16]}-{task.loop:d}"
)
def test_both_forms_say_the_same(task: Task, plain: dict[Task, list[str]]) -> None:
    assert simulation_lines(task) == plain[task]


def test_every_stage_is_compiled() -> None:
    """A stage that fell back to plain Python would be slow without a word."""
    folder = ROOT / "analyzer" / "simulator"
    declared = {".".join(file.relative_to(folder).with_suffix("").parts) for file in folder.rglob("*.pxd")}
    rooms = ("front_end", "back_end")
    stages = {f"{room}.{file.stem}" for room in rooms for file in (folder / room).glob("[!_]*.py")}
    assert stages <= declared, "they have no file for their declarations: dev/declarations.py fills it"
    missing = []
    for name in sorted(declared):
        module = f"cyclelens.analyzer.simulator.{name}"
        if str(import_module(module).__file__).endswith(".py"):
            missing.append(name)
    assert missing == []
