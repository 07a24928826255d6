"""Loops of object files as texts: every rewrite that is tried holds for the loop, or none is tried."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.result import RegionAnalysis
from cyclelens.analyzer.rewrites.compiled_loops import as_text, rebuilt
from cyclelens.analyzer.rewrites.search import advise
from msgspec.structs import replace

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
OPTIONS = AnalysisOptions()


def loop(tmp_path: Path, body: str) -> RegionAnalysis:
    source = tmp_path / "k.c"
    source.write_text(f"double k(const double *a, long n, double s) {{ {body} return s; }}")
    subprocess.run(["gcc", "-O2", "-c", source, "-o", tmp_path / "k.o"], check=True)
    return Analyzer().analyze_object((tmp_path / "k.o").read_bytes(), OPTIONS).regions[0]


def test_a_sum_is_advised_to_have_more_accumulators(tmp_path: Path) -> None:
    found = rebuilt(Analyzer(), loop(tmp_path, "for (long i = 0; i < n; i++) s += a[i];"), OPTIONS, None)
    assert found is not None
    text, options, region = found
    assert text.count("cyclelens_again") == 2
    assert str(advise(Analyzer(), text, options, "intel", region)).startswith("two accumulators: 2.00")


def test_a_text_with_another_figure_is_not_used(tmp_path: Path) -> None:
    region = loop(tmp_path, "for (long i = 0; i < n; i++) s += a[i];")
    (prediction,) = region.predictions
    other = replace(region, predictions=(replace(prediction, cycles_per_iteration=3.0),))
    assert rebuilt(Analyzer(), other, OPTIONS, None) is None


def test_a_loop_that_branches_within_itself_has_no_text(tmp_path: Path) -> None:
    body = 'for (long i = 0; i < n; i++) if (a[i] > s) { s *= a[i]; __asm__ volatile(""); } else s += 2;'
    assert as_text(loop(tmp_path, body)) == ""
