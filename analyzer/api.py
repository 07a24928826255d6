"""The analyzer as a library: ``Analyzer.analyze`` for a text with regions, ``Analyzer.predict`` for one block
of machine code, ``predict_many`` for a stream of blocks on several cores.

An ``Analyzer`` is for one thread: it keeps an open table file and its caches without locks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.decoding.counted_loop import loop_end, usual_copies
from cyclelens.analyzer.decoding.decoder import decode
from cyclelens.analyzer.defects import described, traceback_of
from cyclelens.analyzer.facts.store import FactsStore, TablesUnavailable, open_store
from cyclelens.analyzer.microarchitectures import extensions, registry
from cyclelens.analyzer.microarchitectures.variants import variant
from cyclelens.analyzer.model.choices import Assembler, Mode, Regions
from cyclelens.analyzer.model.frozen import dataclass, replace
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.result import (
    Analysis,
    AnalysisOptions,
    Assumption,
    BranchingAnalysis,
    Finding,
    Position,
    Prediction,
    RegionAnalysis,
    Simulation,
)
from cyclelens.analyzer.model.source import (
    LINE_BYTES,
    UNKNOWN_LINE,
    AssembledFile,
    Branching,
    Counts,
    Placement,
    Problem,
    Region,
    Severity,
)
from cyclelens.analyzer.model.uops import Block, InstructionTemplate
from cyclelens.analyzer.recent import Recent, next_batch, next_text
from cyclelens.analyzer.simulator.failures import Cancelled
from cyclelens.analyzer.simulator.pipeline import cycles_per_iteration, simulate
from cyclelens.analyzer.suggestions import among
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.operands import TooManyUopsError
from cyclelens.analyzer.workers import start_worker

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cyclelens.analyzer.assembly.objects.elf import ObjectFile
    from cyclelens.analyzer.assembly.objects.elf_format import Function
    from cyclelens.analyzer.insight.whatif import Experiment
    from cyclelens.analyzer.profiles.profile import Profile

__all__ = ["Analyzer", "Cancelled", "PredictResult", "predict_many"]

Cancel = Callable[[], bool]

ALIGNMENTS = range(LINE_BYTES)
"""Offsets that differ."""

MAX_BLOCK_BYTES = 16 * 1024
"""Longest block that is simulated. Kernels are far shorter, and time and memory grow with the length."""

_QUICK_BYTES = 16 * 1024
"""Bytes of code, those of all positions together, whose simulation the first quick answer about a region does
not wait for: some fifteen milliseconds. Later ones, after an edit, wait for no other position."""

_CACHED_PREDICTIONS = 256
_OWN_KEYS = frozenset({"name", "per", "taken"})
"""Of a marker: they are about one region, and no settings."""

# ---------------------------------------------------------------------------------------------------------
# The analyzer


@dataclass(frozen=True, slots=True)
class PredictResult:
    """One block's figure; ``problem`` says why there is none, or what makes it uncertain."""

    cycles_per_iteration: float | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a region is to be simulated."""

    models: tuple[Microarchitecture, ...]
    mode: Mode
    placement: Placement


@dataclass(frozen=True, slots=True)
class _Answer:
    prediction: Prediction
    findings: tuple[Finding, ...]

    def of(self, simulation: Simulation) -> _Answer:
        """The same of another run at the same place, with a trace or without."""
        prediction = replace(self.prediction, simulation=simulation, account=simulation.account)
        return _Answer(prediction, self.findings)


@dataclass(frozen=True, slots=True)
class _Run:
    """Code that is to be simulated on a core."""

    instructions: tuple[Instruction, ...]
    model: Microarchitecture
    loop: bool
    latencies: Mapping[int, int]
    options: AnalysisOptions
    store: FactsStore
    cancel: Cancel | None

    def block(self, alignment: int) -> Block:
        """The code at this offset within a 64-byte line."""
        block = build_block(
            self.instructions,
            self.model,
            self.store,
            loop=self.loop,
            alignment=alignment,
            options=self.options.model,
        )
        if self.latencies:
            from cyclelens.analyzer.insight.whatif import with_latencies

            block = with_latencies(block, self.latencies)
        return block

    def simulation(self, block: Block) -> Simulation:
        """All that the options ask for."""
        return simulate(
            block,
            self.model,
            trace=self.options.trace,
            trace_rounds=self.options.trace_rounds,
            details=self.options.causes,
            account=self.options.causes,
            options=self.options.model,
            cancel=self.cancel,
        )

    def positions(
        self, offsets: Sequence[int], block: Block, simulation: Simulation, known: dict[bytes, Position]
    ) -> tuple[Position, ...]:
        """The code at every place. ``block`` and ``simulation`` are those at one of them; ``known`` grows."""
        from cyclelens.analyzer.insight.positions import alone, positions

        if len(offsets) == 1:
            return alone(block, simulation)
        return positions(
            self.block, offsets, self.model, self.options.model, self.cancel, (block, simulation), known
        )


class Analyzer:
    """Answers for texts and blocks, and remembers the latest, so that an unchanged region costs nothing."""

    def __init__(self, store: FactsStore | None = None, *, cached_predictions: int = _CACHED_PREDICTIONS):
        """``store``: the instruction tables, by default those that ship with the program.

        Raises ``TablesUnavailable`` if these are missing or damaged.
        """
        self._store = open_store() if store is None else store
        self._capacity = cached_predictions
        self._asked = 0
        """Predictions that the latest text asked for."""
        self._answers: OrderedDict[tuple[object, ...], _Answer] = OrderedDict()
        self._places: Recent[tuple[object, ...], tuple[Position, ...]] = Recent(cached_predictions)
        self._figures: Recent[tuple[object, ...], dict[bytes, Position]] = Recent(cached_predictions)
        """Of code wherever it lies, by what makes a place differ from others."""
        self._latest: Recent[tuple[object, ...], tuple[int, bool]] = Recent(cached_predictions)
        """Which of its positions was shown last of a region by name, and whether all were alike."""

    def close(self) -> None:
        """Close the tables."""
        self._store.close()

    def analyze(self, text: str, options: AnalysisOptions, cancel: Cancel | None = None) -> Analysis:
        """Everything about the regions of an assembly text. Mistakes in the text become problems.

        ``cancel`` is asked now and then; once it returns True, ``Cancelled`` is raised. Raises
        ``UnknownMicroarchitecture`` or ValueError for bad ``options`` (not for bad marker options) and
        ``TablesUnavailable`` if the tables cannot be read.
        """
        return next(self.variants(text, (options,), cancel))

    def variants(
        self,
        text: str,
        variants: Sequence[AnalysisOptions],
        cancel: Cancel | None = None,
        due: Callable[[], bool] = lambda: False,
    ) -> Iterator[Analysis]:
        """A text, assembled once, under several options that assemble it alike. Of each what there is so far,
        too, whenever ``due()`` says so after a region. Raises as ``analyze``."""
        # Here, because batches of machine code need no assembler and start faster without it.
        from cyclelens.analyzer.assembly.frontend import assemble

        for options in variants:
            _check(options)
        next_text()
        # Room for this text and its next version, or every edit of a large one would simulate all of it.
        self._capacity = max(self._capacity, 2 * self._asked)
        self._asked = 0
        variants, unread = readable(variants)
        first = variants[0]
        assembled = assemble(
            text,
            syntax=first.syntax,
            regions=first.regions,
            cancel=cancel,
            allow_external_programs=first.allow_external_programs,
            assembler=first.assembler,
            origin=first.origin,
            profile=_profile(first, needs_symbols=True),
        )
        if cancel is not None and cancel():
            raise Cancelled  # what was assembled may be only a part
        assembled = replace(assembled, problems=(*unread, *assembled.problems))
        for options in variants:
            yield from self._analyses(text, assembled, options, cancel, due)

    def analyze_object(
        self, data: bytes, options: AnalysisOptions, function: str | None = None, cancel: Cancel | None = None
    ) -> Analysis:
        """Everything about the loops of a function in an ELF file (object, program or shared library), or of
        all its functions if none is named; ``function`` is a symbol or an address (``0x1139``).

        Raises what ``analyze`` raises, and ``ObjectFileError`` if the file or the function cannot be read.
        """
        # Here, because texts need no reader of object files.
        from cyclelens.analyzer.assembly.objects.elf import ObjectFile
        from cyclelens.analyzer.assembly.objects.machine_code import named_regions

        _check(options)
        next_batch()
        file = ObjectFile(data)
        found = named_regions(file, function, options.regions, _recorded(options, file))
        return next(self._analyses(None, found, options, cancel, lambda: False))

    def analyze_functions(
        self,
        file: ObjectFile,
        functions: Sequence[Function],
        options: AnalysisOptions,
        wanted: Callable[[Region], bool] = lambda region: True,
        cancel: Cancel | None = None,
        placed: Callable[[Region], Region] = lambda region: region,
    ) -> Analysis:
        """Everything about the loops of some functions of a file, those alone that are ``wanted``, each where
        it is ``placed``. Raises as ``analyze_object``."""
        from cyclelens.analyzer.assembly.objects.machine_code import regions_of

        _check(options)
        next_batch()
        found = regions_of(file, functions, options.regions, profile=_recorded(options, file))
        chosen = {region.name for region in found.regions if wanted(region)}
        # Of a region that branches within itself all blocks are needed, whichever was wanted.
        branchings = tuple(each for each in found.branchings if chosen.intersection(each.blocks))
        chosen.update(name for each in branchings for name in each.blocks)
        regions = tuple(placed(region) for region in found.regions if region.name in chosen)
        found = replace(found, regions=regions, branchings=branchings)
        return next(self._analyses(None, found, options, cancel, lambda: False))

    def templates(self, codes: Iterable[bytes], microarchitecture: str) -> list[InstructionTemplate]:
        """Instructions by themselves on a core, those that it has, each form once. Raises
        ``TablesUnavailable``."""
        model = registry.get(microarchitecture)
        found: dict[str, InstructionTemplate] = {}
        for code in codes:
            instructions = decode(code)
            if len(instructions) == 1 and not extensions.missing(instructions, [model.name]):
                template = build_block(instructions, model, self._store, loop=False).instructions[0]
                found.setdefault(template.name, template)
        return list(found.values())

    def experiment(
        self,
        region: RegionAnalysis,
        prediction: Prediction,
        options: ModelOptions = PUBLISHED,
        cancel: Cancel | None = None,
    ) -> Experiment:
        """What can be tried with a region that was predicted with these ``options``."""
        from cyclelens.analyzer.insight.whatif import Experiment

        return Experiment(prediction, self._store, latencies=region.latencies, options=options, cancel=cancel)

    def _analyses(
        self,
        text: str | None,
        assembled: AssembledFile,
        options: AnalysisOptions,
        cancel: Cancel | None,
        due: Callable[[], bool],
    ) -> Iterator[Analysis]:
        # Here, because batches of machine code need no causes and start faster without them.
        from cyclelens.analyzer.insight import ways, weights

        problems = list(assembled.problems)
        regions: list[RegionAnalysis] = []
        blocks = {region.name: region for region in assembled.regions}
        chosen = _chosen(assembled, options.region)
        if options.region is not None and not chosen:
            names = list(dict.fromkeys(each.name for each in _chosen(assembled, None)))
            known = among(options.region, names) if names else ", and no other one"
            message = f"there is no region '{options.region}'{known}"
            problems.append(Problem(UNKNOWN_LINE, 0, 0, "no-such-region", message))
        branching_names = [branching.name for branching in assembled.branchings]
        for name in dict.fromkeys(name for name, _ in options.taken):
            if name in ("", *branching_names):
                continue
            known = among(name, branching_names) if branching_names else ", and no other one"
            message = f"there is no region '{name}' with a branch within it{known}"
            problems.append(Problem(UNKNOWN_LINE, 0, 0, "no-such-region", message))
        figures: dict[str, Mapping[str, float]] = {}
        counts = assembled.counts or {}
        found: dict[str, BranchingAnalysis] = {}
        parts = {name for branching in assembled.branchings for name in branching.blocks}
        for each in chosen:
            through = None
            if isinstance(each, Branching):
                through = self._through(each, blocks, figures, options, text, problems, cancel, counts)
                found[each.name] = through
                each = ways.along(each, through.way, blocks)
            region = each
            plan, marker_problems = _plan(region, options, text)
            problems += marker_problems
            is_part = through is None and region.name in parts
            if "taken" in region.options and through is None and not is_part:
                message = f"taken= says nothing here: '{region.name}' has no branch with two ways to go"
                problems.append(
                    _at_line(region.first_line, text, "bad-option-value", message, Severity.WARNING)
                )
            regions.append(self._region(region, plan, options, problems, cancel, through, is_part=is_part))
            if is_part:
                figures[region.name] = _cycles(regions[-1])
            if len(regions) < len(chosen) and due():
                some = Analysis(tuple(regions), tuple(problems), tuple(found.values()), assembled.dialect)
                yield replace(some, account=options.account, unmarked=assembled.unmarked, pending=True)
        for branching in assembled.branchings:
            if not branching.ways and options.region in (None, branching.name):
                found[branching.name] = self._through(
                    branching, blocks, figures, options, text, problems, cancel, counts
                )
        problems.sort(key=lambda problem: (problem.line, problem.column))
        whole = Analysis(
            regions=tuple(regions),
            problems=tuple(problems),
            branchings=tuple(found.values()),
            dialect=assembled.dialect,
            account=options.account,
            unmarked=assembled.unmarked,
            made=assembled.made,
        )
        yield weights.weighed(whole, counts) if counts else whole

    def _through(
        self,
        branching: Branching,
        blocks: Mapping[str, Region],
        known: Mapping[str, Mapping[str, float]],
        options: AnalysisOptions,
        text: str | None,
        problems: list[Problem],
        cancel: Cancel | None,
        counts: Mapping[str, Counts],
    ) -> BranchingAnalysis:
        """What the ways through a region take, or its blocks if the ways are not known. ``known``: figures of
        blocks, by name; ``counts``: what a profile says of them."""
        from cyclelens.analyzer.insight import ways, weights

        quiet = replace(options, trace=False, trace_rounds=None, causes=False)

        def cycles(region: Region) -> Mapping[str, float]:
            if region.name in known:
                return known[region.name]
            return _cycles(self._region(region, _plan(region, quiet, text)[0], quiet, [], cancel))

        said = next(
            (shares for name, shares in reversed(options.taken) if name in ("", branching.name)),
            branching.options.get("taken", ""),
        )
        figures = {name: cycles(blocks[name]) for name in dict.fromkeys(branching.blocks) if name in blocks}
        shares: ways.Shares = (None,) * len(branching.forks)
        given = ""
        try:
            if said:
                shares = ways.parse_shares(said, branching)
                if None in shares:
                    raise ways.SharesError(ways.missing(branching, shares, said))
                given = f"with taken={said}"
            elif counts:
                first = {name: next(iter(each.values()), 0.0) for name, each in figures.items()}
                shares = weights.shares(branching, counts, first)
                given = weights.GIVEN if any(share is not None for share in shares) else ""
        except ways.SharesError as error:
            problems.append(_at_line(branching.first_line, text, "bad-option-value", str(error)))
        return ways.analyse(
            branching,
            shares,
            given,
            {name: blocks[name] for name in figures},
            figures,
            [cycles(ways.along(branching, way, blocks)) for way in branching.ways],
        )

    def predict(
        self,
        code: bytes,
        microarchitecture: str,
        mode: str = "unroll",
        alignment: int = 0,
        options: ModelOptions = PUBLISHED,
    ) -> PredictResult:
        """Cycles per iteration of one block: ``unroll`` repeats it end to end, ``loop`` appends a counter.
        ``options`` choose a variant of the model.

        Bytes that cannot be predicted give a result without a figure. Raises ``UnknownMicroarchitecture``
        for an unknown name and ``TablesUnavailable`` if the tables cannot be read.
        """
        return self.predict_batch([code], microarchitecture, mode, alignment, options)[0]

    def cycles_of(
        self,
        code: bytes,
        microarchitecture: Microarchitecture,
        loop: bool,
        alignment: int,
        options: ModelOptions = PUBLISHED,
    ) -> float | None:
        """Cycles per iteration of code as it stands: a loop has its own jump back. None without a figure.
        Raises ``TablesUnavailable``."""
        model = variant(microarchitecture, options)
        built = self._built(decode(code), 1, model, loop, alignment, options)
        return (
            built.cycles_per_iteration
            if isinstance(built, PredictResult)
            else (_figure(*built, model, options).cycles_per_iteration)
        )

    def predict_batch(
        self,
        codes: Sequence[bytes],
        microarchitecture: str,
        mode: str = "unroll",
        alignment: int = 0,
        options: ModelOptions = PUBLISHED,
        copies: int | None = 1,
    ) -> list[PredictResult]:
        """``predict`` for several blocks. ``copies`` of a block stand in the loop, and the figure is that of
        one copy; None: ``usual_copies``.

        All blocks go through one phase before any enters the next: the code of a phase then stays in the
        processor's caches, which saves a quarter of the time of short blocks.
        """
        model = variant(registry.get(microarchitecture), options)
        next_batch()
        loop = mode == "loop"
        listings = [_listing(code, loop, copies, model.name) for code in codes]
        built = [
            each if isinstance(each, PredictResult) else self._built(*each, model, loop, alignment, options)
            for each in listings
        ]
        return [each if isinstance(each, PredictResult) else _figure(*each, model, options) for each in built]

    def _built(
        self,
        instructions: Sequence[Instruction],
        copies: int,
        model: Microarchitecture,
        loop: bool,
        alignment: int,
        options: ModelOptions,
    ) -> tuple[Block, int] | PredictResult:
        try:
            block = build_block(
                instructions, model, self._store, loop=loop, alignment=alignment, options=options
            )
            return block, copies
        except TablesUnavailable:
            raise
        except TooManyUopsError as error:
            return PredictResult(None, str(error))
        except Exception as error:  # one block that fails must not end a run of many thousands
            return PredictResult(None, _internal_error(error))

    def _region(
        self,
        region: Region,
        plan: _Plan,
        options: AnalysisOptions,
        problems: list[Problem],
        cancel: Cancel | None,
        through: BranchingAnalysis | None = None,
        *,
        is_part: bool = False,
    ) -> RegionAnalysis:
        """``through``: of a region that branches within itself and that is given along one way; ``is_part``:
        a basic block, whose branch at the end stays within its region."""
        # Here, because batches of machine code need no causes and start faster without them.
        from cyclelens.analyzer.insight import absence, ways

        def without(note: str) -> RegionAnalysis:
            return RegionAnalysis(region=region, instruction_lines=(), predictions=(), note=note)

        if not plan.models:
            return without("The marker names no microarchitecture that Cyclelens knows.")
        if region.incomplete:
            return without(
                "A statement of the region could not be encoded, so it cannot be simulated as a whole."
            )
        code = region.code
        if not code:
            return without("The region holds no instruction.")
        if len(code) > MAX_BLOCK_BYTES:
            return without(f"The region has {len(code)} bytes of code; the limit is {MAX_BLOCK_BYTES}.")
        loop = plan.mode == Mode.LOOP or (plan.mode == Mode.AUTO and region.ends_in_jump_to_start)
        instructions = region.instructions
        lines = _statement_of_each(instructions, region)
        simulated = instructions
        latencies = {
            index: region.latencies[line] for index, line in enumerate(lines) if line in region.latencies
        }
        note = ""
        if loop and not region.ends_in_jump_to_start:
            end = loop_end(instructions)
            if end is None:
                return without("The region uses every register: none is left for the counter of a loop.")
            added = _decoded_end(end)
            note = f"To make the region a loop, '{added[0].text}; {added[1].mnemonic}' was added to its end."
            lines += (lines[-1],) * len(added)
            code += end
            simulated += added
        # Repeated end to end, code lies here and there in turn: where it begins makes no difference.
        placement = plan.placement if loop or options.anywhere else Placement(plan.placement.offset)
        missing = extensions.missing(instructions, [model.name for model in plan.models])
        unable = {each.microarchitecture for each in missing}
        forks: tuple[int, ...] = (len(instructions) - 1,) if is_part else ()
        if through is not None:
            forks = ways.instructions_of_forks(through, region, lines)
        answers = []
        try:
            for model in plan.models:
                if model.name in unable:
                    continue
                way = None if through is None else ways.assumption(through, model.name, forks)
                answers.append(
                    self._answer(
                        region.name,
                        code,
                        simulated,
                        model,
                        loop,
                        placement,
                        latencies,
                        options,
                        cancel,
                        way,
                        forks,
                    )
                )
        except (Cancelled, TablesUnavailable):
            raise
        except TooManyUopsError as error:
            return without(str(error))
        except Exception as error:  # the other regions' results must survive, and the user must hear of it
            message = _internal_error(error)
            problems.append(
                Problem(region.first_line, 0, 0, "internal-error", message, traceback=traceback_of(error))
            )
            return without(message)
        found = RegionAnalysis(
            region=region,
            instruction_lines=lines,
            predictions=tuple(answer.prediction for answer in answers),
            findings=(
                *(absence.finding(each, instructions) for each in missing),
                *(finding for answer in answers for finding in answer.findings),
            ),
            note=note if answers else absence.sentence(missing),
            latencies=latencies,
            missing=missing,
        )
        return self._priced(found, options, cancel) if options.prices and found.findings else found

    def _priced(
        self, region: RegionAnalysis, options: AnalysisOptions, cancel: Cancel | None
    ) -> RegionAnalysis:
        """The region with what its findings cost."""
        from cyclelens.analyzer.insight.prices import priced

        findings = [each for each in region.findings if not each.microarchitecture]
        for prediction in region.predictions:
            own = [each for each in region.findings if each.microarchitecture == prediction.microarchitecture]
            if own:
                findings += priced(self.experiment(region, prediction, options.model, cancel), own)
        known = {each.microarchitecture for each in region.predictions}
        left = [each for each in region.findings if each.microarchitecture not in ("", *known)]
        return replace(region, findings=(*left, *findings))

    def _answer(
        self,
        name: str,
        code: bytes,
        instructions: tuple[Instruction, ...],
        model: Microarchitecture,
        loop: bool,
        placement: Placement,
        latencies: Mapping[int, int],
        options: AnalysisOptions,
        cancel: Cancel | None,
        way: Assumption | None,
        forks: tuple[int, ...],
    ) -> _Answer:
        """``way`` through the region that this is about, if there are others; ``forks``: its instructions
        behind which they part."""
        # Here, because batches of machine code need no causes and start faster without them.
        from cyclelens.analyzer.insight.explain import bare
        from cyclelens.analyzer.insight.findings import find
        from cyclelens.analyzer.insight.positions import one_so_far, usual

        about = (code, model.name, loop, tuple(latencies.items()), options.model)
        # The same with and without a trace.
        places = self._places[*about, placement]
        here = (options.origin, name, model.name, placement.known)
        latest = self._latest[here]
        hurried = (
            places is None
            and options.quick
            and len(placement.offsets) > 1
            and (latest is not None or len(placement.offsets) * len(code) > _QUICK_BYTES)
        )
        rest = (options.causes, options.alternatives, way and way.message, forks)
        asked = (*about, placement, hurried, *rest)
        key = (*asked, options.trace, options.trace_rounds if options.trace else None)
        answer = self._answers.get(key)
        self._asked += 1
        if answer is None:
            core = variant(model, options.model)
            run = _Run(instructions, core, loop, latencies, options, self._store, cancel)
            # Mostly the same position is shown as before the last edit: it is run once for both.
            last, alike = latest or (0, False)
            shown = usual(places) if places else placement.offsets[last]
            block = run.block(shown)
            simulation = run.simulation(block)
            if places is None and not hurried:
                figures = self._figures[about]
                if figures is None:
                    figures = self._figures[about] = {}
                places = run.positions(placement.offsets, block, simulation, figures)
                self._places[*about, placement] = places
                if usual(places) != shown:
                    block = run.block(usual(places))
                    simulation = run.simulation(block)
            if places is not None and options.causes:
                index = placement.offsets.index(block.alignment)
                self._latest[here] = index, len({each.cycles_per_iteration for each in places}) == 1
            # What is found does not depend on a trace.
            plain = self._answers.get((*asked, False, None)) if options.trace else None
            if plain is not None:
                answer = plain.of(simulation)
            elif options.causes:
                first = self._answers.get((*about, placement, True, *rest, False, None))
                explained = self._explained(run, block, simulation, first, way, forks)
                if places is None:
                    explained = one_so_far(explained, block, len(placement.offsets), alike)
                else:
                    explained = self._placed(run, block, explained, places, placement)
                answer = _Answer(explained, find(explained))
            else:
                answer = _Answer(replace(bare(block, simulation), positions=places or ()), ())
            self._answers[key] = answer
            if options.trace and plain is None:
                self._answers[*asked, False, None] = answer.of(replace(simulation, trace=None))
            while len(self._answers) > max(self._capacity, 2 * self._asked):
                self._answers.popitem(last=False)
        self._answers.move_to_end(key)
        return answer

    def _explained(
        self,
        run: _Run,
        block: Block,
        simulation: Simulation,
        first: _Answer | None,
        way: Assumption | None,
        forks: tuple[int, ...],
    ) -> Prediction:
        """A simulation with its causes, and what its instructions alone tell of what it takes for granted.
        ``first``: what was said of the same code before all positions were known."""
        # Here, because batches of machine code need no causes and start faster without them.
        from cyclelens.analyzer.insight.addresses import accesses
        from cyclelens.analyzer.insight.assumptions import ONE_POSITION, assumptions
        from cyclelens.analyzer.insight.explain import explain
        from cyclelens.analyzer.insight.work import inferred

        if first is not None and first.prediction.alignment == block.alignment:
            assumed = tuple(each for each in first.prediction.assumptions if each.code != ONE_POSITION)
            known = replace(first.prediction, assumptions=assumed)
            return replace(known, simulation=simulation, account=simulation.account)
        accessed = accesses(block.instructions)
        prediction = explain(block, run.model, simulation, run.options.model)
        prediction = replace(prediction, work=inferred(block.instructions, accessed))
        assumed = () if way is None else (way,)
        return replace(prediction, assumptions=assumed + assumptions(prediction, accessed, forks))

    def _placed(
        self,
        run: _Run,
        block: Block,
        prediction: Prediction,
        places: tuple[Position, ...],
        placement: Placement,
    ) -> Prediction:
        """A prediction with what is known once the code was simulated everywhere it may lie."""
        from cyclelens.analyzer.insight.positions import unknown_offset

        prediction = replace(prediction, positions=places)
        assumed = (*prediction.assumptions, *unknown_offset(prediction, placement))
        if run.options.alternatives:
            assumed += self._overlaps(run, block, prediction.cycles_per_iteration)
        return replace(prediction, assumptions=assumed)

    def _overlaps(self, run: _Run, block: Block, cycles: float) -> tuple[Assumption, ...]:
        """What would meet in memory if the data said so."""
        from cyclelens.analyzer.insight.addresses import accesses
        from cyclelens.analyzer.insight.overlaps import overlaps

        accessed = accesses(block.instructions)
        return overlaps(block, accessed, run.model, cycles, run.options.model, run.cancel)


def _listing(
    code: bytes, loop: bool, copies: int | None, microarchitecture: str
) -> tuple[tuple[Instruction, ...], int] | PredictResult:
    """The instructions to predict, with the counter of a loop, and how many copies of the block they are; or
    why there is no figure."""
    if len(code) > MAX_BLOCK_BYTES:
        return PredictResult(None, f"the block has {len(code)} bytes; the limit is {MAX_BLOCK_BYTES}")
    instructions = decode(code)
    problem = _unpredictable(instructions, microarchitecture)
    if problem:
        return PredictResult(None, problem)
    if not loop:
        return instructions, 1
    count = usual_copies(instructions) if copies is None else copies
    if count * len(code) > MAX_BLOCK_BYTES:
        return PredictResult(
            None, f"{count} copies have {count * len(code)} bytes; the limit is {MAX_BLOCK_BYTES}"
        )
    end = loop_end(instructions, count)
    if end is None:
        return PredictResult(None, "the block uses every register: none is left for the loop counter")
    return instructions * count + _decoded_end(end), count


@lru_cache(maxsize=64)
def _decoded_end(end: bytes) -> tuple[Instruction, ...]:
    """Few ends of loops are different."""
    return decode(end)


def _figure(block: Block, copies: int, model: Microarchitecture, options: ModelOptions) -> PredictResult:
    try:
        if options.model == "bounds":
            # Here, because simulations do without the bounds and start faster.
            from cyclelens.analyzer.bounds.registry import predict_analytically

            cycles = predict_analytically(block, model)
        else:
            cycles = cycles_per_iteration(block, model, options)
    except Exception as error:  # one block that fails must not end a run of many thousands
        return PredictResult(None, _internal_error(error))
    unknown = dict.fromkeys([item.instruction.text for item in block.entries if item.facts is None])
    problem = f"unknown instruction: {'; '.join(unknown)}" if unknown else ""
    return PredictResult(cycles / copies, problem)


def _is_chosen(name: str, wanted: str | None) -> bool:
    """Is it the wanted region, or one of the basic blocks that it was cut into?"""
    stem, dot, number = name.rpartition(".")
    return wanted in (None, name) or (wanted == stem and bool(dot) and number.isdecimal())


def _cycles(region: RegionAnalysis) -> dict[str, float]:
    """By microarchitecture."""
    return {each.microarchitecture: each.cycles_per_iteration for each in region.predictions}


def _chosen(assembled: AssembledFile, wanted: str | None) -> list[Region | Branching]:
    """The wanted regions. One that branches within itself is given along its ways, if they are known, else as
    its basic blocks, which have names of their own, too."""
    owners = {
        name: branching for branching in assembled.branchings if branching.ways for name in branching.blocks
    }
    chosen: dict[str, Region | Branching] = {}
    for region in assembled.regions:
        owner = owners.get(region.name)
        if owner is None or region.name == wanted:
            if _is_chosen(region.name, wanted):
                chosen[region.name] = region
        elif wanted in (None, owner.name):
            chosen[owner.name] = owner
    return list(chosen.values())


def readable(
    variants: Sequence[AnalysisOptions],
) -> tuple[Sequence[AnalysisOptions], tuple[Problem, ...]]:
    """The variants without a profile that cannot be read, and a problem of the text's first line about it."""
    if variants[0].profile:
        from cyclelens.analyzer.profiles.profile import ProfileError
        from cyclelens.analyzer.profiles.reading import profile_of

        try:
            profile_of(variants[0].profile)
        except ProfileError as error:
            problem = Problem(0, 0, 0, "no-profile", str(error), Severity.WARNING)
            return [replace(options, profile="") for options in variants], (problem,)
    return variants, ()


