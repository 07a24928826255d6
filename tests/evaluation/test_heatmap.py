"""The heat map: its format follows the file ending, it is reproducible, and mistakes are reported before
any work."""

import sys

import pytest
from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.evaluation.heatmap import check_possible, write_heatmap

PAIRS = [(1.0, 1.0), (2.0, 2.5), (100.0, 80.0), (0.25, 0.25)]


@pytest.mark.parametrize(("name", "start"), [("map.svg", b"<?xml"), ("map.PNG", b"\x89PNG")])
def test_the_file_ending_decides_and_the_same_pairs_give_the_same_file(tmp_path, name, start):
    pytest.importorskip("matplotlib", reason="the optional extra 'plots' is not installed")
    path, again = tmp_path / name, tmp_path / f"again-{name}"
    check_possible(path)
    write_heatmap(path, PAIRS, "title")
    write_heatmap(again, PAIRS, "title")
    assert path.read_bytes().startswith(start)
    assert path.read_bytes() == again.read_bytes()


def test_nothing_to_draw(tmp_path):
    pytest.importorskip("matplotlib", reason="the optional extra 'plots' is not installed")
    with pytest.raises(DatasetError, match="no predicted block"):
        write_heatmap(tmp_path / "map.svg", [(0.0, 1.0)], "title")


def test_other_endings_and_a_missing_library_are_refused(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match=r"\.svg or \.png"):
        check_possible(tmp_path / "map.pdf")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DatasetError, match="pip install"):
        check_possible(tmp_path / "map.svg")
