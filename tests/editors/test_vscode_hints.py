"""Hints in the real VS Code: in one column without a background, in the colours of the theme, calm while one
types."""

from __future__ import annotations

from typing import Any

import pytest
from testkit.workbench import Workbench, wait

KERNEL = """\
# cyclelens-begin dot arch=SKL
.Lblock:
        vmovups (%rsi), %ymm1
        vfmadd231ps (%rdi), %ymm1, %ymm0
        add     $32, %rsi
        dec     %rdx
        jnz     .Lblock
# cyclelens-end
# cyclelens-begin counts arch=SKL mode=unroll
        addw    $0x1234, (%rdi,%rcx,2)
        addw    $0x4321, 64(%rdi,%rcx,2)
        add     $0x100, %ax
# cyclelens-end
"""
CHAIN, FUSED = 4, 7
"""The lines of two hints."""
DRAWN = """() => [...document.querySelectorAll('.view-line [class*="ced-"]')].map((element) => {
    const {content, color, backgroundColor} = getComputedStyle(element, '::after');
    return {text: content === 'none' ? '' : JSON.parse(content), color, background: backgroundColor};
}).filter(({text}) => text)"""
"""The hints on the screen with their colours."""
BEHIND = """(line) => {
    const lines = [...document.querySelectorAll('.view-line')];
    const element = lines.find((each) => each.textContent.includes(line));
    const {right, top, bottom} = element.firstElementChild.getBoundingClientRect();
    return [right - 20, (top + bottom) / 2];
}"""
"""A point on the hint behind the text of a line."""
WORDS = """() => [...document.querySelectorAll('.view-line')]
    .filter((line) => line.textContent.includes('vfmadd231ps'))
    .flatMap((line) => [...line.querySelectorAll('span[class^="mtk"]')])
    .map((word) => [word.textContent.trim(), getComputedStyle(word).color])
    .filter(([word]) => /^%?[a-z]/.test(word))"""
"""The words of one line with their colours."""
CLEAR = "rgba(0, 0, 0, 0)"


@pytest.fixture(scope="module")
def code(window: Workbench) -> Workbench:
    (window.folder / "kernel.s").write_text(KERNEL, encoding="utf-8")
    window.page.set_viewport_size({"width": 1280, "height": 800})
    window.open("kernel.s")
    wait("the bars", lambda: "▇ chain +4" in window.line(CHAIN))
    return window


def drawn(code: Workbench) -> dict[str, dict[str, Any]]:
    return {str(hint["text"]): hint for hint in code.page.evaluate(DRAWN)}


def test_hints_are_coloured_by_heat_and_have_no_background(code: Workbench) -> None:
    seen = set()
    for theme in code.themes():
        code.colours(theme)
        code.screenshot(f"vscode-hints-{theme}")
        hints = drawn(code)
        assert {hint["background"] for hint in hints.values()} == {CLEAR}
        hot, plain = hints["▇ chain +4"]["color"], hints["fused with dec"]["color"]
        mild = next(hint["color"] for text, hint in hints.items() if text[0] in "▃▄▅")
        assert len({hot, mild, plain}) == 3
        seen.add(plain)
    assert len(seen) == 2, "the colours are the theme's"


def test_typing_leaves_each_hint_behind_its_line(code: Workbench) -> None:
    text = code.line(CHAIN).partition("▇")[0].rstrip()
    code.go(CHAIN)
    code.press("End")
    code.type("  # sum")
    # At once: the server has not answered yet.
    assert code.line(CHAIN).startswith(f"{text}  # sum ▇ chain")
    code.press("Enter")
    wait("the hint at its line", lambda: "▇" in code.line(CHAIN) and "▇" not in code.line(CHAIN + 1))
    wait("the other hint", lambda: code.line(FUSED + 1).endswith("fused with dec"))
    code.run("File: Revert File")
    wait("the text as it was", lambda: code.line(FUSED).endswith("fused with dec"))
    wait("its hint", lambda: code.line(CHAIN) == f"{text} ▇ chain +4")


def test_a_hint_under_the_pointer_says_what_it_means(code: Workbench) -> None:
    wait("the hint", lambda: code.line(CHAIN).endswith("▇ chain +4"))
    code.page.mouse.move(*code.page.evaluate(BEHIND, "vfmadd231ps"))
    meaning = "This instruction is on the critical chain"
    wait("the meaning", lambda: any(meaning in text for text in code.texts(".monaco-hover:not(.hidden)")))
    code.press("Escape")


def test_without_the_column_they_are_hints_of_the_editor(code: Workbench) -> None:
    """The words have the same colours where the editor ignores what the server says about them."""
    code.colours("light")
    wait("the hints", lambda: drawn(code))
    words = code.page.evaluate(WORDS)
    assert len({colour for _, colour in words}) == 2, "mnemonics and registers"
    code.configure(**{"cyclelens.hints.column": False, "editor.semanticHighlighting.enabled": False})
    wait("the editor's own hints", lambda: not drawn(code) and "▇ chain +4" in code.line(CHAIN))
    wait("equal colours", lambda: code.page.evaluate(WORDS) == words)
    code.configure()
    wait("the column again", lambda: drawn(code))
