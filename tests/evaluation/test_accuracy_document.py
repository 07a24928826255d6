"""The tables of docs/accuracy.md are complete, and the script that makes them fills them in."""

import re
from pathlib import Path

import pytest
from cyclelens.analyzer.model.choices import Repetition

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    import accuracy_tables

    return accuracy_tables


def test_every_model_and_ablation_has_its_row(script):
    known = (script.MODELS, script.ABLATIONS, script.REDWOOD_COVE_RULES, script.OTHER_TOOLS)
    zen_5 = (script.ZEN_5_RULES, script.ZEN_5_CORES, script.ZEN_5_OTHERS)
    zen_3 = (script.ZEN_3_RULES, script.ZEN_3_CORES, script.ZEN_3_OTHERS)
    for title in (title for each in (*known, *zen_5, *zen_3) for title in each):
        assert f"\n| {title} |" in DOCUMENT


def test_a_table_replaces_what_stood_in_its_place(script):
    names = re.findall(r"<!-- table (\w+) -->", DOCUMENT)
    filled = script.fill(DOCUMENT, dict.fromkeys(names, "| new |"))
    assert filled.count("| new |") == len(names) == 12
    assert script.fill(filled, {}) == filled
    with pytest.raises(SystemExit, match="no place"):
        script.fill(DOCUMENT, {"other": ""})


def test_every_document_has_a_place_for_its_tables(script):
    for document, tables in script.by_document(dict.fromkeys(script.TABLES_ELSEWHERE, "| new |")).items():
        text = (ROOT / "docs" / document).read_text(encoding="utf-8")
        assert script.fill(text, tables).count("| new |") == len(tables)


def test_tables_come_from_predictions(script):
    sample = script.Sample("4801d8", "SKL", Repetition.UNROLL, 1.0, reference=1.25)
    study = script.Study([sample], jobs=1)
    assert script.agreement(study).splitlines()[2] == "| SKL | unroll | 1 | 100.00 | 100.00 |"
    assert "| reference figures | 25.00 / - | 25.00 / - |" in script.measured(study)
