"""One request of an agent: the texts and files that it names, read where that is allowed, and analysed."""

from __future__ import annotations

import os
from urllib.parse import urlsplit
from urllib.request import url2pathname

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.files import MAXIMUM_BYTES, analyze_bytes, explained, to_text
from cyclelens.analyzer.engine.workspace import Cancel
from cyclelens.analyzer.frontend.files.includes import read_permitted
from cyclelens.analyzer.frontend.objects.formats import is_object
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.machine_file import MachineFile
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.model.source import Origin
from msgspec import Struct

_LONGEST_PATH = 4096
"""Characters (Linux's PATH_MAX)."""


class RefusedRequest(Exception):
    """A request that cannot be answered; the text says why, for the agent."""


class Request(Struct, frozen=True):
    """What a request may use."""

    analyzer: Analyzer
    folders: tuple[str, ...]
    """Folders whose files may be read, with links resolved; of others nothing is."""
    cancel: Cancel
    """Returns True once the request has used its time."""
    machine: MachineFile | None = None
    """What was measured on this machine."""

    def analysis(self, source: str, region: str = "", function: str = "", core: str = "") -> Analysis:
        """The analysis of a text or file. Raises RefusedRequest, and Cancelled when the time is over."""
        options = self.options(source, region, function, core)
        try:
            if (path := file_of(source)) is None:
                return explained(self.analyzer.analyze(source, options, self.cancel), options.source)
            return analyze_bytes(
                self.analyzer, self._read(path), path, options, function or None, cancel=self.cancel
            )
        except InputError as error:
            raise RefusedRequest(str(error)) from None

    def options(self, source: str, region: str, function: str, core: str) -> AnalysisOptions:
        """How the source is analysed. Raises RefusedRequest if there is no such core."""
        path = file_of(source)
        origin = Origin(path or "", self.folders if path else ())
        default = registry.default()
        target = Target(default.names, by_default=default.reason, machine=self.machine)
        if core:
            try:
                target = target.only_on(registry.get(core).name)
            except ValueError as error:
                raise RefusedRequest(str(error)) from None
        # Texts come from an agent: no program of this machine reads them.
        source_options = SourceOptions(
            region=region or None, function=function or None, allow_external_programs=False, origin=origin
        )
        return AnalysisOptions(source_options, target)

    def text(self, source: str) -> str:
        """The text itself, or that of the file. Raises RefusedRequest."""
        if (path := file_of(source)) is None:
            return source
        if is_object(data := self._read(path)):
            raise RefusedRequest(f"{path} is machine code; rewrites change texts")
        return to_text(data)

    def _read(self, path: str) -> bytes:
        if not self.folders:
            raise RefusedRequest(
                "no folder may be read: send the text, name folders as roots of the client, or start "
                "cyclelens mcp --folder FOLDER"
            )
        try:
            return read_permitted(path, Origin("", self.folders), MAXIMUM_BYTES)
        except OSError as error:
            raise RefusedRequest(f"{path} cannot be read: {error.strerror or error}") from None


def file_of(source: str) -> str | None:
    """The absolute path that a source is; None if it is a text."""
    if "\n" in source or len(source) > _LONGEST_PATH or not os.path.isabs(source):
        return None
    return source


def folder_of(root: str) -> str | None:
    """The folder of a client's root (``file:///home/me/a%20b``), with links resolved; None if it is elsewhere
    than on this machine."""
    try:
        parts = urlsplit(root)
    except ValueError:
        return None
    path = url2pathname(parts.path)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not os.path.isabs(path):
        return None
    return os.path.realpath(path)
