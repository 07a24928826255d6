"""Loops that a macro makes have their figures at their labels in its body, one for each use."""

from __future__ import annotations

import shutil

import pytest
from testkit.server.editor import Editor

TEXT = """\
%macro FILTER 2
filter_%1x%2:
    mov ecx, %2
.rows:
%rep %1 / 4
    imul rax, rax
%endrep
    dec ecx
    jnz .rows
    ret
%endmacro
section .text
FILTER 8, 2
FILTER 4, 2 ; the small one
"""
LABEL, FIRST, SECOND = 3, 12, 13


@pytest.mark.skipif(shutil.which("nasm") is None, reason="NASM is not installed")
@pytest.mark.asyncio
async def test_each_use_of_a_macro_has_its_figure_at_the_label_of_the_loop(editor: Editor) -> None:
    """imul takes 3 cycles: two of them in one iteration, or one."""
    editor.client.set_configuration({"microarchitectures": ["SKL"]}, section="cyclelens")
    await editor.start()
    await editor.open(TEXT)
    labels = await editor.labels()
    assert labels[LABEL] == "cycles/iter by use: 8, 2: 6.00 · 4, 2: 3.00"
    assert "6.00 cycles/iter" in labels[FIRST] and "3.00 cycles/iter" in labels[SECOND]
