"""Pages as screen readers need them: axe-core finds nothing in a real browser, and the keyboard is enough."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli import main
from workbench import ROOT, Server, Workbench, wait

PROGRAM = Path(sys.executable).with_name("cyclelens")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
FRAGMENT = ("html-has-lang", "landmark-one-main", "page-has-heading-one", "region", "document-title")
"""Rules about whole documents, which the editor around a panel is in charge of."""


def violations(cache: Path, frame: Any, without: tuple[str, ...] = ()) -> list[str]:
    """Rule, reason and element of everything that axe-core finds."""
    frame.evaluate((cache / "axe" / "axe_playwright_python" / "axe.min.js").read_text(encoding="utf-8"))
    options = {"runOnly": RULES, "rules": {rule: {"enabled": False} for rule in without}}
    found = frame.evaluate(f"axe.run(document, {json.dumps(options)})")
    assert len(found["passes"]) > 10, "it has looked at the page"
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:200]}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280, 1920])
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
        assert "issued" in heads and "issued:" in legend


@pytest.mark.parametrize("theme", ["Default Light Modern", "Default Dark Modern"])
def test_nothing_is_wrong_with_the_tabs_of_the_panel(
    cache: Path, vsix: Path, chromium: Any, tmp_path: Path, theme: str
) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "lcp_stall.s", folder)
    server = Server(cache, tmp_path)
    own = {"cyclelens.server.path": str(PROGRAM)}
    server.configure(user={"workbench.colorTheme": theme}, machine=own)
    server.install(vsix)
    with server.running("--disable-workspace-trust") as address:
        code = Workbench(chromium, address, server, folder)
        code.page.set_viewport_size({"width": 1280, "height": 800})
        code.open("lcp_stall.s")
        wait("the figure", lambda: "3.44 cycles/iter" in code.line(17))
        code.go(18)
        code.run("Cyclelens: Show the Instructions")
        for tab in ("timeline", "instructions", "cpus", "alignment", "whatif", "measure"):
            page = choose(code, tab)
            code.screenshot(f"vscode-accessible-{tab}-{theme.split()[1].lower()}")
            assert violations(cache, page, FRAGMENT) == [], tab
        code.page.close()


def choose(code: Workbench, tab: str) -> Any:
    """The page with a tab of the panel in front."""
    wait("the tabs", lambda: code.frame().locator(f"[data-tab={tab}]").count())
    code.frame().locator(f"[data-tab={tab}]").click()
    chosen = f"[data-tab={tab}][aria-selected=true]"
    wait(f"the tab {tab}", lambda: code.frame().locator(chosen).count())
    return next(frame for frame in code.page.frames if frame.query_selector(chosen))
