"""textDocument/publishDiagnostics: problems of the text and hazards of the regions, after every analysis."""

from __future__ import annotations

from cyclelens.analyzer.escaping import printable
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.server import documentation
from cyclelens.server.convert import Converter
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.session import Snapshot
from lsprotocol import types

SOURCE = "cyclelens"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
}


def register(server: CyclelensServer) -> None:
    """Push after each analysis. A failed one leaves what the client has: it may still be right."""

    def push(snapshot: Snapshot) -> None:
        if snapshot.analysed != snapshot.revision:
            return
        shown = diagnostics(snapshot, server.converter, server.settings["diagnostics.documentationUrl"])
        if not server.settings["diagnostics.enabled"]:
            shown = []
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=snapshot.uri, version=snapshot.version, diagnostics=shown)
        )

    server.result_listeners.append(push)


def diagnostics(snapshot: Snapshot, converter: Converter, base_url: str = "") -> list[types.Diagnostic]:
    """The diagnostics of a snapshot that was just analysed, in the order of their lines, each once.

    ``base_url``: where the pages about the codes are published; empty: those on this machine.
    """
    problems = list(snapshot.problems)
    for region in snapshot.regions:
        problems += region.result.findings
    ordered = sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column))
    return [_diagnostic(snapshot, converter, problem, base_url) for problem in ordered]


def _diagnostic(
    snapshot: Snapshot, converter: Converter, problem: Problem, base_url: str
) -> types.Diagnostic:
    page = documentation.page(problem.code, base_url)
    return types.Diagnostic(
        range=converter.range(snapshot.lines, problem.line, problem.column, problem.end_column),
        message=printable(problem.message),
        severity=_SEVERITIES[problem.severity],
        code=problem.code,
        code_description=types.CodeDescription(href=page) if page else None,
        source=SOURCE,
    )
