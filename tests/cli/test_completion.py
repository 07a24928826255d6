"""Help texts have examples that are right, and shells complete commands, options and values."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from cyclelens.analyzer.cli import COMMANDS, main
from cyclelens.analyzer.commands.completion import SHELLS
from cyclelens.analyzer.examples import EXAMPLES


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", [*COMMANDS, "evaluate", "lsp"])
def test_every_help_has_examples_with_options_that_exist(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, command, "--help")
    _, _, examples = text.partition("\nexamples:\n")
    lines = [line.strip() for line in examples.splitlines()]
    assert lines == list(EXAMPLES[command])
    for line in lines:
        action = (
            re.match(rf"cyclelens {command} (import|list|show)\b", line)
            if command in ("data", "arch")
            else None
        )
        help_of = said(capsys, command, action[1], "--help") if action else text
        own = line.partition(" -- ")[0]
        for option in re.findall(r"(?<!\S)--[\w-]+", own):
            assert re.search(rf"{option}\b", help_of.partition("\nexamples:\n")[0]), f"{option} in: {line}"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_one(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = said(capsys, "completion", shell)
    assert all(name in script for name in COMMANDS)
    if shutil.which(shell):
        run = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ana", ["analyze"]),
        ("analyze --reg", ["--region", "--regions"]),
        ("analyze --arch ZE", ["ZEN+", "ZEN2", "ZEN3", "ZEN4", "ZEN5"]),
        ("analyze --format m", ["markdown"]),
        ("whatif --unr", ["--unroll"]),
    ],
)
def test_bash_completes(words: str, expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    script = said(capsys, "completion", "bash")
    line = ["cyclelens", *words.split()]
    script += f"\nCOMP_WORDS=({' '.join(line)})\nCOMP_CWORD={len(line) - 1}\n_cyclelens\n"
    script += "printf '%s\n' \"${COMPREPLY[@]}\"\n"
    run = subprocess.run(["bash"], input=script, capture_output=True, text=True)
    assert sorted(run.stdout.split()) == sorted(expected), run.stderr
