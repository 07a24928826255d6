"""Turns samples into blocks and simulates them."""

from __future__ import annotations

from cyclelens.analyzer.bounds.registry import ANALYTIC
from cyclelens.analyzer.evaluation.datasets import Sample
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.counted_loop import counted_loop, usual_copies
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Model, Repetition
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.left_out import what_counts


class Unpredictable(Exception):
    """A sample has no prediction; the message says why."""


class BlockBuilder:
    """Builds and simulates blocks with open instruction tables; use it from one thread only."""

    def __init__(self, options: ModelOptions = DEFAULT) -> None:
        """Open the tables. Raises ``TablesUnavailable`` if they are missing or damaged."""
        self._store = open_store()
        self._options = options

    def build(self, sample: Sample, core: Microarchitecture | None = None) -> Block:
        """The block of a sample: ``copies`` of its code, with a loop counter except in unroll mode.

        ``core`` replaces the sample's microarchitecture. Raises ``Unpredictable``."""
        code: bytes | None = bytes.fromhex(sample.code)
        loop = sample.mode is not Repetition.UNROLL
        if loop:
            code = counted_loop(bytes.fromhex(sample.code), self.copies(sample))
        if code is None:
            raise Unpredictable("uses every register: none is left for the loop counter")
        instructions = decode(code, self._store.caches)
        if not all(instruction.mnemonic for instruction in instructions):
            raise Unpredictable("not all of its bytes are instructions")
        model = core or self._model(sample)
        return build_block(
            instructions, model, self._store, loop=loop, alignment=sample.alignment, options=self._options
        )

    def copies(self, sample: Sample) -> int:
        """Number of copies of the sample's code in one iteration of its block."""
        return usual_copies(decode(bytes.fromhex(sample.code))) if sample.mode is Repetition.COPIES else 1

    @property
    def simulates(self) -> bool:
        """Whether the chosen model simulates."""
        return self._options.model.simulates

    def predict_analytically(self, sample: Sample) -> tuple[Block, float]:
        """Block, and its cycles per iteration without a simulation. Raises ``Unpredictable``."""
        block = self.build(sample)
        return block, ANALYTIC[self._options.model](block, self._model(sample))

    def baseline(self, sample: Sample, block: Block) -> float:
        """Cycles per iteration of the sample's block by the baseline of uiCA's paper."""
        return ANALYTIC[Model.BASELINE](block, self._model(sample)) / self.copies(sample)

    def simulate(
        self, sample: Sample, core: Microarchitecture | None = None, *, trace: bool = False
    ) -> tuple[Block, Simulation]:
        """Block and simulation of a sample; ``core`` as in ``build``. Raises ``Unpredictable``: with the
        hardware model also where an analysis shows no figure."""
        block = self.build(sample, core)
        lacking = what_counts(block.instructions, self._store) if self._options.hardware else None
        if lacking is not None:
            raise Unpredictable(f"{lacking.names}: {lacking.why}")
        return block, simulate(
            block,
            core or self._model(sample),
            request=RunRequest(trace=trace),
            options=self._options,
            caches=self._store.caches,
        )

    def _model(self, sample: Sample) -> Microarchitecture:
        return variant(registry.get(sample.microarchitecture), self._options)
