"""Where the documents are: ``docs`` of the source tree, or the copy in an installed package. The pages about
diagnostic codes are in a folder below, one per code."""

import sys
from pathlib import Path

DOCUMENTS = (
    Path(__file__).resolve().parents[2] / "docs",
    Path(sys.prefix) / "share" / "doc" / "cyclelens",
)
"""The folders in the source tree and in an environment with the package installed."""
DIAGNOSTICS = tuple(folder / "diagnostics" for folder in DOCUMENTS)
