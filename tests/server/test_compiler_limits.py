"""Compilers of sources in editors reach limits of memory and of file sizes, and the limit is named."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.compiling import background
from cyclelens.analyzer.compiling.background import CannotCompileError, Objects
from cyclelens.analyzer.compiling.projects import Databases, command_for
from testkit.full_disk import full_disk

TEMPLATE = """\
template <int... n> struct List {};
template <int n> using Numbers = List<__integer_pack(n)...>;
Numbers<(1 << 27)> x;
"""
"""GCC reserves memory for 2 to the power of 27 arguments at once."""


def compiled(folder: Path, command: str, text: str) -> bytes:
    file = folder / "x.cpp"
    file.write_text(text)
    entry = {"directory": str(folder), "file": file.name, "command": f"{command} -c x.cpp"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    found = command_for(str(file), [str(folder)], Databases(Caches()))
    return Objects(Caches()).object_of(found, text, lambda: False)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.skipif(os.name != "posix", reason="Unix has the limits")
def test_a_compiler_that_needs_too_much_memory_ends_and_names_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mebibytes in (64, 128, 256):
        monkeypatch.setattr(background, "MEMORY_LIMIT", mebibytes << 20)
        try:
            compiled(tmp_path, "g++", "int x;\n")
            break
        except CannotCompileError:
            continue
    with pytest.raises(CannotCompileError, match=r"a compiler may use 0\.\d+ GiB of memory here"):
        compiled(tmp_path, "g++", TEMPLATE)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.skipif(os.name != "posix", reason="Unix has the limits")
def test_a_compiler_that_writes_too_much_ends_and_names_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "FILE_LIMIT", 2 << 20)
    with pytest.raises(CannotCompileError, match="a compiler may write files of 2 MiB here"):
        compiled(tmp_path, "g++", "char x[4 << 20] = {1};\n")


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler on PATH")
def test_a_full_disk_is_a_message(tmp_path: Path) -> None:
    assert compiled(tmp_path, "cc", "int x;\n")
    file, objects = tmp_path / "x.cpp", Objects(Caches())
    command = command_for(str(file), [str(tmp_path)], Databases(Caches()))
    with pytest.raises(CannotCompileError, match=r"^temporary files cannot be written: "), full_disk():
        objects.object_of(command, "int unsaved;\n", lambda: False)
    assert objects.object_of(command, "int unsaved;\n", lambda: False)
