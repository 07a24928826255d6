"""Untrusted files: what a project, a profile, a list of commands or a text may name."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.common.regular_files import open_regular, read_given, read_regular
from cyclelens.analyzer.compiling import commands, projects
from cyclelens.analyzer.engine import project
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.files import includes
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions
from cyclelens.analyzer.model.choices import Assembler
from cyclelens.analyzer.model.source import Origin
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.perf_annotate import Annotations
from cyclelens.analyzer.profiles.perf_samples import Samples
from cyclelens.analyzer.profiles.perf_script import Branches
from cyclelens.analyzer.profiles.profile import ProfileError
from testkit.whole_files import needs_gnu_as, needs_nasm

TEXTS = {
    "own": ("k.s", '.include "x.inc"\n', Assembler.AUTO),
    "gas": ("k.s", '.include "x.inc"\n', Assembler.GAS),
    "c": ("k.S", '#include "x.inc"\n', Assembler.AUTO),
    "nasm": ("k.asm", '%include "x.inc"\n', Assembler.NASM),
}
MARKS = {"k.asm": "; cyclelens-{}\n"}


def analysed(folder: Path, kind: str, name: str = "x.inc") -> tuple[list[str], list[str]]:
    """The code of the region of a text that includes a file, and all messages."""
    file, include, assembler = TEXTS[kind]
    mark = MARKS.get(file, "# cyclelens-{}\n")
    text = mark.format("begin") + "ret\n" + include.replace("x.inc", name) + mark.format("end")
    origin = Origin(str(folder / file), (str(folder),), (str(folder / "sub"),))
    result = assemble(text, SourceOptions(assembler=assembler, origin=origin))
    code = [line.code.hex() for region in result.regions for line in region.lines]
    return code, [problem.message for problem in result.problems]


@needs_gnu_as
@needs_nasm
@pytest.mark.parametrize("kind", TEXTS)
def test_a_folder_that_becomes_a_link_out_of_the_workspace_is_not_followed(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "x.inc").write_text("nop\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.inc").write_text("cmc\n")
    assert "90" in analysed(folder, kind)[0]
    (folder / "sub").rename(folder / "was")
    (folder / "sub").symlink_to(tmp_path / "outside")
    code, messages = analysed(folder, kind)
    assert "f5" not in code
    assert any("outside" in message for message in messages)
    # What the user names himself may lie anywhere.
    origin = Origin(str(folder / "k.s"), (str(folder),), (str(tmp_path / "outside"),))
    assert includes.may_read(str(tmp_path / "outside" / "x.inc"), origin)


@needs_gnu_as
@needs_nasm
@pytest.mark.parametrize("kind", TEXTS)
def test_a_fifo_that_is_included_is_refused_and_not_waited_for(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    messages = analysed(tmp_path, kind, "fifo")[1]
    assert any("'fifo'" in message and "not a regular file" in message for message in messages)


def test_only_regular_files_of_a_stated_size_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "small").write_bytes(b"1234")
    for name, why in (
        ("fifo", "not a regular file"),
        ("sparse", "more than 1 MB"),
        ("/dev/zero", "not a regular file"),
        (".", "directory"),
        ("a\0b", "No such file"),
    ):
        with pytest.raises(OSError, match=why):
            open_regular(tmp_path / name, 1 << 20)
    with open_regular(tmp_path / "small", 4) as file:
        assert file.read() == b"1234"
    with pytest.raises(OSError, match="more than"):
        read_regular(tmp_path / "small", 3)
    # Without a size, and longer than a page.
    with pytest.raises(OSError, match="more than"):
        read_regular("/proc/self/smaps", 100)


@pytest.mark.parametrize("name", ["fifo", "/dev/zero"])
def test_a_profile_without_an_end_is_refused(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ProfileError, match="is not a regular file"):
        Profiles(Caches()).of(str(tmp_path / name))


def _read(reader: Branches | Annotations, lines: list[str]) -> Callable[[], None]:
    def read() -> None:
        for line in lines:
            reader.read(line)

    return read


HOSTILE_LINES = {
    "letters": lambda n: "a" * n + "/",
    "letters with slashes": lambda n: "a/" * (n // 2),
    "parentheses": lambda n: "a(" * (n // 2) + "/",
    "entries without an end": lambda n: "a/b/P/-/-/" * (n // 10),
    "dashes": lambda n: "/" + "-" * n,
    "records": lambda n: "/PERF_RECORD_MMAP " * (n // 18),
    "places in records": lambda n: "PERF_RECORD_MMAP /" + "[0x1(0x1) @ 0 " * (n // 14),
    "digits": lambda n: ": " + "1" * n,
    "digits and spaces": lambda n: "1 1." * (n // 4) + ":",
    "spaces": lambda n: " " * n + ":",
    "a function": lambda n: " : " + "0" * n + " <",
    "events": lambda n: "a: 1 " * (n // 5) + "(",
    "words with colons": lambda n: "a:" * (n // 2) + " ",
    "times": lambda n: "9.5: 1 " * (n // 7),
    "parentheses of a file": lambda n: "9.5: 1 cycles: 1 f" + "a (" * (n // 3),
    "offsets": lambda n: "9.5: 1 cycles: 1 f" + "+0x1" * (n // 4),
    "heading": lambda n: "Percent" + " " * n + "(1 samples",
}
HEADING = "Percent | Source code of f for cycles (10 samples)"


@pytest.mark.parametrize("shape", HOSTILE_LINES)
def test_the_time_to_read_a_line_of_a_profile_grows_with_its_length(shape: str) -> None:
    """Sixteen times the text may take about sixteen times as long; a quadratic reader takes 256 times."""

    def seconds(length: int) -> float:
        best = float("inf")
        for _ in range(5):
            line = HOSTILE_LINES[shape](length)
            begin = time.process_time()
            for _ in range(64_000 // length):
                # New ones, because they read the place of equal samples only once.
                annotations, branches, samples = Annotations(), Branches(), Samples()
                annotations.read(HEADING)
                annotations.read(line)
                branches.read(line)
                samples.read(line)
                samples.found()
            best = min(best, time.process_time() - begin)
        return best

    # The same number of characters in all, so that the two are equal for a linear reader.
    assert seconds(64_000) < 6 * seconds(4_000) + 1e-3


def test_random_lines_of_profiles_are_read_without_an_exception() -> None:
    chosen = random.Random(20_261_127)
    pieces = [
        "a",
        "+0x1",
        "/",
        "P",
        "-",
        " ",
        ":",
        "1",
        ".",
        "<f>",
        "cycles: ",
        "9.5: ",
        "(",
        ")",
        "0x40",
        "PERF_RECORD_MMAP2 ",
        "[",
        "]",
    ]
    for _ in range(3_000):
        line = "".join(chosen.choices(pieces, k=chosen.randrange(60)))
        annotations, branches, samples = Annotations(), Branches(), Samples()
        annotations.read(HEADING)
        annotations.read(line)
        branches.read(line)
        list(branches.runs())
        samples.read(line)
        samples.found()


@pytest.mark.parametrize("name", ["includePaths", "preIncludes", "defines"])
def test_a_nul_in_a_projects_file_is_a_message_at_its_name(name: str, tmp_path: Path) -> None:
    file = tmp_path / "cyclelens.toml"
    file.write_text(f'{name} = ["a\\u0000b"]\n')
    with pytest.raises(project.ProjectError, match=f"{name}: .* without NUL"):
        project.read(file)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"arguments": 5}, "its arguments are not a list of words"),
        ({"arguments": {"gcc": 1}}, "its arguments are not a list of words"),
        ({"arguments": ["gcc", 5, "k.c"]}, "its arguments are not a list of words"),
        ({"arguments": ["gcc", "-DX=\0", "-c", "k.c"]}, "its arguments are not a list of words"),
        ({"arguments": ["gcc", "-DX=\ud800", "-c", "k.c"]}, "its arguments are not a list of words"),
        ({"arguments": ["gcc", *["-DX"] * 100_000, "k.c"]}, "more than 100,000 words"),
        ({"command": 5}, "neither arguments nor a command"),
        ({"command": 'gcc "-DX -c k.c'}, "its command cannot be split into words"),
        ({}, "neither arguments nor a command"),
        ({"directory": 5, "command": "gcc -c k.c"}, "does not list it"),
        ({"directory": "/tmp/\0", "command": "gcc -c k.c"}, "does not list it"),
    ],
)
def test_an_entry_of_commands_that_cannot_be_used_is_one_message(
    entry: dict[str, object], why: str, tmp_path: Path
) -> None:
    (tmp_path / "k.c").write_text("")
    listed = [{"directory": str(tmp_path), "file": "k.c", **entry}]
    (tmp_path / projects.DATABASE).write_text(json.dumps(listed))
    with pytest.raises(projects.NoCommandError, match=why):
        projects.command_for(str(tmp_path / "k.c"), [str(tmp_path)], projects.Databases(Caches()))


def test_another_entry_that_cannot_be_used_takes_nothing_from_this_one(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text("")
    good = {"directory": str(tmp_path), "file": "k.c", "command": "gcc -c k.c"}
    bad = [None, 5, {}, {"file": "\0"}, {"file": "z.c", "arguments": 5}, {"file": "y.c", "command": '"'}]
    (tmp_path / projects.DATABASE).write_text(json.dumps([*bad, good]))
    found = projects.command_for(str(tmp_path / "k.c"), [str(tmp_path)], projects.Databases(Caches()))
    assert found.words == ("gcc", "-c", "k.c")


@pytest.mark.parametrize(
    "manifest",
    ["package = 1\n", 'package = "x"\n', "package = []\n", "[package]\nname = 5\n", "a = " + "[" * 100_000],
    ids=["a number", "a text", "a list", "a name that is a number", "nesting"],
)
def test_a_manifest_that_cannot_be_used_is_one_message(manifest: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text("")
    (tmp_path / projects.CARGO).write_text(manifest)
    with pytest.raises(projects.NoCommandError, match=r"Cargo\.toml"):
        projects.command_for(str(tmp_path / "src" / "main.rs"), [str(tmp_path)], projects.Databases(Caches()))


def test_options_that_write_elsewhere_are_dropped_from_a_projects_command() -> None:
    elsewhere = "/elsewhere"
    words = [
        *("gcc", "-O2", "-DX=1", "-c", "k.c", "-o", elsewhere, "-MD", "-MF", elsewhere),
        *("-dumpdir", elsewhere, "-dumpbase", elsewhere, "-dumpbase-ext", elsewhere, "-aux-info", elsewhere),
        *(f"--output={elsewhere}", "--output", elsewhere, f"-aux-info={elsewhere}", "-save-temps=cwd"),
        *(f"-fdump-tree-all={elsewhere}", "-fdump-rtl-all", "-da", f"-fopt-info-vec={elsewhere}"),
        *(
            f"-Wp,-MD,{elsewhere}",
            f"-Wa,-adhln={elsewhere}",
            f"-Wa,--MD,{elsewhere}",
            f"-ftime-trace={elsewhere}",
        ),
        *(f"-foptimization-record-file={elsewhere}", "-serialize-diagnostics", elsewhere),
        *(f"-fdiagnostics-add-output=sarif:file={elsewhere}", f"-fcrash-diagnostics-dir={elsewhere}"),
    ]
    (step,) = commands.steps(words, "/own")
    assert step.words == ("gcc", "-O2", "-DX=1", "-g", "-c", "k.c", "-o", "/own/1.o")


def test_the_folders_of_processes_that_are_gone_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    left = tmp_path / f"cyclelens-{process.pid}-abc"
    (left / "run").mkdir(parents=True)
    others = tmp_path / "cyclelens-notes"
    others.mkdir()
    with temporary.folder() as own:
        temporary.sweep()
        assert Path(own).is_dir()
        assert not left.exists()
        assert others.is_dir()
        temporary.remove_of(os.getpid())
        assert not Path(own).exists()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("flags", [("-c",), ("-c", "-mcmodel=large"), ("-shared", "-fPIC")], ids=" ".join)
def test_a_relocation_that_names_no_symbol_of_its_table_is_one_message(
    flags: tuple[str, ...], tmp_path: Path
) -> None:
    """The number of a symbol is half of each entry of ``.rela``; a table ends where its section does."""
    (tmp_path / "k.c").write_text(
        "int f(int); int g(int n) { int s = 0; while (n--) s += f(n); return s; }\n"
    )
    subprocess.run(["gcc", "-O2", *flags, "-o", tmp_path / "k", tmp_path / "k.c"], check=True)
    whole = (tmp_path / "k").read_bytes()
    offset, count = int.from_bytes(whole[0x28:0x30], "little"), int.from_bytes(whole[0x3C:0x3E], "little")
    refused = 0
    for header in range(offset, offset + 64 * count, 64):
        if int.from_bytes(whole[header + 4 : header + 8], "little") != 4:
            continue
        first, size = (int.from_bytes(whole[header + at : header + at + 8], "little") for at in (24, 32))
        for entry, number in product(range(first, first + size, 24), (0x0FFF_FFFF, 0xFFFF_FFFF, 0x7FFF)):
            data = bytearray(whole)
            data[entry + 12 : entry + 16] = number.to_bytes(4, "little")
            try:
                Analyzer().analyze_object(bytes(data), AnalysisOptions())
            except ObjectFileError as error:
                assert "damaged" in str(error)
                refused += 1
    assert refused or "-shared" in flags


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("flags", [("-c",), ("-shared", "-fPIC"), ("-no-pie", "-nostartfiles")], ids=" ".join)
def test_a_section_that_names_another_one_that_is_not_there_is_one_message(
    flags: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "k.c").write_text(
        'int puts(const char *); int _start(int n) { int s = 0; while (n--) s += puts("x"); return s; }\n'
    )
    subprocess.run(["gcc", "-O2", *flags, "-o", tmp_path / "k", tmp_path / "k.c"], check=True)
    whole = (tmp_path / "k").read_bytes()
    offset, count = int.from_bytes(whole[0x28:0x30], "little"), int.from_bytes(whole[0x3C:0x3E], "little")
    places = [(offset + 64 * number + field, 4) for number in range(count) for field in (0, 4, 40, 44)]
    refused = 0
    for (at, width), value in product([*places, (0x3E, 2)], (count, 0xFFF0, 0x7FFF_FFFF, 0xFFFF_FFFF)):
        data = bytearray(whole)
        data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
        try:
            file = ObjectFile(bytes(data))
            file.symbol_at(0)
            assert (file.functions, file.entries, file.data, file.named) is not None
        except ObjectFileError:
            refused += 1
    assert refused


def _ran(*words: str) -> tuple[int, str]:
    """What a command that must end answers."""
    command = [sys.executable, "-m", "cyclelens.analyzer.cli.main", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "{}"),
        ("check", "k.s", "--baseline", "{}"),
        ("compare", "{}", "--arch", "SKL,HSW"),
        ("rewrite", "{}"),
        ("evaluate", "--against", "{}"),
        ("measure", "k.s", "--inputs", "{}"),
    ],
    ids=lambda words: " ".join(words[:1]),
)
def test_what_a_command_names_is_a_regular_file(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "k.s").write_text("# cyclelens-begin\nnop\n# cyclelens-end\n")
    monkeypatch.chdir(tmp_path)
    for name in ("fifo", "/dev/zero"):
        code, said = _ran(*(word.format(name) for word in words))
        assert code not in (0, 70), said
        assert "not a regular file" in said or (words[0] == "measure" and "nothing can be measured" in said)


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000, "[5]", '["x"]', '{"file": "k.s", "regions": ["x"]}', "\0", '{"file": 1, "regions": 5}'],
    ids=["nesting", "a number", "a text", "a region that is a text", "NUL", "regions that are a number"],
)
def test_a_baseline_that_is_no_report_is_one_message(content: str, tmp_path: Path) -> None:
    (tmp_path / "k.s").write_text("# cyclelens-begin\nnop\n# cyclelens-end\n")
    (tmp_path / "base.json").write_text(content)
    code, said = _ran("check", str(tmp_path / "k.s"), "--baseline", str(tmp_path / "base.json"))
    assert code not in (0, 70)
    assert said.splitlines()[-1].endswith("base.json is not a JSON report of cyclelens analyze")
    assert "Traceback" not in said


def test_what_the_shell_has_opened_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"1234")
    os.close(writing)
    assert read_given(f"/dev/fd/{reading}", 4) == b"1234"
    os.close(reading)
