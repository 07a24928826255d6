"""What a file's regions have and the tables lack is measured and added to tables of one's own."""

from contextlib import nullcontext

import pytest
from cyclelens.analyzer.characterizing.machines import SimulatedMachine
from cyclelens.analyzer.characterizing.missing import lacking
from cyclelens.analyzer.characterizing.own_figures import add_figures
from cyclelens.analyzer.cli import missing_figures
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.facts import collector
from cyclelens.analyzer.facts.store import open_store, shipped_tables
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.failures import Cancelled

TEXT = "# cyclelens-begin a\n.l:\nimul %rax, %rax\nadd %rbx, %rcx\ndec %r15\njnz .l\n# cyclelens-end\n"
FORM = "IMUL (R64, R64)"


@pytest.fixture(params=["SKL", "ZEN4"])
def core(request):
    return registry.get(request.param)


@pytest.fixture
def tables(core, tmp_path, monkeypatch):
    """Tables whose core lacks one form, as the user's own."""
    monkeypatch.setenv("CYCLELENS_DATA", "")
    store, kept = open_store(), collector.Collector()
    kept.take(store)
    for _, variant, records, _ in kept.variants:
        if variant.name == FORM:
            del records[kept.positions[core.facts_name]]
    path = tmp_path / "own.sqlite"
    kept.write(path)
    monkeypatch.setenv("CYCLELENS_DATA", str(path))
    return path


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "kernel.s"
    path.write_text(TEXT)
    return str(path)


def test_only_what_the_core_lacks_is_found(core, tables):
    code = decode(bytes.fromhex("480fafc0" + "4801d9" + "d9e8"))  # imul, add, fld1
    found = lacking(code, core.facts_name, open_store(tables))
    assert [facts.name for facts, _ in found.described] == [FORM]
    assert dict(found.unknown).get("fld1", "x87 is not modelled") == "x87 is not modelled"


def test_what_was_measured_gives_the_region_its_figure(core, tables, kernel, monkeypatch, capsys):
    def figures():
        capsys.readouterr()
        main(["analyze", kernel, "--arch", core.name])
        return capsys.readouterr().out

    monkeypatch.setenv("CYCLELENS_DATA", "")
    whole = SimulatedMachine(core, open_store(), counted=core.macro_ops is None)
    monkeypatch.setenv("CYCLELENS_DATA", str(tables))
    before = figures()
    assert "at least" in before or "No prediction" in before

    assert missing_figures.run(kernel, core, lambda _: nullcontext(whole)) == 0
    said = capsys.readouterr().out
    assert f"{FORM}: throughput 1.00 cycles, latency 3 to" in said and "1 form of" in said
    after = figures()
    assert "3.00 cycles/iter" in after and "The instruction tables are your own: own.sqlite." in after
    assert missing_figures.run(kernel, core, lambda _: nullcontext(whole)) == 0
    assert "has figures for all instructions" in capsys.readouterr().out


@pytest.mark.parametrize("asked", [1, 2], ids=["before the measurement", "before the tables change"])
def test_a_cancelled_measurement_changes_no_tables(core, tables, asked):
    """It may be cancelled when only the last step is left: the figures of what ended are dropped, too."""
    before, count = tables.read_bytes(), 0

    def cancelled():
        nonlocal count
        count += 1
        return count >= asked

    machine = SimulatedMachine(core, open_store(shipped_tables()), counted=core.macro_ops is None)
    code = decode(bytes.fromhex("480fafc0"))
    with pytest.raises(Cancelled):
        add_figures(code, core, tables, lambda _: nullcontext(machine), cancelled)
    assert count == asked
    assert tables.read_bytes() == before
    assert [each.name for each in tables.parent.iterdir()] == [tables.name]


def test_tables_of_ones_own_must_be_named(kernel, monkeypatch, capsys):
    monkeypatch.setenv("CYCLELENS_DATA", "")
    assert main(["characterize", "--machine", "sim:SKL", "--missing", kernel]) == 1
    assert "name them with --data own.sqlite" in capsys.readouterr().err
