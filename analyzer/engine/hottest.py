"""Finds the hottest loops of a recorded profile, in all programs and libraries that it names, and analyses
them."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cyclelens.analyzer.common.regular_files import AT_ONCE, read_regular
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import Function, ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_code import outermost
from cyclelens.analyzer.frontend.objects.sampled import LocatedProfile, in_file
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.hot_loops import HotLoop, HotLoops, Remainder
from cyclelens.analyzer.model.result import Analysis
from cyclelens.analyzer.profiles.profile import Profile
from msgspec import Struct, field
from msgspec.structs import replace

_LEAST = 0.001
"""Functions with a smaller share of the samples are not analysed."""
_MOST_FUNCTIONS = 200
_KERNEL = "[kernel"


class _Sampled(Struct):
    """A file of the profile that was read."""

    path: str
    file: ObjectFile
    located: LocatedProfile
    functions: Sequence[Function]
    """Those that are hot enough."""


class _Listed(Struct):
    loops: list[HotLoop] = field(default_factory=list)
    rest: Counter[str] = field(default_factory=Counter)
    messages: dict[str, None] = field(default_factory=dict)


def hottest_loops(
    analyzer: Analyzer,
    profile: Profile,
    options: AnalysisOptions,
    most: int,
    programs: Mapping[str, str],
) -> HotLoops:
    """The ``most`` hottest loops of a profile. ``options`` name the file of this profile; ``programs``: by
    file name the paths to read in place of those that the profile names.

    Files that cannot be read and code without a loop become remainders. Raises the errors of
    ``Analyzer.analyze``, but not ``ObjectFileError``."""
    total = sum(profile.samples.values())
    found = _Listed()
    by_file: defaultdict[str, float] = defaultdict(float)
    for place, samples in profile.samples.items():
        by_file[place.file] += samples
    sampled: list[_Sampled] = []
    for path, samples in sorted(by_file.items(), key=lambda each: -each[1]):
        sampled += _read(profile, path, programs, samples, found, _LEAST * total)
    for each in sampled:
        for function in each.functions:
            _analyse(analyzer, each, function, options, found)
    found.loops.sort(key=lambda loop: -loop.samples)
    for loop in found.loops[most:]:
        found.rest["in other loops"] += loop.samples  # type: ignore[assignment]
    return HotLoops(
        profile.event,
        total,
        tuple(replace(loop, share=loop.samples / total) for loop in found.loops[:most]),
        tuple(Remainder(samples / total, why) for why, samples in found.rest.most_common() if samples > 0),
        tuple(found.messages),
    )


def _read(
    profile: Profile, path: str, programs: Mapping[str, str], samples: float, found: _Listed, least: float
) -> Iterator[_Sampled]:
    """The file, if it can be read; its samples outside hot functions become remainders."""

    def left(reason: str, count: float) -> None:
        found.rest[reason] += count  # type: ignore[assignment]

    name = os.path.basename(path)
    if path.startswith(_KERNEL):
        return left("in the kernel", samples)
    if not path or not os.path.isabs(path) or path.startswith("//"):
        return left(f"in {path or 'code without a file'}", samples)
    try:
        file = ObjectFile(read_regular(programs.get(name, path), AT_ONCE))
    except OSError as error:
        return left(f"in {path}, which cannot be read: {error.strerror or error}", samples)
    except ObjectFileError as error:
        return left(f"in {path}: {error}", samples)
    own = replace(profile, samples={at: hits for at, hits in profile.samples.items() if at.file == path})
    located = in_file(own, file, path)
    try:
        functions = outermost((*file.functions, *file.unnamed()))
    except ObjectFileError as error:
        return left(f"in {path}: {error}", samples)
    hits = {each: located.samples_within(range(each.address, each.end)) for each in functions}
    ordered = sorted((each for each in functions if hits[each]), key=lambda each: -hits[each])
    hot = [each for each in ordered if hits[each] >= least][:_MOST_FUNCTIONS]
    inside, analysed = sum(hits.values()), sum(hits[each] for each in hot)
    left(f"in {path}, outside its functions", samples - inside)
    left("in functions with few samples", inside - analysed)
    yield _Sampled(path, file, located, hot)


def _analyse(
    analyzer: Analyzer, sampled: _Sampled, function: Function, options: AnalysisOptions, found: _Listed
) -> None:
    """Add the loops of one function, and as a remainder its samples outside of them."""
    origin = replace(options.source.origin, path=sampled.path)
    chosen = replace(options, source=replace(options.source, origin=origin))
    hits = sampled.located.samples_within(range(function.address, function.end))
    try:
        analysis = analyzer.analyze_functions(sampled.file, [function], chosen)
    except ObjectFileError as error:
        found.rest[f"in {sampled.path}: {error}"] += hits  # type: ignore[assignment]
        return
    mistaken = {problem.region for problem in analysis.problems if problem.code == "no-profile"}
    found.messages.update(
        (problem.message, None)
        for problem in analysis.problems
        if problem.code in ("no-profile", "not-in-profile")
    )
    for loop in _loops(analysis, sampled, function.origin):
        if not mistaken.isdisjoint((loop.region.region.name, loop.region.region.block_of)):
            continue
        hits -= loop.samples
        found.loops.append(loop)
    # Rounded: differences of weighted samples are not exact.
    found.rest["outside of loops"] += max(round(hits, 6), 0)  # type: ignore[assignment]


def _loops(analysis: Analysis, sampled: _Sampled, origin: int) -> Iterator[HotLoop]:
    """The loops that samples hit. A loop whose paths are unknown is listed by its blocks, among them inner
    loops."""
    branchings = {each.branching.name: each for each in analysis.branchings}
    for region in analysis.regions:
        branching = branchings.get(region.region.name)
        if branching is not None and branching.weight is not None:
            samples = branching.weight.samples
        else:
            samples = sum(
                sampled.located.samples_within(
                    range(line.address + origin, line.address + origin + len(line.code))
                )
                for line in region.region.lines
                if line.address is not None
            )
        if samples:
            yield HotLoop(sampled.path, samples, 0.0, region, branching)
