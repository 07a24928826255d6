"""Pages work with screen readers and the keyboard alone: axe-core finds nothing in a real browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli.main import main
from testkit.accessibility import violations
from testkit.workbench import ROOT


@contextmanager
def opened(chromium: Any, page: Path, scheme: str, width: int) -> Iterator[Any]:
    context = chromium.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 900}
    )
    try:
        shown = context.new_page()
        shown.goto(page.as_uri())
        yield shown
    finally:
        context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with two regions, timelines and hazards."""
    page = tmp_path_factory.mktemp("pages") / "report.html"
    with pytest.MonkeyPatch.context() as patch, page.open("w", encoding="utf-8") as file:
        patch.setattr(sys, "stdout", file)
        assert main(["analyze", str(ROOT / "examples" / "lcp_stall.s"), "--format", "html"]) == 0
    return page


@pytest.mark.parametrize(("scheme", "width"), [("light", 400), ("dark", 1280), ("light", 1920)])
def test_nothing_is_wrong_with_a_report(
    cache: Path, chromium: Any, report: Path, scheme: str, width: int
) -> None:
    with opened(chromium, report, scheme, width) as page:
        page.wait_for_selector("canvas")
        assert violations(cache, page) == []


def test_a_screen_reader_hears_what_a_uop_waited_for(chromium: Any, report: Path) -> None:
    """By the accessibility tree, with the keyboard alone."""
    with opened(chromium, report, "light", 1280) as page:
        page.wait_for_selector("canvas")
        timeline = page.get_by_role("application").first
        assert "Enter goes to the uop that it waited for" in timeline.get_attribute("aria-label")
        for _ in range(40):
            page.keyboard.press("Tab")
            if timeline.evaluate("(element) => element === document.activeElement"):
                break
        else:
            pytest.fail("the timeline cannot be reached by Tab")
        before = page.get_by_role("status").first.inner_text()
        page.keyboard.press("ArrowDown")
        after = page.get_by_role("status").first.inner_text()
        assert before != after and "line 18" in after and "cycles" in after
        assert "columnheader" in page.locator("table").first.aria_snapshot()


def test_a_narrow_report_explains_no_column_that_it_has_not(chromium: Any, report: Path) -> None:
    with opened(chromium, report, "light", 400) as page:
        heads = page.locator("table.instructions").first.locator("th:visible").all_inner_texts()
        legend = page.locator("table.instructions + p").first.inner_text()
        assert "exec." not in heads and "exec." not in legend and "source" not in legend
        assert "issued" in heads and legend.startswith("issued:") and "; ;" not in legend
