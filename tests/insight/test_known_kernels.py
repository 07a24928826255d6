"""Kernels that others have written about: what is known of them, and what the documents say."""

import csv
import re
from pathlib import Path

import pytest
from blocks import block_of
from cyclelens.analyzer.api import counted_loop
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.form import compiled
from cyclelens.analyzer.simulator.pipeline import simulate

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT.parent / "shared" / "reference"
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the reference set is not beside the repository"
)

PI_O1 = "c5f957c0c5fb2ac0c5fb58c4c5fb59c3c5fb59c0c5fb58c2c5f35ec0c5fb582c24c5fb112c2483c001"  # sum in memory
PI_O2 = "c5f957c0c5fb2ac083c001c5fb58c5c5fb59c3c4e2d999c0c5eb5ec0c5f358c8"
TRIAD = "c4c17d280406c4c17d284c0500c4c2f5980404c5fd2904034883c020"


@pytest.mark.parametrize(
    ("code", "alignment", "measured", "tolerance"),
    [(PI_O1, 0, 9.02, 0.15), (PI_O2, 0, 4.00, 0.10), (TRIAD, 16, 2.04, 0.10)],
    ids=["pi -O1", "pi -O2", "triad"],
)
def test_what_the_osaca_papers_measured_on_skylake(code, alignment, measured, tolerance):
    block = block_of(counted_loop(bytes.fromhex(code)).hex(), "SKL", alignment=alignment)
    predicted = simulate(block, registry.get("SKL")).cycles_per_iteration
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
        code = bytes.fromhex(kernels[name]["hex"])
        block = block_of((counted_loop(code) if loop else code).hex(), "SKL", loop=loop)
        simulation = simulate(block, model, account=True)
        result = simulation.account
        main = result.main_cause()
        named = "full width" if main is None or result.used_share > 0.99 else main.text
        if (named, simulation.cycles_per_iteration) != (cause, figure):
            differ.append((name, named))
    assert differ == []


@needs_reference
def test_the_account_adds_up_on_every_block_of_the_reference_set():
    with (REFERENCE / "throughput-dev.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["microarchitecture"] in registry.names()]
    for row in rows if compiled() else rows[:: len(rows) // 60]:
        loop = row["mode"] == "loop"
        model = registry.get(row["microarchitecture"])
        block = block_of(row["hex"], model.name, loop=loop)
        result = simulate(block, model, account=True).account
        assert sum(result.used) + sum(result.lost.values()) == result.slots > 0, row["hex"]
