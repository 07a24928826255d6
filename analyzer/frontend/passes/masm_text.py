"""The statements of a MASM text, for the front end's own pass."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from cyclelens.analyzer.frontend.files.includes import read_permitted
from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.source import masm
from cyclelens.analyzer.frontend.source.masm_frames import with_frames
from cyclelens.analyzer.frontend.source.masm_macros import MasmExpansion
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from cyclelens.analyzer.frontend.statements.directives import FLOW_OF_MASM
from cyclelens.analyzer.model.source import Origin, Severity

_MESSAGE = (
    "This looks like MASM: instructions, labels, conditions, constants, macros, structures and USES are "
    "read, other directives are not."
)

_FLOW = (
    "MASM makes comparisons and jumps of .{}, and which ones is not known: assemble the file "
    "(ml64 /c FILE.asm) and analyse the object (cyclelens analyze FILE.obj)."
)
_DIRECTIVE = r"\s*\.(\w+)\b"
_EXACT_NAMES = r"(?im)^[ \t]*option[ \t]+casemap[ \t]*:[ \t]*none\b"
"""Otherwise MASM ignores the case of names."""
_OF_LISTINGS = "listing.inc"
"""MSVC's listings include it for ``npad``, which ``masm.py`` knows."""
_MAXIMUM_BYTES = 1 << 20
"""Of an included file."""
_COMMENT = r"('[^'\n]*'|\"[^\"\n]*\")|;[^\n]*"
_CONTINUED = r"\\[ \t]*\r?\n"


def statements_of_masm(run: AssemblyRun, raw: Iterable[RawStatement]) -> list[RawStatement]:
    """The statements as GNU as would write them, without constants, conditions and macros. Reports what is
    not read."""
    place = run.lines.content(0, run.text)
    run.report("not-supported", _MESSAGE, *place, Severity.INFORMATION)
    is_listing = masm.is_listing(run.text)
    missing: list[str] = []

    def included(name: str) -> Sequence[RawStatement] | None:
        found = _included_statements(name, run.options.origin)
        if found is None and not (is_listing and name == _OF_LISTINGS):
            missing.append(name)
        return found

    expansion = MasmExpansion(included, run.options.origin.defines)
    expanded = expansion.statements(masm.without_comments(raw, run.text))
    for trouble in expansion.troubles:
        run.report("not-supported", trouble.message, trouble.start, trouble.end)
    if missing:
        message = f"The included file '{missing[0]}' cannot be read; its macros and names are missing."
        run.report("include-not-read", message, *place, Severity.WARNING)
    placed = expansion.types.sized(with_frames(expanded))
    made = list(masm.statements(placed, is_listing=is_listing))
    _report_flow(run, made)
    return made if is_listing or re.search(_EXACT_NAMES, run.text) else list(masm.as_defined(made))


def _report_flow(run: AssemblyRun, statements: Iterable[RawStatement]) -> None:
    """Report the first directive from which MASM makes jumps: its loop or branch may not be found."""
    for statement in statements:
        match = re.match(_DIRECTIVE, statement.text)
        if match and match[1].lower() in FLOW_OF_MASM:
            begin = statement.start + match.start(1) - 1
            place = statement.place or (begin, begin + len(match[1]) + 1)
            run.report("not-supported", _FLOW.format(match[1]), *place)
            return


def _included_statements(name: str, origin: Origin) -> Sequence[RawStatement] | None:
    """The statements of a file, found beside the text or in its include paths; None if there is none that may
    be read. Their offsets mean nothing."""
    folder = os.path.dirname(origin.path) if origin.path else ""
    for place in (folder, *origin.include_paths, *origin.folders):
        if not place:
            continue
        try:
            content = read_permitted(os.path.normpath(os.path.join(place, name)), origin, _MAXIMUM_BYTES)
        except (OSError, ValueError):
            continue
        if len(content) > _MAXIMUM_BYTES:
            return None
        text = re.sub(masm.COMMENT_BLOCK, "", content.decode("utf-8", "replace"))
        text = re.sub(_COMMENT, lambda match: match[1] or "", text)
        lines = re.sub(_CONTINUED, " ", text).splitlines()
        return [RawStatement(0, line) for line in lines if line.strip()]
    return None
