"""workspace/diagnostic: problems and hazards of the workspace's assembly texts that are not open, if the user
asks for them by ``diagnostics.workspace``. Open documents have ``textDocument/diagnostic``.

A file is analysed again only if it or the settings have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

from cyclelens.analyzer.common.regular_files import read_regular
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.server.background.closed_files import (
    MAXIMUM_BYTES,
    MAXIMUM_FILES,
    assembly_files,
)
from cyclelens.server.documents.origins import path_of
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.features.diagnostics import diagnostics, fingerprint
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts.lines import Lines
from lsprotocol import types
from msgspec import Struct
from pygls.uris import from_fs_path


class _ReadFile(Struct, frozen=True):
    """What was found in a file, and what it depends on."""

    content: bytes
    """Hash of its text."""
    options: AnalysisOptions
    found: list[types.Diagnostic]
    identifier: str


def register(server: CyclelensServer) -> None:
    """Register the request."""
    known: dict[str, _ReadFile] = {}

    def closed() -> Iterator[str]:
        """URIs of the assembly texts that are not open."""
        is_open = {path_of(snapshot.uri) for snapshot in server.session}
        for path in assembly_files(path_of(uri) for uri in server.workspace.folders):
            if path not in is_open and (uri := from_fs_path(path)):
                yield uri

    async def look(uri: str) -> _ReadFile | None:
        """What there is to report about a file; None if it cannot be read or analysed."""
        try:
            content = read_regular(path_of(uri), MAXIMUM_BYTES)
        except OSError:
            return None
        snapshot = Snapshot(uri, None, 0, Lines.of(content.decode("utf-8", "replace")))
        options, key = server.options(snapshot), sha256(content).digest()
        last = known.get(uri)
        if last is not None and (last.content, last.options) == (key, options):
            return last
        result = await server.closed_files.result(uri, lambda number: server.analysis_of(snapshot, number))
        if result is None:
            return None
        base_url = server.settings["diagnostics.documentationUrl"]
        found = diagnostics(snapshot.answered(result), server.converter, base_url)
        known[uri] = _ReadFile(key, options, found, fingerprint(found))
        return known[uri]

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def pull(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        settings = server.settings
        if not (settings["diagnostics.enabled"] and settings["diagnostics.workspace"]):
            return types.WorkspaceDiagnosticReport([])
        previous = {each.uri: each.value for each in params.previous_result_ids}
        uris = await asyncio.to_thread(lambda: list(islice(closed(), MAXIMUM_FILES)))
        for forgotten in known.keys() - set(uris):
            del known[forgotten]
        items: list[types.WorkspaceDocumentDiagnosticReport] = []
        for uri in uris:
            report = await look(uri)
            if report is None:
                continue
            if previous.get(uri) == report.identifier:
                items.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri, report.identifier))
            else:
                items.append(
                    types.WorkspaceFullDocumentDiagnosticReport(
                        uri, report.found, result_id=report.identifier
                    )
                )
        return types.WorkspaceDiagnosticReport(items)

    # A file may include the one that has changed.
    server.file_listeners.append(known.clear)
