"""workspace/executeCommand: what the lenses offer, and the baseline.

``cyclelens.timeline``, ``cyclelens.compare`` and ``cyclelens.alignment`` take a document's URI and a region's
name and answer ``{"title", "text", "columns", "rows"}``. A client that has a window for it says so among its
capabilities, as ``{"experimental": {"cyclelens": {"panels": true}}}``; others are sent a message.
``cyclelens.pinBaseline``, ``cyclelens.unpinBaseline`` and ``cyclelens.analyse`` take the URI alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.results import Comparison
from cyclelens.server.session import Snapshot
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

TIMELINE = "cyclelens.timeline"
COMPARE = "cyclelens.compare"
ALIGNMENT = "cyclelens.alignment"
PIN = "cyclelens.pinBaseline"
UNPIN = "cyclelens.unpinBaseline"
ANALYSE = "cyclelens.analyse"

LENSES = (("Timeline", TIMELINE), ("Compare CPUs", COMPARE), ("Alignment", ALIGNMENT))
"""Titles and commands that are offered above each region."""

NO_TIMELINE = "The timeline is still being made; try again in a moment."


def register(server: CyclelensServer) -> None:
    """Register the commands above."""

    @server.command(TIMELINE)
    def timeline(uri: str, region: str) -> dict[str, Any]:
        return show(_timeline(known(uri), region))

    @server.command(COMPARE)
    async def compare(uri: str, region: str) -> dict[str, Any]:
        return show(await server.compare(known(uri), region, "compare"))

    @server.command(ALIGNMENT)
    async def alignment(uri: str, region: str) -> dict[str, Any]:
        return show(await server.compare(known(uri), region, "alignment"))

    @server.command(PIN)
    def pin(uri: str) -> str:
        snapshot = known(uri)
        count = server.baselines.pin(snapshot)
        server.notify(snapshot)
        return (
            f"{count} {'region is' if count == 1 else 'regions are'} compared with the present figures now."
        )

    @server.command(UNPIN)
    def unpin(uri: str) -> str:
        server.baselines.unpin(uri)
        server.notify(known(uri))
        return "Regions are compared with the last save again."

    @server.command(ANALYSE)
    def analyse(uri: str) -> None:
        server.analyse(known(uri), delay=0)

    def known(uri: str) -> Snapshot:
        snapshot = server.session.get(uri)
        if snapshot is None:
            raise JsonRpcInvalidParams(f"the document is not open: {uri}")
        return snapshot

    def show(comparison: Comparison) -> dict[str, Any]:
        if not _has_panels(server.client_capabilities):
            server.tell(types.MessageType.Info, f"{comparison.title}\n\n{comparison.text}")
        return {
            "title": comparison.title,
            "text": comparison.text,
            "columns": list(comparison.columns),
            "rows": [list(row) for row in comparison.rows],
        }


def _has_panels(capabilities: types.ClientCapabilities) -> bool:
    own = _member(capabilities.experimental, "cyclelens")
    return _member(own, "panels") is True


def _member(value: Any, name: str) -> Any:
    """Of an object of the protocol: pygls hands them over as mappings or as objects with attributes."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _timeline(snapshot: Snapshot, region: str) -> Comparison:
    for shown in snapshot.regions:
        if shown.result.name == region:
            drawn = shown.result.timelines
            text = "\n\n".join(f"{timeline.microarchitecture}\n{timeline.text}" for timeline in drawn)
            return Comparison(f"Timeline of {region}", text=text or shown.result.note or NO_TIMELINE)
    return Comparison(f"Timeline of {region}", text=f"There is no region '{region}' in the text any more.")
