"""Includes whose file name comes from a macro: every file that they can mean counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.files.includes import look
from cyclelens.analyzer.model.source import Origin

CASES = {
    "defined as a file of the workspace": ('#define H "a.h"\n#include H', False),
    "defined nowhere: no file can be meant": ("#include H", False),
    "words of a comment": ("/* Our\n   #include's order matters, and\n#include next to it too. */", False),
    "defined in an included file": ('#include "b.h"\n#include FROM_B', False),
    "defined as a file elsewhere": ('#define H "/etc/hostname"\n#include H', True),
    "once so and once so": ('#if X\n#define H "a.h"\n#else\n#define H "../x.h"\n#endif\n#include H', True),
    "defined by another macro": ('#define H G\n#define G "a.h"\n#include H', False),
    "defined by another macro, elsewhere": ('#define G H\n#define H "/etc/hostname"\n#include G', True),
    "defined by each other": ("#define G H\n#define H G\n#include G", False),
    "made of arguments": ("#define H(x) <x>\n#include H(a.h)", True),
    "defined over two lines": ('#def\\\nine H "/etc/hostname"\n#include H', True),
    "defined after a comment": ('/* a\n*/ # /* b */ define H "/etc/hostname"\n#include H', True),
    "no name at all": ("#include \\u0041", True),
}


@pytest.mark.parametrize(("text", "refused"), CASES.values(), ids=CASES.keys())
def test_a_macro_stands_for_all_that_it_is_defined_as(text: str, refused: bool, tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("")
    (tmp_path / "b.h").write_text('#define FROM_B "a.h"\n')
    found = look(text, "c", Origin(str(tmp_path / "k.S"), (str(tmp_path),)), Caches())
    assert bool(found.refusals) == refused


def test_what_a_macro_names_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "/etc/hostname"\n')
    found = look(
        '#define H "a.h"\n\n#include H', "c", Origin(str(tmp_path / "k.S"), (str(tmp_path),)), Caches()
    )
    assert [refusal.line for refusal in found.refusals] == [2]
    assert look("#include H", "c", Origin(defines=('H="/etc/hostname"',)), Caches()).refusals


def test_an_included_file_that_changed_is_searched_again(tmp_path: Path) -> None:
    origin, caches = Origin(str(tmp_path / "k.S"), (str(tmp_path),)), Caches()
    (tmp_path / "a.h").write_text("nop\n")
    assert not look('#include "a.h"', "c", origin, caches).refusals
    (tmp_path / "a.h").write_text('\n#include "/etc/hostname"\n')
    for _ in range(2):
        (refusal,) = look('\n#include "a.h"', "c", origin, caches).refusals
        assert (refusal.line, "outside of the workspace" in refusal.message) == (1, True)
