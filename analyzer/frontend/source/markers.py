"""Region markers: the marked parts of a text, their names and options."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from cyclelens.analyzer.common.whole_numbers import whole_number
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.source.scanner import Comment, LineIndex
from cyclelens.analyzer.model.source import Problem, Region, Severity
from msgspec import Struct, field
from msgspec.structs import replace

_MARKER = re.compile(
    r"[\s#/*;!]*(?P<word>(?P<family>cyclelens|LLVM-MCA|OSACA)-(?P<edge>begin|end|[\w-]+))(?=$|[\s:*])"
    r"[:\s]*(?P<rest>.*)",
    re.IGNORECASE,
)
_NEARLY = re.compile(
    r"[\s#/*;!]*(?P<word>(?P<family>cyclelens|LLVM-MCA|OSACA)[ \t_:.]{1,4}(?:begin|end))\b", re.IGNORECASE
)
"""A marker without its hyphen."""
MAXIMUM_REGIONS = 1_000
MAXIMUM_LATENCY = 1_000
"""Maximum latency in cycles that a comment may request."""
_LATENCY = re.compile(r"[\s#/*;!]*(?P<word>LLVM-MCA-LATENCY)\b[\s:]*(?P<rest>[^\s*]*)", re.IGNORECASE)
_OPTION = re.compile(r"[A-Za-z_][\w.-]*=\S*")


_IACA_BYTES = r"(?i)(?:100|0x64)(?:\s*,\s*|\s+\.byte\s+)(?:103|0x67)(?:\s*,\s*|\s+\.byte\s+)(?:144|0x90)"
_LAST_IACA_BYTE = re.compile(r"\b(?:144|0x90)\b", re.IGNORECASE)


class Span(Struct):
    """A marked region: offsets of the text between the markers, and the markers' lines."""

    name: str
    start: int
    end: int
    first_line: int
    last_line: int
    column: int
    """Column of the opening marker."""
    end_column: int
    options: dict[str, str] = field(default_factory=dict)


class _Marker(Struct, frozen=True):
    family: str
    opens: bool
    name: str
    options: dict[str, str]
    start: int
    end: int


def find_regions(
    comments: Sequence[Comment], lines: LineIndex, text_end: int
) -> tuple[list[Span], list[Problem]]:
    """Match opening and closing markers. An unclosed region extends to the next opening marker of its kind or
    to the end of the text, and is reported at its opening marker, unless a misspelt marker is behind it."""
    problems: list[Problem] = []
    markers = []
    misspelt: list[int] = []
    """Offsets of what looks like a marker: the missing half of a pair is reported there."""
    for comment in comments:
        if (word := _misspelt(comment)) is not None:
            misspelt.append(comment.start + word.start("word"))
            said = f"'{word['word']}' is not a marker; there are cyclelens-begin and cyclelens-end."
            place = lines.span(misspelt[-1], comment.start + _length(comment))
            problems.append(make_problem("invalid-marker", said, *place, Severity.WARNING))
        elif (marker := _parse(comment, lines, problems)) is not None:
            markers.append(marker)

    spans: list[Span] = []
    still_open: list[tuple[_Marker, Span]] = []

    def close(index: int, end: int, line: int) -> None:
        span = still_open.pop(index)[1]
        span.end, span.last_line = end, line

    def report_open(marker: _Marker) -> None:
        if marker.family == "cyclelens" and misspelt and misspelt[-1] > marker.start:
            return
        problems.append(
            make_problem(
                "region-not-closed",
                "This region is never closed: add a line with the matching end marker.",
                *lines.span(marker.start, marker.end),
                Severity.WARNING,
            )
        )

    for marker in markers:
        line, column, end_column = lines.span(marker.start, marker.end)
        if marker.opens:
            for index in range(len(still_open) - 1, -1, -1):
                other = still_open[index][0]
                # Only LLVM-MCA lets named regions nest and overlap.
                nested = marker.family == "llvm-mca" and (marker.name or other.name)
                if other.family == marker.family and not (nested and marker.name != other.name):
                    report_open(other)
                    close(index, marker.start, max(line - 1, lines.locate(other.start)[0]))
            if len(spans) == MAXIMUM_REGIONS:
                message = f"Only the first {MAXIMUM_REGIONS:,} regions of a file are analysed."
                problems.append(make_problem("too-many-regions", message, line, column, end_column))
                break
            span = Span(
                marker.name, marker.end, text_end, line, line, column, end_column, dict(marker.options)
            )
            spans.append(span)
            still_open.append((marker, span))
            continue
        matching = [i for i, (other, _) in enumerate(still_open) if other.family == marker.family]
        named = [i for i in matching if marker.name and still_open[i][0].name == marker.name]
        if marker.family == "llvm-mca" and marker.name and not named:
            matching = []
        if not matching:
            if marker.family == "cyclelens" and misspelt and misspelt[0] < marker.start:
                continue
            problems.append(
                make_problem(
                    "region-end-without-begin",
                    "No region is open here: the opening marker is missing.",
                    line,
                    column,
                    end_column,
                    Severity.WARNING,
                )
            )
            continue
        close((named or matching)[-1], marker.start, line)

    last_line = lines.count - 1
    for index in range(len(still_open) - 1, -1, -1):
        report_open(still_open[index][0])
        close(index, text_end, last_line)
    _name(spans, problems)
    return spans, problems


