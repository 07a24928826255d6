"""workspace/executeCommand ``cyclelens.measure``: run one region on this machine, in a sandbox.

It is the only command that runs the code of a document. It does so only when a user asks for it, in a
workspace in which programs may run, and after asking once whether it may. The figure stands beside the
prediction on the line that opens the region, until the text changes.
"""

from __future__ import annotations

from cyclelens.analyzer.measuring.harness import PROGRAM
from cyclelens.server.features.commands import region_name
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.measurements import TASK
from cyclelens.server.tasks import TaskCancelled, TaskFailed
from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams

MEASURE = "cyclelens.measure"

YES = types.MessageActionItem("Measure")
NO = types.MessageActionItem("Do Not Measure")
QUESTION = (
    "Measuring runs the code of the region on this machine, in a sandbox: it can compute, but it reaches no "
    "file, no network and no other program. Run it?"
)
NOT_TRUSTED = (
    "Code is run only in workspaces that are trusted, and where the setting cyclelens.allowExternalPrograms "
    "is on."
)


def is_offered(server: CyclelensServer) -> bool:
    """Whether this machine and these settings let anything be measured."""
    return bool(server.settings["allowExternalPrograms"]) and PROGRAM.exists()


def register(server: CyclelensServer) -> None:
    """Register the command."""

    @server.command(MEASURE)
    async def measure(uri: str, where: str | int) -> str | None:
        snapshot = server.session.get(uri) if isinstance(uri, str) else None
        if snapshot is None:
            raise JsonRpcInvalidParams(f"the document is not open: {uri}")
        name = region_name(snapshot, where)
        if not server.settings["allowExternalPrograms"]:
            raise JsonRpcInternalError(NOT_TRUSTED)
        if not await allowed():
            return None
        try:
            table = await server.tasks.run(snapshot, name, TASK, doing="measuring")
        except TaskCancelled:
            return None
        except TaskFailed as error:
            raise JsonRpcInternalError(str(error)) from None
        if not table.rows:
            raise JsonRpcInternalError(table.text)
        server.measurements.put(snapshot, name, table)
        present = server.session.get(uri)
        if present is not None and present.revision == snapshot.revision:
            server.notify(present)
        return f"{name}: {table.title}"

    async def allowed() -> bool:
        if not server.measurements.allowed:
            question = types.ShowMessageRequestParams(types.MessageType.Warning, QUESTION, [YES, NO])
            answer = await server.window_show_message_request_async(question)
            server.measurements.allowed = answer is not None and answer.title == YES.title
        return server.measurements.allowed
