"""A real client over stdio: hovers at the hazards of Zen 3 and Zen 4 say what they cost."""

from __future__ import annotations

import asyncio
import re

import pytest
from testkit.server.editor import TIMEOUT, Editor

LOOP = (
    "# cyclelens-begin region arch={core} mode={mode}\n"
    ".L1:\n{body}    dec %r15\n    jnz .L1\n# cyclelens-end\n"
)
STRAIGHT = "# cyclelens-begin region arch={core} mode={mode}\n{body}# cyclelens-end\n"
HAZARDS = {
    "partial-word-store": (LOOP, "loop", "    mov %al, (%rdi)\n    mov %eax, 32(%rdi)\n"),
    "split-by-index": (LOOP, "loop", "    cmp (%rsi,%rcx), %r13\n" + "    mov %rax, %rbx\n" * 23),
    "long-instruction": (
        STRAIGHT,
        "unroll",
        "    movq $0x12345678, 0x12345678(%rdi,%rsi)\n" + "    nop\n" * 4,
    ),
    "crowded-window": (LOOP, "loop alignment=0", "    mov %eax, %ebx\n" * 9),
    "sse-avx-mix": (LOOP, "loop", "    vaddpd %ymm5, %ymm4, %ymm4\n    movaps %xmm1, %xmm4\n"),
}
"""Code -> the text around the body, its mode, and the body."""
NOT_THERE = {("partial-word-store", "ZEN4")}
"""Measured: they cost nothing there."""


@pytest.mark.asyncio
@pytest.mark.parametrize("core", ["ZEN3", "ZEN4"])
async def test_the_hover_at_a_hazard_has_its_price(editor: Editor, core: str) -> None:
    editor.client.set_configuration({}, section="cyclelens")
    await editor.start()
    for code, (around, mode, body) in HAZARDS.items():
        document = Editor(editor.client)
        document.uri = f"file:///{code}.s"
        await document.open(around.format(core=core, mode=mode, body=body))
        await document.complete()
        places = [line for line, found in await document.codes() if found == code]
        if (code, core) in NOT_THERE:
            assert not places
            continue
        assert places, code
        price = None
        async with asyncio.timeout(TIMEOUT):
            while price is None:
                await document.pause()
                price = re.search(r" costs? (\d+\.\d\d) cycles per", await document.hover(places[0]))
        assert float(price[1]) > 0, code
