"""What a comparison is asked."""

from __future__ import annotations

from dataclasses import dataclass

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Cancel
from cyclelens.analyzer.model.analysis_options import AnalysisOptions


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be compared with something: the ``region`` of this name in ``text``."""

    analyzer: Analyzer
    text: str
    options: AnalysisOptions
    region: str
    other: str = ""
    """Name of the other region, where there is one."""
    path: str = ""
    """The file that holds the text; needed to find its versions."""
    revision: str = "HEAD"
    """The version to compare with."""
    machine_code: bytes | None = None
    """Instead of a text: an ELF file."""
    function: str | None = None
    """Of that, if one of several is wanted."""
    html: bool = False
    """Also as a page, which is for editors that can show one."""
    cancel: Cancel | None = None
    """Asked now and then; once it returns True, ``Cancelled`` is raised."""
