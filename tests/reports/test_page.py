"""The HTML report in a real browser: drawn, usable with the keyboard, and without requests or errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.reports.registry import render
from testkit import real_editors, workbench

KERNEL = """# cyclelens-begin chain
.loop:
    imul %rax, %rax
    add  %rax, %rbx
    dec %r15
    jnz .loop
# cyclelens-end
"""
BODY = "".join(f"    add %r{8 + number % 7}, %r{8 + number % 5}\n" for number in range(1300))
LONG = f"# cyclelens-begin long\n.long:\n{BODY}    dec %r15\n    jnz .long\n# cyclelens-end\n"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with workbench.browser(real_editors.installed("vscode")) as program:
        yield program


@pytest.fixture
def page(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """A page that fails the test if a script fails or anything is asked of the network."""
    troubles: list[str] = []
    opened = chromium.new_page(viewport={"width": 1200, "height": 900}, color_scheme="dark")
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("console", lambda message: troubles.append(message.text))
    opened.on(
        "request", lambda request: troubles.append(request.url) if "report" not in request.url else None
    )
    opened.folder = tmp_path
    yield opened
    opened.close()
    assert troubles == []


def first_iteration() -> int:
    """The one that the timeline of ``KERNEL`` begins with: the first that averages are taken over."""
    (region,) = Analyzer().analyze(KERNEL, AnalysisOptions()).regions
    return region.predictions[0].simulation.first_round


def show(page: Any, text: str = KERNEL, *names: str) -> Any:
    """The report of a text, and its first timeline with the focus."""
    options = AnalysisOptions(
        target=Target(microarchitectures=names or ("SKL",)), detail=Detail(trace=True, account=True)
    )
    file = page.folder / "report.html"
    file.write_text(render(Analyzer().analyze(text, options), "kernel.s", "html"), encoding="utf-8")
    page.goto(file.as_uri())
    view = page.locator(".view").first
    view.wait_for()
    view.focus()
    return view


def detail(page: Any) -> str:
    text: str = page.locator(".detail").first.inner_text()
    return text


def pixels(page: Any) -> int:
    """How many colours the picture has."""
    count: int = page.evaluate(
        """() => new Promise((done) => requestAnimationFrame(() => {
            const canvas = document.querySelector('.view canvas');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            done(new Set(new Uint32Array(data.buffer)).size);
        }))"""
    )
    return count


def test_keys_choose_uops_and_the_page_tells_what_each_waited_for(page: Any) -> None:
    show(page)
    first = first_iteration()
    for key in ("PageDown", "PageDown", "PageDown"):
        page.keyboard.press(key)
    assert "imul %rax, %rax" in detail(page)
    assert f"iteration {first + 3}" in detail(page)
    assert "on the critical chain" in detail(page)
    page.keyboard.press("ArrowDown")
    assert "for rax, made by imul %rax, %rax\n" in detail(page) + "\n"
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert f"iteration {first + 2}" in detail(page)
    page.keyboard.press("Backspace")
    assert f"iteration {first + 3}" in detail(page)
    assert page.locator('.detail[role="status"]').count() == 1


def test_what_was_waited_for_is_a_button(page: Any) -> None:
    show(page)
    page.keyboard.press("PageDown")
    page.locator(".detail li button", has_text="(previous iteration)").first.click()
    assert f"iteration {first_iteration()} " in detail(page)


def test_the_picture_is_drawn_and_zoomed(page: Any) -> None:
    view = show(page)
    assert pixels(page) > 10
    wide = view.evaluate("view => view.scrollWidth")
    page.keyboard.press("+")
    assert view.evaluate("view => view.scrollWidth") > wide
    page.keyboard.press("0")
    assert view.evaluate("view => view.scrollWidth") <= view.evaluate("view => view.clientWidth") + 30


def test_the_pointer_tells_what_happens_in_a_cycle(page: Any) -> None:
    view = show(page)
    box = view.bounding_box()
    page.mouse.move(box["x"] + 320, box["y"] + 40)
    tip = page.locator(".tip").first
    tip.wait_for()
    assert f"imul %rax, %rax · iteration {first_iteration()}" in tip.inner_text()


def test_it_begins_where_a_uop_of_the_steady_state_is_executed(page: Any) -> None:
    show(page)
    seen = page.evaluate(
        """() => {
            const timeline = document.querySelector('[data-timeline]').timeline;
            const first = timeline.rows.find((row) => row[0] === Number(timeline.round.value));
            const [dispatched, retired] = [first[10], first[12]];
            const left = timeline.cycleAt(timeline.labels), right = timeline.cycleAt(timeline.width);
            return { round: first[0], inside: left <= dispatched && retired < right };
        }"""
    )
    assert seen == {"round": first_iteration(), "inside": True}


@pytest.mark.parametrize(
    ("name", "says"), [("SKL", "port 1: busy in 33 % of the cycles, 1.00 uops"), ("ZEN2", "ALU1: busy in ")]
)
def test_ports_are_as_busy_as_the_table_says(page: Any, name: str, says: str) -> None:
    """imul 3 cycles, on port 1: a third of the time, wherever one looks. AMD's units have names."""
    view = show(page, KERNEL, name)
    box = view.bounding_box()
    foot = page.evaluate("() => document.querySelector('[data-timeline]').timeline.tall")
    page.mouse.move(box["x"] + 60, box["y"] + 30 + foot + 6 + 16 + 8)
    tip = page.locator(".tip").first
    tip.wait_for()
    assert tip.inner_text().startswith(says)
    assert tip.inner_text().endswith(" uops per iteration")


def test_only_what_is_seen_of_a_long_region_is_drawn(page: Any) -> None:
    view = show(page, LONG)
    assert view.evaluate("view => view.scrollHeight") > 50_000
    assert page.locator("canvas").count() == 1
    drawn = page.evaluate(
        """() => {
            const timeline = document.querySelector('[data-timeline]').timeline;
            let rows = 0;
            const before = timeline.paintRow.bind(timeline);
            timeline.paintRow = (...row) => { rows++; before(...row); };
            timeline.scroller.scrollTop = 20_000;
            timeline.paint();
            return rows;
        }"""
    )
    assert 5 < drawn < 100
    page.keyboard.press("End")
    assert "jnz .long" in detail(page)


def test_other_microarchitectures_are_drawn_when_they_are_opened(page: Any) -> None:
    show(page, KERNEL, "SKL", "HSW")
    assert page.locator("canvas").count() == 1
    page.locator('.multiples a:text("HSW")').click()
    page.locator("canvas").nth(1).wait_for()


def test_a_line_leads_to_its_row_in_the_table(page: Any) -> None:
    show(page)
    page.keyboard.press("PageDown")
    page.keyboard.press("o")
    assert "imul" in page.locator("tr.shown").inner_text()


RECORD = """() => {
    window.drawn = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        window.drawn.push([text, x, y, this.measureText(text).width]);
        write.call(this, text, x, y);
    };
}"""


def test_no_label_of_a_lane_or_a_buffer_covers_another_one(page: Any) -> None:
    """Zen's buffers have long names."""
    page.add_init_script(f"({RECORD})()")
    show(page, KERNEL, "ZEN4")
    page.wait_for_function("window.drawn.some(([text]) => text.startsWith('integer scheduler'))")
    drawn = page.evaluate("window.drawn")
    names = [each for each in drawn if " of " not in each[0]]
    counts = [each for each in drawn if " of " in each[0]]
    assert counts
    for name, x, y, width in names:
        for count, left, top, _ in counts:
            assert abs(top - y) >= 8 or not x <= left < x + width, (name, count)
