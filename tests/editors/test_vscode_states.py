"""What the real VS Code shows of a region in each of its states, with pictures, narrow and wide."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from msgspec import Struct
from testkit.workbench import Workbench, wait

WIDTHS = (1280, 1920)

DOT = """\
# Multiplies and adds, with one sum that all of them wait for.
# cyclelens-begin dot{options}
.Lblock:
        vmovups (%rsi), %ymm1           # eight floats
        vfmadd231ps (%rdi), %ymm1, %ymm0
{more}        add     $32, %rsi
        add     $32, %rdi
        dec     %rdx
        jnz     .Lblock
# cyclelens-end
"""
HASH = """\
# Every byte goes into a number that is multiplied at once.
# cyclelens-begin hash
.Lbyte:
        movzbl  (%rdi), %eax
        xor     %rax, %rdx
        imul    %rcx, %rdx
        inc     %rdi
        dec     %rsi
        jnz     .Lbyte
# cyclelens-end
"""
STORES = """\
# Constants of 16 bits, added to memory.
# cyclelens-begin counts mode=unroll
        addw    $0x1234, (%rdi,%rcx,2)
        addw    $0x4321, 64(%rdi,%rcx,2)
        add     $0x100, %ax
        inc     %rcx
# cyclelens-end
"""
X87 = """\
# The old unit, of which no figures are known.
# cyclelens-begin sum
.Lnext:
        fldl    (%rdi)
        faddp   %st, %st(1)
        add     $8, %rdi
        dec     %rsi
        jnz     .Lnext
# cyclelens-end
"""
PART = """\
# One instruction of which no figures are known.
# cyclelens-begin part
.Lagain:
        imul    %rax, %rax
        clac
        dec     %rsi
        jnz     .Lagain
# cyclelens-end
"""
OWN = """\
# Nothing is marked here.
product:
        mov     $1, %eax
.Lnext:
        imul    (%rdi), %rax
        add     $8, %rdi
        dec     %rsi
        jnz     .Lnext
        ret
"""
SCAN = """\
# Looks for a byte.
        .p2align 4
find:
        push    %rbx
        nop
# cyclelens-begin find
.Lchunk:
        vpcmpeqb (%rdi), %ymm0, %ymm1
        vpmovmskb %ymm1, %eax
        add     $32, %rdi
        test    %eax, %eax
        jz      .Lchunk
# cyclelens-end
"""


def typed(line: int, text: str) -> Callable[[Workbench], None]:
    """Type a line behind another one."""

    def type_it(code: Workbench) -> None:
        code.go(line)
        code.press("End", "Enter")
        code.type(text)

    return type_it


def deleted(line: int) -> Callable[[Workbench], None]:
    def delete(code: Workbench) -> None:
        code.go(line)
        code.press("Control+Shift+k")

    return delete


def measured(code: Workbench) -> None:
    try:
        Harness().close()
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")
    code.go(5)
    code.run("Cyclelens: Measure")

    def answered() -> bool:
        if any("runs the code of the region" in text for text in code.notifications()):
            code.click(".notification-toast .monaco-button", "Run It")
        if any("busy" in text for text in code.notifications()):
            code.run("Notifications: Clear All Notifications")
            code.run("Cyclelens: Measure")
        return ", measured " in code.line(2)

    wait("the measured figure", answered)


class State(Struct, frozen=True):
    text: str
    first: str
    """What the region's line says when the file is open."""
    then: str = ""
    """What it says after something was done."""
    do: Callable[[Workbench], None] | None = None
    line: int = 2
    status: str = ""
    """What the item in the status bar says."""


PLACES = ((1280, 5, "instruction"), (1920, 5, "instruction"), (1920, 2, "region"))
"""Width of the window, line of a hover, and what is there."""
ROWS = """() => {
    const hover = document.querySelector('.monaco-hover:not(.hidden)');
    const block = [...(hover?.querySelectorAll('.monaco-tokenized-source, pre code') ?? [])].find(
        (element) => element.innerText.includes(' 01234'));
    if (!block) return null;
    const range = document.createRange();
    range.selectNodeContents(block);
    const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
    block.scrollIntoView({block: 'nearest'});
    return [block.innerText.replaceAll('\\r', '').trimEnd().split('\\n').length, tops.size];
}"""
"""Rows of the picture in the hover: those of the text, and those on the screen; null without one."""
ONE = DOT.format(options="", more="")
TWO = DOT.format(options="", more="        vfmadd231ps (%rdi), %ymm1, %ymm0\n")
ADVICE = "0.500 cycles/float · SKL · latency-bound · rewrite: 0.125"
STATES = {
    "plain": State(HASH, "4.00 cycles/byte · 4.00 cycles/iter · SKL · latency-bound"),
    "hazards": State(STORES, "cycles/byte"),
    "advice": State(ONE, ADVICE),
    "faster": State(TWO, "1.00 cycles/float", "1.00 -> 0.50 cycles/float, 2.0x", deleted(6)),
    "slower": State(
        ONE, "0.500 cycles/float", "0.50 -> 1.00 cycles/float", typed(5, "vaddps %ymm1, %ymm0, %ymm0")
    ),
    "measured": State(ONE, "0.500 cycles/float", "predicted 4.00, measured ", measured),
    "mistake": State(ONE, "0.500 cycles/float", "latency-bound (stale)", typed(5, "vmovupps (%rax), %ymm3")),
    "missing": State(DOT.format(options=" arch=SNB", more=""), "SNB has no FMA", status="no figure · SNB"),
    "left out": State(X87, "SKL: no figure, x87 is not modelled", status="no figure · SKL"),
    "lower bound": State(PART, "at least 3.00 cycles/iter · SKL", status="at least 3.00 cycles/iter · SKL"),
    "unmarked": State(OWN, "3.00 cycles/iter", line=4),
    # The hint is cut where the editor cuts hints; the status item has all of it.
    "positions": State(
        SCAN,
        "0.031 cycles/byte",
        status="0.031 cycles/byte · 1.00 cycles/iter (to 1.07: depends on port binding)",
        line=6,
    ),
}


