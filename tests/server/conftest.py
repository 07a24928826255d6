"""A client with a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from pytest_lsp import ClientServerConfig
from testkit.server.editor import Editor, make_client


@pytest.fixture
def server_command(preloaded: list[str]) -> list[str]:
    """The command that starts the server; tests of failing servers replace it."""
    return [*preloaded, "lsp"]


@pytest_asyncio.fixture
async def editor(server_command: list[str]) -> AsyncIterator[Editor]:
    client: Any = await ClientServerConfig(server_command=server_command, client_factory=make_client).start()
    # The search for rewrites takes longer than the rest of most sessions; tests of what it finds have it.
    client.set_configuration({"advice": False}, section="cyclelens")
    yield Editor(client)
    await client.shutdown_session()
    assert client._server.returncode == 0
    await client.stop()
