"""Errors in command lines: the message first, then one line of usage."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.examples import help_text
from cyclelens.analyzer.common.log import LOG
from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.common.regular_files import check_written
from cyclelens.analyzer.common.suggestions import did_you_mean

if TYPE_CHECKING:
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


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors fit on two lines."""

    def with_paths(self) -> Self:
        """Add ``--data PATH`` and ``--log FILE``, for this process and its children."""
        self.add_argument(
            "--data",
            action=_PathOption,
            dest=OWN_TABLES,
            default=argparse.SUPPRESS,
            metavar="PATH",
            help="the instruction tables, made by cyclelens data import (default: the shipped ones)",
        )
        self.add_argument(
            "--log",
            action=_LogFile,
            dest=LOG,
            default=argparse.SUPPRESS,
            metavar="FILE",
            help="log one line per job with its times, and the traceback of every internal error, to a file",
        )
        return self

    def format_help(self) -> str:
        """The help with examples."""
        return super().format_help() + help_text(self.prog)

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
        operands = [
            str(action.metavar or action.dest) for action in self._actions if not action.option_strings
        ]
        usage = self.usage or " ".join([self.prog, "[OPTION ...]", *operands])
        return f"usage: {usage}; {self.prog} --help says more\n"


def new_parser(name: str, description: str) -> argparse.ArgumentParser:
    """The parser of a subcommand."""
    return Parser(prog=f"cyclelens {name}", description=description, allow_abbrev=False).with_paths()
