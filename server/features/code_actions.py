"""textDocument/codeAction: rewrites that make the region faster, with their gain.

add $0x1234, %ax     3.42 -> 1.01, 3.4x: Use eax (its upper half and the flags may differ)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import comment_sign
from cyclelens.analyzer.insight.hazards.unknown_instruction import CODE as UNKNOWN_INSTRUCTION
from cyclelens.analyzer.microarchitectures.registry import native
from cyclelens.analyzer.rewrites.proposal import Fix, Replacement
from cyclelens.server.display.data_places import MarkedRegion, placements
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.features.commands import shows
from cyclelens.server.features.complete import MEASURE_MISSING
from cyclelens.server.features.diagnostics import SOURCE
from cyclelens.server.features.measure import CHECK, is_offered, known_fixes
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.protocol.convert import Converter
from cyclelens.server.worker_messages.results import CHECK as CHECKED
from lsprotocol import types
from msgspec import Struct
from pygls.capabilities import get_capability

_ANNOTATION = "rewrite"
PREVIEW = "cyclelens.previewRewrite"
"""Command of clients that show the difference themselves."""
SEARCHING = " (rewrites are still being searched)"
KINDS = (types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite)
"""A quick fix resolves a diagnostic; a rewrite without a diagnostic is a refactoring."""


class _Checked(Struct, frozen=True):
    """The result of a rewrite's check."""

    whole: str
    brief: str


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        snapshot = server.session.assembly(params.text_document.uri)
        # Clients without code action literals would read the answer as commands.
        path = "text_document.code_action.code_action_literal_support"
        if snapshot is None or get_capability(server.client_capabilities, path, None) is None:
            return []
        versioned = get_capability(
            server.client_capabilities, "workspace.workspace_edit.document_changes", False
        )
        return [
            *_meant(snapshot, server.converter, params, versioned),
            *_actions(server, snapshot, params, versioned),
            *_checking(server, snapshot, params),
            *_completing(server, snapshot, params),
            *_marking(snapshot, server.converter, params, versioned),
            *_placing(server, snapshot, params, versioned),
        ]


def _actions(
    server: CyclelensServer,
    snapshot: Snapshot,
    params: types.CodeActionParams,
    versioned: bool,
) -> Iterator[types.CodeAction]:
    able = server.client_capabilities
    path = "workspace.workspace_edit.change_annotation_support"
    asks = versioned and get_capability(able, path, None) is not None
    first, last = params.range.start.line, params.range.end.line
    found = [
        (fix, checked(server, snapshot, region, fix))
        for region in _regions(snapshot, first, last)
        for fix in known_fixes(server, snapshot, region.result.name)
        if fix.proposal.whole or first <= fix.proposal.line <= last
    ]
    wanted = params.context.only
    for fix, result in sorted(found, key=lambda each: each[0].after - each[0].before):
        settled = [
            diagnostic
            for diagnostic in params.context.diagnostics
            if diagnostic.source == SOURCE
            and diagnostic.code == fix.proposal.code
            and diagnostic.range.start.line == fix.proposal.line
        ]
        kind = KINDS[0] if settled else KINDS[1]
        # Kinds are hierarchical: "refactor" includes "refactor.rewrite".
        if wanted and not any(_wants(only, kind) for only in wanted):
            continue
        # What is shown before the user decides has the conditions.
        told = fix.proposal.whole and (shows(able, "previews") or asks)
        words = fix.proposal.short if told else fix.proposal.title
        title = f"{fix.gain}{fix.where}: {words}{f' ({result.brief})' if result else ''}"
        action = types.CodeAction(title=title, kind=kind, diagnostics=settled or None)
        if fix.proposal.whole and shows(able, "previews"):
            action.command = _preview(snapshot, server.converter, fix, result)
        elif fix.proposal.whole and asks:
            action.edit = _confirmed(snapshot, server.converter, fix, result)
        else:
            action.edit = _workspace_edit(snapshot, server.converter, fix.proposal.edits, versioned)
        yield action