def _profile(options: AnalysisOptions, *, needs_symbols: bool) -> Profile | None:
    """The recorded profile. Raises ProfileError."""
    if not options.profile:
        return None
    from cyclelens.analyzer.assembly.files.recorded import with_symbols
    from cyclelens.analyzer.profiles.reading import profile_of

    profile = profile_of(options.profile)
    return with_symbols(profile, options.origin) if needs_symbols else profile


def _recorded(options: AnalysisOptions, file: ObjectFile) -> tuple[Profile, str] | None:
    """The recorded profile, and what the file was called when it ran. Raises ProfileError."""
    profile = _profile(options, needs_symbols=file.is_relocatable)
    return None if profile is None else (profile, options.origin.path)


def _check(options: AnalysisOptions) -> None:
    for name in options.microarchitectures:
        registry.get(name)
    if not options.microarchitectures:
        raise ValueError("no microarchitecture is given")
    if options.alignment is not None and options.alignment not in ALIGNMENTS:
        raise ValueError(f"alignment {options.alignment} is not within 0 and {ALIGNMENTS[-1]}")
    for name, value, known in (
        ("mode", options.mode, Mode),
        ("regions", options.regions, Regions),
        ("assembler", options.assembler, Assembler),
    ):
        if value not in tuple(known):
            raise ValueError(f"unknown {name} '{value}'; known are {', '.join(known)}")


