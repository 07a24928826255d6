"""Runs every core and every model on a collection of blocks, and classifies how each run ends.

``tests/simulator/test_matrix.py`` runs a share of it, ``benchmarks/every_core.py`` the whole.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from cyclelens.analyzer.characterizing.instances import EncodableVariant
from cyclelens.analyzer.common.defects import INTERNAL_ERROR
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Mode, Model
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.failures import SimulationStuck
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.operands import TooManyUopsError

from testkit.core_tables import listed

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.s"))
MODELS = (Model.HARDWARE, Model.UICA)
ONE_PASS = "one pass"
WAYS = (str(Mode.LOOP), str(Mode.UNROLL), ONE_PASS)
FIGURE = "figure"
_SEED = 38
_LONGEST = 12
"""Instructions of a generated block."""
_ONCE = RunRequest(min_rounds=1, min_cycles=1)


def kernels() -> list[bytes]:
    """The kernels of ``tests/tables``."""
    return [bytes.fromhex(code) for _, _, code, _ in listed("kernels")]


def generated(count: int) -> Iterator[bytes]:
    """Blocks of random instructions of the forms in ``tests/tables``: loads, stores, vectors, fences,
    divisions, microcode and all others. The same ones every time; fewer are the beginning of more."""
    forms = [bytes.fromhex(code) for code, _ in listed("forms")]
    source = random.Random(_SEED)
    for _ in range(count):
        yield b"".join(source.choices(forms, k=source.randint(1, _LONGEST)))


def instances(core: str, store: FactsStore, *, microcode_only: bool = False) -> Iterator[bytes]:
    """One instruction of every form of which the tables have a record. ``microcode_only``: of those
    that the microcode sequencer delivers."""
    facts_name = registry.get(core).facts_name
    matcher = Matcher(facts_name)
    for form in store.forms():
        for facts in store.candidates(facts_name, form):
            if microcode_only and not facts.base.ms_uops:
                continue
            made = EncodableVariant(facts, matcher, store)
            chosen = made.choose() if all(each.registers for each in made.registers) else None
            if chosen is not None and (code := made.encode(chosen)):
                yield code


def of_blocks(blocks: Sequence[bytes], core: str, model: Model, way: str, store: FactsStore) -> Counter[str]:
    """How the predictions of some blocks end: ``FIGURE``, or the reason without a figure."""
    if way == ONE_PASS:
        return Counter(_one_pass(code, core, ModelOptions(model=model), store) for code in blocks)
    predictor = Predictor(Workspace(store))
    found = predictor.predict_batch(blocks, core, Mode(way), options=ModelOptions(model=model))
    return Counter(FIGURE if each.cycles_per_iteration is not None else each.problem for each in found)


def _one_pass(code: bytes, core: str, options: ModelOptions, store: FactsStore) -> str:
    """One iteration from an empty pipeline, with everything that a report needs."""
    instructions = decode(code, store.caches)
    microarchitecture = variant(registry.get(core), options)
    try:
        block = build_block(instructions, microarchitecture, store, loop=False, options=options)
        simulate(block, microarchitecture, request=_ONCE, options=options, caches=store.caches)
    except TooManyUopsError as error:
        return str(error)
    except (SimulationStuck, Exception) as error:
        return f"{INTERNAL_ERROR}: {type(error).__name__}: {error}"
    return FIGURE


def of_example(path: Path, model: Model, store: FactsStore, cores: Sequence[str]) -> Counter[str]:
    """How the regions of an example end on all cores. Raises where the analysis has no answer."""
    options = AnalysisOptions(
        target=Target(
            microarchitectures=tuple(cores), model=ModelOptions(model=model), forced=frozenset({"arch"})
        )
    )
    analysis = Analyzer(Workspace(store)).analyze(path.read_text("utf-8"), options)
    ends = Counter(problem.message for problem in analysis.problems)
    for region in analysis.regions:
        ends.update(problem.message for problem in region.findings if INTERNAL_ERROR in problem.message)
        ends[FIGURE] += len(region.predictions)
    return ends


def internal_errors(ends: Counter[str]) -> list[str]:
    """The reasons that are internal errors."""
    return [reason for reason in ends if INTERNAL_ERROR.lower() in reason.lower()]
