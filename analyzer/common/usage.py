"""Errors in command lines: the message first, then one line of usage."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.examples import help_text
from cyclelens.analyzer.common.log import LOG
from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.common.regular_files import check_written
from cyclelens.analyzer.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn, Self

OK, PROBLEMS, WRONG_USAGE = 0, 1, 2
"""Exit codes; ``cyclelens.analyzer.cli.main`` lists all."""
_UNKNOWN = "unrecognized arguments: "
"""Beginning of argparse's message about an option that does not exist."""


class _PathOption(argparse.Action):
    """Option that stores a path in the environment, for this process and its children."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _: object = None
    ) -> None:
        os.environ[self.dest] = os.path.abspath(values)


class _LogFile(_PathOption):
    """Option for the log file, which is opened once so that a wrong path is reported at once."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _: object = None
    ) -> None:
        try:
            check_written(values)
            with open(values, "a"):
                pass
        except OSError as error:
            parser.error(f"{values}: {error.strerror}")
        super().__call__(parser, namespace, values)


def port(text: str) -> int:
    """A number of a port; 0 stands for any free one. Raises argparse.ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a port")
    return int(text)


def output_path(text: str) -> Path:
    """The type of options that name a file to write."""
    try:
        check_written(text)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be written: {error.strerror}") from None
    return Path(text)


class _Rare(argparse._ArgumentGroup):
    """Arguments that ``--help`` leaves to ``--help-all``."""


def group(
    parser: argparse.ArgumentParser, title: str, description: str = "", *, rare: bool = False
) -> argparse._ArgumentGroup:
    """The parser's group of arguments of this title, made by the first call. ``rare``: only ``--help-all``
    shows it."""
    for known in parser._action_groups:
        if known.title == title:
            return known
    made = (_Rare if rare else argparse._ArgumentGroup)(parser, title, description or None)
    parser._action_groups.append(made)
    return made


class _HelpAll(argparse.Action):
    """Prints the help with all groups."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=argparse.SUPPRESS)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        assert isinstance(parser, Parser)
        parser.print_whole_help()
        parser.exit()


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors fit on two lines. Its help has the usual options, that of
    ``--help-all`` all of them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.add_argument("--help-all", action=_HelpAll)

    def with_paths(self) -> Self:
        """Add ``--data PATH`` and ``--log FILE``, for this process and its children."""
        paths = group(self, "tables and log", rare=True)
        paths.add_argument(
            "--data",
            action=_PathOption,
            dest=OWN_TABLES,
            default=argparse.SUPPRESS,
            metavar="PATH",
            help="the instruction tables, made by cyclelens data import (default: the shipped ones)",
        )
        paths.add_argument(
            "--log",
            action=_LogFile,
            dest=LOG,
            default=argparse.SUPPRESS,
            metavar="FILE",
            help="log one line per job with its times, and the traceback of every internal error, to a file",
        )
        return self

    def print_whole_help(self) -> None:
        """Print the help with all options, the usual ones first, and their usage."""
        self._action_groups.sort(key=lambda each: isinstance(each, _Rare))
        self._print_message(super().format_help() + help_text(self.prog), sys.stdout)

    def format_help(self) -> str:
        """The help with the usual options and examples."""
        groups, usage = self._action_groups, self.usage
        self._action_groups = [each for each in groups if not isinstance(each, _Rare)]
        self.usage = usage or self._usual_usage()
        try:
            text = super().format_help()
        finally:
            self._action_groups, self.usage = groups, usage
        titles = [str(each.title) for each in groups if isinstance(each, _Rare)]
        more = self._get_formatter()
        if titles:
            more.add_text(f"{self.prog} --help-all has more: {', '.join(titles)}.")
        return "\n".join(filter(None, (text, more.format_help()))) + help_text(self.prog)

    def error(self, message: str) -> NoReturn:
        """End the program with exit code 2; the message precedes the usage."""
        if message.startswith(_UNKNOWN):
            known = [name for action in self._actions for name in action.option_strings]
            option = message.removeprefix(_UNKNOWN).split()[0].partition("=")[0]
            if option.startswith("-"):
                message = f"unknown option '{option}'{did_you_mean(option, known)}"
            else:
                message = f"one argument too many: '{option}'"
        self.exit(WRONG_USAGE, f"{self.prog}: error: {message}\n{self._short_usage()}")

    def _short_usage(self) -> str:
        return f"usage: {self.usage or self._usual_usage()}; {self.prog} --help says more\n"

    def _usual_usage(self) -> str:
        operands = [
            str(action.metavar or action.dest) for action in self._actions if not action.option_strings
        ]
        return " ".join([self.prog, "[OPTION ...]", *operands])


def new_parser(name: str, description: str) -> argparse.ArgumentParser:
    """The parser of a subcommand."""
    return Parser(prog=f"cyclelens {name}", description=description, allow_abbrev=False).with_paths()