def _at_line(
    line: int, text: str | None, code: str, message: str, severity: Severity = Severity.ERROR
) -> Problem:
    """A problem of a whole line."""
    from cyclelens.analyzer.assembly.text.scanner import Lines
    from cyclelens.analyzer.assembly.text.stretches import Source

    width = 0
    if text is not None:
        lines = Lines(Source(text))
        width = lines.span(lines.start(line), len(text))[2]
    return Problem(line, 0, width, code, message, severity)


def _plan(region: Region, options: AnalysisOptions, text: str | None) -> tuple[_Plan, list[Problem]]:
    """What the marker and the options ask for together; a bad marker option is a problem at the marker."""
    # Here, because batches of machine code have no markers.
    from cyclelens.analyzer.settings import MARKERS

    problems: list[Problem] = []

    def problem(code: str, message: str, severity: Severity = Severity.ERROR) -> None:
        problems.append(_at_line(region.first_line, text, code, message, severity))

    names: Sequence[str] = options.microarchitectures
    mode = options.mode
    placement = region.placement if options.alignment is None else Placement(options.alignment)
    placement = Placement(0, 1) if options.anywhere else placement
    for key, value in region.options.items():
        setting = MARKERS.get(key)
        if setting is None and key not in _OWN_KEYS:
            message = f"unknown option '{key}'{among(key, sorted(_OWN_KEYS.union(MARKERS)))}"
            problem("unknown-option", message, Severity.WARNING)
        elif key in options.forced:
            continue
        elif setting is not None and setting.name == "microarchitectures":
            names = [name for name in value.split(",") if name]
        elif setting is not None and setting.name == "mode":
            try:
                mode = Mode(value.lower())
            except ValueError:
                problem("bad-option-value", f"unknown mode '{value}'; known are {', '.join(Mode)}")
        elif setting is not None and setting.name == "alignment":
            if value.isdecimal() and int(value) in ALIGNMENTS:
                placement = Placement(int(value))
            else:
                problem(
                    "bad-option-value", f"'{value}' is no alignment: 0 to {ALIGNMENTS[-1]} bytes are possible"
                )
        elif key == "per":
            from cyclelens.analyzer.insight.work import stated

            if stated(value) is None:
                expected = "a number of elements (per=8) or of bytes (per=32B)"
                problem("bad-option-value", f"'{value}' is no amount of work: {expected} is")
    models = []
    for name in dict.fromkeys(name.strip().upper() for name in names):
        try:
            model = registry.get(name)
            if model not in models:
                models.append(model)
        except registry.UnknownMicroarchitecture as error:
            problem("unknown-microarchitecture", str(error))
    return _Plan(tuple(models), mode, placement), problems


