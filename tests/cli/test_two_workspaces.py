"""Two workspaces work at once in two threads, and neither sees the other's caches."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Analysis

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.s"))[:8]
OPTIONS = AnalysisOptions(target=Target(microarchitectures=("SKL", "ZEN4")))


@pytest.fixture
def hasty() -> Iterator[None]:
    """Makes threads switch as often as the interpreter allows."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def versions() -> list[str]:
    """Every example, and the example after two edits."""
    texts = [file.read_text(encoding="utf-8") for file in EXAMPLES]
    return [text.replace("$1", f"${number}") for text in texts for number in (1, 3, 5)]


def figures(found: Analysis) -> list[object]:
    return [
        (each.microarchitecture, each.cycles_per_iteration, each.positions, region.findings)
        for region in found.regions
        for each in region.predictions
    ]


def answers(workspace: Workspace, texts: list[str]) -> dict[str, list[object]]:
    analyzer = Analyzer(workspace)
    return {text: figures(analyzer.analyze(text, OPTIONS)) for text in texts}


@pytest.mark.usefixtures("hasty")
def test_two_threads_get_what_one_gets() -> None:
    texts = versions()
    alone = answers(Workspace(), texts)
    found: list[dict[str, list[object]]] = []

    def work(order: list[str]) -> None:
        found.append(answers(Workspace(), order))

    threads = [threading.Thread(target=work, args=(order,)) for order in (texts, texts[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone, alone]


def test_a_workspace_has_the_answers_of_its_own_texts_alone() -> None:
    text = versions()[0]
    one, other = Workspace(), Workspace()
    (first,) = Analyzer(one).analyze(text, OPTIONS).regions
    (again,) = Analyzer(one).analyze(text, OPTIONS).regions
    (others,) = Analyzer(other).analyze(text, OPTIONS).regions
    assert all(a is b for a, b in zip(first.predictions, again.predictions, strict=True))
    assert not any(a is b for a, b in zip(first.predictions, others.predictions, strict=True))
    assert figures(Analyzer(other).analyze(text, OPTIONS)) == figures(Analyzer(one).analyze(text, OPTIONS))
    kinds = one.store.caches.kinds()
    assert len(kinds) > 2
    assert not any(one.store.caches.of(kind) is other.store.caches.of(kind) for kind in kinds)
