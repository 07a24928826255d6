"""Open documents as frozen snapshots: text, revision, and the results of each region.

This module knows nothing of LSP: columns are code points. A region keeps its last complete result; it is
*stale* from the moment an edit touches it until an analysis of the new text is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from cyclelens.analyzer.compiling.projects import language
from cyclelens.analyzer.hints import heat
from cyclelens.analyzer.model.label import RegionLabel
from cyclelens.analyzer.model.source import Problem
from cyclelens.server.texts.labels import Names
from cyclelens.server.texts.lines import Lines
from cyclelens.server.worker_messages.results import FileResult, RegionResult
from msgspec import Struct, field
from msgspec.structs import replace

LINE_CHARACTERS = 80
"""Characters that count as one line when the size of a text is given in lines."""
_MATCH_LIMIT = 300
"""Largest number of changed lines that are matched to find moved ones; a longer change counts as one edit."""


class LineEdit(Struct, frozen=True):
    """A minimal change of lines: ``old``, from line ``first`` on, became ``new``."""

    first: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def end(self) -> int:
        """First old line behind the change; from here on, lines only move."""
        return self.first + len(self.old)

    @property
    def shift(self) -> int:
        """Number of lines by which everything behind the change moves."""
        return len(self.new) - len(self.old)

    def line(self, line: int) -> int | None:
        """The new number of a line: a changed line keeps its place within the change; None if it was
        deleted."""
        if line < self.first:
            return line
        if line >= self.end:
            return line + self.shift
        return line if line - self.first < len(self.new) else None

    def column(self, line: int, column: int) -> int:
        """The new column of a position in a changed line: it stays with the unchanged side of the line."""
        old, new = self.old[line - self.first], self.new[line - self.first]
        behind = len(old) - column
        if old[column:] == (new[-behind:] if behind > 0 else ""):
            return max(len(new) - behind, 0)
        return min(column, len(new))


class ShownRegion(Struct, frozen=True):
    """A region's result at its present place."""

    result: RegionResult
    stale: bool = False

    @property
    def label(self) -> RegionLabel:
        """The label of the primary core; empty if there is none."""
        return next(iter(self.result.labels), RegionLabel())

    def moved(self, edit: LineEdit) -> ShownRegion | None:
        """The region after an edit; None if its opening marker is gone."""
        result = self.result
        if edit.first > result.last_line:
            return self
        if edit.end <= result.first_line:
            return self if not edit.shift else replace(self, result=_shifted(result, edit.shift))
        if edit.line(result.first_line) is None:
            return None
        return ShownRegion(_remapped(result, edit), stale=True)


def _shifted(result: RegionResult, shift: int) -> RegionResult:
    return replace(
        result,
        first_line=result.first_line + shift,
        last_line=result.last_line + shift,
        hints=tuple(replace(hint, line=hint.line + shift) for hint in result.hints),
        cards={line + shift: card for line, card in result.cards.items()},
        findings=tuple(replace(finding, line=finding.line + shift) for finding in result.findings),
        fixes=tuple(fix.moved(shift) for fix in result.fixes),
    )


def _remapped(result: RegionResult, edit: LineEdit) -> RegionResult:
    """The result with every line at its place after the edit; what belongs to deleted lines is dropped."""
    hints = []
    for hint in result.hints:
        line = edit.line(hint.line)
        if line is not None:
            changed = edit.first <= hint.line < edit.end
            column = edit.column(hint.line, hint.column) if changed else hint.column
            hints.append(replace(hint, line=line, column=column))
    first, last = edit.line(result.first_line), edit.line(result.last_line)
    if first is None:
        first = result.first_line
    if last is None:
        last = max(first, edit.first + len(edit.new) - 1)
    return replace(
        result,
        first_line=first,
        last_line=last,
        hints=tuple(hints),
        cards={new: card for line, card in result.cards.items() if (new := edit.line(line)) is not None},
        findings=(),  # they were sent as diagnostics, which the editor moves by itself
        fixes=(),  # they were made for the text before the edit
    )


