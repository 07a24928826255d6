"""The command line: turns every error into one line and an exit code.

Exit codes: 0 success, 1 problems in the input, 2 wrong usage, 3 slower than allowed (``check``), 70 an error
in Cyclelens itself, 130 interrupted. Start-up time matters here: what a subcommand needs is imported when it
runs.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from cyclelens.analyzer.common import log
from cyclelens.analyzer.common.defects import described
from cyclelens.analyzer.common.escaping import Painted, printable
from cyclelens.analyzer.common.examples import EXAMPLES
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.common.usage import OK, PROBLEMS, WRONG_USAGE, Parser, new_parser, output_path

if TYPE_CHECKING:
    from typing import Any, NoReturn, TextIO

INTERNAL, INTERRUPTED = 70, 130
PLUGINS = "cyclelens.commands"
"""Entry-point group of further subcommands: callables from a list of arguments to an exit code."""

PLUGIN_SUMMARIES = {
    "evaluate": "compare predictions with measured or reference figures",
    "lsp": "the language server, which editors start by themselves",
}
"""Summaries of plugins in this package, known without loading them."""

Command = Callable[[list[str]], int]


_COLLECTION_THRESHOLD = 100_000
"""Allocations before Python searches for reference cycles. The default of 700 costs a tenth of a short
command's time."""


_ENDING = (
    *("SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU", "SIGUSR1", "SIGUSR2"),
    *("SIGALRM", "SIGVTALRM", "SIGPROF", "SIGIO", "SIGPWR", "SIGSTKFLT"),
)
"""Sent by users, batch systems (before the time is over), limits and timers: all signals that end a process
by default, apart from Ctrl-C and those of a program's own errors."""

_NO_ROOM = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
"""Why a file cannot be written although it was opened."""


def command() -> NoReturn:
    """Entry point of the ``cyclelens`` process."""
    gc.set_threshold(_COLLECTION_THRESHOLD)
    received = _end_on_signals()
    try:
        code = main()
    finally:
        if received:
            # It may have come between the creation of a folder and the context that removes it.
            from cyclelens.analyzer.common.temporary import remove_of

            remove_of(os.getpid())
    # Skip the search for reference cycles in cached objects at exit.
    gc.freeze()
    sys.exit(code)


def _end_on_signals() -> list[int]:
    """Make the signals of ``_ENDING`` end the process with an exception, so that files are closed and
    temporary ones removed. Ctrl-C already does. A signal that the parent had ignored stays ignored.
    Returns the list of the signals received, empty at first."""

    def end(number: int, _frame: object) -> NoReturn:
        received.append(number)
        raise SystemExit(128 + number)

    received: list[int] = []

    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)
    return received


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (``sys.argv`` by default) and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal cannot show must not end the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    stdout: Any = sys.stdout
    sys.stdout = _Printable(stdout)
    try:
        return _run(argv)
    finally:
        sys.stdout = stdout


class _Printable:
    """Standard output for untrusted text: terminal control sequences are escaped, except the program's own
    colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text if isinstance(text, Painted) else printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _run(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    begin, processor = time.perf_counter(), time.process_time()
    code = _ended(arguments)
    if os.environ.get(log.LOG):
        wall, used = time.perf_counter() - begin, time.process_time() - processor
        log.write("command", arguments=" ".join(arguments), exit=code, ms=1e3 * wall, processor_ms=1e3 * used)
    return code


def _ended(arguments: list[str]) -> int:
    """Run a command line and return its exit code, whatever happens."""
    try:
        try:
            code = _dispatch(arguments)
        except SystemExit as stop:  # argparse: 0 after help, 2 after an error that it has already printed
            code = stop.code if isinstance(stop.code, int) else WRONG_USAGE
        sys.stdout.flush()
        return code
    except InputError as error:
        _complain(error)
        return PROBLEMS
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`| head`). Avoid a second error when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
            # The error of a write names no file. Python would fail again when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            _complain(f"the output cannot be written: {error.strerror}")
            return PROBLEMS
        message = described(error)
        if os.environ.get("CYCLELENS_DEBUG"):
            raise
        _complain(
            f"internal error: {message}; CYCLELENS_DEBUG=1 in the environment shows the traceback, "
            "and cyclelens bug-report packs what a report needs"
        )
        return INTERNAL


def _complain(message: object) -> None:
    print(f"cyclelens: {printable(str(message))}", file=sys.stderr)


def _dispatch(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-"):
        name, rest = arguments[0], arguments[1:]
        if name in COMMANDS:
            return COMMANDS[name][0](rest)
        for plugin, command in _plugins():
            if plugin == name:
                return command()(rest)
        known = (*COMMANDS, *(plugin for plugin, _ in _plugins()))
        _top_parser().error(f"unknown command '{name}'{did_you_mean(name, known)}")
    parser = _top_parser()
    parser.parse_args(arguments)
    parser.error("a command is missing")


def _plugins() -> Iterator[tuple[str, Callable[[], Command]]]:
    """Subcommands of other packages: name and loader."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=PLUGINS):
        yield entry.name, entry.load


