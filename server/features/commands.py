"""workspace/executeCommand: the commands of the lenses, further ones about a region, and the baseline.

Commands about a region take a document's URI and the region: its name, or a zero-based line inside or above
it. They answer ``{"title", "text", "columns", "rows"}``, some with further members that ``docs/server.md``
lists, or null if the user cancelled them. A client with a window for the answers declares the capability
``{"experimental": {"cyclelens": {"panels": true}}}``, and with ``"html": true`` that it can show pages; other
clients are sent a message. The remaining commands take the URI alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cyclelens.analyzer.common.escaping import printable
from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.server.background.tasks import Task, TaskCancelled, TaskFailed
from cyclelens.server.display import messages
from cyclelens.server.documents.origins import path_of
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.language_server import CyclelensServer
from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams

TIMELINE = "cyclelens.timeline"
INSTRUCTIONS = "cyclelens.instructions"
COMPARE = "cyclelens.compare"
ALIGNMENT = "cyclelens.alignment"
COMPARE_REGIONS = "cyclelens.compareRegions"
COMPARE_HEAD = "cyclelens.compareHead"
WHAT_IF = "cyclelens.whatif"
PIN = "cyclelens.pinBaseline"
UNPIN = "cyclelens.unpinBaseline"
ANALYSE = "cyclelens.analyse"

LENSES = (("Timeline", TIMELINE), ("Compare CPUs", COMPARE), ("Alignment", ALIGNMENT))
"""Titles and commands of the lenses above each region."""


def register(server: CyclelensServer) -> None:
    """Register the commands above."""

    @server.command(TIMELINE)
    async def timeline(uri: str, where: str | int) -> dict[str, Any] | None:
        return await task(uri, where, "timeline")

    @server.command(INSTRUCTIONS)
    async def instructions(uri: str, where: str | int) -> dict[str, Any] | None:
        return await task(uri, where, "instructions")

    @server.command(COMPARE)
    async def compare(uri: str, where: str | int) -> dict[str, Any] | None:
        return await task(uri, where, "microarchitectures")

    @server.command(ALIGNMENT)
    async def alignment(uri: str, where: str | int) -> dict[str, Any] | None:
        return await task(uri, where, "alignments")

    @server.command(COMPARE_REGIONS)
    async def compare_regions(uri: str, where: str | int, other: str) -> dict[str, Any] | None:
        return await task(uri, where, "region", other=other)

    @server.command(COMPARE_HEAD)
    async def compare_head(uri: str, where: str | int) -> dict[str, Any] | None:
        return await task(uri, where, "version", path=path_of(uri))

    @server.command(WHAT_IF)
    async def what_if(uri: str, where: str | int) -> dict[str, Any] | None:
        return await task(uri, where, "sensitivity")

    async def task(
        uri: str, where: str | int, kind: str, *, other: str = "", path: str = ""
    ) -> dict[str, Any] | None:
        snapshot = known(uri)
        try:
            name, html = region_name(snapshot, where), shows(server.client_capabilities, "html")
            asked = Task(kind, name, other, path, html)
            table = await server.tasks.run(snapshot, asked)
            return show(table)
        except TaskCancelled:
            return None
        except TaskFailed as error:
            raise JsonRpcInternalError(str(error)) from None

    @server.command(PIN)
    def pin(uri: str) -> str:
        snapshot = known(uri)
        count = server.baselines.pin(snapshot)
        server.remember(uri)
        server.notify(snapshot)
        return messages.pinned(count)

    @server.command(UNPIN)
    def unpin(uri: str) -> str:
        server.baselines.unpin(uri)
        server.remember(uri)
        server.notify(known(uri))
        return messages.UNPINNED

    @server.command(ANALYSE)
    async def analyse(uri: str) -> None:
        known(uri)
        await server.settings_known.wait()
        server.analyse(known(uri), delay=0, asked=True)

    def known(uri: str) -> Snapshot:
        return known_document(server, uri)

    def show(table: ComparisonTable) -> dict[str, Any]:
        if not shows(server.client_capabilities, "panels"):
            server.tell(types.MessageType.Info, f"{table.title}\n\n{table.text}")
        return {
            "title": printable(table.title),
            "text": printable(table.text),
            "columns": list(table.columns),
            "rows": [list(row) for row in table.rows],
            **table.extra,
        }


def known_document(server: CyclelensServer, uri: str) -> Snapshot:
    """The document of a command. Raises JsonRpcInvalidParams if it is not open."""
    snapshot = server.session.get(uri)
    if snapshot is None:
        raise JsonRpcInvalidParams(messages.not_open(uri))
    return snapshot


def shows(capabilities: types.ClientCapabilities, what: str) -> bool:
    """Whether a client declares that it can show one of Cyclelens's own elements."""
    own = _member(capabilities.experimental, "cyclelens")
    return _member(own, what) is True


def _member(value: Any, name: str) -> Any:
    """A member of a protocol object, which pygls passes as a mapping or as an object with attributes."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def known_region(snapshot: Snapshot, where: str | int) -> ShownRegion:
    """The region of a command. Raises JsonRpcInvalidParams if there is none."""
    name = region_name(snapshot, where)
    region = _region(snapshot, name)
    if region is None:
        raise JsonRpcInvalidParams(messages.no_region_of_name(name))
    return region


def _region(snapshot: Snapshot, where: str | int) -> ShownRegion | None:
    """The region with a name; for a line the innermost region around it, else the next below, else the
    last."""
    regions = snapshot.regions
    if isinstance(where, str):
        return next((region for region in regions if region.result.name == where), None)
    below = [region for region in regions if region.result.first_line >= where]
    return snapshot.region_at(where) or next(iter(below or regions[-1:]), None)


def region_name(snapshot: Snapshot, where: str | int) -> str:
    """The name of a region. Raises JsonRpcInvalidParams if the document has none."""
    region = _region(snapshot, where)
    if region is None and not isinstance(where, str):
        raise JsonRpcInvalidParams(messages.NO_REGION if snapshot.analysed >= 0 else messages.NOT_ANALYSED)
    return region.result.name if region else str(where)