def _meant(
    snapshot: Snapshot, converter: Converter, params: types.CodeActionParams, versioned: bool
) -> Iterator[types.CodeAction]:
    """The statements that were certainly meant in place of those with a problem."""
    first, last = params.range.start.line, params.range.end.line
    wanted = params.context.only
    if snapshot.analysed != snapshot.revision or (
        wanted and not any(_wants(only, KINDS[0]) for only in wanted)
    ):
        return
    for problem in snapshot.problems:
        if not problem.replacement or not first <= problem.line <= last:
            continue
        place = problem.line, problem.column, problem.line, problem.end_column
        settled = [
            diagnostic
            for diagnostic in params.context.diagnostics
            if (diagnostic.source, diagnostic.code) == (SOURCE, problem.code)
            and diagnostic.range.start.line == problem.line
        ]
        edits = (Replacement(*place, problem.replacement),)
        yield types.CodeAction(
            title=f"Write {problem.replacement}",
            kind=KINDS[0],
            diagnostics=settled or None,
            edit=_workspace_edit(snapshot, converter, edits, versioned),
        )


def _regions(snapshot: Snapshot, first: int, last: int) -> list[ShownRegion]:
    return [
        region
        for region in snapshot.regions
        if not region.stale and region.result.first_line <= last and first <= region.result.last_line
    ]


def checked(server: CyclelensServer, snapshot: Snapshot, region: ShownRegion, fix: Fix) -> _Checked | None:
    """The result of checking a rewrite against the region; None if it was not checked."""
    table = server.measurements.get(snapshot, region.result.name, CHECKED)
    rows = table.rows if table is not None else ()
    return next((_Checked(str(row[1]), str(row[2])) for row in rows if row[0] == fix.proposal.title), None)


