"""The files that an assembler may read while it assembles a text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler
from cyclelens.analyzer.model.source import Origin
from testkit.whole_files import lines, needs_gnu_as, needs_nasm, problems


@needs_gnu_as
def test_a_mistake_in_an_included_file_is_at_the_line_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "bad.inc").write_text("frobnicate %rax\n")
    text = '# cyclelens-begin\nxyzzy %rax\n.include "bad.inc"\nret\n# cyclelens-end\n'
    result = assemble(
        text, SourceOptions(assembler=Assembler.GAS, origin=Origin(str(tmp_path / "k.s"), (str(tmp_path),)))
    )
    assert problems(result) == [(2, "assembler-error", "error"), (3, "assembler-error", "error")]
    assert "no such instruction: `frobnicate" in result.problems[1].message
    assert lines(result) == [(4, "c3")]


ELSEWHERE = {
    "written out": '%include "../secret"',
    "without a space": '%include"../secret"',
    "over two lines": '%incl\\\nude "../secret"',
    "data": 'incbin "../secret"',
    "data of a macro": '%define f "../secret"\nincbin f',
    "data, the word put together": '%define put inc %+ bin\nput "../secret"',
    "data beside data of the workspace": '%define put inc %+ bin\nincbin "own"\nput "../secret"',
    "the argument of a macro": '%macro m 1+\n%1\n%endmacro\nm %include "../secret"',
    "a macro": '%define m %include\n%[m] "../secret"',
    "a word made of strings": "%strcat s '%incl', 'ude'\n%deftok d s\n%[d] \"../secret\"",
    "a word made of a string by a function": "%[%tok('%include')] \"../secret\"",
    "found by NASM": '%pathsearch f "../secret"\n%include f',
    "required": '%define f "../secret"\n%require f',
    "a link": '%include "link"',
    "a link that hides behind another file": '%include "inner/file"',
}


IN_PLACE = {
    "words of a comment": "; %include everything, incbin too",
    "words of a string": '%define s "%include incbin"',
    "an own file": '%include "own.inc"',
    "own data": 'incbin "own"',
    "own data, the word put together": '%define put inc %+ bin\nput "own"',
    "an own file, asked for": "%deftok d 'nop'\n%include \"own.inc\"",
}


@needs_nasm
@pytest.mark.parametrize("prelude", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_nasm_reads_no_file_outside_of_the_workspace(prelude: str, tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    absolute = prelude.replace("../secret", str(tmp_path / "secret"))
    for text in (prelude, absolute):
        text = f"%define NOTHING\nsection .text\n; cyclelens-begin\nret\n{text}\n; cyclelens-end\n"
        result = assemble(text, SourceOptions(origin=Origin(str(folder / "k.asm"), (str(folder),))))
        assert {"assembler-unavailable", "assembler-error"} & {p.code for p in result.problems}
        assert "cmc" not in [line.text for region in result.regions for line in region.lines]
        assert "f5" not in [code for _, code in lines(result)]


@needs_nasm
@pytest.mark.parametrize("prelude", IN_PLACE.values(), ids=IN_PLACE.keys())
def test_nasm_reads_the_files_of_the_workspace(prelude: str, tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    text = f"%define NOTHING\nsection .text\n; cyclelens-begin\n{prelude}\nret\n; cyclelens-end\n"
    result = assemble(text, SourceOptions(origin=Origin(str(folder / "k.asm"), (str(folder),))))
    assert result.problems == ()
    assert lines(result)[-1][1] == "c3"


def workspace(tmp_path: Path) -> Path:
    """A folder with own files, one that leads elsewhere, and a secret beside it."""
    folder = tmp_path / "workspace"
    (folder / "inner").mkdir(parents=True)
    (tmp_path / "secret").write_text("cmc ;")
    (folder / "own").write_text("\x90")
    (folder / "own.inc").write_text("nop\n")
    (folder / "inner" / "file").write_text('%include "link"\n')
    (folder / "inner" / "link").write_text("nop\n")
    os.symlink(tmp_path / "secret", folder / "link")
    return folder


@needs_nasm
def test_options_of_the_environment_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASMENV", "-DELSEWHERE")
    text = "; cyclelens-begin\n%ifdef ELSEWHERE\ncmc\n%endif\nret\n; cyclelens-end\n"
    result = assemble(text, SourceOptions(assembler=Assembler.NASM))
    assert (result.problems, lines(result)) == ((), [(5, "c3")])


@needs_gnu_as
def test_gnu_as_reads_no_file_outside_of_the_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"\x90\x90")
    (folder / "own").write_bytes(b"\x90\x90")
    os.symlink(tmp_path / "secret", folder / "link")
    origin = Origin(str(folder / "k.s"), (str(folder),))
    secret = tmp_path / "secret"
    built = (
        f'.macro put word\n.in\\word "{secret}"\n.endm\n# cyclelens-begin\nret\nput cbin\n# cyclelens-end\n'
    )
    named = '# cyclelens-begin\nret\n.incbin "{}"\n# cyclelens-end\n'
    for text in (built, *map(named.format, ("../secret", "link", secret))):
        result = assemble(text, SourceOptions(assembler=Assembler.GAS, origin=origin))
        assert {"assembler-unavailable", "assembler-error"} & {p.code for p in result.problems}
        assert "9090" not in [code for _, code in lines(result)]
    allowed = assemble(named.format("own"), SourceOptions(assembler=Assembler.GAS, origin=origin))
    assert (allowed.problems, lines(allowed)) == ((), [(2, "c3"), (3, "9090")])
