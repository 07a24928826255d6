"""Builds blocks from hexadecimal code, for the published model: the checks are its worked examples."""

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import PUBLISHED
from cyclelens.analyzer.uops.block import build_block


@pytest.fixture(scope="session")
def build():
    store = open_store()

    def build(code, microarchitecture, *, loop=False, alignment=0):
        model = registry.get(microarchitecture)
        instructions = decode(bytes.fromhex(code))
        return build_block(
            instructions, model, store, loop=loop, alignment=alignment, options=PUBLISHED
        ), model

    yield build
    store.close()
