"""Published kernels: their known figures, and what the documents say of them."""

import csv
import re
from pathlib import Path

import pytest
from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from testkit.blocks import block_of, in_a_loop
from testkit.narrowing import some

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT.parent / "shared" / "reference"
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the reference set is not beside the repository"
)

PI_O1 = "c5f957c0c5fb2ac0c5fb58c4c5fb59c3c5fb59c0c5fb58c2c5f35ec0c5fb582c24c5fb112c2483c001"  # sum in memory
PI_O2 = "c5f957c0c5fb2ac083c001c5fb58c5c5fb59c3c4e2d999c0c5eb5ec0c5f358c8"
TRIAD = "c4c17d280406c4c17d284c0500c4c2f5980404c5fd2904034883c020"


# Compiled by gcc 12 with -O3 -ffast-math for Skylake and Zen, loop branch included.
PI_O3 = (
    "c5fd6fcbc57ee6d9c4e37d39c901c52558dec5fee6c9c5f558cec52559dfffc0c5f559cfc4c165fed9c442d598dbc4e2d598c9"
    "c4415d5edbc5dd5ec9c52558d9c4c16d58d339c175b7"
)
PI_O3_ZEN = (
    "c5f96fcaffc0c4c169fed1c57ae6d9c5f970c9eec5fae6c9c52158dec5f158cec52159dfc5f159cfc442d198dbc4e2d198c9"
    "c441595edbc5d95ec9c52158d9c4c16158db39c175b8"
)
TRIAD_O2 = "c5fb1004c2c5fb100cc6c4e2f19904c1c5fb1104c748ffc04939c075e3"


@pytest.mark.parametrize(
    ("code", "name", "iterations", "measured", "tolerance"),
    [
        (PI_O1, "SKL", 1, 9.02, 0.15),
        (PI_O2, "SKL", 1, 4.00, 0.10),
        (PI_O3, "SKL", 8, 2.06, 0.10),
        (TRIAD_O2, "SKL", 1, 2.03, 0.10),
        (TRIAD, "SKL", 4, 0.53, 0.10),
        (PI_O1, "ZEN", 1, 11.48, 0.15),
        (PI_O2, "ZEN", 1, 4.96, 0.05),
        (PI_O3_ZEN, "ZEN", 4, 2.44, 0.05),
        (PI_O2, "ZEN2", 1, 4.96, 0.05),
        (PI_O3_ZEN, "ZEN2", 4, 2.44, 0.05),
    ],
)
def test_what_the_osaca_papers_measured(code, name, iterations, measured, tolerance):
    """Cycles of an iteration of the source's loop. The address is one where no jump is at a boundary."""
    closed = code if code.endswith(("75b7", "75b8", "75e3")) else in_a_loop(code)
    block = block_of(closed, name, alignment=16)
    predicted = simulate(block, registry.get(name)).cycles_per_iteration / iterations
    assert predicted == pytest.approx(measured, rel=tolerance)


def documented():
    """Kernel, figure and main cause of every row of the table."""
    for line in (ROOT / "docs/kernels.md").read_text().splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            cause = re.sub(r" \d+%", "", cells[-1].split("; ")[0])
            yield cells[0].strip("`"), float(cells[-3]), cause


def test_the_table_has_a_row_for_every_kernel():
    assert len({name for name, _, _ in documented()}) == 116


@needs_reference
def test_the_table_says_what_the_account_says():
    with (REFERENCE / "kernels.csv").open() as stream:
        kernels = {row["name"]: row for row in csv.DictReader(stream)}
    model = registry.get("SKL")
    differ = []
    for name, figure, cause in list(documented())[::4]:
        loop = kernels[name]["mode"] == "loop"
        code = kernels[name]["hex"]
        block = block_of(in_a_loop(code) if loop else code, "SKL", loop=loop)
        simulation = simulate(block, model, request=RunRequest(account=True))
        result = some(simulation.account)
        main = result.main_cause()
        named = "full width" if main is None or result.used_share > 0.99 else vocabulary.of("SKL").cause(main)
        if (named, simulation.cycles_per_iteration) != (cause, figure):
            differ.append((name, named))
    assert differ == []


@needs_reference
def test_the_account_adds_up_on_every_third_block_of_the_reference_set():
    with (REFERENCE / "throughput-dev.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["microarchitecture"] in registry.names()]
    for row in rows[::3]:
        loop = row["mode"] == "loop"
        model = registry.get(row["microarchitecture"])
        block = block_of(row["hex"], model.name, loop=loop)
        result = some(simulate(block, model, request=RunRequest(account=True)).account)
        assert sum(result.used) + sum(result.lost.values()) == result.slots > 0, row["hex"]
