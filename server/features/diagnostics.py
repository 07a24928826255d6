"""textDocument/publishDiagnostics, or textDocument/diagnostic for clients that pull: problems of the text and
hazards of the regions, after every analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from cyclelens.analyzer.common.escaping import printable
from cyclelens.analyzer.compiling.analyzer import NO_COMMAND
from cyclelens.analyzer.frontend.source.problems import LIKELY_MISTAKES
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.server.display import documentation, messages
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.protocol.convert import Converter
from lsprotocol import types
from msgspec.structs import replace
from pygls.capabilities import get_capability

SOURCE = "cyclelens"

_PATIENCE = 10.0
"""Seconds that a request waits for an analysis; the client asks again when it is notified of one."""

NO_COST = "no-cost"
"""Code of the diagnostic that sums up findings without cost."""

_NOT_IN_PROFILE = "not-in-profile"
_ELSEWHERE = frozenset({_NOT_IN_PROFILE, NO_COMMAND})
"""Codes of problems that no diagnostic reports, but a message or the status bar."""
"""Code of the problem that is reported once per profile: the setting holds for all files, and most are not in
the profile."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
}


def register(server: CyclelensServer) -> None:
    """Publish after each analysis. After a failed one the client keeps what it has, which may still be
    right."""

    told = set[str]()

    def tell_of_profile(snapshot: Snapshot) -> None:
        missed = next((each for each in snapshot.problems if each.code == _NOT_IN_PROFILE), None)
        profile = server.settings_of(snapshot)["profile"]
        if missed is not None and profile not in told:
            told.add(profile)
            name = snapshot.uri.rpartition("/")[2]
            server.tell(types.MessageType.Info, messages.not_in_profile(profile, name, missed.message))

    def push(snapshot: Snapshot) -> None:
        if snapshot.analysed != snapshot.revision:
            return
        tell_of_profile(snapshot)
        if pulls():
            server.workspace_diagnostic_refresh(None)
            return
        shown = shown_now(server, snapshot)
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=snapshot.uri, version=snapshot.version, diagnostics=shown)
        )

    def pulls() -> bool:
        """Whether the client pulls, and pulls again when notified. Pushed diagnostics would then appear
        twice."""
        able = server.client_capabilities
        return get_capability(able, "text_document.diagnostic", None) is not None and bool(
            get_capability(able, "workspace.diagnostics.refresh_support", False)
        )

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=True, identifier=SOURCE),
    )
    async def pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        if not pulls():
            # This client gets its diagnostics pushed; pulled ones would appear twice.
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        snapshot = await server.answered(params.text_document.uri, _PATIENCE)
        known = snapshot is not None and snapshot.analysed == snapshot.revision
        shown = shown_now(server, snapshot) if snapshot is not None and known else []
        identifier = fingerprint(shown)
        if params.previous_result_id is not None and (not known or params.previous_result_id == identifier):
            # If nothing is known yet, what the client has may still be right.
            return types.RelatedUnchangedDocumentDiagnosticReport(params.previous_result_id)
        return types.RelatedFullDocumentDiagnosticReport(items=shown, result_id=identifier)

    server.result_listeners.append(push)
    server.cost_listeners.append(push)


def fingerprint(shown: Sequence[types.Diagnostic]) -> str:
    """What tells a client that diagnostics are those that it has."""
    return sha256(repr(shown).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def shown_now(server: CyclelensServer, snapshot: Snapshot) -> list[types.Diagnostic]:
    """The diagnostics of a newly analysed snapshot, subject to the settings."""
    settings = server.settings
    if not settings["diagnostics.enabled"]:
        return []

    if not settings["diagnostics.mistakes"]:
        kept = tuple(each for each in snapshot.problems if each.code not in LIKELY_MISTAKES)
        snapshot = replace(snapshot, problems=kept)

    def cost(region: ShownRegion, finding: Problem) -> tuple[float, str] | None:
        return server.searches.cost(snapshot, region, finding) if settings["advice"] else None

    return diagnostics(snapshot, server.converter, settings["diagnostics.documentationUrl"], cost)


def _unknown(_region: ShownRegion, _finding: Problem) -> None:
    """No costs are known."""


def diagnostics(
    snapshot: Snapshot,
    converter: Converter,
    base_url: str = "",
    cost: Callable[[ShownRegion, Problem], tuple[float, str] | None] = _unknown,
) -> list[types.Diagnostic]:
    """The diagnostics of a newly analysed snapshot, in line order, without duplicates.

    ``base_url``: where the pages about the codes are published; empty: those on this machine. ``cost`` gives
    a finding's cost in cycles per iteration and the sentence that states it. A region's findings without cost
    become one diagnostic.
    """
    problems = [problem for problem in snapshot.problems if problem.code not in _ELSEWHERE]
    for region in snapshot.regions:
        worthless = []
        for finding in region.result.findings:
            price = cost(region, finding)
            if price is None:
                problems.append(finding)
            elif price[0]:
                problems.append(replace(finding, message=f"{finding.message} {price[1]}"))
            else:
                worthless.append(finding)
        if worthless:
            problems.append(_together(snapshot, region, worthless))
    ordered = sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column))
    return [_diagnostic(snapshot, converter, problem, base_url) for problem in ordered]


def _together(snapshot: Snapshot, region: ShownRegion, worthless: Sequence[Problem]) -> Problem:
    """One problem that sums up the findings without cost."""
    lines: dict[str, list[int]] = {}
    for finding in worthless:
        lines.setdefault(finding.code, []).append(finding.line + 1)
    kinds = "; ".join(
        f"{code} (line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, dict.fromkeys(numbers)))})"
        for code, numbers in lines.items()
    )
    count = len(worthless)
    message = f"{count} finding{'s cost' if count > 1 else ' costs'} 0.00 cycles here: {kinds}."
    first = region.result.first_line
    return Problem(first, 0, len(snapshot.lines[first]), NO_COST, message, Severity.INFORMATION)


def _diagnostic(
    snapshot: Snapshot, converter: Converter, problem: Problem, base_url: str
) -> types.Diagnostic:
    page = documentation.page(problem.code, base_url)
    return types.Diagnostic(
        range=converter.range(snapshot.lines, problem.line, problem.column, problem.end_column),
        message=printable(problem.message),
        severity=types.DiagnosticSeverity.Hint if problem.code == NO_COST else _SEVERITIES[problem.severity],
        code=problem.code,
        code_description=types.CodeDescription(href=page) if page else None,
        source=SOURCE,
    )
