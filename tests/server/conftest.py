"""A client with a server."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from pytest_lsp import ClientServerConfig
from testkit.server.editor import Editor, make_client


@pytest.fixture
def server_command() -> list[str]:
    """The command that starts the server; tests of failing servers replace it."""
    return [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp"]


@pytest_asyncio.fixture
async def editor(server_command: list[str]) -> AsyncIterator[Editor]:
    client: Any = await ClientServerConfig(server_command=server_command, client_factory=make_client).start()
    yield Editor(client)
    await client.shutdown_session()
    assert client._server.returncode == 0
    await client.stop()
