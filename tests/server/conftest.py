"""Makes ``support/`` importable, here and in the processes that tests start; a client with a server."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from pytest_lsp import ClientServerConfig

sys.path.insert(0, str(Path(__file__).parent / "support"))

from editor import Editor, make_client

SERVER = [sys.executable, "-m", "cyclelens.analyzer.cli", "lsp"]


@pytest_asyncio.fixture
async def editor() -> AsyncIterator[Editor]:
    client: Any = await ClientServerConfig(server_command=SERVER, client_factory=make_client).start()
    yield Editor(client)
    await client.shutdown_session()
    assert client._server.returncode == 0
    await client.stop()
