"""Which files a text pulls in, found before any program reads it: none outside of the workspace is read.

The search errs on the side of finding too much (an `#include` in a branch that is never taken counts); the
programs are asked afterwards which files they read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cyclelens.analyzer.model.source import Origin

MAXIMUM_FILES = 500
MAXIMUM_BYTES = 32 << 20
"""Of all included files together."""

_GAP = r"(?:[ \t\f\v]|/\*(?:[^*]|\*(?!/))*\*/)*"
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    "c": re.compile(
        rf"(?:^|\*/){_GAP}(?:\#|%:|\?\?=){_GAP}(?P<word>include_next|include|import|embed)\b{_GAP}"
        r'(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>|(?P<computed>[^\n]*))',
        re.MULTILINE,
    ),
    "gas": re.compile(
        r'\.(?P<word>include|incbin)\b[ \t]*(?:"(?P<quoted>[^"\n]*)"|(?P<computed>[^\n]*))', re.IGNORECASE
    ),
    "nasm": re.compile(
        r"(?:^[ \t]*%[ \t]*(?P<word>include|require)|\b(?P<data>incbin))\b[ \t]*"
        r"(?:\"(?P<quoted>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<computed>[^\n;]*))",
        re.IGNORECASE | re.MULTILINE,
    ),
}
_CONTINUATION = re.compile(r"\\[ \t]*(?:\r\n|\n|\r)")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An include that may not be followed. ``line``: of the text itself, zero-based."""

    line: int
    message: str


@dataclass(slots=True)
class Included:
    """What was found. ``state``: name, size and time of change of every file, in order."""

    refusals: list[Refusal] = field(default_factory=list)
    state: list[tuple[str, int, int]] = field(default_factory=list)
    total: int = 0


def look(text: str, language: str, origin: Origin) -> Included:
    """Follow the includes of a text in ``c``, ``gas`` or ``nasm``."""
    included = Included()
    folder = os.path.dirname(origin.path) if origin.path else ""
    for line, name, angled in _named(text, language):
        _follow(name, angled, line, folder, language, origin, included)
    return included


def search_path(origin: Origin) -> list[str]:
    """Where included files are looked for: beside the text, in the user's folders, in the workspace."""
    own = [os.path.dirname(origin.path)] if origin.path else []
    return list(dict.fromkeys([*own, *origin.include_paths, *origin.folders]))


def may_read(path: str, origin: Origin) -> bool:
    """Does a file really lie within the workspace or a folder that the user named?"""
    real = os.path.realpath(path)
    roots = (os.path.realpath(root) for root in (*origin.folders, *origin.include_paths))
    return any(real.startswith(os.path.join(root, "")) for root in roots)


def find(name: str, folders: Sequence[str]) -> str | None:
    """The first of the folders' files of this name."""
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def read(path: str) -> str:
    """The text of a file. Raises OSError."""
    return Path(path).read_bytes()[: MAXIMUM_BYTES + 1].decode("utf-8-sig", "replace")


def _named(text: str, language: str) -> Iterator[tuple[int, str | None, bool]]:
    """Line, name (None if it is computed) and whether it stands in angle brackets."""
    joins: list[int] = []
    if language == "c":
        # Lines may be joined within a word; the words count, and the lines are counted afterwards.
        pieces, length = [], 0
        for piece in _CONTINUATION.split(text):
            pieces.append(piece)
            length += len(piece)
            joins.append(length)
        text = "".join(pieces)
    line = counted = joined = 0
    for match in _PATTERNS[language].finditer(text):
        groups = match.groupdict()
        place = match.end("word") if groups["word"] else match.start()
        line += len(_LINE_END.findall(text, counted, place))
        counted = place
        while joined < len(joins) - 1 and joins[joined] <= place:
            joined += 1
        name = next((groups[key] for key in ("quoted", "single", "angled") if groups.get(key)), None)
        yield line + joined, name, bool(groups.get("angled"))


def _follow(
    name: str | None,
    angled: bool,
    line: int,
    folder: str,
    language: str,
    origin: Origin,
    included: Included,
) -> None:
    if name is None:
        included.refusals.append(Refusal(line, "Only file names that are written out are followed."))
        return
    folders = [*([folder] if folder and not angled else []), *search_path(origin)]
    path = name if os.path.isabs(name) and os.path.isfile(name) else find(name, folders)
    if path is None:
        escapes = os.path.isabs(name) or ".." in re.split(r"[/\\]", name)
        if language == "c" and not escapes:
            return  # one of the compiler's own, or missing, which the compiler will say
        if escapes:
            included.refusals.append(Refusal(line, f"'{name}' lies outside of the workspace."))
        return
    if not may_read(path, origin):
        message = f"'{name}' lies outside of the workspace; name its folder as an include path."
        included.refusals.append(Refusal(line, message))
        return
    try:
        status = os.stat(path)
    except OSError:
        return
    state = (path, status.st_size, status.st_mtime_ns)
    if state in included.state:
        return
    included.state.append(state)
    included.total += status.st_size
    if len(included.state) > MAXIMUM_FILES or included.total > MAXIMUM_BYTES:
        included.refusals.append(Refusal(line, "Too many or too large files are included."))
        return
    try:
        text = read(path)
    except OSError as error:
        included.refusals.append(Refusal(line, f"'{name}' cannot be read: {error.strerror}."))
        return
    for _, inner, inner_angled in _named(text, language):
        if included.refusals:
            return
        _follow(inner, inner_angled, line, os.path.dirname(path), language, origin, included)
