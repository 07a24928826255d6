"""The tables, and a characterizer for each simulated core."""

from functools import cache

import pytest
from cyclelens.analyzer.characterizing.characterize import Characterizer
from cyclelens.analyzer.characterizing.machines import SimulatedMachine
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry
from testkit.blockers import shared_blockers


@pytest.fixture(scope="session", autouse=True)
def blockers():
    with shared_blockers():
        yield


@pytest.fixture(scope="session")
def store():
    return open_store()


@pytest.fixture(scope="session")
def characterizer(store):
    """One for each core, with or without counters."""

    @cache
    def made(core, counted=True):
        model = registry.get(core)
        return Characterizer(SimulatedMachine(model, store, counted=counted), store, model)

    return made
