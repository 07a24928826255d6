"""``cyclelens completion``: a script that lets a shell complete commands, options and their values.

The script is made from the help of every command, so that it needs no program when a key is pressed.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cyclelens.analyzer.commands.common import OK, new_parser

SHELLS = ("bash", "zsh", "fish")
_OPTION = re.compile(r"^  (?:-\w(?: [^,\s]+)?, )?(--[\w-]+)(?:[ =](\{[^}]*\}|\S+))?", re.MULTILINE)


class _Option(NamedTuple):
    name: str
    values: tuple[str, ...] = ()


Commands = Mapping[str, Sequence[_Option]]


def main(arguments: list[str], commands: Mapping[str, Callable[[list[str]], int]]) -> int:
    """Print the script of a shell. ``commands``: all subcommands, which are asked for their help."""
    parser = new_parser(
        "completion", "Print a script that lets a shell complete commands, options and values."
    )
    parser.add_argument("shell", choices=SHELLS)
    shell = parser.parse_args(arguments).shell
    known = {name: [*_options(_help_of(command)), _Option("--help")] for name, command in commands.items()}
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](known))
    return OK


def _help_of(command: Callable[[list[str]], int]) -> str:
    """What ``--help`` prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        command(["--help"])
    return said.getvalue()


def _options(text: str) -> list[_Option]:
    from cyclelens.analyzer.microarchitectures import registry

    found = {}
    for name, value in _OPTION.findall(text):
        values: tuple[str, ...] = ()
        if name == "--arch":
            values = (*registry.names(), registry.NATIVE)
        elif value.startswith("{"):
            values = tuple(value.strip("{}").split(","))
        found[name] = _Option(name, values)
    found.pop("--help", None)
    return list(found.values())


def _bash(commands: Commands) -> str:
    cases = "\n".join(
        f"    {name}) words={shlex.quote(' '.join(option.name for option in options))} ;;"
        for name, options in commands.items()
    )
    values = "\n".join(
        f"    {name}) words={shlex.quote(' '.join(values))} ;;" for name, values in _values(commands).items()
    )
    return f"""\
# bash completion for cyclelens
_cyclelens() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {shlex.quote(" ".join(commands))} -- "$word"))
    return
  fi
  case "$before" in
{values}
  esac
  if [ -z "$words" ] && [[ "$word" == -* ]]; then
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _cyclelens cyclelens"""


def _zsh(commands: Commands) -> str:
    cases = "\n".join(
        "    {}) _arguments {} '*:file:_files' ;;".format(
            name,
            " ".join(
                shlex.quote(f"{option.name}:{option.name[2:]}:({' '.join(option.values)})")
                if option.values
                else shlex.quote(option.name)
                for option in options
            ),
        )
        for name, options in commands.items()
    )
    return f"""\
#compdef cyclelens
_cyclelens() {{
  if (( CURRENT == 2 )); then
    compadd {" ".join(commands)}
    return
  fi
  local command=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $command in
{cases}
  esac
}}
compdef _cyclelens cyclelens"""


def _fish(commands: Commands) -> str:
    lines = ["# fish completion for cyclelens"]
    for name, options in commands.items():
        lines.append(f"complete -c cyclelens -n __fish_use_subcommand -f -a {name}")
        for option in options:
            values = f" -x -a {shlex.quote(' '.join(option.values))}" if option.values else ""
            seen = shlex.quote(f"__fish_seen_subcommand_from {name}")
            lines.append(f"complete -c cyclelens -n {seen} -l {option.name[2:]}{values}")
    return "\n".join(lines)


def _values(commands: Commands) -> dict[str, list[str]]:
    """Option -> its values, in whatever command."""
    found: dict[str, dict[str, None]] = {}
    for options in commands.values():
        for option in options:
            if option.values:
                found.setdefault(option.name, {}).update(dict.fromkeys(option.values))
    return {name: list(values) for name, values in found.items()}
