"""Reads and analyses files named by users: assembly texts and ELF files. Used by the command line and the
library.
"""

from __future__ import annotations

import codecs
import os
import sys
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.regular_files import read_given, read_opened
from cyclelens.analyzer.frontend.objects.elf_format import FOREIGN_OBJECTS, ObjectFileError
from cyclelens.analyzer.frontend.objects.formats import is_object
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Problem, Severity
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.profile import ProfileError
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.engine.workspace import Cancel
    from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions
    from cyclelens.analyzer.model.result import Analysis
    from cyclelens.analyzer.model.source import Origin

NO_REGION = "no-region"
"""Code of the problem that a text has nothing to analyse; for commands only, as an editor may show any
text."""

MAXIMUM_BYTES = 2 << 30
"""Largest file that is analysed, in bytes; the largest programs with full debug information are smaller."""
_FOREIGN_FORMATS = {
    b"!<arch>\n": "an archive: take an object out of it with ar x",
    **FOREIGN_OBJECTS,
}


def analyze_bytes(
    analyzer: Analyzer,
    data: bytes,
    file: str,
    chosen: AnalysisOptions,
    function: str | None,
    cancel: Cancel | None = None,
) -> Analysis:
    """The analysis of a file's content: an assembly text, or an object file (one ``function`` or all). Raises
    InputError, and the errors of ``Analyzer.analyze``."""
    try:
        if chosen.source.profile:
            analyzer.workspace.caches.of(Profiles).of(chosen.source.profile)
    except ProfileError as error:
        raise InputError(error) from None
    if not is_object(data):
        chosen = replace(chosen, source=replace(chosen.source, function=function))
        return explained(analyzer.analyze(to_text(data), chosen, cancel), chosen.source)

    try:
        return analyzer.analyze_object(data, chosen, function, cancel)
    except ObjectFileError as error:
        raise InputError(f"{file}: {error}") from None


_NOTHING_READ = frozenset({
    "binary-file", "file-too-large", "left-out", "no-such-function", "no-such-region", "not-preprocessed",
    "other-language",
})  # fmt: skip
"""Problems that already explain why there is no region."""
_WITHOUT_LOOP = frozenset({"syntax-error", "undefined-label"})
"""Problems that explain why a text has no loop, if it has no region at all."""
_MARKS = frozenset({"invalid-marker", "region-end-without-begin"})
_MARKERS = "Put `# cyclelens-begin NAME` and `# cyclelens-end` in comments around a loop"


def explained(analysis: Analysis, source: SourceOptions) -> Analysis:
    """The analysis of a text; if it has no regions, with a problem that explains why."""
    if analysis.regions:
        return analysis
    reasons = _NOTHING_READ if source.regions == "markers" else _NOTHING_READ | _WITHOUT_LOOP
    if any(problem.code in reasons for problem in analysis.problems):
        # An editor may show any text; a command was given this one on purpose.
        said = (
            replace(problem, severity=Severity.ERROR) if problem.code in reasons else problem
            for problem in analysis.problems
        )
        return replace(analysis, problems=tuple(said))
    nothing = "no region is marked, and no loop was found"
    if source.regions == "auto" and any(problem.code in _MARKS for problem in analysis.problems):
        nothing = "the markers mark no region, and a text with markers is not searched for loops"
    message = {
        "auto": f"{nothing}. {_MARKERS} or other code",
        "markers": f"no region is marked. {_MARKERS}, or find loops without markers: --regions auto",
        "loops": f"no loop was found. {_MARKERS} or other code, and leave out --regions",
        "both": f"no region is marked, and no loop was found. {_MARKERS} or other code",
    }[source.regions]
    problem = Problem(UNKNOWN_LINE, 0, 0, NO_REGION, message)
    return replace(analysis, problems=(*analysis.problems, problem))


def beside(origin: Origin, file: str) -> Origin:
    """The origin of a text in this file. Files beside it may be read, and files below the current folder if
    the text is there, too."""
    path = os.path.abspath(file)
    here = os.getcwd()
    # A user who works in a folder trusts its content.
    folders = {os.path.dirname(path), *([here] if path.startswith(os.path.join(here, "")) else [])}
    return replace(origin, path=path, folders=tuple(sorted(folders)))


def read_bytes(name: str) -> bytes:
    """A file's content; ``-`` is standard input. Raises InputError if it cannot be read or has an unsupported
    machine code format."""
    try:
        if name == "-":
            data = read_opened(sys.stdin.buffer, name, MAXIMUM_BYTES)
        else:
            data = read_given(name, MAXIMUM_BYTES)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    for magic, what in _FOREIGN_FORMATS.items():
        if data.startswith(magic) and b"\0" in data[:4096] and not is_object(data):
            raise InputError(f"{name} is {what}")
    return data


def read_text(name: str) -> str:
    """An assembly file's text. Raises InputError if it cannot be read or is machine code."""
    return to_text(read_text_bytes(name))


def read_text_bytes(name: str) -> bytes:
    """An assembly file's bytes. Raises the same errors as ``read_text``."""
    data = read_bytes(name)
    if is_object(data):
        raise InputError(
            f"{name} is machine code: this command changes texts; let the compiler write one (gcc -S)"
        )
    return data


def to_text(data: bytes) -> str:
    """A file's text: UTF-8, or UTF-16 with its mark, as PowerShell writes it. Other bytes are replaced, so
    that any file can be shown."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def edited(data: bytes, change: Callable[[str], str]) -> bytes:
    """A file with a change of its text, which is as ``to_text`` reads it. Its encoding, its mark, and what is
    no text stay as they are. Raises ValueError if that is impossible."""
    marks = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8"}
    mark = next(filter(data.startswith, marks), b"")
    encoding = marks.get(mark, "utf-8")
    text = data[len(mark) :].decode(encoding, errors="surrogateescape")
    if len(text) != len(to_text(data)):
        raise ValueError("bytes that are no text are next to each other")
    return mark + change(text).encode(encoding, errors="surrogateescape")
