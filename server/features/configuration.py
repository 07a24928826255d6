"""initialized, workspace/didChangeConfiguration, workspace/configuration: how settings arrive.

Clients that can be asked are asked, at the start and at every change. Other clients send their settings:
``initializationOptions`` first, then the value of each change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from cyclelens.server.features import watched_files
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.settings import SECTION
from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException

ANSWER_TIMEOUT = 2.0
"""Seconds to wait for a client's answer; after that the settings it sent at the start apply, or the
defaults."""


def register(server: CyclelensServer) -> None:
    """Register the methods above."""
    sent_at_start: dict[str, Any] = {}
    tasks: set[asyncio.Task[None]] = set()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.memory.belongs_to(params.process_id)
        options = params.initialization_options
        if isinstance(options, Mapping):
            sent_at_start.update(_section(options))

    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        server.jobs.start()
        capabilities = server.client_capabilities
        if get_capability(capabilities, "workspace.did_change_configuration.dynamic_registration", False):
            registration = types.Registration(
                id="cyclelens-configuration",
                method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                register_options=types.DidChangeConfigurationRegistrationOptions(section=SECTION),
            )
            server.client_register_capability(types.RegistrationParams([registration]))
        watched_files.watch(server)
        update(sent_at_start)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def changed(params: types.DidChangeConfigurationParams) -> None:
        update(_section(params.settings) if isinstance(params.settings, Mapping) else {})

    def update(sent: Mapping[str, Any]) -> None:
        if get_capability(server.client_capabilities, "workspace.configuration", False):
            task = asyncio.get_running_loop().create_task(ask())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        else:
            server.configure(sent)

    async def ask() -> None:
        item = types.ConfigurationItem(section=SECTION)
        answer: Any = None
        try:
            request = server.workspace_configuration_async(types.ConfigurationParams([item]))
            # Shielded: an answer that comes too late would be shown to the user as an error.
            answers = await asyncio.wait_for(asyncio.shield(request), ANSWER_TIMEOUT)
            answer = answers[0] if answers else None
        except (TimeoutError, JsonRpcException):
            server.note(
                types.MessageType.Warning, "The editor did not send its settings; the defaults are used."
            )
        # The user's settings override those that the editor's package sent at the start.
        server.configure({**sent_at_start, **answer} if isinstance(answer, Mapping) else sent_at_start)


def _section(sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """The section of the settings; clients send it directly or within an object."""
    inner = sent.get(SECTION)
    return inner if isinstance(inner, Mapping) else sent
