"""textDocument/didOpen, didChange, willSave, didSave, didClose: each starts an analysis without waiting for
it."""

from __future__ import annotations

from cyclelens.server.language_server import EditedServer
from lsprotocol import types


def register(server: EditedServer) -> None:
    """Register the methods above."""
    automatic: set[str] = set()
    """Documents that the editor saved automatically; their baseline stays unchanged."""
    server.close_listeners.append(automatic.discard)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        snapshot = server.documents.open(document.uri, document.version, document.text)
        if not server.recall(snapshot.uri):
            server.baselines.saved(snapshot)
        if server.settings["analyse"] != "manual":
            server.analyse(snapshot, delay=0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return
        version, converter = params.text_document.version, server.converter
        # A pending answer would be about a text that no longer exists.
        unanswered = snapshot.analysed != snapshot.revision and server.jobs.expects(snapshot.uri)
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start = converter.offset(snapshot.lines, change.range.start)
                end = converter.offset(snapshot.lines, change.range.end)
                snapshot = snapshot.edited(version, start, end, change.text)
            else:
                snapshot = snapshot.replaced(version, change.text)
        server.documents.put(snapshot)
        if server.settings["analyse"] == "onType" or unanswered:
            server.analyse(snapshot)

    @server.feature(types.TEXT_DOCUMENT_WILL_SAVE)
    def saving(params: types.WillSaveTextDocumentParams) -> None:
        is_open = server.session.get(params.text_document.uri) is not None
        if is_open and params.reason != types.TextDocumentSaveReason.Manual:
            automatic.add(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return
        mode = server.settings["analyse"]
        if snapshot.uri in automatic:
            automatic.discard(snapshot.uri)
        else:
            server.baselines.saved(snapshot, wait=mode == "onType")
            # The figures and the baseline are equal now: update the hints.
            server.notify(snapshot)
            server.remember(snapshot.uri)
        # Cargo compiles the saved file.
        if mode == "onSave" or (snapshot.language and mode == "onType"):
            server.analyse(snapshot, delay=0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)
