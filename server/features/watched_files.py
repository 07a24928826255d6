"""workspace/didChangeWatchedFiles: files outside of the open texts that an analysis depends on.

A changed ``cyclelens.toml`` concerns every document, ``compile_commands.json`` and headers the
sources, and any other file the texts that include something.
"""

from __future__ import annotations

import os
import re

from cyclelens.analyzer.compiling.projects import DATABASE
from cyclelens.analyzer.engine.project import NAME as PROJECT
from cyclelens.server.documents.origins import path_of
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.language_server import CyclelensServer
from lsprotocol import types
from pygls.capabilities import get_capability

WATCHED = (PROJECT, DATABASE, "*.{s,S,asm,nasm,inc,mac,h}")
"""The names of watched files, as LSP writes patterns."""
_INCLUDES = re.compile(r"\b(?:include|incbin)\b", re.I)


def watch(server: CyclelensServer) -> None:
    """Ask the client to watch the files, if it can."""
    path = "workspace.did_change_watched_files.dynamic_registration"
    if get_capability(server.client_capabilities, path, False):
        watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in WATCHED]
        registration = types.Registration(
            id="cyclelens-files",
            method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers),
        )
        server.client_register_capability(types.RegistrationParams([registration]))


def register(server: CyclelensServer) -> None:
    """Register the notification."""

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(params: types.DidChangeWatchedFilesParams) -> None:
        names = {os.path.basename(path_of(event.uri)) for event in params.changes}
        for listener in server.file_listeners:
            listener()
        for snapshot in server.session:
            if any(_concerns(name, snapshot) for name in names):
                server.refresh(snapshot)


def _concerns(name: str, snapshot: Snapshot) -> bool:
    """Whether a change of a file of this name may change the results of a document."""
    if name in (PROJECT, ""):
        return True
    if name == DATABASE or snapshot.language:
        return bool(snapshot.language) and name.endswith((DATABASE, ".h"))
    return _INCLUDES.search(snapshot.text) is not None
