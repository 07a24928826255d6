"""The importer adds a user's measurements to existing tables."""

import shutil

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.facts.importer import ImportProblem, import_tables
from cyclelens.analyzer.facts.store import open_store, shipped_tables
from testkit.published_tables import MEASURED


def imul(store, microarchitecture):
    return next(
        facts
        for facts in store.candidates(microarchitecture, "IMUL_GPRv_GPRv")
        if facts.name == "IMUL (R64, R64)"
    )


@pytest.fixture(scope="module")
def merged(tmp_path_factory):
    """The program's tables with a measurement of SKL added."""
    folder = tmp_path_factory.mktemp("merged")
    source, target = folder / "mine.xml", folder / "tables.sqlite"
    source.write_text(MEASURED.format(name="SKL"))
    assert main(["data", "import", "--merge", "--output", str(target), str(source)]) == 0
    return open_store(target)


def test_the_shipped_tables_are_not_changed(tmp_path, monkeypatch, capsys):
    """Without tables of the user's own the command writes nothing; with them it writes these."""
    source, own, shipped = (tmp_path / name for name in ("mine.xml", "own.sqlite", "shipped.sqlite"))
    source.write_text(MEASURED.format(name="SKL"))
    shutil.copy(shipped_tables(), shipped)
    for module in ("facts.store", "cli.import_tables"):
        monkeypatch.setattr(f"cyclelens.analyzer.{module}.shipped_tables", lambda: str(shipped))
    before = shipped.read_bytes()
    monkeypatch.setenv("CYCLELENS_DATA", "")
    assert main(["data", "import", "--merge", str(source)]) == 1
    assert "tables of your own with --data own.sqlite" in capsys.readouterr().err
    monkeypatch.setenv("CYCLELENS_DATA", str(own))
    assert main(["data", "import", "--merge", str(source)]) == 0
    assert shipped.read_bytes() == before
    assert imul(open_store(own), "SKL").latencies[2, 1].cycles == 7


def test_what_is_stated_is_replaced_and_the_rest_stays(merged):
    before, after = imul(open_store(), "SKL"), imul(merged, "SKL")
    assert (after.base.uops, after.base.ports) == (2, (("06", 2),))
    assert after.base.retire_slots == before.base.retire_slots
    assert after.base.available_simple_decoders == before.base.available_simple_decoders
    assert (before.same_register.uops, after.same_register.uops) == (None, 0)
    assert after.latencies[2, 1].cycles == 7
    assert after.latencies[1, 1] == before.latencies[1, 1]
    assert after.operands == before.operands


def test_what_was_found_on_an_amd_processor_is_not_completed_by_guesses(tmp_path):
    """As published figures are, which tell macro-ops and the pipes of the floating-point unit alone."""
    source, target = tmp_path / "mine.xml", tmp_path / "tables.sqlite"
    source.write_text(MEASURED.format(name="ZEN4").replace('uops="2" ports="2*p06" ', ""))
    assert main(["data", "import", "--merge", "--output", str(target), str(source)]) == 0
    before, after = imul(open_store(), "ZEN4"), imul(open_store(target), "ZEN4")
    assert after.base == before.base
    assert after.latencies[2, 1].cycles == 7
    assert after.constructed, "its units are still what was put together"


def test_jumps_that_were_tried_replace_those_of_the_tables(tmp_path):
    """Also if none of them fuses."""
    for stated, fuses in (('macro_fusible="JO (Rel8)"', {"JO (Rel8)"}), ('macro_fusible=""', set())):
        source, target = tmp_path / "mine.xml", tmp_path / "tables.sqlite"
        text = MEASURED.replace("IMUL_GPRv_GPRv", "CMP_GPRv_GPRv_39").replace("IMUL (", "CMP_39 (")
        source.write_text(text.format(name="SKL").replace('uops="2"', stated))
        import_tables(source, target, base=open_store())
        (cmp,) = (
            facts
            for facts in open_store(target).candidates("SKL", "CMP_GPRv_GPRv_39")
            if facts.name == "CMP_39 (R64, R64)"
        )
        assert cmp.macro_fusible_with == fuses


def test_everything_else_stays_as_it_was(merged):
    original = open_store()
    assert merged.microarchitectures() == original.microarchitectures()
    assert merged.record_count == original.record_count
    assert merged.forms() == original.forms()
    assert imul(merged, "HSW") == imul(original, "HSW")
    for form in original.forms()[::200]:
        assert merged.candidates("ICL", form) == original.candidates("ICL", form)


def test_a_processor_that_the_tables_do_not_have_is_added(tmp_path):
    source, target = tmp_path / "mine.xml", tmp_path / "tables.sqlite"
    source.write_text(MEASURED.format(name="NEW"))
    summary = import_tables(source, target, base=open_store())
    assert summary.microarchitectures[-1] == "NEW"
    store = open_store(target)
    assert imul(store, "NEW").base.uops == 2
    assert imul(store, "SKL") == imul(open_store(), "SKL")


def test_a_file_without_measurements_adds_nothing(tmp_path):
    source = tmp_path / "mine.xml"
    source.write_text('<root><instruction iform="X" string="X"/></root>')
    with pytest.raises(ImportProblem, match="holds no measurements"):
        import_tables(source, tmp_path / "tables.sqlite", base=open_store())
