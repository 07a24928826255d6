"""Finds out how a project compiles a file: by its ``compile_commands.json``, or with Cargo for a crate.

Both files come with the sources and name programs to run, so callers must check that the folder is trusted.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from cyclelens.analyzer.common.file_digests import FileDigests
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.common.regular_files import is_plain, read_regular
from msgspec import Struct

DATABASE = "compile_commands.json"
CARGO = "Cargo.toml"
_WRITES_DATABASE = "CMake writes one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; for make there is bear"
_PLACES = ("", "build")
"""Subfolders that are searched for a database, as clangd does."""
_LANGUAGES = {
    **dict.fromkeys((".c",), "C"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".C", ".cp"), "C++"),
    ".rs": "Rust",
}
_LARGEST = 256 << 20
_KEPT = 4
_LIKELY = 1000
"""Words of a command that are checked for being the file."""
_LARGEST_MANIFEST = 16 << 20
_MOST_WORDS = 100_000
"""Maximum words of one command; the system takes fewer."""
Entries = dict[str, tuple[str, tuple[str, ...]] | str]
"""Real path of each source -> the folder and words of its command, or what is wrong with the entry."""


class NoCommandError(Exception):
    """No command is known for the file; the message is a sentence."""


class UnusableCommandError(NoCommandError):
    """The project's file about the source cannot be used; the message says which file, and why."""


class Command(Struct, frozen=True):
    """The command that compiles a file."""

    words: tuple[str, ...]
    folder: str
    """Working directory."""
    path: str
    """The source file."""
    word: str
    """The word that names the file; empty if none does, and then only the saved text can be compiled."""


class Databases:
    """Parsed ``compile_commands.json`` files; the latest are kept."""

    def __init__(self, caches: Caches) -> None:
        self._digests = caches.of(FileDigests)
        self._kept: OrderedDict[tuple[str, bytes], Entries] = OrderedDict()
        """By path (folders in the file are relative to it) and digest of the content."""

    def entries(self, database: Path) -> Entries:
        """Entries of a database. Raises OSError, ValueError or RecursionError if it cannot be read."""
        key = str(database), self._digests.of(str(database), _LARGEST)
        found = self._kept.pop(key, None)
        if found is None:
            found = _entries(str(database))
        self._kept[key] = found
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found


def language(path: str) -> str:
    """``C``, ``C++`` or ``Rust``; empty for any other file."""
    return _LANGUAGES.get(Path(path).suffix, "")


def command_for(path: str, folders: Collection[str], databases: Databases) -> Command:
    """The command that compiles a source, from the nearest project file inside the workspace's ``folders``.
    Raises NoCommandError; UnusableCommandError if the project's file is damaged."""
    kind = language(path)
    for folder in _around(path, folders):
        if kind == "Rust":
            manifest = folder / CARGO
            if manifest.is_file():
                return _of_crate(path, manifest)
            continue
        for place in _PLACES:
            database = folder / place / DATABASE
            if database.is_file():
                return _listed(path, database, databases)
    missing = CARGO if kind == "Rust" else DATABASE
    source = "" if kind == "Rust" else f" ({_WRITES_DATABASE})"
    raise NoCommandError(f"no {missing} in the folders above it says how to compile it{source}")


def _around(path: str, folders: Collection[str]) -> Iterator[Path]:
    """Folders above a file that belong to the workspace, nearest first."""
    tops = [os.path.join(os.path.realpath(folder), "") for folder in folders]
    for folder in Path(os.path.realpath(path)).parents:
        if any(os.path.join(folder, "").startswith(top) for top in tops):
            yield folder


