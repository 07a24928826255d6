"""Runs the simulator from its .py files although compiled ones lie beside them.

As a program: ``python tests/support/uncompiled.py SCRIPT.py ARGUMENTS``. As a plugin of pytest:
``PYTHONPATH=tests/support pytest -p uncompiled tests/simulator``. Processes started from there are not
affected, as they would be by the environment variable ``CYCLELENS_PLAIN``.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from cyclelens.analyzer.simulator.form import take_sources

take_sources()

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
