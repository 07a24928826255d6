"""``cyclelens bug-report``: packs what is needed to investigate a defect or a wrong figure into one file."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.log import LOG
from cyclelens.analyzer.common.regular_files import read_given
from cyclelens.analyzer.common.usage import OK, new_parser, output_path

_PACKAGES = ("cyclelens", "iced-x86", "keystone-engine", "lsprotocol", "lxml", "pygls")
_PROGRAMS = ("as", "nasm", "gcc", "clang", "rustc")
_LARGEST = 32 << 20
"""Largest file that is packed, in bytes."""
_PATIENCE = 10.0
"""Seconds that a program may take to print its version."""


def main(arguments: list[str]) -> int:
    """Write the file and list its contents."""
    own, command = arguments, list[str]()
    if "--" in arguments:
        place = arguments.index("--")
        own, command = arguments[:place], arguments[place + 1 :]
    parser = new_parser(
        "bug-report",
        "Pack version, machine, log and input into one file that can be attached to a report. "
        "A command after -- is run and its output packed, too. Nothing is sent anywhere.",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="input to pack")
    parser.add_argument(
        "--output",
        type=output_path,
        default=Path("cyclelens-report.zip"),
        metavar="PATH",
        help="default: cyclelens-report.zip; existing files are not overwritten",
    )
    options = parser.parse_args(own)
    log = os.environ.pop(LOG, "")
    parts = {"about.txt": "\n".join(_about()) + "\n"}
    if command:
        parts["command.txt"] = _run(command)
    if log:
        parts["log.txt"] = _read(Path(log)).decode(errors="replace")
    inputs = {f"input/{number}-{path.name}": _read(path) for number, path in enumerate(options.files, 1)}
    try:
        with zipfile.ZipFile(options.output, "x", zipfile.ZIP_DEFLATED) as packed:
            for name, text in parts.items():
                packed.writestr(name, _without_home(text))
            for name, data in inputs.items():
                packed.writestr(name, data)
    except FileExistsError:
        raise InputError(
            f"{options.output} already exists: move it, or name another file with --output"
        ) from None
    except OSError as error:
        raise InputError(f"{options.output}: {error.strerror}") from None
    print(f"{options.output} contains {', '.join((*parts, *inputs))}")
    print("It contains your input unchanged. Review it, then attach it to the report.")
    return OK


def _read(path: Path) -> bytes:
    try:
        return read_given(path, _LARGEST)
    except OSError as error:
        raise InputError(f"{path} cannot be packed: {error.strerror or error}") from None


def _about() -> Iterator[str]:
    """Lines about the program and the machine."""
    from cyclelens.analyzer.common.own_tables import OWN_TABLES
    from cyclelens.analyzer.facts.store import default_tables
    from cyclelens.analyzer.microarchitectures import registry

    for package in _PACKAGES:
        yield f"{package}: {_version(package)}"
    yield f"Python: {sys.version.split()[0]} ({platform.python_implementation()})"
    yield f"system: {platform.platform()}"
    native = registry.native()
    yield f"processor: {registry.own_name()}; model: {'none' if native is None else native.name}"
    tables = Path(default_tables())
    size = f"{tables.stat().st_size} bytes" if tables.exists() else "missing"
    yield f"tables: {'own' if os.environ.get(OWN_TABLES) else 'shipped'}, {size}"
    for program in _PROGRAMS:
        yield f"{program}: {_first_line(program)}"
    for name in sorted(os.environ):
        if name.startswith("CYCLELENS_"):
            yield f"{name}={os.environ[name]}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _first_line(program: str) -> str:
    """First line of a program's ``--version`` output."""
    try:
        done = subprocess.run(
            (program, "--version"), capture_output=True, text=True, check=False, timeout=_PATIENCE
        )
    except FileNotFoundError:
        return "not found"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run: {type(error).__name__}"
    return (done.stdout or done.stderr).partition("\n")[0]


def _run(command: Sequence[str]) -> str:
    """Output of a Cyclelens command, with tracebacks, and its exit code."""
    done = subprocess.run(
        (sys.executable, "-m", "cyclelens.analyzer.cli.main", *command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        env={**os.environ, "CYCLELENS_DEBUG": "1"},
    )
    printed = done.stdout[:_LARGEST].decode(errors="replace")
    return f"$ cyclelens {' '.join(command)}\n{printed}\nexit code: {done.returncode}\n"


def _without_home(text: str) -> str:
    """The text with the user's home folder replaced by ``~``."""
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text
