"""Entry point for texts and object files, used by editors and commands: ``Analyzer.analyze``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.engine.data_places import PLACE_KEYS, DataPlaceReader
from cyclelens.analyzer.engine.mispredictions import MispredictionReader, with_each
from cyclelens.analyzer.engine.regions import ALIGNMENTS, RegionRequest, analyse_region, at_line, plan
from cyclelens.analyzer.engine.workspace import Cancel, Workspace
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.files.recorded import with_symbols
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.machine_code import named_regions, regions_of
from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
from cyclelens.analyzer.insight import paths, weights
from cyclelens.analyzer.insight.confidence import has_unknown_costs
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Mode, Regions
from cyclelens.analyzer.model.paths import BranchingAnalysis
from cyclelens.analyzer.model.result import Analysis, RegionAnalysis
from cyclelens.analyzer.model.source import (
    UNKNOWN_LINE,
    AssembledFile,
    Branching,
    Problem,
    Region,
    Severity,
)
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.profile import ProfileError
from cyclelens.analyzer.simulator.failures import Cancelled
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.frontend.objects.elf_format import Function
    from cyclelens.analyzer.profiles.profile import Profile


class Analyzer:
    """Analyses the regions of texts and object files."""

    def __init__(self, workspace: Workspace | None = None):
        """``workspace``: the caches and tables to use, by default new ones. Raises ``TablesUnavailable``."""
        self.workspace = Workspace() if workspace is None else workspace

    def close(self) -> None:
        """Close the tables."""
        self.workspace.close()

    def analyze(self, text: str, options: AnalysisOptions, cancel: Cancel | None = None) -> Analysis:
        """The analysis of all regions of an assembly text. Errors in the text become problems.

        ``cancel`` is called regularly; once it returns True, ``Cancelled`` is raised. Raises
        ``UnknownMicroarchitecture`` or ValueError for bad ``options`` (not for bad marker options) and
        ``TablesUnavailable`` if the tables cannot be read.
        """
        return next(self.in_detail(text, options, (options.detail,), cancel))

    def in_detail(
        self,
        text: str,
        options: AnalysisOptions,
        details: Sequence[Detail],
        cancel: Cancel | None = None,
        due: Callable[[], bool] = lambda: False,
    ) -> Iterator[Analysis]:
        """Analyses of a text, assembled once, one for each of ``details``. Whenever ``due()`` returns True
        after a region, a partial analysis is yielded, too. Raises the same errors as ``analyze``.

        The steps: ``assemble`` turns the text into regions of bytes, ``plan`` joins each region's marker with
        the options, ``analyse_region`` predicts and explains it on each core, and ``weighed`` adds its share
        of a recorded profile.
        """
        _check(options)
        self.workspace.next_text()
        source, unread = readable(options.source, self.workspace)
        assembled = assemble(
            text,
            source,
            cancel=cancel,
            profile=_profile(source, self.workspace, needs_symbols=True),
            memory=self.workspace.caches.of(EncodingCache),
        )
        if cancel is not None and cancel():
            raise Cancelled  # the assembled text may be incomplete
        assembled = replace(assembled, problems=(*unread, *assembled.problems))
        for detail in details:
            request = replace(options, source=source, detail=detail)
            yield from _Text(self.workspace, text, assembled, request, cancel).analyses(due)

    def analyze_object(
        self, data: bytes, options: AnalysisOptions, function: str | None = None, cancel: Cancel | None = None
    ) -> Analysis:
        """The analysis of the loops of a function in an ELF file (object, program or shared library), or of
        all functions if none is named; ``function`` is a symbol or an address (``0x1139``).

        Raises the same errors as ``analyze``, and ``ObjectFileError`` if the file or the function cannot be
        read.
        """
        _check(options)
        self.workspace.next_batch()
        file = ObjectFile(data)
        source = options.source
        found = named_regions(file, function, source.regions, _recorded(source, self.workspace, file))
        return next(_Text(self.workspace, None, found, options, cancel).analyses(lambda: False))

    def analyze_functions(
        self,
        file: ObjectFile,
        functions: Sequence[Function],
        options: AnalysisOptions,
        wanted: Callable[[Region], bool] = lambda region: True,
        cancel: Cancel | None = None,
        placed: Callable[[Region], Region] = lambda region: region,
    ) -> Analysis:
        """The analysis of the loops of some functions of a file. ``wanted`` selects the regions, and
        ``placed`` maps each to the place it is reported at. Raises the same errors as ``analyze_object``."""
        _check(options)
        self.workspace.next_batch()
        source = options.source
        found = regions_of(file, functions, source.regions, profile=_recorded(source, self.workspace, file))
        chosen = {region.name for region in found.regions if wanted(region)}
        # A region with internal branches needs all its blocks, even if only one is wanted.
        branchings = tuple(each for each in found.branchings if chosen.intersection(each.blocks))
        chosen.update(name for each in branchings for name in each.blocks)
        regions = tuple(placed(region) for region in found.regions if region.name in chosen)
        found = replace(found, regions=regions, branchings=branchings)
        return next(_Text(self.workspace, None, found, options, cancel).analyses(lambda: False))


class _Text:
    """An assembled text, or the regions of an object file, with some options."""

    def __init__(
        self,
        workspace: Workspace,
        text: str | None,
        assembled: AssembledFile,
        options: AnalysisOptions,
        cancel: Cancel | None,
    ) -> None:
        self.workspace, self.text, self.assembled = workspace, text, assembled
        self.options, self.cancel = options, cancel
        self.problems = list(assembled.problems)
        self.mispredictions = MispredictionReader(options.target, text, self.problems, assembled.counts or {})
        self.places = DataPlaceReader(options.target, text, self.problems)
        self.blocks = {region.name: region for region in assembled.regions}
        self.parts = {name for branching in assembled.branchings for name in branching.blocks}
        """Names of regions that are basic blocks of a branching."""
        self.figures: dict[str, Mapping[str, float]] = {}
        """Figures of basic blocks, by name."""
        self.branchings: dict[str, BranchingAnalysis] = {}

    def analyses(self, due: Callable[[], bool]) -> Iterator[Analysis]:
        """Yield a partial analysis whenever ``due()`` returns True after a region, then the complete one."""
        chosen = _chosen(self.assembled, self.options.source.region)
        self._report_unknown_names(chosen)
        regions: list[RegionAnalysis] = []
        for each in chosen:
            regions.append(self._analysed(each))
            if len(regions) < len(chosen) and due():
                yield replace(self._analysis(regions), pending=True)
        self._follow_paths()
        self._report_other_machine(regions)
        self.problems.sort(key=lambda problem: (problem.line, problem.column))
        whole = self._analysis(regions)
        yield self._weighed(whole) if self.assembled.counts else whole

    def _report_unknown_names(self, chosen: Sequence[Region | Branching]) -> None:
        """Report regions that the options name and the text does not have."""
        wanted = self.options.source.region
        if wanted is not None and not chosen:
            names = list(dict.fromkeys(each.name for each in _chosen(self.assembled, None)))
            self._report_no_region(f"region '{wanted}'", wanted, names)
        names = [branching.name for branching in self.assembled.branchings]
        for name in dict.fromkeys(name for name, _ in self.options.target.taken):
            if name not in ("", *names):
                self._report_no_region(f"region '{name}' with a branch within it", name, names)
        if not names and chosen and any(not name for name, _ in self.options.target.taken):
            message = "taken= has no effect: no region has a branch with two paths"
            self.problems.append(Problem(UNKNOWN_LINE, 0, 0, "bad-option-value", message, Severity.WARNING))
        names = list(dict.fromkeys((*names, *(each.name for each in chosen))))
        for name in dict.fromkeys(name for name, _ in self.options.target.mispredicted):
            if name not in ("", *names):
                self._report_no_region(f"region '{name}'", name, names)

    def _report_other_machine(self, regions: Sequence[RegionAnalysis]) -> None:
        """Report a machine file that no figure uses, because it is for another core."""
        machine = self.options.target.machine
        cores = dict.fromkeys(each.microarchitecture for region in regions for each in region.predictions)
        if machine is not None and cores and machine.core not in cores:
            message = (
                f"{machine.file} was measured on {machine.core}, so the figures for {', '.join(cores)} use "
                f"published memory levels; --arch {machine.core} selects the measured core"
            )
            self.problems.append(
                at_line(0, self.text, "machine-file-not-used", message, Severity.INFORMATION)
            )

    def _report_no_region(self, what: str, name: str, names: Sequence[str]) -> None:
        known = among(name, names) if names else ", and no other region"
        message = f"there is no {what}{known}"
        self.problems.append(Problem(UNKNOWN_LINE, 0, 0, "no-such-region", message))

    def _analysed(self, chosen: Region | Branching) -> RegionAnalysis:
        """Plan one region, or the path through a branching that is taken most, and predict it."""
        through = None
        if isinstance(chosen, Branching):
            through = self.branchings[chosen.name] = self._through(chosen)
            region = paths.along(chosen, through.path, self.blocks)
        else:
            region = chosen
        planned, problems = plan(region, self.options.target, self.text)
        self.problems += problems
        is_part = through is None and region.name in self.parts
        if "taken" in region.options and through is None and not is_part:
            message = f"taken= has no effect: '{region.name}' has no branch with two paths"
            line = region.first_line
            self.problems.append(at_line(line, self.text, "bad-option-value", message, Severity.WARNING))
        request = RegionRequest(self.workspace, self.options, self.cancel, self.problems)
        result = analyse_region(request, region, planned, through, is_part=is_part)
        if is_part:
            self.figures[region.name] = _cycles(result)
        if region.block_of:
            return result
        plain = result
        if self.options.target.data or not PLACE_KEYS.isdisjoint(region.options):
            result = self.places.of_region(result)
        result = self._mispredicted(result, through)
        given = tuple(
            told
            for each in result.predictions
            for told in (each.mispredictions, each.data and each.data.chosen)
        )
        version = self.workspace.versions.of((plain.version, given)) if any(given) else plain.version
        return replace(result, version=version)

    def _mispredicted(self, result: RegionAnalysis, through: BranchingAnalysis | None) -> RegionAnalysis:
        """The region with its mispredicted branches."""
        if through is None:
            return self.mispredictions.of_region(result)
        found = through.mispredictions
        return with_each(result, lambda each: found.get(each.microarchitecture)) if found else result

    def _follow_paths(self) -> None:
        """The cycles of branchings whose paths are unknown, from their blocks."""
        for branching in self.assembled.branchings:
            if not branching.paths and self.options.source.region in (None, branching.name):
                self.branchings[branching.name] = self._through(branching)

    def _analysis(self, regions: Sequence[RegionAnalysis]) -> Analysis:
        """The analysis of the regions that are done."""
        assembled = self.assembled
        return Analysis(
            regions=tuple(regions),
            problems=tuple(self.problems),
            branchings=tuple(self.branchings.values()),
            dialect=assembled.dialect,
            account=self.options.detail.account,
            unmarked=assembled.unmarked,
            made=assembled.made,
            by_default=self.options.target.by_default,
        )

    def _weighed(self, analysis: Analysis) -> Analysis:
        """The analysis with the weights of the recorded profile."""
        versions, found = self.workspace.versions, weights.weighed(analysis, self.assembled.counts or {})
        regions = (replace(each, version=versions.of((each.version, each.weight))) for each in found.regions)
        return replace(found, regions=tuple(regions))

    def _through(self, branching: Branching) -> BranchingAnalysis:
        """The cycles of each path through a region, or of its blocks if the paths are unknown."""
        options, blocks, counts = self.options, self.blocks, self.assembled.counts or {}
        quiet = replace(options, detail=replace(options.detail, trace=False, trace_rounds=None, causes=False))

        def cycles(region: Region) -> Mapping[str, float]:
            if region.name in self.figures:
                return self.figures[region.name]
            request = RegionRequest(self.workspace, quiet, self.cancel, [])
            return _cycles(analyse_region(request, region, plan(region, quiet.target, self.text)[0]))

        said = next(
            (shares for name, shares in reversed(options.target.taken) if name in ("", branching.name)),
            branching.options.get("taken", ""),
        )
        figures = {name: cycles(blocks[name]) for name in dict.fromkeys(branching.blocks) if name in blocks}
        shares: paths.Shares = (None,) * len(branching.forks)
        given = ""
        try:
            if said:
                shares = paths.parse_shares(said, branching)
                if None in shares:
                    raise paths.SharesError(paths.missing(branching, shares, said))
                given = f"with taken={said}"
            elif counts:
                first = {name: next(iter(each.values()), 0.0) for name, each in figures.items()}
                shares = weights.shares(branching, counts, first)
                given = weights.GIVEN if any(share is not None for share in shares) else ""
        except paths.SharesError as error:
            self.problems.append(at_line(branching.first_line, self.text, "bad-option-value", str(error)))
        found = paths.analyse(
            branching,
            shares,
            given,
            {name: blocks[name] for name in figures},
            figures,
            [cycles(paths.along(branching, path, blocks)) for path in branching.paths],
        )
        return self.mispredictions.of_branching(found)


def _cycles(region: RegionAnalysis) -> dict[str, float]:
    """Cycles per iteration by microarchitecture. Lower bounds are omitted, as they cannot be added to
    figures."""
    return {
        each.microarchitecture: each.cycles_per_iteration
        for each in region.predictions
        if not has_unknown_costs(each)
    }


def _chosen(assembled: AssembledFile, wanted: str | None) -> list[Region | Branching]:
    """The wanted regions. A region with internal branches is represented by its paths if they are known,
    otherwise by its basic blocks, which have names of their own."""
    owners = {
        name: branching for branching in assembled.branchings if branching.paths for name in branching.blocks
    }
    chosen: dict[str, Region | Branching] = {}
    for region in assembled.regions:
        owner = owners.get(region.name)
        if owner is None or region.name == wanted:
            if wanted in (None, region.name, region.block_of or region.name):
                chosen[region.name] = region
        elif wanted in (None, owner.name):
            chosen[owner.name] = owner
    return list(chosen.values())


def readable(source: SourceOptions, workspace: Workspace) -> tuple[SourceOptions, tuple[Problem, ...]]:
    """The options without an unreadable profile, and a problem at the text's first line that reports it."""
    if source.profile:
        try:
            workspace.caches.of(Profiles).of(source.profile)
        except ProfileError as error:
            problem = Problem(0, 0, 0, "no-profile", str(error), Severity.WARNING)
            return replace(source, profile=""), (problem,)
    return source, ()


