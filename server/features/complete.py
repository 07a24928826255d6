"""workspace/executeCommand ``cyclelens.measureMissing``: measure the instructions of a region that have no
figures, on this machine, in a sandbox, and add them to tables of the user's own.

As for other measurements, it runs only on request, in a trusted workspace, and after one question. All
documents are analysed again with the new tables.
"""

from __future__ import annotations

import os
from pathlib import Path

from cyclelens.analyzer.common.own_tables import OWN_TABLES
from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.server.background.tasks import Task, TaskCancelled, TaskFailed
from cyclelens.server.display import messages
from cyclelens.server.documents.memory import own_tables
from cyclelens.server.features.commands import known_document, region_name
from cyclelens.server.features.measure import permitted
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.worker_messages.results import COMPLETE
from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError

MEASURE_MISSING = "cyclelens.measureMissing"


def register(server: CyclelensServer) -> None:
    """Register the command, and use what it has measured before."""
    if not os.environ.get(OWN_TABLES) and own_tables().exists():
        os.environ[OWN_TABLES] = str(own_tables())

    @server.command(MEASURE_MISSING)
    async def measure_missing(uri: str, where: str | int) -> str | None:
        snapshot = known_document(server, uri)
        name = region_name(snapshot, where)
        if not server.settings["allowExternalPrograms"]:
            raise JsonRpcInternalError(messages.NOT_TRUSTED)
        if not await permitted(server):
            return None
        path = Path(os.environ.get(OWN_TABLES) or own_tables())
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        task = Task(COMPLETE, name, path=str(path), doing="measuring the instructions without figures of")
        try:
            table: ComparisonTable = await server.tasks.run(snapshot, task)
        except TaskCancelled:
            return None
        except TaskFailed as error:
            raise JsonRpcInternalError(str(error)) from None
        if not table.title:
            raise JsonRpcInternalError(table.text)
        kept = ""
        # Without rows, the tables have everything already, perhaps by another editor's measurement.
        if path.exists():
            os.environ[OWN_TABLES] = kept = str(path)
            server.use_new_tables()
        server.tell(types.MessageType.Info, messages.completed(table.title, table.text, kept))
        return table.title
