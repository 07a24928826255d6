"""Expands a text to what the assembler reads: preprocessed, with `.include`d files in place.

Every line of the result knows the user's line that it comes from.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.assemblers import external
from cyclelens.analyzer.frontend.files import includes
from cyclelens.analyzer.frontend.files.includes import RefusedInclude
from cyclelens.analyzer.frontend.source.chunks import LINE_END, SourceText
from cyclelens.analyzer.frontend.source.scanner import LineIndex, RawStatement
from cyclelens.analyzer.model.source import Origin
from msgspec import Struct

TIMEOUT = 5.0
"""Seconds for one run of the C preprocessor, which usually takes 20 milliseconds."""
MAXIMUM_LINES = 300_000
"""Lines of a text with everything that it includes."""
MAXIMUM_CHARACTERS = external.OUTPUT_LIMIT
"""Characters of the same, and bytes of the C preprocessor's output."""
_MAXIMUM_STATEMENTS = 2 * MAXIMUM_LINES
_COMPILERS = ("cc", "gcc", "clang")
_MAXIMUM_STUBS = 16
"""Missing headers that are replaced by empty ones."""
_MAXIMUM_NESTING = 20
_MAIN = "<stdin>"
_PREPROCESSED_FILE = re.compile(r"\.(?:S|sx|spp)$")
_DIRECTIVES = re.compile(r"^#(?:include|define|ifdef|ifndef|if|elif|else|endif|undef)\b", re.MULTILINE)
_MARKER = r'#(?:line)? (\d+) "((?:[^"\\]++|\\.)*+)"((?: \d)*)\s*'
_MISSING = r"fatal error: '?([^':\n]+?)'?(?: file not found|: No such file or directory)"
_FORBIDDEN = r"fatal error: '?([^':\n]+?)'?: Permission denied"
_MESSAGE = rf"{_MAIN}:(\d+):(?:\d+:)? (?:fatal )?(error|warning): (.*)"
INCLUDING = re.compile(r"\.include", re.IGNORECASE)
"""Matches texts that include others with `.include`."""
_INCLUDE = r'(?i)\s*\.include\s*"([^"]+)"\s*(?:#.*|(;.*))?'
_DEFINE = r"(?s)[A-Za-z_$][\w$]*(?:\([^()]*\))?(?:=.*)?"


class ExpansionNote(Struct, frozen=True):
    """A message about the text: a code of ``problems.py`` and a sentence. ``line`` is zero-based."""

    line: int
    code: str
    message: str


class Expanded(Struct, frozen=True):
    """An expanded text and the user's line of each of its lines. ``own`` lines are the user's own, almost
    unchanged."""

    text: str
    lines: Sequence[int]
    own: tuple[bool, ...]
    notes: tuple[ExpansionNote, ...] = ()
    preprocessed: bool = False


def wants_preprocessor(source: SourceText, origin: Origin) -> bool:
    """Whether the C preprocessor should process the text: decided by the file's name, or by its directives if
    there is none."""
    if origin.path:
        return bool(_PREPROCESSED_FILE.search(origin.path))
    return source.has(_DIRECTIVES.search)


def plain(text: str) -> Expanded:
    """The text without any expansion."""
    count = 1 + (len(LINE_END.findall(text)) if "\r" in text else text.count("\n"))
    return Expanded(text, range(count), (True,) * count)


def preprocess(text: str, origin: Origin, cancel: Callable[[], bool], caches: Caches) -> Expanded:
    """The text after the user's C preprocessor. If that fails, the text unchanged with a note that says
    why."""
    found = includes.look(text, "c", origin, caches)
    if found.refusals:
        notes = [_not_run(refusal.line, refusal.message) for refusal in found.refusals]
        return _unchanged(text, notes)
    bad = next((define for define in origin.defines if not re.fullmatch(_DEFINE, define)), None)
    if bad is not None:
        return not_preprocessed(text, f"The define '{bad}' has no valid name.")
    compiler = next(filter(None, map(external.find_program, _COMPILERS)), None)
    if compiler is None:
        return not_preprocessed(text, "There is no C compiler on PATH.")
    try:
        return _preprocess(
            LINE_END.sub("\n", text), compiler, origin, tuple(found.contents.items()), cancel, caches
        )
    except external.TooMuchError as error:
        return _too_long(text, error.written[""].decode("utf-8", "replace"))
    except external.HungError as error:
        reason = str(error)
    except OSError as error:
        reason = f"{compiler} cannot be run: {error.strerror or error}."
    return not_preprocessed(text, reason)


def not_preprocessed(text: str, reason: str) -> Expanded:
    """The unchanged text with a note that says why."""
    return _unchanged(text, [_not_run(_first_line(text), reason)])


