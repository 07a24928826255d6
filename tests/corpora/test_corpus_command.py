"""``cyclelens corpus extract`` as a user runs it."""

import csv
import io
import shutil
import subprocess

import pytest
from cyclelens.analyzer.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not installed")

SOURCE = """\
.globl work
.type work, @function
work:
    xor %eax, %eax
.Lagain:
    add (%rdi), %rax
    dec %rsi
    jnz .Lagain
    xor %eax, %eax
    jmp other
.size work, .-work
.type other, @function
other:
    imul %rax, %rax
    ret
.size other, .-other
"""
CLEAR, LOOP, SQUARE = "31c0", "48030748ffce", "480fafc0"
# The branch of the loop is at work+0x8, the loop at work+0x2, the jump at work+0xc.
PROFILE = """\
 work+0xc/other+0x0/P/-/-/0  work+0x8/work+0x2/P/-/-/0  work+0x8/work+0x2/P/-/-/0  main+0x3/work+0x0/P/-/-/0
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    (folder / "k.s").write_text(SOURCE)
    subprocess.run(["as", "-o", folder / "k.o", folder / "k.s"], check=True)
    subprocess.run(["ld", "-e", "work", "-o", folder / "kernel", folder / "k.o"], check=True)
    return folder / "kernel"


@pytest.fixture
def extract(program, capsys):
    def extract(*words, status=0):
        assert main(["corpus", "extract", str(program), *words]) == status
        shown = capsys.readouterr()
        rows = csv.DictReader(io.StringIO(shown.out))
        return {(row["hex"], row["application"]): float(row["count"]) for row in rows}, shown.err

    return extract


def test_a_row_is_a_block_of_an_application_with_its_occurrences(extract):
    rows, said = extract()
    assert rows == {(CLEAR, "kernel"): 2, (LOOP, "kernel"): 1, (SQUARE, "kernel"): 1}
    assert "kernel: 3 blocks, 4 occurrences" in said


def test_a_profile_counts_executions_and_leaves_out_what_never_ran(extract, tmp_path):
    path = tmp_path / "perf.txt"
    path.write_text(PROFILE)
    rows, _ = extract("--profile", str(path))
    # Two passes end at the branch, and the third falls through to the jump; nothing is known behind it.
    assert rows == {(LOOP, "kernel"): 3, (CLEAR, "kernel"): 2}


def test_a_profile_of_time_is_refused(extract, tmp_path):
    path = tmp_path / "annotated.txt"
    path.write_text(
        " Percent |\tSource code & Disassembly of kernel for cpu-clock (10 samples, percent: local period)\n"
        "-----------------------------------------------------------\n"
        "         : 0  0000000000401000 <work>:\n"
        "      10 :   401002:       add    (%rdi),%rax\n"
    )
    _, said = extract("--profile", str(path), status=1)
    assert "counts time, not executions" in said


def test_fewer_blocks_are_spread_over_an_application(extract):
    whole, _ = extract()
    rows, _ = extract("--limit", "2")
    assert len(rows) == 2 and rows.items() <= whole.items()


def test_what_is_no_program_has_one_message(tmp_path, capsys):
    text = tmp_path / "text"
    text.write_text("hello")
    assert main(["corpus", "extract", str(text)]) == 1
    assert "not an ELF file" in capsys.readouterr().err
