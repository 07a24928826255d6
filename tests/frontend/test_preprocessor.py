"""Files for the C preprocessor, and included files: what is read, and the lines of its problems."""

from __future__ import annotations

import os
import re
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.assemblers import confinement, external
from cyclelens.analyzer.frontend.files import expansion, includes
from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.source import AssembledFile, Origin

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler on PATH"
)
Assemble = Callable[..., AssembledFile]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def run(workspace: Path) -> Assemble:
    """Assemble a text as ``k.S`` (or another file) of the workspace, with ``<`` and ``>`` for the markers.
    What was found out for one text of a test is remembered for the next."""
    memory = EncodingCache(Caches())

    def run(text: str, name: str = "k.S", **options: object) -> AssembledFile:
        marked = re.sub(r"^<$", "# cyclelens-begin", text, flags=re.MULTILINE)
        marked = re.sub(r"^>$", "# cyclelens-end", marked, flags=re.MULTILINE)
        origin = Origin(str(workspace / name), (str(workspace),), **options)  # type: ignore[arg-type]
        return assemble(marked, SourceOptions(origin=origin), memory=memory)

    return run


def lines(result: AssembledFile) -> list[tuple[int, str]]:
    """Line, counted from one, and bytes of every statement."""
    return [(line.line + 1, line.code.hex()) for region in result.regions for line in region.lines]


PREPROCESSED = """\
#include "asm.h"
#define STEP(r) \\
    inc r; \\
    dec r
.text
<
1:  mov $SIZE, %eax   /* ' */
    STEP(%rcx)
# don't mind the apostrophe
#ifdef NEVER
    frobnicate
#endif
    FROM_HEADER
    ADD1 %rdx
    jnz 1b
>
"""


@needs_compiler
def test_every_byte_is_at_the_line_that_the_user_wrote(run: Assemble, workspace: Path) -> None:
    (workspace / "asm.h").write_text(
        "#define SIZE 16\n#define FROM_HEADER nop\n.macro ADD1 r\n add $1, \\r\n.endm\n"
    )
    result = run(PREPROCESSED)
    assert result.problems == ()
    assert lines(result) == [
        (7, "b810000000"),
        (8, "48ffc1"),
        (8, "48ffc9"),
        (13, "90"),
        (14, "4883c201"),
        (15, "75ee"),
    ]
    assert result.regions[0].ends_in_jump_to_start
    # An unchanged statement has its own columns, one that a macro made those of its use.
    assert [(line.column, line.end_column) for line in result.regions[0].lines][3:5] == [(4, 15), (4, 13)]


@needs_compiler
def test_the_dialect_is_that_of_what_the_macros_make(run: Assemble) -> None:
    """newlib's names for registers: the written text has neither percent signs nor brackets."""
    text = """\
#define REG(x) CONCAT(%, x)
#define CONCAT(a, b) JOIN(a, b)
#define JOIN(a, b) a ## b
#define rdi REG(rdi)
#define rsi REG(rsi)
#define rdx REG(rdx)
.text
<
1:  movq rsi, rdi
    movq 8(rsi), rdx
    dec rdx
    jnz 1b
>
"""
    result = run(text)
    assert result.problems == ()
    assert lines(result) == [(9, "4889f7"), (10, "488b5608"), (11, "48ffca"), (12, "75f4")]


