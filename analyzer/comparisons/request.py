"""The input of a comparison."""

from __future__ import annotations

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Cancel
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from msgspec import Struct


class ComparisonRequest(Struct, frozen=True):
    """A comparison of the region named ``region`` in ``text``."""

    analyzer: Analyzer
    text: str
    options: AnalysisOptions
    region: str
    other: str = ""
    """Name of the other region, if there is one."""
    path: str = ""
    """File that contains the text; needed to find its versions."""
    revision: str = "HEAD"
    """Version to compare with."""
    machine_code: bytes | None = None
    """ELF file that replaces the text."""
    function: str | None = None
    """Function of the ELF file, if only one is wanted."""
    beside: ComparisonRequest | None = None
    """A region of another file to compare with; its own options are not used."""
    html: bool = False
    """Also make an HTML page, for editors that can show one."""
    cancel: Cancel | None = None
    """Called regularly; once it returns True, ``Cancelled`` is raised."""
