"""A real server over stdio whose worker runs the fake engine."""

from __future__ import annotations

import sys

from cyclelens.server.app import create_server, run

if __name__ == "__main__":
    sys.exit(run(server=create_server("fake_engine:create")))
