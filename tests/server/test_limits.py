"""The table of limits in docs/server.md says what the code enforces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cyclelens.analyzer.common import regular_files
from cyclelens.analyzer.compiling import background, projects
from cyclelens.analyzer.engine import project
from cyclelens.analyzer.frontend import assemble
from cyclelens.analyzer.frontend.assemblers import external, keystone_backend
from cyclelens.analyzer.frontend.control_flow import loops
from cyclelens.analyzer.frontend.files import includes, recorded
from cyclelens.analyzer.frontend.objects import elf
from cyclelens.analyzer.frontend.passes import assembly_run
from cyclelens.analyzer.frontend.source import markers
from cyclelens.analyzer.profiles import cache
from cyclelens.analyzer.serving import answers, pages
from cyclelens.server import pipes
from cyclelens.server.background import closed_files
from cyclelens.server.documents import memory
from cyclelens.server.protocol import protocol

TEXT = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def size(count: int) -> str:
    """A number of bytes as the table writes it."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << shift:
            assert count % (1 << shift) == 0
            return f"{count >> shift} {unit}"
    return str(count)


def test_the_table_of_limits_is_what_the_code_enforces() -> None:
    table = TEXT.split("## Limits\n", 1)[1].split("|---|---|\n", 1)[1].split("\n\n", 1)[0]
    said = {
        what.strip(): limit.strip()
        for what, limit in (row.strip("|").split("|") for row in table.splitlines())
    }
    enforced = {
        "a message of a client": size(protocol.MAXIMUM_BODY),
        "unread replies of a client, above which its messages wait": size(pipes.UNREAD_BYTES),
        "a text that is analysed at all": (
            f"{size(assemble.MAXIMUM_CHARACTERS)}, {assemble.MAXIMUM_LINES:,} lines"
        ),
        "regions of a text; their basic blocks; statements of a region": (
            f"{markers.MAXIMUM_REGIONS:,}; {loops.MAXIMUM_BLOCKS:,}; {assembly_run.MAXIMUM_REGION:,}"
        ),
        "included files": (
            f"{includes.MAXIMUM_FILES}, together {size(includes.MAXIMUM_BYTES)}, each a regular file"
        ),
        "`cyclelens.toml`": size(project.MAXIMUM_BYTES),
        "`compile_commands.json`; words of one command": (
            f"{size(projects._LARGEST)}; {projects._MOST_WORDS:,}"
        ),
        "`Cargo.toml`": size(projects._LARGEST_MANIFEST),
        "a baseline, inputs, a list of blocks, a journal, an object that a compiler made": (
            f"{size(regular_files.AT_ONCE)}, each a regular file"
        ),
        "a profile; one of its lines": f"{size(cache._MAXIMUM_BYTES)}; {size(cache._LONGEST_LINE)}",
        "line information of an object": size(elf.MAXIMUM_DEBUG_BYTES),
        "compilers of `sources`": (
            f"{size(background.MEMORY_LIMIT)} of memory, {background.PATIENCE:.0f} s,"
            f" {size(background.FILE_LIMIT)} a file"
        ),
        "Keystone, for one statement": (
            f"{size(keystone_backend.MEMORY_LIMIT)} of memory, {keystone_backend.TIME_LIMIT} s"
        ),
        "assembly files of a workspace that are analysed though not open; each": (
            f"{closed_files.MAXIMUM_FILES}; {size(closed_files.MAXIMUM_BYTES)}"
        ),
        "data of a document that is kept for the next start": size(memory.MAXIMUM_BYTES),
        "a question to the page of `cyclelens serve`; its headers; its answer": (
            f"{size(pages._MOST_BYTES)}; {size(pages._MOST_HEADER_BYTES)}; {answers.PATIENCE:.0f} s"
        ),
    }
    assert {what: said.get(what) for what in enforced} == enforced
    others = said.keys() - enforced.keys()
    programs = "GNU as, NASM and the C preprocessor"
    assert others == {
        "a text that is analysed without a command, coloured as a whole and searched for names",
        "an analysis",
        programs,
    }
    assert f"{size(external.MEMORY_LIMIT)} of memory" in said[programs]
    assert f"{size(external.FILE_LIMIT)} a file" in said[programs]
    assert f"{size(external.OUTPUT_LIMIT)} of output" in said[programs]
    assert recorded._MAXIMUM_BYTES == regular_files.AT_ONCE


@pytest.mark.skipif(os.name != "posix", reason="a shell sets the limits")
def test_a_compiler_runs_within_its_limits(tmp_path: Path) -> None:
    command = projects.Command((), str(tmp_path), "k.c", "")
    told = ("/bin/sh", "-c", "echo error: $(ulimit -v) $(ulimit -t) $(ulimit -f) $TMPDIR; exit 1")
    with pytest.raises(background.CannotCompileError) as error:
        background._run(told, command, str(tmp_path), lambda: False)
    # KiB, seconds, and blocks of 512 bytes.
    *limits, temporary = str(error.value).split()[1:]
    memory, seconds, blocks = map(int, limits)
    assert memory << 10 == background.MEMORY_LIMIT
    assert seconds == background.PATIENCE
    assert blocks * 512 == background.FILE_LIMIT
    # What a killed compiler leaves is deleted with this folder.
    assert temporary == str(tmp_path)
