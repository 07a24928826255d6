"""Commands in the documents are real: their options exist, and they print the output that is shown."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
OF_A_MACHINE = re.compile(r"cyclelens (?:measure|characterize) | --check\b")
"""What these print depends on where they run, or takes long."""


def run(program: list[str], command: str) -> str:
    return subprocess.run([*program, *command.split()], capture_output=True, text=True, cwd=ROOT).stdout


def shown() -> list[tuple[str, str]]:
    """Commands about files of the project, and what the document says that they print."""
    found = []
    for document in DOCUMENTS:
        for command, output in re.findall(r"^\$ (cyclelens .+)\n((?:.*\n)+?)```", document.read_text(), re.M):
            files = re.findall(r"\S+\.s\b", command)
            if files and all((ROOT / file).exists() for file in files) and not OF_A_MACHINE.search(command):
                found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "output"), shown(), ids=lambda text: text.splitlines()[0])
def test_a_command_prints_what_the_document_shows(preloaded: list[str], command: str, output: str) -> None:
    assert run(preloaded, command.removeprefix("cyclelens ")).startswith(output)


def test_such_commands_are_found() -> None:
    assert len(shown()) >= 3


WORDS = "(?:(?:arch|corpus|data) (?=[a-z]))?[a-z-]+"
"""A command, with its action if it has some."""


def test_every_option_of_a_command_in_a_document_exists(capsys: pytest.CaptureFixture[str]) -> None:
    used: dict[str, set[str]] = {}
    for document in DOCUMENTS:
        text = document.read_text()
        for command, rest in re.findall(rf"^(?:\$ )?cyclelens ({WORDS})(.*)", text, re.M) + re.findall(
            rf"`cyclelens ({WORDS})([^`]*)`", text
        ):
            own = re.split(r" -- | [#>|] ", rest)[0]
            options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", own))
            command = "measure --blocks" if command == "measure" and "--blocks" in options else command
            used.setdefault(command, set()).update(options)
    unknown = []
    for command, options in sorted(used.items()):
        with suppress(SystemExit):
            main([*command.split(), "--help-all"])
        known = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
        unknown += [f"{command} {option}" for option in sorted(options - known)]
    assert unknown == []


@pytest.mark.parametrize(
    ("code", "core"),
    [
        ("failed-forwarding", "ZEN5"),
        ("false-renaming", "ZEN5"),
        ("lcp-stall", "SKL"),
        ("long-instruction", "ZEN5"),
        ("page-aliasing", "ZEN4"),
        ("partial-word-store", "ZEN3"),
        ("split-by-index", "ZEN3"),
    ],
)
def test_the_example_on_the_page_of_a_hazard_has_it(
    preloaded: list[str], code: str, core: str, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "diagnostics" / f"{code}.md").read_text()
    example = re.search(r"^```asm\n(.*?)^```", page, re.M | re.S)
    assert example
    kernel = tmp_path / "kernel.s"
    kernel.write_text(f"# cyclelens-begin\n{example[1]}# cyclelens-end\n")
    assert f"[{code}]" in run(preloaded, f"analyze {kernel} --arch {core}")
