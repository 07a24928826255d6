"""Fixtures and settings for all tests."""

import os

from cyclelens.analyzer.microarchitectures.registry import DEFAULT_ARCH
from hypothesis import settings

# Tests that name no core are about Skylake, on any machine, and so are the programs that they
# start. Those of the default itself take it away.
os.environ[DEFAULT_ARCH] = "SKL"

# Hypothesis fails an example that takes more than 200 ms, as any does on a machine that is busy enough.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
