"""Call hierarchy between labels: textDocument/prepareCallHierarchy, callHierarchy/incomingCalls,
callHierarchy/outgoingCalls.

A label calls those that its lines, up to the next label, jump to or call. Falling through to the next label
is not a call.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.frontend.statements.jumps import COUNTING_ECX, JUMPS
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts import labels
from cyclelens.server.texts.statements import label_block
from cyclelens.server.texts.tokens import TokenKind
from cyclelens.server.texts.words import words
from lsprotocol import types


def register(server: CyclelensServer) -> None:
    """Register the requests."""

    def place(snapshot: Snapshot, name: labels.Name) -> types.Range:
        return server.converter.range(snapshot.lines, name.line, name.column, name.end_column)

    def item(snapshot: Snapshot, label: labels.Name) -> types.CallHierarchyItem:
        last = label_block(snapshot.lines, label.line)[1]
        start = server.converter.position(snapshot.lines, label.line, label.column)
        end = server.converter.position(snapshot.lines, last, len(snapshot.lines[last]))
        return types.CallHierarchyItem(
            name=label.text,
            kind=types.SymbolKind.Function,
            uri=snapshot.uri,
            range=types.Range(start, end),
            selection_range=place(snapshot, label),
            detail=f"line {label.line + 1}",
        )

    def label_of(asked: types.CallHierarchyItem) -> tuple[Snapshot, labels.Name] | None:
        """The label of an item that the client sends back; None if an edit removed it."""
        snapshot = server.session.assembly(asked.uri)
        if snapshot is None:
            return None
        line, column = server.converter.offset(snapshot.lines, asked.selection_range.start)
        found = server.session.names(snapshot).at(line, column)
        return (snapshot, found) if found and found.label and found.text == asked.name else None

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    def prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        snapshot = server.session.assembly(params.text_document.uri)
        if snapshot is None:
            return None
        line, column = server.converter.offset(snapshot.lines, params.position)
        names = server.session.names(snapshot)
        found = names.definition_at(line, column) or names.label_above(line)
        return [item(snapshot, found)] if found and found.label else None

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    def incoming(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall]:
        known = label_of(params.item)
        if known is None:
            return []
        snapshot, target = known
        names = server.session.names(snapshot)
        callers: dict[labels.Name, list[types.Range]] = {}
        for use in names.references_to(target):
            caller = names.label_above(use.line)
            if caller is not None and _is_jump(snapshot, use):
                callers.setdefault(caller, []).append(place(snapshot, use))
        return [
            types.CallHierarchyIncomingCall(item(snapshot, caller), ranges)
            for caller, ranges in callers.items()
        ]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall]:
        known = label_of(params.item)
        if known is None:
            return []
        snapshot, label = known
        names = server.session.names(snapshot)
        called: dict[labels.Name, list[types.Range]] = {}
        for use in _jumps(snapshot, *label_block(snapshot.lines, label.line)):
            target = names.definition_of(use)
            if target is not None and target.label:
                called.setdefault(target, []).append(place(snapshot, use))
        return [
            types.CallHierarchyOutgoingCall(item(snapshot, target), ranges)
            for target, ranges in called.items()
        ]


def _is_jump(snapshot: Snapshot, use: labels.Name) -> bool:
    return use in _jumps(snapshot, use.line, use.line)


def _jumps(snapshot: Snapshot, first: int, last: int) -> Iterator[labels.Name]:
    """The labels that the jumps and calls of these lines name."""
    names = labels.Names(snapshot.lines)
    for line in range(first, last + 1):
        jumps = False
        for word, kind in words(snapshot.lines, line):
            if kind is TokenKind.INSTRUCTION:
                jumps = word.text.lower() in JUMPS or word.text.lower() in COUNTING_ECX
            elif jumps and kind is TokenKind.LABEL:
                name = names.at(line, word.column)
                if name is not None and not name.defined:
                    yield name
