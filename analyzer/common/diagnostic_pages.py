"""Where the pages about diagnostic codes are: one per code in ``docs/diagnostics``."""

import sys
from pathlib import Path

FOLDERS = (
    Path(__file__).resolve().parents[2] / "docs" / "diagnostics",
    Path(sys.prefix) / "share" / "doc" / "cyclelens" / "diagnostics",
)
"""The folders in the source tree and in an environment with the package installed."""
