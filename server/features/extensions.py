"""Cyclelens's own requests. Editor clients use them; ``docs/server.md`` describes them.

``cyclelens/analysis``  ``{"textDocument": {"uri": ...}}`` -> everything known about a document, as plain JSON
``cyclelens/regions``   the same without the analysis of each: cheap enough for every movement of a cursor
``cyclelens/timeline``  the same, ``"region": name`` if wanted -> the first rounds of each region, by cycle

All answer null for a document that is not open.
"""

from __future__ import annotations

from typing import Any

from cyclelens.analyzer.compiling.analyzer import NO_COMMAND
from cyclelens.analyzer.insight.label import status
from cyclelens.server.display import messages
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.language_server import CyclelensServer
from msgspec.structs import replace
from pygls.exceptions import JsonRpcInvalidParams

ANALYSIS = "cyclelens/analysis"
REGIONS = "cyclelens/regions"
TIMELINE = "cyclelens/timeline"


def register(server: CyclelensServer) -> None:
    """Register the requests."""

    @server.feature(ANALYSIS)
    def analysis(params: Any) -> dict[str, Any] | None:
        snapshot = server.session.get(_uri(params))
        if snapshot is None:
            return None
        return _head(snapshot, snapshot.detailed) | {
            "dialect": snapshot.dialect,
            "regions": [_region(region) | {"analysis": region.result.data} for region in snapshot.regions],
            "problems": [
                {
                    "line": problem.line,
                    "code": problem.code,
                    "message": problem.message,
                    "severity": problem.severity.value,
                }
                for problem in snapshot.problems
            ],
        }

    @server.feature(REGIONS)
    def regions(params: Any) -> dict[str, Any] | None:
        snapshot = server.session.get(_uri(params))
        if snapshot is None:
            return None
        uncompiled = (problem.message for problem in snapshot.problems if problem.code == NO_COMMAND)
        return _head(snapshot, snapshot.analysed) | {
            "note": next(uncompiled, ""),
            "regions": [_region(region) for region in snapshot.regions],
        }

    @server.feature(TIMELINE)
    def timeline(params: Any) -> dict[str, Any] | None:
        snapshot = server.session.get(_uri(params))
        if snapshot is None:
            return None
        wanted = getattr(params, "region", None)
        return _head(snapshot, snapshot.detailed) | {
            "regions": [
                _region(region) | {"timelines": _timelines(region)}
                for region in snapshot.regions
                if wanted in (None, region.result.name)
            ],
        }


def _uri(params: Any) -> str:
    # pygls hands over the parameters of requests that are not in the protocol as objects with attributes.
    uri = getattr(getattr(params, "textDocument", None), "uri", None)
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams(messages.NO_DOCUMENT)
    return uri


def _head(snapshot: Snapshot, known: int) -> dict[str, Any]:
    return {
        "uri": snapshot.uri,
        "version": snapshot.version,
        "upToDate": known == snapshot.revision,
    }


def _region(region: ShownRegion) -> dict[str, Any]:
    result = region.result
    return {
        "name": result.name,
        "firstLine": result.first_line,
        "lastLine": result.last_line,
        "stale": region.stale,
        "complete": result.complete,
        "headline": result.headline,
        "status": status(replace(region.label, stale=region.stale)),
        "cyclesPerIteration": result.cycles,
        "figure": result.figure,
        "microarchitecture": result.microarchitecture,
        "note": result.note,
        "unmarked": result.unmarked,
    }


def _timelines(region: ShownRegion) -> list[dict[str, Any]]:
    return [
        {
            "microarchitecture": timeline.microarchitecture,
            "cyclesPerIteration": timeline.cycles_per_iteration,
            "text": timeline.text,
            "instructions": list(timeline.instructions),
            "columns": list(timeline.columns),
            "rows": [list(row) for row in timeline.rows],
        }
        for timeline in region.result.timelines
    ]
