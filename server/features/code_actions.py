"""textDocument/codeAction: rewrites that make the region faster, with their gain.

add $0x1234, %ax     Use eax (its upper half and the flags may differ): 3.42 -> 1.01, 70 % faster
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.fixes.proposal import Edit, Fix
from cyclelens.analyzer.hints.change import change
from cyclelens.analyzer.insight.work import Pace
from cyclelens.server.convert import Converter
from cyclelens.server.features.diagnostics import SOURCE
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.session import Snapshot
from lsprotocol import types
from pygls.capabilities import get_capability

KINDS = (types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite)
"""A quick fix settles a diagnostic; what nothing was said about is a rewrite."""


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        snapshot = server.session.get(params.text_document.uri)
        # Clients from before literals would take the answer for commands.
        path = "text_document.code_action.code_action_literal_support"
        if snapshot is None or get_capability(server.client_capabilities, path, None) is None:
            return []
        versioned = get_capability(
            server.client_capabilities, "workspace.workspace_edit.document_changes", False
        )
        return list(_actions(snapshot, server.converter, params, versioned))


def _actions(
    snapshot: Snapshot, converter: Converter, params: types.CodeActionParams, versioned: bool
) -> Iterator[types.CodeAction]:
    first, last = params.range.start.line, params.range.end.line
    found = [
        fix
        for region in snapshot.regions
        if not region.stale
        for fix in region.result.fixes
        if first <= fix.proposal.line <= last
    ]
    wanted = params.context.only
    for fix in sorted(found, key=lambda fix: fix.after - fix.before):
        settled = [
            diagnostic
            for diagnostic in params.context.diagnostics
            if diagnostic.source == SOURCE
            and diagnostic.code == fix.proposal.code
            and diagnostic.range.start.line == fix.proposal.line
        ]
        kind = KINDS[0] if settled else KINDS[1]
        # Kinds are hierarchical: who wants "refactor" wants "refactor.rewrite".
        if wanted and not any(f"{kind.value}.".startswith(f"{_value(only)}.") for only in wanted):
            continue
        yield types.CodeAction(
            title=f"{fix.proposal.title}: {change(Pace(fix.before), Pace(fix.after))}{fix.where}",
            kind=kind,
            diagnostics=settled or None,
            edit=_workspace_edit(snapshot, converter, fix, versioned),
        )


def _value(kind: types.CodeActionKind | str) -> str:
    return str(getattr(kind, "value", kind))


def _workspace_edit(
    snapshot: Snapshot, converter: Converter, fix: Fix, versioned: bool
) -> types.WorkspaceEdit:
    edits = _text_edits(snapshot, converter, fix.proposal.edits)
    if not versioned:
        return types.WorkspaceEdit(changes={snapshot.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=snapshot.uri, version=snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=document, edits=edits)])


def _text_edits(snapshot: Snapshot, converter: Converter, edits: Sequence[Edit]) -> list[types.TextEdit]:
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
