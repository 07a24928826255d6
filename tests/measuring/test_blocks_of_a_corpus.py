"""``cyclelens measure --blocks`` with rows of a corpus, and with the constant of BHive's paper."""

import csv
import io

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.evaluation.datasets import Selection, holds_model_figures, read_samples
from cyclelens.analyzer.measuring.blocks import measure_block
from cyclelens.analyzer.measuring.requests import BHIVE, SAME, MeasurementRequest
from cyclelens.analyzer.model.choices import Repetition

pytestmark = pytest.mark.timed

CORPUS = "hex,application,count\n4801d8,ls,30\n4801d8,awk,5\nzz,awk,1\n"


def test_columns_of_a_corpus_stay_beside_the_figure(any_clock, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CORPUS.encode())))
    main(["measure", "--blocks", "--mode", "unroll", "--runs", "1"])
    text = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["hex"], row["application"], row["count"]) for row in rows] == [
        ("4801d8", "ls", "30"),
        ("4801d8", "awk", "5"),
        ("zz", "awk", "1"),
    ]
    if not rows[0]["measured_cycles"]:
        pytest.skip(f"nothing was measured: {rows[0]['problem']}")
    assert float(rows[0]["measured_cycles"]) == pytest.approx(1.0, rel=0.2)
    assert rows[2]["problem"] == "not hexadecimal"
    path = tmp_path / "measured.csv"
    path.write_text(text)
    assert not holds_model_figures(path)  # the hardware model is compared with a measurement
    samples = read_samples(path, Selection(("ZEN4",), Repetition.UNROLL))
    assert [(sample.application, sample.count) for sample in samples] == [("ls", 30), ("awk", 5)]


def test_every_register_and_word_may_hold_the_constant_of_bhives_paper(any_clock):
    """A loaded word is the address 0x12345600 again, so a second load through it has its page; with another
    value in memory, the code would touch two pages."""
    assert set(BHIVE.registers.values()) == {0x12345600}
    chained = "488b00488b00"  # mov rax, [rax]; mov rax, [rax]
    for inputs in (BHIVE, SAME):
        found = measure_block(any_clock, chained, Repetition.UNROLL, 1, inputs)
        if found.cycles is None:
            pytest.skip(found.problem)
        assert found.pages == 1
    assert "fill=12345600" in MeasurementRequest(code=b"\x90", instructions=1, inputs=BHIVE).line()
    assert "fill" not in MeasurementRequest(code=b"\x90", instructions=1).line()
