"""Errors per application, weighted by frequency, and categories by topics of used ports (BHive's paper)."""

import json
import sys

import pytest
from cyclelens.analyzer.cli import evaluate as command
from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.evaluation.metrics import weighted_error
from cyclelens.analyzer.evaluation.topics import NO_UNITS, topics

ADD, CHAIN = "4801d8", "4801d84801d8"  # 1 and 2 cycles on Skylake
ROWS = f"hex,measured_cycles,application,count\n{ADD},1.00,ls,30\n{CHAIN},4.00,ls,10\n{ADD},2.00,awk,5\n"


@pytest.fixture
def evaluated(tmp_path, capsys):
    def evaluated(text, *words, status=0):
        path = tmp_path / "blocks.csv"
        path.write_text(text)
        fixed = ["--arch", "SKL", "--mode", "unroll", "--jobs", "1"]
        assert command.main(["--against", str(path), *fixed, *words]) == status
        return capsys.readouterr()

    return evaluated


def test_a_frequent_block_counts_more_in_the_weighted_error():
    # An error of 0 % of 30 executions, and of 50 % of 10.
    assert weighted_error([(1.0, 1.0), (2.0, 4.0)], [30, 10]) == pytest.approx(0.125)
    assert weighted_error([], []) is None


def test_each_application_has_its_error_and_its_weighted_error(evaluated):
    report = json.loads(evaluated(ROWS, "--format", "json").out)
    found = {
        name: (each["mean_error"], each["weighted_error"]) for name, each in report["by_application"].items()
    }
    assert found["ls"] == (pytest.approx(0.25), pytest.approx(0.125))
    assert found["awk"] == (pytest.approx(0.5), pytest.approx(0.5))
    assert report["total"]["weighted_error"] == pytest.approx((10 * 0.5 + 5 * 0.5) / 45)


def test_the_text_has_the_column_only_if_the_file_has_counts(evaluated):
    assert "weighted %" in evaluated(ROWS).out
    without = f"hex,measured_cycles\n{ADD},1.00\n"
    assert "weighted" not in evaluated(without).out


LOADS, VECTORS = {"p23": 4}, {"p01": 3, "p5": 1}


def test_blocks_that_use_other_ports_have_other_topics():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    found = topics([LOADS] * 8 + [VECTORS] * 8 + [{}])
    assert len(set(found[:8])) == len(set(found[8:16])) == 1
    assert found[0] != found[8] and found[16] == NO_UNITS
    assert "p23" in found[0].split(" ")[1] and "p01" in found[8].split(" ")[1]
    assert topics([LOADS] * 8 + [VECTORS] * 8 + [{}]) == found


def test_the_report_has_the_topics_as_kinds_of_blocks(evaluated):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    report = json.loads(evaluated(ROWS, "--categories", "lda", "--format", "json").out)
    assert all("p0156" in name for name in report["by_category"])


def test_without_scikit_learn_the_message_says_how_to_get_it(evaluated, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.decomposition", None)
    with pytest.raises(DatasetError, match="scikit-learn"):
        topics([LOADS])
    said = evaluated(ROWS, "--categories", "lda", status=1).err
    assert "scikit-learn, which is not installed: pip install 'cyclelens[topics]'" in said
