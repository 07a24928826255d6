"""The panel of the real VS Code works with keyboard and screen reader, in light and dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testkit.accessibility import OF_DOCUMENTS, violations
from testkit.workbench import CUT, ROOT, Workbench, wait

TABS = {
    "instructions": "table.instructions",
    "timeline": "canvas",
    "cpus": "td.bar",
    "alignment": "svg",
    "whatif": "td.number",
    "measure": "[data-measure]",
}
"""What each tab shows once it is complete."""


@pytest.fixture(scope="module")
def code(window: Workbench) -> Iterator[Workbench]:
    """A window with one kernel and the panel beside it."""
    shutil.copy(ROOT / "examples" / "lcp_stall.s", window.folder)
    window.page.set_viewport_size({"width": 1280, "height": 800})
    window.open("lcp_stall.s")
    wait("the figure", lambda: "3.44 cycles/iter" in window.line(17))
    window.go(18)
    window.run("Cyclelens: Show the Instructions")
    yield window
    window.run("View: Close All Editors")


def chosen(code: Workbench, tab: str, theme: str) -> Any:
    """The page behind a tab, once it is complete."""
    wait("the tabs", lambda: code.frame() and code.frame().locator(f"[data-tab={tab}]").count())
    code.frame().locator(f"[data-tab={tab}]").click()
    there = f"body.vscode-{theme}:has([data-tab={tab}][aria-selected=true]) main {TABS[tab]}"
    wait(f"the tab {tab}", lambda: code.frame().locator(there).count())
    return next(frame for frame in code.page.frames if frame.query_selector(there))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wrong_with_the_tabs_of_the_panel(cache: Path, code: Workbench, theme: str) -> None:
    code.colours(theme)
    for tab in TABS:
        page = chosen(code, tab, theme)
        code.screenshot(f"vscode-panel-{tab}-{theme}")
        assert violations(cache, page, OF_DOCUMENTS) == [], tab


def test_nothing_is_cut_off_in_a_narrow_panel(code: Workbench) -> None:
    """390 pixels are left for it beside the text in a window of 1110."""
    code.page.set_viewport_size({"width": 1110, "height": 800})
    for tab in TABS:
        page = chosen(code, tab, code.themes()[0])
        code.screenshot(f"vscode-panel-{tab}-narrow")
        assert page.evaluate("() => document.documentElement.clientWidth") < 400
        assert (tab, page.evaluate(CUT)) == (tab, [])
