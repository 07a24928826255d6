"""Reads the files that a MASM text includes, as far as they may be read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.files.includes import read_permitted
from cyclelens.analyzer.frontend.source import masm
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from cyclelens.analyzer.model.source import Origin

MAXIMUM_BYTES = 1 << 20
_COMMENT = r"('[^'\n]*'|\"[^\"\n]*\")|;[^\n]*"
_CONTINUED = r"\\[ \t]*\r?\n"


def included_statements(name: str, origin: Origin) -> Sequence[RawStatement] | None:
    """The statements of a file, found beside the text or in its include paths; None if there is none that may
    be read. Their offsets mean nothing."""
    folder = os.path.dirname(origin.path) if origin.path else ""
    for place in (folder, *origin.include_paths, *origin.folders):
        if not place:
            continue
        try:
            content = read_permitted(os.path.normpath(os.path.join(place, name)), origin, MAXIMUM_BYTES)
        except (OSError, ValueError):
            continue
        if len(content) > MAXIMUM_BYTES:
            return None
        text = re.sub(masm.COMMENT_BLOCK, "", content.decode("utf-8", "replace"))
        text = re.sub(_COMMENT, lambda match: match[1] or "", text)
        lines = re.sub(_CONTINUED, " ", text).splitlines()
        return [RawStatement(0, line) for line in lines if line.strip()]
    return None