def _checking(
    server: CyclelensServer, snapshot: Snapshot, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    """The action that checks whether rewrites compute the same, where code may run."""
    wanted = params.context.only
    if not is_offered(server) or (wanted and not any(_wants(only, KINDS[1]) for only in wanted)):
        return
    for region in _regions(snapshot, params.range.start.line, params.range.end.line):
        name = region.result.name
        known = server.measurements.get(snapshot, name, CHECKED) is not None
        if not known and known_fixes(server, snapshot, name):
            title = f"Check the rewrites of {name} on random inputs (runs the code in a sandbox)"
            command = types.Command(title, CHECK, arguments=[snapshot.uri, name])
            yield types.CodeAction(title=title, kind=KINDS[1], command=command)


def _completing(
    server: CyclelensServer, snapshot: Snapshot, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    """The action that measures what has no figures on the machine's own core, where code may run."""
    wanted = params.context.only
    model = native()
    if model is None or not is_offered(server):
        return
    if wanted and not any(_wants(only, KINDS[0]) for only in wanted):
        return
    first, last = params.range.start.line, params.range.end.line
    for region in _regions(snapshot, first, last):
        lines = [each.line for each in region.result.findings if each.code == UNKNOWN_INSTRUCTION]
        if region.result.microarchitecture != model.name or not any(first <= line <= last for line in lines):
            continue
        settled = [
            diagnostic
            for diagnostic in params.context.diagnostics
            if (diagnostic.source, diagnostic.code) == (SOURCE, UNKNOWN_INSTRUCTION)
        ]
        name = region.result.name
        title = f"Measure the instructions of {name} without figures (runs them in a sandbox)"
        command = types.Command(title, MEASURE_MISSING, arguments=[snapshot.uri, name])
        yield types.CodeAction(title=title, kind=KINDS[0], diagnostics=settled or None, command=command)


def _marking(
    snapshot: Snapshot, converter: Converter, params: types.CodeActionParams, versioned: bool
) -> Iterator[types.CodeAction]:
    """The action that puts markers around an unmarked loop in the range."""
    first, last = params.range.start.line, params.range.end.line
    wanted = params.context.only
    if wanted and not any(_wants(only, KINDS[1]) for only in wanted):
        return
    for region in snapshot.regions:
        result = region.result
        if not result.unmarked or region.stale or last < result.first_line or first > result.last_line:
            continue
        sign = comment_sign(SourceText(snapshot.text))
        name = "-".join(result.name.split())  # a quoted label may contain spaces
        end = len(snapshot.lines[result.last_line])
        edits = (
            Replacement(result.first_line, 0, result.first_line, 0, f"{sign} cyclelens-begin {name}\n"),
            Replacement(result.last_line, end, result.last_line, end, f"\n{sign} cyclelens-end"),
        )
        yield types.CodeAction(
            title=f"Mark the loop {result.name} as a region",
            kind=KINDS[1],
            edit=_workspace_edit(snapshot, converter, edits, versioned),
        )


def _placing(
    server: CyclelensServer, snapshot: Snapshot, params: types.CodeActionParams, versioned: bool
) -> Iterator[types.CodeAction]:
    """The actions that write into a marker where the data are. They say while the search for rewrites, which
    come first, still runs."""
    first, last = params.range.start.line, params.range.end.line
    wanted = params.context.only
    if wanted and not any(_wants(only, KINDS[1]) for only in wanted):
        return
    for region in _regions(snapshot, first, last):
        result = region.result
        if result.unmarked or not result.data.get("predictions"):
            continue
        runs = server.settings["advice"] and server.searches.runs(snapshot)
        searching = SEARCHING if runs else ""
        text, prediction = snapshot.lines[result.first_line], result.data["predictions"][0]
        for title, edit in placements(MarkedRegion(result.first_line, text, prediction), first, last):
            written = _workspace_edit(snapshot, server.converter, (edit,), versioned)
            yield types.CodeAction(title=f"{title}{searching}", kind=KINDS[1], edit=written)


def _wants(only: types.CodeActionKind | str, kind: types.CodeActionKind) -> bool:
    """Whether the requested kind ``only`` includes ``kind``."""
    return f"{kind.value}.".startswith(f"{getattr(only, 'value', only)}.")


def _workspace_edit(
    snapshot: Snapshot, converter: Converter, replaced: Sequence[Replacement], versioned: bool
) -> types.WorkspaceEdit:
    edits = _text_edits(snapshot, converter, replaced)
    if not versioned:
        return types.WorkspaceEdit(changes={snapshot.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=snapshot.uri, version=snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=document, edits=edits)])


def _preview(snapshot: Snapshot, converter: Converter, fix: Fix, result: _Checked | None) -> types.Command:
    """The client's command that shows the difference and applies it once the user agrees."""
    title, details = _described(fix, result)
    edits = _text_edits(snapshot, converter, fix.proposal.edits)
    return types.Command(title, PREVIEW, arguments=[snapshot.uri, snapshot.version, edits, title, details])


def _described(fix: Fix, result: _Checked | None) -> tuple[str, str]:
    """The gain of a whole rewrite, and its description."""
    checked = (
        f"{result.whole[:1].upper()}{result.whole[1:]}"
        if result
        else "Whether the results are equal is not checked"
    )
    return f"{fix.region}: {fix.gain}", f"{fix.proposal.title}. {checked}."


def _confirmed(
    snapshot: Snapshot, converter: Converter, fix: Fix, result: _Checked | None
) -> types.WorkspaceEdit:
    """An edit that a client applies once the user has confirmed it."""
    edits: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = [
        types.AnnotatedTextEdit(_ANNOTATION, edit.range, edit.new_text)
        for edit in _text_edits(snapshot, converter, fix.proposal.edits)
    ]
    document = types.OptionalVersionedTextDocumentIdentifier(uri=snapshot.uri, version=snapshot.version)
    title, details = _described(fix, result)
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(text_document=document, edits=edits)],
        change_annotations={_ANNOTATION: types.ChangeAnnotation(title, True, details)},
    )


def _text_edits(
    snapshot: Snapshot, converter: Converter, edits: Sequence[Replacement]
) -> list[types.TextEdit]:
    return [
        types.TextEdit(
            types.Range(
                converter.position(snapshot.lines, edit.line, edit.column),
                converter.position(snapshot.lines, edit.end_line, edit.end_column),
            ),
            edit.text,
        )
        for edit in edits
    ]
