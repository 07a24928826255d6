"""The library's figures by level, and its argument that says where the data are."""

from __future__ import annotations

import cyclelens
import pytest
from testkit.kernels import COPY_LOOP

COPY = f"# cyclelens-begin copy\n{COPY_LOOP}# cyclelens-end\n"


def test_a_prediction_has_the_figures_by_level() -> None:
    (prediction,) = cyclelens.analyze(COPY, arch="ZEN4").region("copy").predictions
    assert [(each.level, each.cycles_per_iteration) for each in prediction.data] == [
        ("L1", 1.0),
        ("L2", 2.0),
        ("L3", 2.45),
        ("memory", 6.9),
    ]
    assert prediction.data[1] == cyclelens.LevelFigure("L2", 2.0, 14)


def test_an_argument_says_where_the_data_are() -> None:
    (prediction,) = cyclelens.analyze(COPY, arch="ZEN4", data="2MiB").region("copy").predictions
    assert prediction.to_dict()["data"]["chosen"] == {"where": "data in L3", "cycles_per_iteration": 2.45}
    assert prediction.cycles_per_iteration == 1.0


def test_another_value_is_an_error_that_lists_the_valid_ones() -> None:
    with pytest.raises(ValueError, match=r"'L9' does not say where the data are: use a level \(L1, L2"):
        cyclelens.analyze(COPY, data="L9")


def test_the_size_of_the_data_says_where_they_are() -> None:
    (prediction,) = cyclelens.analyze(COPY, arch="ZEN4", working_set="2MiB").region("copy").predictions
    assert prediction.to_dict()["data"]["chosen"] == {"where": "data in L3", "cycles_per_iteration": 2.45}
    with pytest.raises(ValueError, match="'L3' is not the size of a working set"):
        cyclelens.analyze(COPY, working_set="L3")
    with pytest.raises(ValueError, match="data and working_set both say where the data are"):
        cyclelens.analyze(COPY, data="L2", working_set="2MiB")