@needs_compiler
def test_defines_and_include_paths_are_the_users(run: Assemble, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.h").write_text("#define X nop\n")
    text = "#include <x.h>\n<\n#if LEVEL > 1\nX\n#endif\n>\n"
    result = run(text, include_paths=(str(tmp_path / "elsewhere"),), defines=("LEVEL=2",))
    assert (result.problems, lines(result)) == ((), [(4, "90")])


@needs_compiler
def test_a_file_is_read_before_the_text_if_the_user_says_so(run: Assemble, tmp_path: Path) -> None:
    (tmp_path / "config.h").write_text("#define X nop\n.macro twice r\n inc \\r\n inc \\r\n.endm\n")
    result = run("<\nX\ntwice %rax\n>\n", pre_includes=(str(tmp_path / "config.h"),))
    assert (result.problems, lines(result)) == ((), [(2, "90"), (3, "48ffc0"), (3, "48ffc0")])


@needs_compiler
def test_a_missing_header_is_pointed_out_and_the_rest_is_read(run: Assemble, workspace: Path) -> None:
    (workspace / "a.h").write_text('#include "deep/missing.h"\n#define X nop\n')
    result = run('#include "config.h"\n#include "a.h"\n#ifndef Y\n#error no Y\n#endif\n<\nX\n>\n')
    assert lines(result) == [(7, "90")]
    assert [(p.line + 1, p.code, str(p.severity)) for p in result.problems] == [
        (1, "include-not-read", "warning"),
        (1, "include-not-read", "warning"),
        (4, "preprocessor-error", "warning"),
    ]


OUTSIDE = [
    '#include "../secret.h"',
    '#include "{secret}"',
    '#include "link.h"',
    '#inc\\\nlude "../secret.h"',
    "#/* */include <../secret.h>",
    '/* *//**/ %: include "../secret.h"',
    '#define NAME "../secret.h"\n#include NAME',
    '#include "inner.h"',
]


@pytest.mark.parametrize("text", OUTSIDE)
def test_no_file_outside_of_the_workspace_is_read(
    run: Assemble, workspace: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    secret = workspace.parent / "secret.h"
    secret.write_text("#define X nop\n")
    (workspace / "inner.h").write_text('#include "../secret.h"\n')
    os.symlink(secret, workspace / "link.h")
    plain = external.run

    def watched(job: external.ProgramRun) -> external.ProgramResult:
        assert "-E" not in job.command, "the preprocessor was run"
        return plain(job)

    monkeypatch.setattr(external, "run", watched)
    result = run(text.format(secret=secret) + "\n<\nnop\n>\n")
    assert lines(result) == [(text.count("\n") + 3, "90")]
    assert [(p.line, p.code) for p in result.problems] == [(text.count("\n"), "not-preprocessed")]


@needs_compiler
def test_what_the_search_did_not_see_is_thrown_away(
    run: Assemble, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace.parent / "secret.h").write_text("#define X nop\n")
    monkeypatch.setattr(includes, "look", lambda *_: includes.Included())
    for text in ('#include "../secret.h"\n<\nnop\n>\n', '#include "../secret.h"\n<\nX\n>\n'):
        result = run(text)
        assert "not-preprocessed" in [p.code for p in result.problems]
        monkeypatch.setattr(confinement, "version", lambda: 0)


def test_without_a_compiler_or_permission_a_message_says_so(
    run: Assemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n#define X 1\n# cyclelens-begin\nnop\n# cyclelens-end\n"
    monkeypatch.setattr(external, "find_program", lambda _: None)
    without = run(text)
    forbidden = assemble(text, SourceOptions(origin=Origin("/k.S"), allow_external_programs=False))
    for result, reason in ((without, "no C compiler"), (forbidden, "may not be run")):
        assert [(p.line, p.code) for p in result.problems] == [(1, "not-preprocessed")]
        assert reason in result.problems[0].message
        assert lines(result) == [(4, "90")]


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
def test_a_preprocessor_that_hangs_is_killed(
    run: Assemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "cc"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(external, "find_program", lambda _: str(program))
    monkeypatch.setattr(expansion, "TIMEOUT", 0.1)
    result = run("#define X 1\n<\nnop\n>\n")
    assert [p.code for p in result.problems] == ["not-preprocessed"]
    assert "too long" in result.problems[0].message


def test_included_files_stand_at_the_line_that_includes_them(run: Assemble, workspace: Path) -> None:
    (workspace / "macros.inc").write_text('.macro twice r\n inc \\r\n inc \\r\n.endm\n.include "n.inc"\n')
    (workspace / "n.inc").write_text(".set N, 7\n")
    (workspace / "body.inc").write_text("nop\nret\n")
    text = '.include "macros.inc"\n<\nmov $N, %al\ntwice %rax\n  .include "body.inc"\n>\n'
    result = run(text, "k.s")
    assert result.problems == ()
    assert lines(result) == [(3, "b007"), (4, "48ffc0"), (4, "48ffc0"), (5, "90"), (5, "c3")]


@pytest.mark.parametrize("name", ["../secret.inc", "missing.inc", "loop.inc"])
def test_an_include_that_is_not_read_is_pointed_out(run: Assemble, workspace: Path, name: str) -> None:
    (workspace.parent / "secret.inc").write_text("nop\n")
    (workspace / "loop.inc").write_text('.include "loop.inc"\n')
    result = run(f'<\nret\n.include "{name}"\n>\n', "k.s")
    assert lines(result) == [(2, "c3")]
    assert [(p.line + 1, p.code) for p in result.problems] == [(3, "include-not-read"), (3, "not-supported")]
    assert result.regions[0].incomplete


@pytest.mark.parametrize(
    ("including", "line"),
    [
        ('.macro m a b\n.\\a\\()\\b "n.inc"\n.endm\nm inc lude', 4),
        ('.irpc c, e\n.includ\\c "n.inc"\n.endr', 2),
        ('before: .include "n.inc"', 1),
        ('.set M, 1; .include "n.inc"', 1),
    ],
)
def test_an_include_that_no_line_shows_is_reported_anywhere(
    run: Assemble, workspace: Path, including: str, line: int
) -> None:
    (workspace / "n.inc").write_text(".set N, 7\n")
    result = run(f"{including}\n<\nret\n>\n", "k.s")
    assert [(p.line + 1, p.code) for p in result.problems] == [(line, "include-not-read")]
    assert "--assembler gas" in result.problems[0].message


def test_text_behind_an_include_on_its_line_is_read(run: Assemble, workspace: Path) -> None:
    (workspace / "n.inc").write_text("inc %eax\n")
    result = run('<\n.include "n.inc"; nop # one\nret\n>\n', "k.s")
    assert lines(result) == [(2, "ffc0"), (2, "90"), (3, "c3")]
    assert result.problems == ()


@needs_compiler
def test_headers_known_to_be_missing_cost_no_run_of_their_own(
    run: Assemble, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '#include "one.h"\n#include "two.h"\n<\nnop\n>\n'
    runs = []
    plain = external.run

    def watched(job: external.ProgramRun) -> external.ProgramResult:
        runs.append(job)
        return plain(job)

    monkeypatch.setattr(external, "run", watched)

    def missing(text: str) -> list[int]:
        runs.clear()
        problems = run(text).problems
        return [problem.line for problem in problems if problem.code == "include-not-read"]

    assert missing(text) == [0, 1]
    assert len(runs) == 3
    assert missing(text + "nop\n") == [0, 1]
    assert len(runs) == 1
    (workspace / "one.h").write_text("")
    assert missing(text + "ret\n") == [1]
    assert missing(text.replace('#include "two.h"', "")) == []


@needs_compiler
@pytest.mark.parametrize("limit", ["bytes", "statements"])
def test_huge_macro_expansions_are_cut_off_at_their_line(
    run: Assemble, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    if limit == "bytes":
        monkeypatch.setattr(external, "OUTPUT_LIMIT", 1 << 16)
    else:
        monkeypatch.setattr(expansion, "_MAXIMUM_STATEMENTS", 1000)
    doubled = "".join(f"#define A{number + 1} A{number} A{number}\n" for number in range(14))
    result = run(f"#define A0 nop;\n{doubled}<\nret\n>\nA14\nA1\n")
    assert [(p.line + 1, p.code) for p in result.problems] == [(19, "not-preprocessed")]
    assert "most of that from this line" in result.problems[0].message
    assert lines(result) == [(17, "c3")]


def test_included_files_that_swell_are_cut_off(
    run: Assemble, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansion, "MAXIMUM_CHARACTERS", 1 << 20)
    (workspace / "a.inc").write_text(f'.ascii "{"x" * 100_000}"\n' + '.include "b.inc"\n' * 40)
    (workspace / "b.inc").write_text('.include "a.inc"\n' * 40)
    result = run('<\nret\n>\n.include "a.inc"\n', "k.s")
    assert lines(result) == [(2, "c3")]
    assert "include-not-read" in {p.code for p in result.problems}


def test_a_long_string_costs_a_few_times_its_size(run: Assemble) -> None:
    text = f'<\nret\n>\n.ascii "{"x" * 1_000_000}"\n'
    tracemalloc.start()
    try:
        result = run(text, "k.s")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lines(result) == [(2, "c3")]
    assert peak < 30 * len(text)
