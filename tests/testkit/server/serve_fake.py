"""A real server over stdio whose worker runs the fake engine."""

from __future__ import annotations

import sys
from pathlib import Path

from cyclelens.server.app import create_server, run

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))  # for the worker, too
    sys.exit(run(server=create_server("testkit.server.fake_engine:create")))
