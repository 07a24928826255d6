"""The page of ``cyclelens serve`` in a real browser, used by mouse and keyboard."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from testkit import real_editors, workbench
from testkit.accessibility import violations
from testkit.foreground import obey_interrupts
from testkit.workbench import CUT, SCREENSHOTS, wait

PROGRAM = Path(sys.executable).with_name("cyclelens")
CHAIN = """.loop:
    imul rax, rax
    add  rbx, rax
    dec  r15
    jnz  .loop
"""
"""A clipboard's content: Intel syntax, no markers."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with workbench.browser(real_editors.installed("vscode")) as program:
        yield program


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [str(PROGRAM), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=obey_interrupts) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
        assert found
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


@pytest.fixture
def window(chromium: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A window with the page; the test fails if a script fails or a request goes to another host."""
    context = chromium.new_context(
        viewport={"width": 1400, "height": 820}, permissions=["clipboard-read", "clipboard-write"]
    )
    opened = context.new_page()
    troubles: list[str] = []
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on(
        "console",
        # A question that was overtaken is answered with 409, which browsers list.
        lambda said: troubles.append(said.text) if said.type == "error" and "409" not in said.text else None,
    )
    opened.on(
        "request",
        lambda asked: None if asked.url.startswith((address, "data:")) else troubles.append(asked.url),
    )
    opened.goto(address)
    yield opened
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    opened.screenshot(path=SCREENSHOTS / f"page-{request.node.name.removeprefix('test_')}.png")
    context.close()
    assert troubles == []


def figure(window: Any, words: str) -> None:
    wait(words, lambda: words in window.inner_text("#figure:not(.waiting)", timeout=60_000))


def write(window: Any, text: str) -> None:
    """Select all and paste."""
    window.click(".cm-content")
    window.keyboard.press("Control+a")
    window.evaluate("text => navigator.clipboard.writeText(text)", text)
    window.keyboard.press("Control+v")


def hints(window: Any) -> list[str]:
    found: list[str] = window.eval_on_selector_all(".cm-hint", "all => all.map(one => one.textContent)")
    return found


def test_a_kernel_is_pasted_and_its_figure_read(window: Any) -> None:
    figure(window, "4.00 cycles/iter · SKL · latency-bound")
    write(window, CHAIN)
    figure(window, "3.00 cycles/iter")
    assert "chain +3" in " ".join(hints(window))
    report = window.frame_locator("#view iframe")
    report.locator(".headline", has_text="3.00 cycles/iter").wait_for()
    report.locator(".timeline canvas").first.wait_for()
    report.locator("tr[data-row]", has_text="imul").click()
    wait("the line", lambda: "imul" in window.inner_text(".cm-activeLine"))


def test_nothing_is_cut_off_on_a_phone(window: Any) -> None:
    """390 pixels are the width of common phones. Hints of the text and the page around it never need to be
    moved aside."""
    window.set_viewport_size({"width": 390, "height": 844})
    figure(window, "4.00 cycles/iter")
    wait("hints", lambda: hints(window))
    assert window.locator("header").bounding_box()["height"] < 120
    width = "() => document.querySelector('.cm-scroller').scrollWidth"
    wait("lines within the width", lambda: window.evaluate(width) <= 390)
    for tab in window.locator("#tabs button").all():
        tab.click()
        window.locator("#view:not(.waiting) > *").first.wait_for(timeout=60_000)
        if tab.get_attribute("data-view") == "timeline":
            window.frame_locator("#view iframe").locator(".timeline canvas").first.wait_for()

        def cut() -> list[str]:
            frames = [window.main_frame, *window.main_frame.child_frames]
            return [str(each) for frame in frames for each in frame.evaluate(CUT)]

        # A busy machine lays it out late.
        with suppress(AssertionError):
            wait("all of it", lambda: not cut(), 20)
        assert (tab.inner_text(), cut()) == (tab.inner_text(), [])
        window.screenshot(
            path=SCREENSHOTS / f"page-phone-{tab.get_attribute('data-view')}.png", full_page=True
        )


def test_the_usual_choices_come_first_and_the_summary_says_the_others(window: Any) -> None:
    shown = ["microarchitectures", "examples", "save"]
    visible = window.eval_on_selector_all(
        "header select", "all => all.filter((one) => one.checkVisibility()).map((one) => one.id)"
    )
    assert visible == shown
    figure(window, "4.00 cycles/iter · SKL")
    window.click("#options summary")
    window.select_option("#mode", "unroll")
    window.select_option("#alignment", "16")
    window.keyboard.press("Escape")
    assert window.inner_text("#options summary") == "options: mode end to end, start 16"
    assert not window.is_visible("#mode")


def test_the_figure_stands_out_once_and_is_waited_for_visibly(chromium: Any, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()

    def late(route: Any) -> None:
        time.sleep(1)
        route.continue_()

    page.route("**/analysis", late)
    page.goto(address)
    page.locator("#figure.waiting", has_text="Simulating ...").wait_for()
    turning = "() => getComputedStyle(document.querySelector('#figure'), '::before').animationName"
    assert page.evaluate(turning) == "turn"
    figure(page, "4.00 cycles/iter")
    report = page.frame_locator("#view iframe")
    report.locator(".timeline canvas").first.wait_for()
    assert not report.locator("h1").is_visible() and not report.locator("summary h2").is_visible()
    size = "(one) => parseFloat(getComputedStyle(one).fontSize)"
    assert report.locator(".headline b").first.evaluate(size) < page.locator("#figure").evaluate(size)
    context.close()


def test_figures_follow_the_typing(window: Any) -> None:
    figure(window, "4.00 cycles/iter")
    window.click(".cm-line:has-text('vfmadd231ps')")
    window.keyboard.press("End")
    window.keyboard.type("\n    vaddps %ymm0, %ymm0, %ymm0")
    figure(window, "8.00 cycles/iter")
    window.keyboard.type("\n    vaddpz %ymm0")
    wait("the problem", lambda: "vaddpz" in window.inner_text("#problems"))
    assert window.locator(".cm-lintRange-error").count() == 1


def test_another_cpu_is_chosen_from_the_table(window: Any) -> None:
    figure(window, "4.00 cycles/iter · SKL")
    window.click("text=All CPUs")
    window.locator("tr[data-cpu=ZEN5]").wait_for()
    assert window.locator("tr[data-cpu]").count() > 20
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    window.screenshot(path=SCREENSHOTS / "page-cpus.png")
    window.click("tr[data-cpu=HSW]")
    figure(window, "5.00 cycles/iter · HSW")
    assert window.input_value("#microarchitectures") == "HSW"
    window.select_option("#microarchitectures", "ZEN5")
    figure(window, "ZEN5")


def test_a_link_holds_the_text_and_the_choices(window: Any) -> None:
    write(window, CHAIN)
    figure(window, "3.00 cycles/iter")
    window.select_option("#microarchitectures", "ICL")
    figure(window, "ICL")
    window.click("#share")
    window.wait_for_selector("text=Copied")
    link = window.evaluate("() => navigator.clipboard.readText()")
    other = window.context.new_page()
    other.goto(link)
    figure(other, "3.00 cycles/iter · ICL")
    assert "imul rax, rax" in other.inner_text(".cm-content")
    assert other.input_value("#microarchitectures") == "ICL"
    other.goto(link.partition("#")[0] + "#1.broken")
    other.reload()
    wait("the reason", lambda: "link cannot be read" in other.inner_text("#figure"))


def test_a_rewrite_is_applied(window: Any) -> None:
    window.select_option("#examples", "16-bit constant: the predecoder")
    figure(window, "3.44 cycles/iter")
    window.click("text=Rewrites")
    window.locator(".rewrite").first.wait_for()
    window.locator(".rewrite button").first.click()
    figure(window, "1.00 cycles/iter")


def test_a_choice_made_while_the_page_loads_is_kept(chromium: Any, address: str) -> None:
    """Where the list of CPUs comes late, the first example must not replace the one that was chosen."""
    context = chromium.new_context()
    page = context.new_page()

    def late(route: Any) -> None:
        time.sleep(1)
        route.continue_()

    page.route("**/cores", late)
    page.goto(address, wait_until="commit")
    page.select_option("#examples", "16-bit constant: the predecoder")
    figure(page, "3.44 cycles/iter")
    context.close()


def test_straight_code_is_taken_for_a_region_by_a_button(window: Any) -> None:
    write(window, "imul %rcx, %rax\nadd %rax, %rdx\n")
    wait("the button", lambda: window.locator("#figure button").count() == 1)
    window.click("#figure button")
    figure(window, "3.00 cycles/iter")


def test_what_the_text_says_is_never_markup(window: Any) -> None:
    write(
        window,
        "# cyclelens-begin <img/src=x/onerror=alert(1)>\nnop # <script>alert(1)</script>\n# cyclelens-end\n",
    )
    figure(window, "cycles/iter")
    window.click("text=All CPUs")
    window.locator("tr[data-cpu=SKL]").wait_for()
    assert window.locator("body script, img[src]").count() == 0


def test_machine_code_is_read_by_a_button(window: Any) -> None:
    write(window, "48 0f af c0  48 01 c3\n49 ff cf 75 f4")
    window.click("#figure button:text('Read it as instructions')")
    figure(window, "3.00 cycles/iter")
    assert "imul rax, rax" in window.inner_text(".cm-content")
    write(window, "90 06")
    window.click("#figure button:text('Read it as instructions')")
    wait("the reason", lambda: "no valid instruction at byte 0x1" in window.inner_text("#figure"))


def test_a_request_that_seems_superseded_is_sent_again(window: Any) -> None:
    """The one before it may arrive behind it, and the server takes that for the later one."""
    figure(window, "4.00 cycles/iter · SKL")
    overtaken: list[str] = []

    def once(route: Any) -> None:
        if overtaken:
            route.continue_()
        else:
            overtaken.append(route.request.url)
            route.fulfill(status=409, body="{}")

    window.route("**/analysis", once)
    window.click("#beside summary")
    window.check("#beside input[value=HSW]")
    figure(window, "HSW")
    assert overtaken


def test_cpus_stand_beside_each_other(window: Any) -> None:
    figure(window, "4.00 cycles/iter · SKL")
    window.click("#beside summary")
    window.check("#beside input[value=HSW]")
    window.check("#beside input[value=ZEN5]")
    window.keyboard.press("Escape")
    figure(window, "HSW")
    figure(window, "ZEN5")
    assert len(window.inner_text("#figure").splitlines()) == 3
    window.click("text=All CPUs")
    window.locator("tr[data-cpu=ICL] input").check()
    figure(window, "ICL")
    window.locator("tr[data-cpu=HSW] input").uncheck()
    wait("one less", lambda: "HSW" not in window.inner_text("#figure:not(.waiting)"))
    window.click("text=Timeline and table")
    report = window.frame_locator("#view iframe")
    for name in ("SKL", "ZEN5", "ICL"):
        report.locator(".headline", has_text=name).wait_for(state="attached")
    window.click("#share")
    window.wait_for_selector("text=Copied")
    window.reload()
    figure(window, "ICL")
    assert window.inner_text("#beside summary") == "with ICL, ZEN5"


def test_an_instruction_says_what_it_costs(window: Any) -> None:
    figure(window, "4.00 cycles/iter")
    window.hover(".cm-line:has-text('vfmadd231ps') .tok-keyword")
    card = window.locator(".card")
    card.wait_for()
    assert "; per iteration: " in card.inner_text()
    link = card.locator("a")
    assert link.get_attribute("href").startswith("https://uops.info/html-instr/VFMADD231PS")
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noreferrer")


def test_the_report_is_saved(window: Any) -> None:
    figure(window, "4.00 cycles/iter")
    for kind, ending, words in (("html", ".html", "<!DOCTYPE html>"), ("json", ".json", '"regions"')):
        with window.expect_download() as saved:
            window.select_option("#save", kind)
        assert saved.value.suggested_filename == f"kernel{ending}"
        assert words in Path(saved.value.path()).read_text(encoding="utf-8")


def test_what_would_help_is_tried(window: Any) -> None:
    figure(window, "4.00 cycles/iter")
    window.click("text=What if")
    window.locator("#view td", has_text="4 accumulators in place of ymm0").wait_for()


def test_other_tools_stand_beside_ours(window: Any) -> None:
    figure(window, "4.00 cycles/iter")
    window.click("text=Other tools")
    window.locator("#view td", has_text="llvm-mca").wait_for(timeout=60_000)
    assert window.locator("#view tr", has_text="Cyclelens").inner_text().split()[2:4] == ["SKL", "4.00"]
    assert window.locator("#view tr", has_text="OSACA").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screen_readers_find_their_way(chromium: Any, address: str, scheme: str) -> None:
    """axe-core has nothing against any of the views."""
    cache = real_editors.installed("vscode")
    context = chromium.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 820}
    )
    page = context.new_page()
    page.goto(address)
    for tab in page.locator("#tabs button").all():
        tab.click()
        page.locator("#view:not(.waiting) > *").first.wait_for(timeout=60_000)
        assert (tab.inner_text(), violations(cache, page)) == (tab.inner_text(), [])
    context.close()