def _not_run(line: int, reason: str) -> ExpansionNote:
    message = f"The C preprocessor was not run, and its lines are read as comments. {reason}"
    return ExpansionNote(line, "not-preprocessed", message)


def _too_long(text: str, produced: str) -> Expanded:
    """The unchanged text with a note at the line that produced most of the result."""
    made: Counter[int] = Counter()
    lines, user_lines, _, _ = _follow_markers(produced)
    for line, user_line in zip(lines, user_lines, strict=True):
        made[user_line] += len(line)
    limits = f"{MAXIMUM_CHARACTERS >> 20} MB, {MAXIMUM_LINES:,} lines or {_MAXIMUM_STATEMENTS:,} statements"
    reason = f"It would produce more than {limits}, most of that from this line."
    return _unchanged(text, [_not_run(made.most_common(1)[0][0], reason)])


def _unchanged(text: str, notes: Iterable[ExpansionNote]) -> Expanded:
    unchanged = plain(text)
    return Expanded(text, unchanged.lines, unchanged.own, tuple(notes))


def _first_line(text: str) -> int:
    match = _DIRECTIVES.search(text)
    return len(LINE_END.findall(text, 0, match.start())) if match else 0


_MOST_KEPT = 16


class _LatestExpansions:
    """Latest results of the C preprocessor."""

    def __init__(self, _caches: Caches) -> None:
        self.missing: dict[tuple[str, Origin], list[str]] = {}
        """Missing headers by compiler and origin."""
        self.expanded: dict[tuple[object, ...], Expanded] = {}


def _preprocess(
    text: str,
    compiler: str,
    origin: Origin,
    state: tuple[object, ...],
    cancel: Callable[[], bool],
    caches: Caches,
) -> Expanded:
    """Preprocess the text, with the latest results cached: the same text is requested several times in a row.
    Raises OSError and HungError."""
    key = (text, compiler, origin, state)
    latest = caches.of(_LatestExpansions)
    known = latest.expanded
    if key not in known:
        expanded = _run(text, compiler, origin, cancel, latest.missing)
        if len(known) >= _MOST_KEPT:
            known.clear()
        known[key] = expanded
    return known[key]


def _run(
    text: str,
    compiler: str,
    origin: Origin,
    cancel: Callable[[], bool],
    known_missing: dict[tuple[str, Origin], list[str]],
) -> Expanded:
    # Each missing header costs a run, so the headers that were missing last time are stubs from the start.
    stubs = dict.fromkeys(known_missing.pop((compiler, origin), ()), "")
    while True:
        command = [compiler, "-E", "-x", "assembler-with-cpp", *(f"-D{name}" for name in origin.defines)]
        for folder in includes.search_path(origin):
            # The workspace's own folders are only for "...": they must not hide the compiler's headers.
            named = folder in origin.include_paths
            command += ["-I", folder] if named else ["-iquote", folder]
        for path in origin.pre_includes:
            command += ["-include", path]
        command += ["-idirafter", "stubs", "-MD", "-MF", "read", "-o", "-", "-"]
        given = {f"stubs/{name}": content for name, content in stubs.items()}
        job = external.ProgramRun(
            command,
            TIMEOUT,
            text,
            readable=includes.readable(origin),
            given={"stubs/.empty": "", **given},
            wanted=("read",),
            cancel=cancel,
        )
        done = external.run(job)
        missing = re.search(_MISSING, done.errors)
        if missing is None or missing[1] in stubs or len(stubs) >= _MAXIMUM_STUBS:
            break
        if not re.fullmatch(includes.SAFE_STUB, missing[1]):
            break
        stubs[missing[1]] = ""
    if forbidden := re.search(_FORBIDDEN, done.errors):
        return not_preprocessed(text, f"'{forbidden[1]}' may not be read.")
    notes = [
        ExpansionNote(int(match[1]) - 1, "preprocessor-error", f"The C preprocessor says: {match[3]}")
        for match in re.finditer(_MESSAGE, done.errors)
        if match[2] == "error"
    ]
    produced = done.output.decode("utf-8", "replace")
    lines, user_lines, own, files = _follow_markers(produced)
    used = [name for name in stubs if f'"stubs/{name}"' in produced]
    known_missing[compiler, origin] = used
    if len(known_missing) > _MOST_KEPT:
        del known_missing[next(iter(known_missing))]
    for name in used:
        place = next(
            (
                line
                for line, content in enumerate(text.split("\n"))
                if name in content and "include" in content
            ),
            _first_line(text),
        )
        message = f"'{name}' is not found and read as empty; add its folder to the include paths."
        notes.append(ExpansionNote(place, "include-not-read", message))
    files |= includes.named_in_rule(done.files.get("read", b""))
    if not all(_may_be_read(file, compiler, origin) for file in files - {"-"}):
        return not_preprocessed(text, "A file outside of the workspace is included.")
    if len(lines) > MAXIMUM_LINES or produced.count(";") > _MAXIMUM_STATEMENTS:
        return _too_long(text, produced)
    if not produced:
        return _unchanged(text, notes or [_not_run(_first_line(text), "It produced no text.")])
    return Expanded("\n".join(lines), tuple(user_lines), tuple(own), tuple(notes), preprocessed=True)


