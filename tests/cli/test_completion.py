"""Help texts have correct examples, and shells complete commands, options and values."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from cyclelens.analyzer.cli.completion import SHELLS
from cyclelens.analyzer.cli.main import COMMANDS, main
from cyclelens.analyzer.common.examples import EXAMPLES

ALL = (*COMMANDS, "evaluate", "lsp")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ALL)
def test_every_help_has_examples_with_options_that_exist(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, command, "--help-all")
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


def test_the_first_help_says_what_each_command_does_and_has_examples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = said(capsys, "--help")
    commands, _, examples = text.partition("\ncommands:\n")[2].partition("\nexamples:\n")
    for command in ALL:
        assert re.search(rf"^  {command} +[a-z][^(]+$", commands, re.MULTILINE), command
    lines = [line.strip() for line in examples.splitlines()]
    assert lines
    assert all(line in EXAMPLES[line.split()[1]] for line in lines)


@pytest.mark.parametrize("command", ALL)
def test_a_help_fits_on_a_screen_and_names_the_one_that_has_every_option(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most 60 lines of 80 columns. Nothing is lost: what is not there is in --help-all."""
    monkeypatch.setenv("COLUMNS", "80")
    short, whole = (said(capsys, command, word) for word in ("--help", "--help-all"))
    assert len(short.splitlines()) <= 60
    usual, every = (set(re.findall(r"^  .*?(--[\w-]+)", text, re.MULTILINE)) for text in (short, whole))
    assert usual <= every
    more = f"cyclelens {command} --help-all has more:"
    assert (more in short) is (usual < every)


def test_the_help_of_analyze_begins_with_what_is_used_most(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "analyze", "--help")
    usual = ("--format", "--trace", "--function", "--region", "-I", "--arch", "--mode", "--profile")
    places = [re.search(rf"^  {option} ", text, re.MULTILINE) for option in usual]
    assert all(places) and places == sorted(places, key=lambda place: place.start() if place else 0)
    assert "--no-lsd-unrolling" not in text and "--no-lsd-unrolling" in said(capsys, "analyze", "--help-all")


@pytest.mark.parametrize("action", ["arch list", "arch show", "data import"])
def test_the_help_of_an_action_has_an_example_of_it(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, *action.split(), "--help")
    assert text.partition("\nexamples:\n")[2].strip().startswith(f"cyclelens {action}")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_one(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = said(capsys, "completion", shell)
    assert all(name in script for name in ALL)
    if shutil.which(shell):
        run = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ana", ["analyze"]),
        ("analyze --reg", ["--region", "--regions"]),
        ("analyze --arch ZE", ["ZEN", "ZEN+", "ZEN2", "ZEN3", "ZEN4", "ZEN5"]),
        ("analyze --format m", ["markdown"]),
        ("whatif --unr", ["--unroll"]),
        ("ls", ["lsp"]),
        ("evaluate --ag", ["--against"]),
        ("arch s", ["show"]),
        ("arch show SK", ["SKL", "SKX"]),
        ("arch show --f", ["--format"]),
        ("completion z", ["zsh"]),
    ],
)
def test_bash_completes(words: str, expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    script = said(capsys, "completion", "bash")
    line = ["cyclelens", *words.split()]
    script += f"\nCOMP_WORDS=({' '.join(line)})\nCOMP_CWORD={len(line) - 1}\n_cyclelens\n"
    script += "printf '%s\n' \"${COMPREPLY[@]}\"\n"
    run = subprocess.run(["bash"], input=script, capture_output=True, text=True)
    assert sorted(run.stdout.split()) == sorted(expected), run.stderr


def test_all_of_the_help_without_a_command_has_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--help-all") == said(capsys, "--help")