def _statement_of_each(instructions: Iterable[Instruction], region: Region) -> tuple[int, ...]:
    """For every instruction the index of the statement that its first byte comes from."""
    # Statements without bytes (.p2align at an aligned place) start where the next one starts, so that the
    # last statement that starts at or before an instruction is the right one.
    starts = [0, *accumulate(len(line.code) for line in region.lines)][:-1]
    lines = []
    position = 0
    for instruction in instructions:
        lines.append(bisect_right(starts, position) - 1)
        position += instruction.length
    return tuple(lines)


def _unpredictable(instructions: Sequence[Instruction], microarchitecture: str) -> str:
    """Why a block cannot be predicted, or an empty text."""
    if not instructions:
        return "empty block"
    for number, instruction in enumerate(instructions):
        if not instruction.mnemonic:
            before = sum(earlier.length for earlier in instructions[:number])
            return f"no valid instruction at byte {before}"
    for absent in extensions.missing(instructions, (microarchitecture,)):
        names = dict.fromkeys(instructions[index].text for index in absent.instructions)
        return f"{absent.reason}: {'; '.join(names)}"
    return ""


def _internal_error(error: Exception) -> str:
    return f"Internal error, please report it: {described(error)}"


# ---------------------------------------------------------------------------------------------------------
# Many blocks