class Snapshot(Struct, frozen=True):
    """One revision of a document and the results shown for it."""

    uri: str
    version: int | None
    """The client's number for the text."""
    revision: int
    """The server's number: grows with every change, even if a client's version does not."""
    lines: Lines
    regions: tuple[ShownRegion, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Problems of the last analysis, at their places in the text it saw."""
    dialect: str = ""
    analysed: int = -1
    """Revision that the last analysis saw; -1 before the first one."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """For a source: what its intrinsics were compiled to, by name."""
    detailed: int = -1
    """Revision of the last analysis with cards, timelines and plain data."""

    @property
    def language(self) -> str:
        """The language of a compiled source, such as ``C``; empty for assembly texts."""
        return language(self.uri)

    @property
    def text(self) -> str:
        """The text for the analyzer, with newlines as the only line ends."""
        return self.lines.text

    @property
    def size(self) -> int:
        """Size in lines; a very long line counts as several."""
        return max(len(self.lines), self.lines.characters // LINE_CHARACTERS)

    def edited(
        self, version: int | None, start: tuple[int, int], end: tuple[int, int], text: str
    ) -> Snapshot:
        """The snapshot after the text between two positions (line, column) was replaced."""
        if end < start:
            start, end = end, start
        lines = self.lines.edited(start, end, text)
        # At either side, a carriage return and a newline may have been joined or separated.
        first, behind = max(start[0] - 1, 0), end[0] + 2
        old, new = self.lines[first:behind], lines[first : behind + len(lines) - len(self.lines)]
        edit = _trimmed(first, old, new)
        return self._changed(version, lines, [edit] if edit.old or edit.new else [])

    def replaced(self, version: int | None, text: str) -> Snapshot:
        """The snapshot after the whole text was replaced."""
        lines = Lines.of(text)
        edits = _edits(self.lines[:], lines[:]) if self.regions else []
        return self._changed(version, lines, edits)

    def _changed(self, version: int | None, lines: Lines, edits: Sequence[LineEdit]) -> Snapshot:
        regions = self.regions
        # Backwards, so that the earlier places stay valid.
        for edit in reversed(edits):
            moved = (region.moved(edit) for region in regions)
            regions = tuple(region for region in moved if region is not None)
        return replace(
            self,
            version=version,
            revision=self.revision + 1,
            lines=lines,
            regions=regions,
        )

    def answered(self, result: FileResult) -> Snapshot:
        """The snapshot with the analysis of its text. A region without a figure keeps its last one, and a
        region without cards and bars keeps its last ones until the answer that has them."""
        if result.failed:
            stale = tuple(
                replace(region, stale=True, result=replace(region.result, note=result.failed))
                for region in self.regions
            )
            now = self.revision
            return replace(self, regions=stale, problems=result.problems, analysed=now, detailed=now)
        earlier = list(self.regions)
        regions = []
        for region in result.regions:
            taken = _take(earlier, region)
            last = taken and replace(taken, result=_at(taken.result, region))
            if not region.complete and last is not None and last.result.complete:
                kept = replace(last.result, note=region.note, findings=(), fixes=())
                regions.append(ShownRegion(kept, stale=True))
            elif not result.detailed and last is not None:
                bars = tuple(hint for hint in last.result.hints if hint.kind == heat.KIND)
                known = replace(region, cards=last.result.cards, bars=last.result.bars)
                regions.append(ShownRegion(replace(known, hints=(*region.hints, *bars))))
            else:
                regions.append(ShownRegion(region))
        if result.pending:
            return replace(self, regions=(*regions, *earlier), dialect=result.dialect)
        return replace(
            self,
            regions=tuple(regions),
            problems=result.problems,
            dialect=result.dialect,
            analysed=self.revision,
            detailed=self.revision if result.detailed else self.detailed,
            calls=result.calls if result.detailed else self.calls,
        )

    def unanswered(self) -> Snapshot:
        """The snapshot after a failed analysis: results stay and are marked as stale."""
        return replace(self, regions=tuple(replace(region, stale=True) for region in self.regions))

    @property
    def screen(self) -> tuple[object, ...]:
        """Versions of what editors keep on screen until they are notified of a change."""
        return self.problems, [(region.result.screen, region.result.bars) for region in self.regions]

    @property
    def has_nested_regions(self) -> bool:
        """Whether any line belongs to more than one region."""
        spans = sorted((region.result.first_line, region.result.last_line) for region in self.regions)
        return any(first[1] >= second[0] for first, second in pairwise(spans))

    def leading(self) -> Iterator[tuple[ShownRegion, tuple[ShownRegion, ...]]]:
        """Each region with those shown beside it. For a source, these are the other loops compiled from the
        same source loop; the first one does most of the work."""
        groups: dict[object, list[ShownRegion]] = {}
        for region in self.regions:
            key = region.result.first_line if self.language else region.result.name
            groups.setdefault(key, []).append(region)
        return ((first, tuple(others)) for first, *others in groups.values())

    def region_at(self, line: int) -> ShownRegion | None:
        """The innermost region that contains a line; None if there is none."""
        around = [r for r in self.regions if r.result.first_line <= line <= r.result.last_line]
        return max(around, key=lambda region: region.result.first_line, default=None)


def _trimmed(first: int, old: tuple[str, ...], new: tuple[str, ...]) -> LineEdit:
    """The change of the lines from ``first`` on, without the equal ones at both ends."""
    head = _common_head(old, new)
    tail = _common_head(old[head:][::-1], new[head:][::-1])
    return LineEdit(first + head, old[head : len(old) - tail], new[head : len(new) - tail])


def _edits(old: tuple[str, ...], new: tuple[str, ...]) -> list[LineEdit]:
    """The differences between two whole texts, in order."""
    whole = _trimmed(0, old, new)
    if max(len(whole.old), len(whole.new)) > _MATCH_LIMIT:
        return [whole]
    matcher = SequenceMatcher(None, whole.old, whole.new, autojunk=False)
    return [
        LineEdit(whole.first + start, whole.old[start:end], whole.new[new_start:new_end])
        for kind, start, end, new_start, new_end in matcher.get_opcodes()
        if kind != "equal"
    ]


def _common_head(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _take(earlier: list[ShownRegion], region: RegionResult) -> ShownRegion | None:
    """Remove and return the known state of this region: by its place, else by its name."""
    here = [known for known in earlier if known.result.first_line == region.first_line]
    called = [known for known in earlier if known.result.name == region.name]
    found = next(iter(here + called), None)
    if found is not None:
        earlier.remove(found)
    return found


def _at(last: RegionResult, region: RegionResult) -> RegionResult:
    """The last result of a region at its present place, without what would lie outside of it: edits behind a
    region do not move its hints."""
    shift = region.first_line - last.first_line
    moved = _shifted(last, shift) if shift else last
    inside = range(region.first_line, region.last_line + 1)
    hints = tuple(hint for hint in moved.hints if hint.line in inside)
    cards = {line: card for line, card in moved.cards.items() if line in inside}
    return replace(moved, last_line=region.last_line, hints=hints, cards=cards)


class Snapshots:
    """The open documents, for readers. A snapshot never changes once it was handed out."""

    def __init__(self) -> None:
        self._documents: dict[str, Snapshot] = {}
        self._names: dict[str, tuple[int, Names]] = {}
        """Document -> revision and the names in it."""
        self.large_size = 0
        """Lines above which a text is large (0: no limit). A large text is analysed only on request, only its
        visible part is coloured, and its names are not collected, so that other documents stay fast."""

    def __iter__(self) -> Iterator[Snapshot]:
        return iter(tuple(self._documents.values()))

    def get(self, uri: str) -> Snapshot | None:
        """The present snapshot; None for a document that is not open."""
        return self._documents.get(uri)

    def is_large(self, snapshot: Snapshot) -> bool:
        """Whether a text is larger than ``large_size``."""
        return 0 < self.large_size < snapshot.size

    def assembly(self, uri: str, *, part: bool = False) -> Snapshot | None:
        """The present snapshot, for features that need an assembly text: None for sources, and for large
        texts unless ``part`` says that only some lines are read."""
        snapshot = self.get(uri)
        if snapshot is None or snapshot.language or (self.is_large(snapshot) and not part):
            return None
        return snapshot

    def names(self, snapshot: Snapshot) -> Names:
        """The labels and other names of a text, collected once per revision."""
        revision, names = self._names.get(snapshot.uri, (-1, None))
        if names is None or revision != snapshot.revision:
            names = Names(snapshot.lines, searched=not self.is_large(snapshot))
            self._names[snapshot.uri] = snapshot.revision, names
        return names


class Session(Snapshots):
    """The open documents, for writers: a change replaces a document's snapshot."""

    def open(self, uri: str, version: int | None, text: str) -> Snapshot:
        """Open (or reopen) a document."""
        known = self._documents.get(uri)
        revision = known.revision + 1 if known else 0
        return self.put(Snapshot(uri, version, revision, Lines.of(text)))

    def put(self, snapshot: Snapshot) -> Snapshot:
        """Make this the present snapshot of its document."""
        self._documents[snapshot.uri] = snapshot
        return snapshot

    def close(self, uri: str) -> None:
        """Forget a document; unknown ones are ignored."""
        self._documents.pop(uri, None)
        self._names.pop(uri, None)
