"""Cyclelens as a library: what a hand-written x86-64 kernel spends its cycles on.

>>> import cyclelens
>>> cyclelens.predict(bytes.fromhex("4801c0"), arch="SKL").cycles_per_iteration  # add %rax, %rax
1.0

The names listed here are stable: only a new major version removes or changes one (docs/python.md). Everything
below ``cyclelens.analyzer`` and ``cyclelens.server`` may change at any time.

Names are loaded on first use, so that the command line starts faster.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclelens.analysis import analyze as analyze
    from cyclelens.analyzer.facts.store import TablesUnavailable as TablesUnavailable
    from cyclelens.analyzer.measuring.harness import CannotMeasure as CannotMeasure
    from cyclelens.measurement import measure as measure
    from cyclelens.prediction import predict as predict
    from cyclelens.prediction import predict_batch as predict_batch
    from cyclelens.results import Assumption as Assumption
    from cyclelens.results import Hazard as Hazard
    from cyclelens.results import Instruction as Instruction
    from cyclelens.results import LevelFigure as LevelFigure
    from cyclelens.results import Measurement as Measurement
    from cyclelens.results import Measurements as Measurements
    from cyclelens.results import PortBinding as PortBinding
    from cyclelens.results import Position as Position
    from cyclelens.results import Prediction as Prediction
    from cyclelens.results import Predictions as Predictions
    from cyclelens.results import Problem as Problem
    from cyclelens.results import Region as Region
    from cyclelens.results import RegionPrediction as RegionPrediction
    from cyclelens.results import Report as Report

    __version__: str

_MODULES = {
    "cyclelens.analysis": ("analyze",),
    "cyclelens.measurement": ("measure",),
    "cyclelens.prediction": ("predict", "predict_batch"),
    "cyclelens.results": (
        "Assumption",
        "Hazard",
        "Instruction",
        "LevelFigure",
        "Measurement",
        "Measurements",
        "PortBinding",
        "Position",
        "Prediction",
        "Predictions",
        "Problem",
        "Region",
        "RegionPrediction",
        "Report",
    ),
    "cyclelens.analyzer.facts.store": ("TablesUnavailable",),
    "cyclelens.analyzer.measuring.harness": ("CannotMeasure",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("cyclelens")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'cyclelens' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