_AHEAD = 4
"""Batches in flight for each process: enough to keep it busy, few enough to read the input as it comes."""


@dataclass(frozen=True, slots=True)
class _Task:
    microarchitecture: str
    mode: str
    alignment: int
    tables: Path | None
    options: ModelOptions
    copies: int | None


def predict_many(
    batches: Iterable[Sequence[str]],
    microarchitecture: str,
    mode: str,
    *,
    alignment: int = 0,
    jobs: int = 1,
    tables: Path | None = None,
    options: ModelOptions = PUBLISHED,
    copies: int | None = 1,
    analyzer: Analyzer | None = None,
) -> Iterator[PredictResult]:
    """Figures of blocks in hexadecimal, in their order, those of a batch together (``predict_batch``).

    Some hundred blocks make a good batch (``predict_batch``). ``jobs``: number of processes; with more than
    one, the input is read a few batches ahead; with one, ``analyzer`` answers if it is given. Raises
    ``UnknownMicroarchitecture`` and ``TablesUnavailable`` when the first result is asked for.
    """
    registry.get(microarchitecture)
    task = _Task(microarchitecture, mode, alignment, tables, options, copies)
    if jobs <= 1:
        analyzer = analyzer or Analyzer(open_store(tables))
        for batch in batches:
            yield from _predict_hex(analyzer, batch, task)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    open_store(tables).close()  # a clear error here instead of a dead process later
    remaining = iter(batches)
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(task,)
    )
    waiting: deque[Future[list[PredictResult]]] = deque()
    try:
        while True:
            while len(waiting) < jobs * _AHEAD and (batch := next(remaining, ())):
                waiting.append(pool.submit(_predict_in_worker, batch))
            if not waiting:
                return
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _predict_hex(analyzer: Analyzer, blocks: Sequence[str], task: _Task) -> list[PredictResult]:
    read = [_from_hex(block) for block in blocks]
    codes = [code for code in read if isinstance(code, bytes)]
    results = iter(
        analyzer.predict_batch(
            codes, task.microarchitecture, task.mode, task.alignment, task.options, task.copies
        )
    )
    return [next(results) if isinstance(code, bytes) else code for code in read]


def _from_hex(block: str) -> bytes | PredictResult:
    text = block.strip()
    if not text:
        return PredictResult(None, "empty line")
    if len(text) > 3 * MAX_BLOCK_BYTES:
        return PredictResult(None, f"the block is too long; the limit is {MAX_BLOCK_BYTES} bytes")
    try:
        return bytes.fromhex(text)
    except ValueError:
        return PredictResult(None, "not hexadecimal")


_worker: tuple[Analyzer, _Task] | None = None


def _start_worker(task: _Task) -> None:
    """Every process has tables and caches of its own."""
    global _worker
    start_worker()
    _worker = Analyzer(open_store(task.tables)), task


def _predict_in_worker(blocks: Sequence[str]) -> list[PredictResult]:
    assert _worker is not None, "the pool runs its initializer first"
    analyzer, task = _worker
    return _predict_hex(analyzer, blocks, task)