def _listed(path: str, database: Path, databases: Databases) -> Command:
    try:
        entries = databases.entries(database)
    except (OSError, ValueError, RecursionError) as error:
        raise UnusableCommandError(f"{database} cannot be read: {error}") from None
    real = os.path.realpath(path)
    if real not in entries:
        raise NoCommandError(f"{database} does not list it")
    if isinstance(entry := entries[real], str):
        raise UnusableCommandError(f"its entry in {database} cannot be used: {entry}")
    folder, words = entry
    # The word may be a link of any name, but comparing names is cheaper than resolving paths.
    likely = sorted(words, key=lambda word: os.path.basename(word) != os.path.basename(path))[:_LIKELY]
    word = next((each for each in likely if os.path.realpath(os.path.join(folder, each)) == real), "")
    if not word:
        raise NoCommandError(f"its command in {database} does not name it")
    return Command(words, folder, path, word)


def _entries(database: str) -> Entries:
    found: Entries = {}
    listed = json.loads(read_regular(database, _LARGEST))
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, dict):
            continue
        folder, file = entry.get("directory", ""), entry.get("file", 0)
        if not (isinstance(folder, str) and isinstance(file, str) and is_plain(folder + file)):
            continue  # The entry does not name its file.
        folder = os.path.join(os.path.dirname(database), folder)
        words = _words(entry)
        path = os.path.realpath(os.path.join(folder, file))
        found.setdefault(path, words if isinstance(words, str) else (folder, words))
    return found


def _words(entry: Mapping[str, Any]) -> tuple[str, ...] | str:
    """Words of an entry's command, or what is wrong with them."""
    words, command = entry.get("arguments"), entry.get("command")
    if not words:
        if not isinstance(command, str):
            return "it has neither arguments nor a command"
        try:
            words = _split(command)
        except ValueError as error:
            return f"its command cannot be split into words: {error}"
    if not isinstance(words, list) or not words or not all(map(is_plain, words)):
        return "its arguments are not a list of words that a program accepts"
    if len(words) > _MOST_WORDS:
        return f"its command has more than {_MOST_WORDS:,} words"
    return tuple(words)


def _split(command: str) -> list[str]:
    """The words of a command. On Windows backslashes separate folders. Raises ValueError."""
    if not re.match(r"\"?[A-Za-z]:\\", command):
        return shlex.split(command)
    return [
        match[0].replace('\\"', "\0").replace('"', "").replace("\0", '"')
        for match in re.finditer(r'(?:\\"|"(?:\\"|[^"])*"|[^\s"])+', command)
    ]


def _of_crate(path: str, manifest: Path) -> Command:
    try:
        described = tomllib.loads(read_regular(manifest, _LARGEST_MANIFEST).decode("utf-8"))
    except RecursionError:
        raise UnusableCommandError(f"{manifest} is nested too deeply") from None
    except (OSError, ValueError) as error:
        raise UnusableCommandError(f"{manifest} cannot be read: {error}") from None
    if "package" not in described:
        raise NoCommandError(f"{manifest} describes no package")
    package = described["package"]
    if not isinstance(package, dict) or not is_plain(package.get("name", "")):
        raise UnusableCommandError(f"{manifest}: package is not a table with a name")
    folder = manifest.parent
    # A target folder of its own: the user's builds are neither blocked nor invalidated.
    words = ["cargo", "rustc", "--release", "--quiet", "--target-dir", str(folder / "target" / "cyclelens")]
    return Command((*words, *_target(Path(os.path.realpath(path)), folder, described)), str(folder), path, "")


def _target(path: Path, folder: Path, described: Mapping[str, Any]) -> tuple[str, ...]:
    """Cargo options for the target that contains a file: a binary, an example, a benchmark or the library."""
    inner = path.relative_to(os.path.realpath(folder)).parts
    for kind, place in (("--bin", ("src", "bin")), ("--example", ("examples",)), ("--bench", ("benches",))):
        if inner[: len(place)] == place:
            return (kind, Path(inner[len(place)]).stem)
    if (folder / "src" / "lib.rs").is_file() and inner != ("src", "main.rs"):
        return ("--lib",)
    if (folder / "src" / "main.rs").is_file():
        return ("--bin", described["package"].get("name", ""))
    return ()
