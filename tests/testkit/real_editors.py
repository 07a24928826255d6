"""The editors that ``dev/editors`` installed for the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTALL_SECONDS = 900


def installed(*editors: str) -> Path:
    """The folder of the editors; skips the test, saying why, on a machine where they cannot be had."""
    command = [str(ROOT / "dev" / "editors"), *editors]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip(f"dev/editors {' '.join(editors)} was not done after {INSTALL_SECONDS} s")
    if run.returncode:
        pytest.skip(f"dev/editors {' '.join(editors)}: {run.stderr.strip()[-300:]}")
    return Path(run.stdout.strip())
