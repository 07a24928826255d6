"""Bad input, end to end through the command line: a message at the line, no traceback, no hang, and the other
regions are still analysed.

The text of every case has a good region before and after the bad place wherever that makes sense.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

CYCLELENS: list[str] = []
"""The words that start the program."""
TIMEOUT = 120
"""Seconds, generous: it tells a hang from a slow machine."""

GOOD_BEFORE = """\
# cyclelens-begin before
add %rax, %rbx
# cyclelens-end
"""
GOOD_AFTER = """\
# cyclelens-begin after
imul %rcx, %rdx
# cyclelens-end
"""
FIRST_LINE = GOOD_BEFORE.count("\n") + 1
"""One-based line on which the text between the good regions begins."""


@pytest.fixture(scope="module", autouse=True)
def started(preloaded: list[str]) -> None:
    CYCLELENS[:] = preloaded


def cyclelens(*arguments: str | Path, text: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    """Runs the command line; fails the test if it hangs, crashes or shows a traceback."""
    data = text.encode() if isinstance(text, str) else text
    run = subprocess.run([*CYCLELENS, *arguments], input=data, capture_output=True, timeout=TIMEOUT)
    stdout, stderr = run.stdout.decode(), run.stderr.decode()
    assert "Traceback" not in stdout + stderr
    assert "internal error" not in stdout + stderr
    assert run.returncode in {0, 1, 2}, stderr
    return subprocess.CompletedProcess(run.args, run.returncode, stdout, stderr)


def analyze(text: str | bytes, tmp_path: Path, *options: str) -> tuple[dict[str, Any], int]:
    """The JSON report for a file with this text, and the exit code."""
    file = tmp_path / "kernel.s"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    run = cyclelens("analyze", file, "--format", "json", *options)
    return json.loads(run.stdout), run.returncode


def problems_at(report: dict[str, Any], line: int) -> list[str]:
    return [problem["message"] for problem in report["problems"] if problem["line"] == line]


def regions(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {region["name"]: region for region in report["regions"]}


def assert_good_regions_analysed(report: dict[str, Any]) -> None:
    found = regions(report)
    for name, cycles in (("before", 1.0), ("after", 3.0)):
        (prediction,) = found[name]["predictions"]
        assert prediction["cycles_per_iteration"] == cycles


BAD_STATEMENTS = {
    "unknown mnemonic": "frobnicate %rax, %rbx",
    "syntax error": "add %rax, (%rbx",
    "half-typed": "vfmadd231ps (%rdi), %ym",
    "no operands": "add",
    "register that does not exist": "mov %rax, %r77",
    "operands of different width": "mov %eax, %rbx",
    "high byte beside a REX prefix": "movb %ah, %r8b",
    "AVX-512": "vaddps %zmm1, %zmm2, %zmm3{%k1}{z}",
    "AMX": "tdpbssd %tmm1, %tmm2, %tmm3",
    "expression that does not end": ".long 1/(",
    "no assembly at all": "}{ ]( \\ ?? ===",
    # Lines on which Keystone itself never returns.
    "hang: colon before a register": "movl :%eax, -4(%rbp)",
    "hang: colon before the only operand": "pushq :%r12",
    "hang: open brace in an immediate": "addq $32{, %rsi",
    "hang: sign before the mnemonic": "-ddq $32, %rsi",
}


@pytest.mark.parametrize("statement", BAD_STATEMENTS.values(), ids=BAD_STATEMENTS.keys())
def test_a_bad_statement_is_reported_at_its_line_and_harms_no_other_region(
    statement: str, tmp_path: Path
) -> None:
    bad = f"# cyclelens-begin bad\nsub %rsi, %rdi\n{statement}\nsub %rdi, %rsi\n# cyclelens-end\n"
    report, code = analyze(GOOD_BEFORE + bad + GOOD_AFTER, tmp_path)
    assert_good_regions_analysed(report)
    line = FIRST_LINE + 2
    missing = regions(report)["bad"]["missing"]
    if missing:
        # Known to the assembler after all: then the processor does not have the instruction.
        assert statement.startswith(("vaddps", "tdpbssd"))
        assert missing[0]["lines"] == [line]
    else:
        assert problems_at(report, line), report["problems"]
    assert regions(report)["bad"]["predictions"] == []
    assert regions(report)["bad"]["note"]
    assert code == 1


@pytest.mark.parametrize(
    "statement",
    ["add rax, qword ptr [rsi + rdi*8 + 1{]", "vaddps ymm0, ymm1{, ymmword ptr [rsi]", "mov rax, :rbx"],
)
def test_intel_statements_on_which_keystone_hangs(statement: str, tmp_path: Path) -> None:
    text = f".intel_syntax noprefix\n# cyclelens-begin bad\n{statement}\n# cyclelens-end\n"
    report, code = analyze(text, tmp_path)
    assert problems_at(report, 3)
    assert code == 1


def test_a_file_full_of_hanging_lines_ends(tmp_path: Path) -> None:
    lines = [f"movl :%eax, -{n}(%rbp)" for n in range(100)]
    report, _ = analyze(
        "# cyclelens-begin bad\n" + "\n".join(lines) + "\n# cyclelens-end\n" + GOOD_AFTER, tmp_path
    )
    assert [line for line in range(2, 102) if not problems_at(report, line)] == []
    assert regions(report)["after"]["predictions"]


def test_an_unknown_directive_is_named_and_makes_no_code(tmp_path: Path) -> None:
    text = "# cyclelens-begin directive\nadd %rax, %rbx\n.frobnicate 17\n# cyclelens-end\n"
    report, _ = analyze(GOOD_BEFORE + text + GOOD_AFTER, tmp_path)
    (message,) = problems_at(report, FIRST_LINE + 2)
    assert ".frobnicate" in message
    assert regions(report)["directive"]["predictions"][0]["cycles_per_iteration"] == 1.0
    assert_good_regions_analysed(report)


def test_a_region_that_is_never_closed(tmp_path: Path) -> None:
    report, code = analyze(GOOD_BEFORE + "# cyclelens-begin open\nadd %rax, %rbx\n", tmp_path)
    assert problems_at(report, FIRST_LINE)
    assert code == 1
    assert regions(report)["before"]["predictions"]


def test_an_end_without_a_beginning(tmp_path: Path) -> None:
    report, code = analyze(GOOD_BEFORE + "# cyclelens-end\n" + GOOD_AFTER, tmp_path)
    assert problems_at(report, FIRST_LINE)
    assert code == 1
    assert_good_regions_analysed(report)


def test_a_region_without_instructions(tmp_path: Path) -> None:
    report, _ = analyze(GOOD_BEFORE + "# cyclelens-begin nothing\n# cyclelens-end\n" + GOOD_AFTER, tmp_path)
    assert_good_regions_analysed(report)
    assert regions(report)["nothing"]["predictions"] == []
    assert regions(report)["nothing"]["note"]


NO_NUMBERS = ["many", "-1", "\uff11", "9" * 5_000]
"""The third is 1 and the last raises ValueError, both in Python alone."""


@pytest.mark.parametrize("alignment", NO_NUMBERS)
@pytest.mark.parametrize("code", ["add %rax, %rbx", "jz 1f\nadd %rax, %rbx\n1: imul %rax, %rcx"])
def test_marker_options_that_make_no_sense(code: str, alignment: str, tmp_path: Path) -> None:
    bad = f"# cyclelens-begin bad arch=Z80 alignment={alignment}\n{code}\n# cyclelens-end\n"
    report, _ = analyze(GOOD_BEFORE + bad + GOOD_AFTER, tmp_path)
    assert problems_at(report, FIRST_LINE)
    assert_good_regions_analysed(report)


@pytest.mark.parametrize("latency", NO_NUMBERS)
def test_a_latency_that_is_no_number(latency: str, tmp_path: Path) -> None:
    bad = f"# cyclelens-begin bad\n# LLVM-MCA-LATENCY {latency}\nadd %rax, %rbx\n# cyclelens-end\n"
    report, _ = analyze(GOOD_BEFORE + bad + GOOD_AFTER, tmp_path)
    assert problems_at(report, FIRST_LINE + 1)
    assert_good_regions_analysed(report)


@pytest.mark.parametrize("content", [b"", b"\n", b"\0", b"\xef\xbb\xbf", b"\r\n\r\n"])
def test_a_file_with_nothing_in_it(content: bytes, tmp_path: Path) -> None:
    report, _ = analyze(content, tmp_path)
    assert report["regions"] == []


def test_the_report_says_how_to_mark_a_region(tmp_path: Path) -> None:
    file = tmp_path / "empty.s"
    file.touch()
    assert "cyclelens-begin" in cyclelens("analyze", file).stdout


def garbage(size: int) -> bytes:
    """The same bytes every time, all values among them, without a generator of random numbers."""
    state, out = 1, bytearray()
    for _ in range(size):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        out.append(state >> 16 & 0xFF)
    return bytes(out)


def test_a_binary_file_is_recognised(tmp_path: Path) -> None:
    report, code = analyze(garbage(20_000), tmp_path)
    assert report["regions"] == []
    assert len(report["problems"]) == 1
    assert code == 1


def test_garbage_inside_a_region(tmp_path: Path) -> None:
    """Every printable character in every company; only the start of a block comment is kept out of it."""
    printable = bytes(byte % 95 + 32 for byte in garbage(6_000)).replace(b"/*", b"")
    lines = b"\n".join(printable[start : start + 60] for start in range(0, len(printable), 60)).decode()
    bad = f"# cyclelens-begin bad\n{lines}\n# cyclelens-end\n"
    report, code = analyze(GOOD_BEFORE + bad + GOOD_AFTER, tmp_path)
    assert_good_regions_analysed(report)
    assert regions(report)["bad"]["predictions"] == []
    assert code == 1


def test_five_megabytes_of_code_around_a_region(tmp_path: Path) -> None:
    """What is not marked costs next to nothing."""
    line = "    vfmadd231ps (%rdi,%rcx,4), %ymm1, %ymm0   # some comment\n"
    filler = line * (2_500_000 // len(line))
    report, code = analyze(filler + GOOD_BEFORE + filler + GOOD_AFTER, tmp_path)
    assert_good_regions_analysed(report)
    assert code == 0


@pytest.mark.parametrize("size", [1_500_000, 5_000_000])
def test_megabytes_inside_a_region(size: int, tmp_path: Path) -> None:
    """No kernel: it is refused with a reason instead of simulated for minutes."""
    statement = "add %rax, %rbx\n"
    body = statement * (size // len(statement))
    report, code = analyze(GOOD_BEFORE + "# cyclelens-begin huge\n" + body + "# cyclelens-end\n", tmp_path)
    huge = regions(report).get("huge")
    assert huge is None or huge["predictions"] == []
    assert report["problems"] or (huge and huge["note"])
    assert huge is None or regions(report)["before"]["predictions"]
    assert code == 1


def test_one_very_long_line(tmp_path: Path) -> None:
    text = "# cyclelens-begin long\nadd %rax, %rbx" + " " * 1_000_000 + "+" * 100_000 + "\n# cyclelens-end\n"
    report, code = analyze(text + GOOD_AFTER, tmp_path)
    assert problems_at(report, 2)
    assert regions(report)["after"]["predictions"]
    assert code == 1


def test_repetition_without_bounds(tmp_path: Path) -> None:
    text = "# cyclelens-begin rept\n.rept 1000000000\nadd %rax, %rbx\n.endr\n# cyclelens-end\n"
    report, code = analyze(text + GOOD_AFTER, tmp_path)
    assert regions(report)["rept"]["predictions"] == []
    assert regions(report)["after"]["predictions"]
    assert code == 1


def test_deep_nesting(tmp_path: Path) -> None:
    text = f"# cyclelens-begin deep\n.long {'(' * 5000}1{')' * 5000}\n# cyclelens-end\n"
    report, _ = analyze(text + GOOD_AFTER, tmp_path)
    assert regions(report)["after"]["predictions"]


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    run = cyclelens("analyze", tmp_path / "nowhere.s")
    assert run.returncode == 1
    assert "nowhere.s" in run.stderr


def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    run = cyclelens("analyze", tmp_path)
    assert run.returncode == 1
    assert tmp_path.name in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        [],
        ["analyze"],
        ["analyze", "x.s", "--arch", "Z80"],
        ["analyze", "x.s", "--alignment", "-1"],
        ["predict", "--arch", "SKL"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_explained(arguments: list[str]) -> None:
    run = cyclelens(*arguments)
    assert run.returncode == 2
    assert "usage:" in run.stderr


@pytest.mark.parametrize("mode", ["unroll", "loop"])
def test_blocks_that_cannot_be_predicted_have_a_row_with_the_reason(mode: str) -> None:
    blocks = ["4801d8", "", "xyz", "480", "0f0b", "ffffffffff", "06", "4801d8" * 20_000, "4801d8"]
    run = cyclelens("predict", "--arch", "SKL", "--mode", mode, text="\n".join(blocks) + "\n")
    assert run.returncode == 1
    header, *rows = run.stdout.splitlines()
    assert header == "hex,cycles_per_iteration,problem"
    assert [row.split(",")[0] for row in rows] == blocks
    assert rows[0] == rows[-1] == "4801d8,1.00,"
    for row in rows[1:-1]:
        _, figure, problem = row.split(",", 2)
        assert figure or problem
        assert problem, f"{row} has no reason"


def test_predict_of_binary_garbage_ends() -> None:
    run = cyclelens("predict", "--arch", "SKL", "--mode", "loop", text=garbage(2_000))
    assert run.returncode == 1
    assert "have no figure" in run.stderr


def test_damaged_instruction_data_are_refused(tmp_path: Path) -> None:
    source, output = tmp_path / "instructions.xml", tmp_path / "tables.sqlite"
    source.write_bytes(garbage(1_000))
    run = cyclelens("data", "import", source, "--output", output)
    assert run.returncode == 1
    assert len(run.stderr.strip().splitlines()) == 1
    assert not output.exists()