@pytest.fixture(scope="module")
def code(window: Workbench) -> Workbench:
    """A window with a file for each state."""
    for name, state in STATES.items():
        (window.folder / f"{name}.s").write_text(state.text, encoding="utf-8")
    return window


@pytest.mark.parametrize("name", STATES)
def test_a_region_says_what_is_the_matter(code: Workbench, name: str) -> None:
    state = STATES[name]
    code.page.set_viewport_size({"width": WIDTHS[0], "height": 800})
    code.open(f"{name}.s")
    wait("the first figure", lambda: state.first in code.line(state.line))
    if state.do:
        state.do(code)
        wait("the change", lambda: state.then in code.line(state.line))
    wait("the status item", lambda: code.status().startswith(state.status))
    for width in WIDTHS:
        code.page.set_viewport_size({"width": width, "height": 800})
        wait("the same", lambda: (state.then or state.first) in code.line(state.line))
        code.screenshot(f"state-{name}-{width}")
    code.run("File: Revert File")


def test_hints_stand_in_one_column_and_a_dot_is_between_two(code: Workbench) -> None:
    code.page.set_viewport_size({"width": WIDTHS[0], "height": 800})
    code.open("hazards.s")
    wait("the bars", lambda: re.search("[▁-█]", code.line(3)))
    lines = code.lines()
    assert "LCP stall · unlaminated" in lines[3]
    columns = {lines[2].index("5.12"), lines[3].index("LCP"), lines[4].index("LCP"), lines[5].index("LCP")}
    assert len(columns) == 1


def test_findings_say_their_price_and_worthless_ones_are_one_faint_line(code: Workbench) -> None:
    code.open("hazards.s")
    code.run("Problems: Focus on Problems View")
    priced = r"Length-changing prefix.* It costs \d\.\d\d cycles per iteration here\."
    wait("the price", lambda: re.search(priced, " ".join(code.texts(".markers-panel"))))
    code.screenshot("vscode-prices")
    assert "unlamination" not in " ".join(code.texts(".markers-panel")), "they cost nothing here"
    code.page.locator(".squiggly-hint").first.wait_for()
    code.run("View: Hide Panel")


def test_a_hover_is_short_and_in_the_syntax_of_the_file(code: Workbench) -> None:
    code.open("plain.s")
    wait("the figure", lambda: "4.00 cycles/iter" in code.line(2))
    code.go(6)
    code.press(*["ArrowRight"] * 10)

    def card() -> str:
        text = " ".join(code.texts(".monaco-hover:not(.hidden)"))
        return text if "R retired" in text else ""

    shown, _, timeline = code.hover("the card", card).partition("Timeline of two iterations")
    code.screenshot("vscode-hover")
    assert "imul %rcx, %rdx" in shown and "rdx, rcx" not in shown
    assert len(shown) < 1200
    assert timeline.count(">1 imul %rcx, %rdx") == timeline.count(">2 imul %rcx, %rdx") == 1
    code.press("Escape")


def test_the_timeline_of_a_hover_does_not_wrap(code: Workbench) -> None:
    """Every row of the picture is one line on the screen, at the default width of hovers."""
    code.open("advice.s")
    wait("the figure", lambda: "0.500 cycles/float" in code.line(2))

    def rows() -> list[int]:
        found: list[int] = code.page.evaluate(ROWS)
        return found

    for width, line, name in PLACES:
        code.page.set_viewport_size({"width": width, "height": 800})
        code.go(line)
        code.press(*["ArrowRight"] * 10)
        drawn, seen = code.hover("the picture", rows)
        code.screenshot(f"vscode-hover-{name}-{width}")
        assert drawn == seen >= 8
        code.press("Escape")


def test_a_server_killed_during_edits_remembers_the_last_save(code: Workbench) -> None:
    code.open("slower.s")
    wait("the figure", lambda: "0.500 cycles/float" in code.line(2))
    typed(5, "vaddps %ymm1, %ymm0, %ymm0")(code)
    wait("the change", lambda: "0.50 -> 1.00 cycles/float" in code.line(2))
    # Enter would take a suggestion that is open.
    code.press("Escape", "Enter")
    code.type("vaddps %ymm1, ")
    code.server.kill("lsp")
    code.type("%ymm0, %ymm0")
    wait("the change since the last save", lambda: "0.50 -> 1.50 cycles/float" in code.line(2))
    assert code.notifications() == []
    code.run("File: Revert File")
