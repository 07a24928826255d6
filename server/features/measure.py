"""workspace/executeCommand ``cyclelens.measure``: run one region on this machine, in a sandbox; and
``cyclelens.checkRewrites``: run it beside its rewrites, on the same random inputs.

Only these commands run the code of a document. They do so only when a user asks for it, in a workspace where
programs may run, and after asking once for permission. Until the text changes, the measured figure stands
beside the prediction on the region's first line, and the result of a check in the code action of its rewrite.
"""

from __future__ import annotations

from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.analyzer.measuring.harness import PROGRAM
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.server.background.tasks import Task, TaskCancelled, TaskFailed
from cyclelens.server.display import messages
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.features.commands import known_document, known_region, region_name
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.worker_messages import results
from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError

MEASURE = "cyclelens.measure"
CHECK = "cyclelens.checkRewrites"

YES = types.MessageActionItem(messages.RUN_IT)
NO = types.MessageActionItem(messages.DO_NOT_RUN_IT)


def is_offered(server: CyclelensServer) -> bool:
    """Whether this machine and the settings allow measurements."""
    return bool(server.settings["allowExternalPrograms"]) and PROGRAM.exists()


def register(server: CyclelensServer) -> None:
    """Register the commands."""

    @server.command(MEASURE)
    async def measure(uri: str, where: str | int) -> str | None:
        snapshot = known_document(server, uri)
        return await run(snapshot, region_name(snapshot, where), results.MEASURE, "measuring")

    @server.command(CHECK)
    async def check(uri: str, where: str | int) -> str | None:
        snapshot = known_document(server, uri)
        name = known_region(snapshot, where).result.name
        fixes = known_fixes(server, snapshot, name)
        if not fixes:
            raise JsonRpcInternalError(messages.no_rewrites(name))
        said = await run(snapshot, name, results.CHECK, "checking the rewrites of", fixes)
        table = server.measurements.get(snapshot, name, results.CHECK)
        if said is not None and table is not None:
            server.tell(types.MessageType.Info, f"{said}\n\n{table.text}")
        return said

    async def run(
        snapshot: Snapshot, name: str, job: str, doing: str, fixes: tuple[Fix, ...] = ()
    ) -> str | None:
        if not server.settings["allowExternalPrograms"]:
            raise JsonRpcInternalError(messages.NOT_TRUSTED)
        if not await permitted(server):
            return None
        try:
            table: ComparisonTable = await server.tasks.run(
                snapshot, Task(job, name, fixes=fixes, doing=doing)
            )
        except TaskCancelled:
            return None
        except TaskFailed as error:
            raise JsonRpcInternalError(str(error)) from None
        if not table.rows:
            raise JsonRpcInternalError(table.text)
        server.measurements.put(snapshot, name, table, job)
        present = server.session.get(snapshot.uri)
        if present is not None and present.revision == snapshot.revision:
            server.notify(present)
        return f"{name}: {table.title}"


async def permitted(server: CyclelensServer) -> bool:
    """Whether code may run: asks the user once."""
    if not server.measurements.allowed:
        question = types.ShowMessageRequestParams(types.MessageType.Warning, messages.MAY_IT_RUN, [YES, NO])
        answer = await server.window_show_message_request_async(question)
        server.measurements.allowed = answer is not None and answer.title == YES.title
    return server.measurements.allowed


def known_fixes(server: CyclelensServer, snapshot: Snapshot, name: str) -> tuple[Fix, ...]:
    """The rewrites offered for a region: of single statements, and of the whole region."""
    return tuple(
        fix
        for region in snapshot.regions
        if region.result.name == name and not region.stale
        for fix in (
            *region.result.fixes,
            *(fix for fix in server.searches.fixes(snapshot, region) if fix.proposal.whole),
        )
    )