def _profile(source: SourceOptions, workspace: Workspace, *, needs_symbols: bool) -> Profile | None:
    """The recorded profile; None if there is none. Raises ProfileError."""
    if not source.profile:
        return None
    profile = workspace.caches.of(Profiles).of(source.profile)
    return with_symbols(profile, source.origin) if needs_symbols else profile


def _recorded(source: SourceOptions, workspace: Workspace, file: ObjectFile) -> tuple[Profile, str] | None:
    """The recorded profile, and the name of the file when it ran. Raises ProfileError."""
    profile = _profile(source, workspace, needs_symbols=file.is_relocatable)
    return None if profile is None else (profile, source.origin.path)


def _check(options: AnalysisOptions) -> None:
    source, target = options.source, options.target
    for name in target.microarchitectures:
        registry.get(name)
    if not target.microarchitectures:
        raise ValueError("no microarchitecture is given")
    for name, value, known in (
        ("mode", target.mode, Mode),
        ("regions", source.regions, Regions),
        ("assembler", source.assembler, Assembler),
    ):
        if value not in tuple(known):
            raise ValueError(f"unknown {name} '{value}'; known are {', '.join(known)}")
    if target.alignment is not None and target.alignment not in ALIGNMENTS:
        raise ValueError(f"alignment {target.alignment} is not between 0 and {ALIGNMENTS[-1]}")