def _top_parser() -> argparse.ArgumentParser:
    parser = _TopParser(
        prog="cyclelens",
        usage="cyclelens [--help] [--version] COMMAND ...",
        description="Shows what every cycle of a hand-written x86-64 kernel is spent on.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_VersionOption, help="print the version and exit")
    return parser


class _TopParser(Parser):
    """Lists the subcommands in its help. Those of other packages are looked up only then."""

    def format_help(self) -> str:
        listed = [f"  {name:<12} {summary}" for name, (_, summary) in COMMANDS.items()]
        listed += [
            f"  {name:<12} {PLUGIN_SUMMARIES.get(name, '')}".rstrip()
            for name, _ in _plugins()
            if name not in COMMANDS
        ]
        examples = (f"  {EXAMPLES[name][0]}" for name in ("analyze", "rewrite", "cc"))
        lines = ["commands:", *listed, "", "cyclelens COMMAND --help says more about each."]
        self.epilog = "\n".join([*lines, "", "examples:", *examples])
        return super().format_help()

    def print_whole_help(self) -> None:
        """Print the help: nothing is left out of it."""
        self.print_help()


class _VersionOption(argparse.Action):
    """Prints the version, which is looked up only on request."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"cyclelens {version('cyclelens')}")
        parser.exit()


# ---------------------------------------------------------------------------------------------------------
# data


def _data(arguments: list[str]) -> int:
    from pathlib import Path

    parser = new_parser("data", "The instruction tables.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    importer = actions.add_parser(
        "import",
        help="build the tables from the XML of uops.info, or add results of ibench and asmbench",
    )
    importer.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="XML (also .xz) in the schema of uops.info, or what ibench or asmbench printed",
    )
    importer.add_argument(
        "--output",
        metavar="PATH",
        type=output_path,
        help="default: the tables of --data, or the shipped ones without --merge",
    )
    importer.add_argument(
        "--merge",
        action="store_true",
        help="add to the tables of --output or --data, which begin as a copy of the shipped ones",
    )
    importer.add_argument("--arch", metavar="NAME", help="the core that ibench or asmbench ran on")
    options = parser.parse_args(arguments)

    from cyclelens.analyzer.cli.import_tables import is_benchmark, run_benchmarks, run_import
    from cyclelens.analyzer.facts.importer import ImportProblem
    from cyclelens.analyzer.facts.store import TablesUnavailable

    try:
        if is_benchmark(options.file):
            core = _measured_core(options.arch, merged=options.merge)
            summary, found = run_benchmarks(options.file, core, options.output)
            print(f"{len(found.variants)} variants of {core} have figures of the benchmark")
            for forms, why in (
                (found.unknown, "not in the tables"),
                (found.without_latency, "throughput only: the latency is no whole number between registers"),
            ):
                if forms:
                    print(f"   {why}: {', '.join(forms)}")
        else:
            summary = run_import(options.file, options.output, merge=options.merge)
    except (ImportProblem, TablesUnavailable) as error:
        raise InputError(error) from None
    if summary.without_units:
        print(
            "   left out, because neither the tables nor the file say which units execute them: "
            + ", ".join(summary.without_units)
        )
    print(
        f"{summary.variants} instruction variants, {summary.records} records of "
        f"{len(summary.microarchitectures)} microarchitectures ({summary.distinct_records} distinct), "
        f"{summary.size / 1e6:.1f} MB"
    )
    return OK


def _measured_core(name: str | None, *, merged: bool) -> str:
    """Name in the tables of the core that a benchmark ran on. Raises InputError."""
    from cyclelens.analyzer.microarchitectures import registry

    if not merged:
        raise InputError("results of ibench and asmbench complete existing tables: add --merge")
    if name is None:
        raise InputError("results of ibench and asmbench name no core: give it with --arch")
    try:
        return registry.get(name).facts_name
    except registry.UnknownMicroarchitecture as error:
        raise InputError(str(error)) from None


def _command(module: str) -> Command:
    """A subcommand in its own module, imported when it runs."""

    def run(arguments: list[str]) -> int:
        main: Command = import_module(f"cyclelens.analyzer.cli.{module}").main
        return main(arguments)

    return run


def _completion(arguments: list[str]) -> int:
    from cyclelens.analyzer.cli import completion

    commands = {name: command for name, (command, _) in COMMANDS.items()}
    return completion.main(arguments, {name: load() for name, load in _plugins()} | commands)


COMMANDS: dict[str, tuple[Command, str]] = {
    "analyze": (_command("analyze"), "analyse the marked regions of an assembly file"),
    "cc": (_command("cc"), "compile C, C++ or Rust and show the cycles at the lines of the sources"),
    "annotate": (_command("annotate"), "list the hottest loops of a recorded profile with their cycles"),
    "rewrite": (_command("rewrite"), "search for rewrites that make loops faster, and apply them"),
    "check": (_command("check"), "compare regions with limits and earlier figures"),
    "compare": (_command("compare"), "compare regions across CPUs, alignments, regions or versions"),
    "whatif": (_command("whatif"), "change one thing and simulate again"),
    "characterize": (_command("characterize"), "find instruction tables by microbenchmarks"),
    "corpus": (_command("corpus"), "take the basic blocks of programs and libraries"),
    "sweep": (_command("sweep"), "scale buffers or the latency of loads"),
    "predict": (_command("predict"), "predict many blocks of machine code, hexadecimal in, CSV out"),
    "measure": (_command("measure"), "run regions or blocks on this machine and compare"),
    "serve": (_command("serve"), "a page on this machine: editor, cycles, timeline, CPUs, links"),
    "mcp": (_command("mcp"), "answer coding agents by the Model Context Protocol"),
    "mca": (_command("mca"), "read what llvm-mca reads, and print in its shape"),
    "data": (_data, "build the instruction tables"),
    "bug-report": (_command("bug_report"), "pack the material for a report of a defect or a wrong figure"),
    "arch": (_command("arch"), "list the microarchitectures, or show one"),
    "completion": (_completion, "a script that lets a shell complete commands and options"),
}

if __name__ == "__main__":
    command()
