"""The walk of one edited line through the analyzer: the modules it enters, and its returns to one that it had
left."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import cyclelens.analyzer
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target

ROOT = Path(__file__).parents[2]
ANALYZER = str(Path(cyclelens.analyzer.__file__).parent)
MODULES = 129
RETURNS = 960
"""The walk was shortened from 124 modules and 1,453 returns to 114 and 863. The checks of functions, a file
each, and what they read made it 130 and 1,246; then a part of the text kept what its statements say."""


def walk(analyzer: Analyzer, text: str, options: AnalysisOptions) -> list[str]:
    """The modules of the analyzer in the order in which an analysis calls their functions."""
    steps: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_code.co_filename
        if event == "call" and module.startswith(ANALYZER) and steps[-1:] != [module]:
            steps.append(module)

    gc.collect()  # what other tests left must not end on the way
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        analyzer.analyze(text, options)
    finally:
        sys.setprofile(before)
    return steps


def test_an_edit_goes_through_few_modules_and_seldom_back() -> None:
    text = (ROOT / "examples" / "dot_product.s").read_text(encoding="utf-8")
    options = AnalysisOptions(target=Target(microarchitectures=("SPR",)))
    analyzer = Analyzer()
    for version in (text, text.replace("dec     %rdx", "sub     $3, %rdx"), text):
        analyzer.analyze(version, options)
    steps = walk(analyzer, text.replace("add     $32, %rsi", "add     $64, %rsi"), options)
    analyzer.close()
    modules = len(set(steps))
    assert 50 < modules <= MODULES
    assert len(steps) - modules <= RETURNS
