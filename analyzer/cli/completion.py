"""``cyclelens completion``: a script that lets a shell complete commands, options and values.

The script is made from the help of every command, so completing a word starts no program.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from cyclelens.analyzer.common.usage import OK, new_parser
from msgspec import Struct

SHELLS = ("bash", "zsh", "fish")
_OPTION = re.compile(r"^  (?:-\w(?: [^,\s]+)?, )?(--[\w-]+)(?:[ =](\{[^}]*\}|\S+))?", re.MULTILINE)
_CHOICES = re.compile(r"^  \{([^}]*)\}$|^  (NAME) ", re.MULTILINE)
"""Positional words: one of a few choices, or the name of a microarchitecture."""


class _Option(Struct, frozen=True):
    name: str
    """Word that the values follow: an option, a command or an action."""
    values: tuple[str, ...] = ()

    @property
    def is_word(self) -> bool:
        return not self.name.startswith("-")


Commands = Mapping[str, Sequence[_Option]]


def main(arguments: list[str], commands: Mapping[str, Callable[[list[str]], int]]) -> int:
    """Print the script for a shell. ``commands``: all subcommands, whose help is read."""
    parser = new_parser(
        "completion", "Print a script that lets a shell complete commands, options and values."
    )
    parser.add_argument("shell", choices=SHELLS)
    shell = parser.parse_args(arguments).shell
    known = {
        name: [*_options(name, command), _Option("--help"), _Option("--help-all")]
        for name, command in commands.items()
    }
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](known))
    return OK


def _help_of(command: Callable[[list[str]], int], *action: str) -> str:
    """The help of a command with all its options, or of one of its actions."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        command([*action, "--help-all"])
    return said.getvalue()


def _options(name: str, command: Callable[[list[str]], int]) -> list[_Option]:
    """The options of a command and of its actions."""
    text = _help_of(command)
    found = _found(name, text)
    actions = re.findall(
        r"^    ([\w-]+)  ", text.partition("\n  ACTION\n")[2].partition("\n\n")[0], re.MULTILINE
    )
    if actions:
        found[name] = _Option(name, tuple(actions))
    for action in actions:
        found |= _found(action, _help_of(command, action))
    return list(found.values())


def _found(word: str, text: str) -> dict[str, _Option]:
    """The options in a help text. ``word``: the command or action that they follow."""
    from cyclelens.analyzer.microarchitectures import registry

    found = {}
    if choices := _CHOICES.search(text):
        found[word] = _Option(word, tuple(choices[1].split(",")) if choices[1] else tuple(registry.names()))
    for name, value in _OPTION.findall(text):
        values: tuple[str, ...] = ()
        if name == "--arch":
            values = (*registry.names(), registry.NATIVE)
        elif value.startswith("{"):
            values = tuple(value.strip("{}").split(","))
        found[name] = _Option(name, values)
    found.pop("--help", None)
    return found


def _bash(commands: Commands) -> str:
    flags = {
        name: " ".join(option.name for option in options if not option.is_word)
        for name, options in commands.items()
    }
    cases = "\n".join(f"    {name}) words={shlex.quote(words)} ;;" for name, words in flags.items())
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
  if [[ "$word" == -* ]]; then
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  else
    case "$before" in
{values}
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
        f"    {name}) _arguments {' '.join(map(shlex.quote, _zsh_arguments(options)))} '*:file:_files' ;;"
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


def _zsh_arguments(options: Sequence[_Option]) -> Iterator[str]:
    words = 0
    for option in options:
        values = f":{option.name.lstrip('-')}:({' '.join(option.values)})" if option.values else ""
        words += option.is_word
        yield f"{words if option.is_word else option.name}{values}"


def _fish(commands: Commands) -> str:
    lines = ["# fish completion for cyclelens"]
    for name, options in commands.items():
        lines.append(f"complete -c cyclelens -n __fish_use_subcommand -f -a {name}")
        for option in options:
            values = f" -x -a {shlex.quote(' '.join(option.values))}" if option.values else ""
            seen = shlex.quote(f"__fish_seen_subcommand_from {option.name if option.is_word else name}")
            flag = "" if option.is_word else f" -l {option.name[2:]}"
            lines.append(f"complete -c cyclelens -n {seen}{flag}{values}")
    return "\n".join(lines)


def _values(commands: Commands) -> dict[str, list[str]]:
    """Option or word -> the values that may follow it in any command."""
    found: dict[str, dict[str, None]] = {}
    for options in commands.values():
        for option in options:
            if option.values:
                found.setdefault(option.name, {}).update(dict.fromkeys(option.values))
    return {name: list(values) for name, values in found.items()}