def without_hyphen(comments: Sequence[Comment], lines: LineIndex) -> list[Problem]:
    """A problem for the first comment that lacks only the hyphen of a marker."""
    for comment in comments:
        if match := _NEARLY.match(comment.text):
            word, family = match["word"], match["family"]
            begin, end = ("BEGIN", "END") if family.isupper() else ("begin", "end")
            said = f"'{word}' is not a marker; there are {family}-{begin} and {family}-{end}."
            place = lines.span(comment.start + match.start("word"), comment.start + match.end())
            return [make_problem("invalid-marker", said, *place, Severity.WARNING)]
    return []


def find_latencies(
    comments: Sequence[Comment], lines: LineIndex, covers: Callable[[int], bool]
) -> tuple[list[tuple[int, int]], list[Problem]]:
    """(line, latency in cycles) for each latency comment within regions, and problems of invalid ones."""
    found: list[tuple[int, int]] = []
    problems: list[Problem] = []
    for comment in comments:
        match = _LATENCY.match(comment.text)
        if match is None or not covers(comment.start):
            continue
        text = match["rest"]
        start = comment.start + match.start("word")
        latency = whole_number(text)
        if latency is not None and 1 <= latency <= MAXIMUM_LATENCY:
            found.append((lines.locate(start)[0], latency))
            continue
        message = f"LLVM-MCA-LATENCY takes a number of cycles from 1 to {MAXIMUM_LATENCY:,}."
        place = lines.span(start, comment.start + match.end())
        problems.append(make_problem("invalid-marker", message, *place, Severity.WARNING))
    return found, problems


def with_latencies(region: Region, latencies: Sequence[tuple[int, int]]) -> Region:
    """The region with requested latencies: for the statements on the comment's line, otherwise for the next
    one."""
    asked: dict[int, int] = {}
    for line, cycles in latencies:
        if not region.first_line <= line <= region.last_line:
            continue
        places = [at for at, statement in enumerate(region.lines) if statement.line == line]
        following = (at for at, statement in enumerate(region.lines) if statement.line > line)
        asked.update(dict.fromkeys(places or list(following)[:1], cycles))
    return replace(region, latencies=asked) if asked else region


def coverage(spans: Sequence[Span]) -> Callable[[int], bool]:
    """A function that tells whether an offset of the text is inside a region."""
    starts: list[int] = []
    ends: list[int] = []
    for span in spans:
        if ends and span.start <= ends[-1]:
            ends[-1] = max(ends[-1], span.end)
        else:
            starts.append(span.start)
            ends.append(span.end)

    def covers(offset: int) -> bool:
        at = bisect_right(starts, offset) - 1
        return at >= 0 and offset < ends[at]

    return covers


def _misspelt(comment: Comment) -> re.Match[str] | None:
    """What looks like one of our markers, but is none."""
    match = _MARKER.match(comment.text)
    if match is None or match["family"].lower() != "cyclelens":
        return None
    return None if match["edge"].lower() in ("begin", "end") else match


def _length(comment: Comment) -> int:
    """Characters of a comment without its end."""
    return len(comment.text.rstrip().removesuffix("*/").rstrip())


def _parse(comment: Comment, lines: LineIndex, problems: list[Problem]) -> _Marker | None:
    match = _MARKER.match(comment.text)
    if match is None:
        return None
    start = comment.start + match.start("word")
    end = comment.start + _length(comment)
    family, edge = match["family"].lower(), match["edge"].lower()

    def report(message: str) -> None:
        problems.append(make_problem("invalid-marker", message, *lines.span(start, end), Severity.WARNING))

    if edge not in ("begin", "end"):
        return None
    name = ""
    options = {}
    for word in match["rest"].removesuffix("*/").split():
        if _OPTION.fullmatch(word):
            key, _, value = word.partition("=")
            options[key.lower()] = value
        elif not name and "=" not in word and family != "osaca":
            name = word
        elif family == "cyclelens":
            report(f"'{word[:30]}' is not understood: a marker is followed by a name and key=value pairs.")
            break
    return _Marker(family, edge == "begin", name, options, start, end)


def _name(spans: list[Span], problems: list[Problem]) -> None:
    """Give every region a unique name; report names that are used twice."""
    taken = {span.name for span in spans if span.name}
    seen: set[str] = set()
    suffixes: dict[str, int] = {}
    for number, span in enumerate(spans, 1):
        wanted = span.name or f"region-{number}"
        if span.name and span.name not in seen:
            seen.add(span.name)
            continue
        candidate = wanted
        while candidate in taken or candidate in seen:
            suffixes[wanted] = suffixes.get(wanted, 1) + 1
            candidate = f"{wanted}-{suffixes[wanted]}"
        if span.name:
            problems.append(
                make_problem(
                    "duplicate-region",
                    f"The name '{span.name}' is already used; this region is called '{candidate}'.",
                    span.first_line,
                    span.column,
                    span.end_column,
                    Severity.WARNING,
                )
            )
        span.name = candidate
        seen.add(candidate)


def may_have_iaca(source: SourceText) -> bool:
    """Whether the text contains the bytes of one of IACA's markers, possibly on several lines."""
    return source.has(_LAST_IACA_BYTE.search) and re.search(_IACA_BYTES, source.text) is not None
