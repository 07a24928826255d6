"""How a project compiles a file: what its ``compile_commands.json`` says, or Cargo for a crate.

These files come with somebody's sources, and name programs that are run: whoever asks must trust the folder.
"""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclelens.analyzer.recent import Caches, Contents

DATABASE = "compile_commands.json"
CARGO = "Cargo.toml"
_PLACES = ("", "build")
"""Where a folder may have its database, as clangd looks for it."""
_LANGUAGES = {
    **dict.fromkeys((".c",), "C"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".C", ".cp"), "C++"),
    ".rs": "Rust",
}
_LARGEST = 256 << 20
_KEPT = 4
Entries = dict[str, tuple[str, tuple[str, ...]]]
"""Real paths of sources to the folder and the words of their command."""


class NoCommandError(Exception):
    """Nobody says how the file is compiled; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Command:
    """How a file is compiled."""

    words: tuple[str, ...]
    folder: str
    """Where it runs."""
    path: str
    """The file."""
    word: str
    """The file as one of the words; empty if none of them names it: then only what is saved is compiled."""


class Databases:
    """What the files say that list commands; the latest are kept."""

    def __init__(self, caches: Caches) -> None:
        self._contents = caches.of(Contents)
        self._kept: OrderedDict[tuple[str, bytes], Entries] = OrderedDict()
        """By path, which folders are relative to, and content."""

    def entries(self, database: Path) -> Entries:
        """Raises OSError, ValueError and RecursionError where there is none."""
        if database.stat().st_size > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST >> 20} MB")
        key = str(database), self._contents.of(str(database))
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
    """How a source is compiled, by the nearest file that says so in the workspace's ``folders``. Raises
    NoCommandError."""
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
    raise NoCommandError(f"there is no {missing} in the folders around it that says how it is compiled")


def _around(path: str, folders: Collection[str]) -> Iterator[Path]:
    """The folders around a file that belong to the workspace, the nearest first."""
    tops = [os.path.join(os.path.realpath(folder), "") for folder in folders]
    for folder in Path(os.path.realpath(path)).parents:
        if any(os.path.join(folder, "").startswith(top) for top in tops):
            yield folder


def _listed(path: str, database: Path, databases: Databases) -> Command:
    try:
        entries = databases.entries(database)
    except (OSError, ValueError, RecursionError) as error:
        raise NoCommandError(f"{database} cannot be read: {error}") from None
    real = os.path.realpath(path)
    if real not in entries:
        raise NoCommandError(f"{database} does not list it")
    folder, words = entries[real]
    word = next((each for each in words if os.path.realpath(os.path.join(folder, each)) == real), "")
    if not word:
        raise NoCommandError(f"its command in {database} does not name it")
    return Command(words, folder, path, word)


def _entries(database: str) -> Entries:
    found: Entries = {}
    listed = json.loads(Path(database).read_bytes())
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            continue
        folder = os.path.join(os.path.dirname(database), str(entry.get("directory", "")))
        words = entry.get("arguments") or shlex.split(str(entry.get("command", "")))
        path = os.path.realpath(os.path.join(folder, entry["file"]))
        if words and all(isinstance(word, str) for word in words):
            found.setdefault(path, (folder, tuple(words)))
    return found


def _of_crate(path: str, manifest: Path) -> Command:
    try:
        described = tomllib.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoCommandError(f"{manifest} cannot be read: {error}") from None
    if "package" not in described:
        raise NoCommandError(f"{manifest} describes no package")
    folder = manifest.parent
    # Its own folder for what is made: the user's builds neither wait nor are made again.
    words = ["cargo", "rustc", "--release", "--quiet", "--target-dir", str(folder / "target" / "cyclelens")]
    return Command((*words, *_target(Path(os.path.realpath(path)), folder, described)), str(folder), path, "")


def _target(path: Path, folder: Path, described: Mapping[str, Any]) -> tuple[str, ...]:
    """The part of a package that a file belongs to: a program, an example, or the library."""
    inner = path.relative_to(os.path.realpath(folder)).parts
    for kind, place in (("--bin", ("src", "bin")), ("--example", ("examples",)), ("--bench", ("benches",))):
        if inner[: len(place)] == place:
            return (kind, Path(inner[len(place)]).stem)
    if (folder / "src" / "lib.rs").is_file() and inner != ("src", "main.rs"):
        return ("--lib",)
    if (folder / "src" / "main.rs").is_file():
        return ("--bin", str(described["package"].get("name", "")))
    return ()
