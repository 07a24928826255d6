"""Loop rewrites in the real VS Code: shown as a difference, applied, checked, and compared with HEAD."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from testkit.workbench import ROOT, Workbench, wait

ROWS = ".action-widget .monaco-list-row"
TOAST = ".notification-toast .monaco-button"
DIFFERENCE = '.tab[aria-label^="dot: "]'
FOUR = "four accumulators"
MARKER = 13
"""The line that opens the region."""


@pytest.fixture(scope="module")
def code(window: Workbench) -> Workbench:
    """A narrow window with a committed kernel."""
    shutil.copy(ROOT / "examples" / "dot_product.s", window.folder)
    name = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], [*name, "add", "."], [*name, "commit", "-qm", "a kernel"]):
        subprocess.run(["git", *words], cwd=window.folder, check=True, capture_output=True)
    window.page.set_viewport_size({"width": 1280, "height": 800})
    return window


def offered(code: Workbench, start: str) -> str:
    """The title of a code action at the loop, whose menu stays open."""

    def found() -> str:
        code.press("Escape", "Control+.")
        code.page.wait_for_timeout(1000)
        return next((row for row in code.texts(ROWS) if start in row), "")

    code.open("dot_product.s")
    code.go(MARKER + 2)
    return str(wait(start, found))


def decide(code: Workbench, title: str) -> None:
    """Press a button in the title bar of the difference."""
    code.page.locator(f'.editor-actions a[aria-label^="{title}"]').click()


def discard(code: Workbench) -> None:
    """Discard the shown rewrite, and wait until it has disappeared."""
    decide(code, "Discard the Rewrite")
    wait("the difference to close", lambda: not code.texts(DIFFERENCE))


def test_a_rewrite_is_shown_as_a_difference_and_applied_by_one_click(code: Workbench) -> None:
    assert offered(code, FOUR).startswith("0.500 -> 0.125 cycles/float, 4.0x: ")
    code.click(ROWS, FOUR)
    wait("the difference", lambda: code.texts(".monaco-diff-editor .line-insert"))
    (details,) = wait("what it does", code.notifications)
    assert "Whether the results are equal is not checked" in details
    assert code.texts(DIFFERENCE)
    code.screenshot("vscode-rewrite-preview")
    discard(code)
    wait("the text", lambda: code.line(MARKER).startswith("# cyclelens-begin dot"))
    assert "ymm4" not in "".join(code.lines().values())

    offered(code, FOUR)
    code.click(ROWS, FOUR)
    wait("the difference", lambda: code.texts(".monaco-diff-editor .line-insert"))
    # The message goes away; the button stays.
    code.run("Notifications: Clear All Notifications")
    decide(code, "Apply the Rewrite")
    figure = "0.500 -> 0.125 cycles/float, 4.0x"
    wait("what it brought", lambda: any(figure in text for text in code.lines().values()))
    code.run("File: Revert File")
    wait("the old text", lambda: code.line(MARKER).startswith("# cyclelens-begin dot"))


def test_a_region_is_compared_with_head_and_nothing_is_cut_off(code: Workbench) -> None:
    code.open("dot_product.s")
    code.go(MARKER + 3)
    code.press("End", "Enter")
    code.type("vaddps %ymm0, %ymm0, %ymm0")
    wait("the change", lambda: "0.50 -> 1.00 cycles/float" in code.line(MARKER))
    code.run("Cyclelens: Compare with HEAD")
    wait("the figures", lambda: "+100 % time" in code.panel("dot against HEAD"))
    table, page = code.frame().locator("table"), code.frame().locator("body")
    # The page may get its place a moment behind its text.
    wait("room", lambda: table.bounding_box()["width"] <= page.bounding_box()["width"])
    code.press("Control+1")
    code.run("File: Revert File")
    code.run("View: Close All Editors")


def test_rewrites_are_checked_after_a_question_and_say_so(code: Workbench) -> None:
    try:
        Harness().close()
    except CannotMeasure as error:
        pytest.skip(f"nothing can be run here: {error}")
    offered(code, "Check the rewrites of dot")
    code.click(ROWS, "Check the rewrites of dot")
    wait("the question", lambda: any("runs the code of the region" in each for each in code.notifications()))
    code.screenshot("vscode-check-question")
    code.click(TOAST, "Run It")
    said = "dot: of 2 rewrites 2 compute the same"
    wait("the answer", lambda: any(said in each for each in code.notifications()))
    code.screenshot("vscode-checked")
    code.run("Notifications: Clear All Notifications")
    assert offered(code, FOUR).endswith("(checked)")
    code.click(ROWS, FOUR)
    details = wait("what it does", code.notifications)[0]
    assert "Checked: the same results on 10,000 random inputs" in details
    discard(code)


def test_advice_has_room_behind_a_measured_figure(code: Workbench) -> None:
    try:
        Harness().close()
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")
    code.open("dot_product.s")
    wait("the advice", lambda: "rewrite: 0.125" in code.line(MARKER))
    code.go(MARKER + 2)
    code.run("Cyclelens: Measure")

    def measured() -> bool:
        said = code.notifications()
        # It was asked before if the test above could run something.
        if any("runs the code of the region" in text for text in said):
            code.click(TOAST, "Run It")
        if any("busy" in text or "the clock" in text for text in said):
            code.run("Notifications: Clear All Notifications")
            code.run("Cyclelens: Measure")
        return ", measured " in code.line(MARKER)

    wait("the measured figure", measured)
    wait("the core that was predicted", lambda: " · SKL · latency-bound" in code.line(MARKER))
