"""Fixtures and settings for all tests."""

import os

from cyclelens.analyzer.microarchitectures.registry import DEFAULT_ARCH

# Tests that name no core are about Skylake, on any machine, and so are the programs that they
# start. Those of the default itself take it away.
os.environ[DEFAULT_ARCH] = "SKL"