def _may_be_read(name: str, compiler: str, origin: Origin) -> bool:
    # Relative names start at the run's folder. A system header may still include a file that a macro names,
    # so every file is checked.
    is_stub = not os.path.isabs(name) and re.fullmatch(includes.SAFE_STUB, name)
    return bool(is_stub) or includes.may_read(name, origin) or external.is_of_system(name, compiler)


def _follow_markers(produced: str) -> tuple[list[str], list[int], list[bool], set[str]]:
    """Lines, the user's line of each, whether it is the user's own, and the files that were read."""
    lines: list[str] = []
    user_lines: list[int] = []
    own: list[bool] = []
    files: set[str] = set()
    current, in_main, included_from, begin = 0, False, 0, 0
    for line in produced.split("\n"):
        match = re.fullmatch(_MARKER, line)
        if match is None:
            lines.append(line)
            user_lines.append(current if in_main else included_from)
            own.append(in_main)
            current += in_main
            continue
        name, flags = match[2], match[3].split()
        if name == _MAIN:
            # Line 0 stands for files that the user includes before the text.
            number = max(int(match[1]) - 1, 0)
            if not in_main and "2" in flags:
                # The included text belongs to the line before the one that continues.
                user_lines[begin:] = [max(number - 1, 0)] * (len(user_lines) - begin)
            current, in_main = number, True
            continue
        if in_main:
            included_from, begin = current, len(user_lines)
        in_main = False
        if not name.startswith("<"):
            files.add(name)
    return lines, user_lines, own, files


def inline_includes(expanded: Expanded, origin: Origin) -> Expanded:
    """The text with `.include`d files in place. Unreadable ones keep their directive and get a note."""
    lines: list[str] = []
    user_lines: list[int] = []
    own: list[bool] = []
    notes = list(expanded.notes)
    characters = 0

    def take(text: Sequence[str], depth: int, at: int | None) -> None:
        nonlocal characters
        for number, line in enumerate(text):
            user_line = expanded.lines[number] if at is None else at
            is_room = len(lines) < MAXIMUM_LINES and characters < MAXIMUM_CHARACTERS
            match = re.fullmatch(_INCLUDE, line) if is_room else None
            if match:
                content = _read_included(match[1], origin, depth)
                if isinstance(content, str):
                    take(LINE_END.split(content), depth + 1, user_line)
                    line = match[2] or ""
                else:
                    notes.append(ExpansionNote(user_line, "include-not-read", content.message))
            characters += len(line)
            lines.append(line)
            user_lines.append(user_line)
            own.append(at is None and expanded.own[number])

    take(LINE_END.split(expanded.text), 0, None)
    return Expanded("\n".join(lines), tuple(user_lines), tuple(own), tuple(notes), expanded.preprocessed)


def _read_included(name: str, origin: Origin, depth: int) -> str | RefusedInclude:
    if depth >= _MAXIMUM_NESTING:
        return RefusedInclude(0, f"Includes are nested more than {_MAXIMUM_NESTING} levels deep.")
    path = includes.find(name, includes.search_path(origin))
    if path is None:
        return RefusedInclude(0, f"'{name}' is not found; add its folder to the include paths.")
    if not includes.may_read(path, origin):
        message = (
            f"'{name}' is outside of the workspace and is not read; add its folder to the include paths."
        )
        return RefusedInclude(0, message)
    try:
        return includes.read(path, origin)
    except OSError as error:
        return RefusedInclude(0, f"'{name}' cannot be read: {error.strerror}.")


def place_statements(
    statements: Iterable[RawStatement], source: SourceText, expanded: Expanded, lines: LineIndex, text: str
) -> list[RawStatement]:
    """Give statements of the expanded text ``source`` their places in the user's text: the same words if the
    user's line has them, otherwise the whole line."""
    starts = LineIndex(source)
    ends: dict[int, int] = {}
    result = []
    for raw in statements:
        stripped = raw.text.strip()
        number = starts.locate(raw.start + len(raw.text) - len(raw.text.lstrip()))[0]
        user_line = min(expanded.lines[number], lines.count - 1)
        start, end = lines.content(user_line, text)
        found = text.find(stripped, ends.get(user_line, start), end) if expanded.own[number] else -1
        if found >= 0:
            start, end = found, found + len(stripped)
            ends[user_line] = end
        result.append(RawStatement(raw.start, raw.text, (start, end)))
    return result
