"""Words for limits, modes and figures, shared by hints and reports so that they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename

from cyclelens.analyzer.insight import vocabulary
from cyclelens.analyzer.insight.assumptions import one_position
from cyclelens.analyzer.insight.bottlenecks import UNKNOWN
from cyclelens.analyzer.insight.confidence import doubt, lacking, shows_at_least
from cyclelens.analyzer.insight.memory_levels import wording as levels
from cyclelens.analyzer.insight.mispredictions import suffix
from cyclelens.analyzer.insight.vocabulary import Vocabulary
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.model.paths import Weight
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Problem, Region, SourceLine

TRANSFER_BOUND = "transfer-bound"
"""What limits a figure for data beyond L1 that is longer than the work of the core."""
_MOST_CAUSES = 3
_MOST_PLACES = 24
"""Most places that a sentence names: a marked function may have thousands of branches."""
_COUNTS = ("no", "one", "two", "three", "four")
_LEAST_SHARE = 0.01
_NOT_KNOWN = "What limits the region is not known: {}. The rest of the report leaves that out."
_NO_SINGLE_LIMIT = "No single limit explains the figure: several effects add up."
SOURCES = ("LSD", "DSB", "MITE", "MS")
"""Front-end sources of uops."""


def bound_by(words: Vocabulary, bottlenecks: Sequence[str], limit: int | None = None) -> str:
    """Bottlenecks as an adjective: ``latency-bound``, ``decoder- and issue-bound``.

    ``limit``: most characters; names that do not fit are counted (``latency-bound and 1 more``).
    """
    names = [words.bound_by[name] for name in bottlenecks if name in words.bound_by]
    if not names:
        return "no single bottleneck"
    text = names[0] + "-bound" if len(names) == 1 else "-, ".join(names[:-1]) + f"- and {names[-1]}-bound"
    if limit is None or len(text) <= limit:
        return text
    return f"{names[0]}-bound and {len(names) - 1} more" if len(names) > 1 else text


def bound_of(prediction: Prediction, limit: int | None = None) -> str:
    """What limits a prediction, like ``bound_by``; for a lower bound what it lacks, because
    then the limit is unknown."""
    if levels.is_transfer_bound(prediction) and not lacking(prediction):
        return TRANSFER_BOUND
    return lacking(prediction) or bound_by(
        vocabulary.of(prediction.microarchitecture), prediction.bottlenecks, limit
    )


def figure_of(prediction: Prediction, *, mark: str = "") -> str:
    """The figure as every report, hint and editor writes it: ``4.00``; ``at least 4.00`` for a lower bound.

    ``mark``: prefix of the number on a core whose values are not all known.
    """
    least = AT_LEAST if shows_at_least(prediction) else ""
    return f"{least}{mark if doubt(prediction) else ''}{prediction.shown_cycles:.2f}"


def cycles_per(prediction: Prediction) -> str:
    """The figure with its unit and other positions: ``4.00 cycles/iter (or 3.00 at two of four positions in
    memory)``; for a function ``4.00 cycles/call (26 for one pass)``."""
    figure = f"{figure_of(prediction)} {unit(prediction)}"
    return f"{figure}{elsewhere(prediction)}{one_pass(prediction)}"


def core(prediction: Prediction, by_default: str, *, title: bool = False) -> str:
    """``SPR`` or ``SPR (Sapphire Rapids)``; with the reason if it was chosen by
    default: ``SPR (this machine)``."""
    name = prediction.microarchitecture
    words = ", ".join(filter(None, (by_default, registry.get(name).title if title else "")))
    return f"{name} ({words})" if words else name


def default_of(analysis: Analysis, region: RegionAnalysis) -> str:
    """The ``by_default`` of ``core``: the reason for the default core, at the first
    region that names no core."""
    first = next(
        (each for each in analysis.regions if each.predictions and "arch" not in each.region.options), None
    )
    return analysis.by_default if first is region else ""


def rounded(prediction: Prediction) -> str:
    """``4.00``; ``~4.00`` on a core whose values are not all known; ``at least 4.00`` for a lower bound."""
    return figure_of(prediction, mark="~")


def unit(prediction: Prediction) -> str:
    """Unit of a figure: ``cycles/iter``, for a function ``cycles/call``, for one pass ``cycles``."""
    if prediction.mode is Mode.ONCE:
        return "cycles"
    return "cycles/iter" if prediction.once is None else "cycles/call"


def unit_in_words(prediction: Prediction) -> str:
    """``unit`` for sentences: ``cycles per iteration``, ``cycles per call``, ``cycles``."""
    return unit(prediction).replace("/iter", " per iteration").replace("/call", " per call")


def one_pass(prediction: Prediction) -> str:
    """Suffix of a function's figure: `` (34 for one pass)``; empty for other regions."""
    if prediction.once is None or prediction.mode is Mode.ONCE:
        return ""
    return f" ({prediction.once.cycles} for one pass)"


def weight(found: Weight) -> str:
    """The weight in a profile: ``84 % of the cycles, 620 iterations``."""
    counts = {"iterations": found.iterations, "samples": found.samples}
    seen = [f"{count:,.0f} {name}" for name, count in counts.items() if count]
    return ", ".join([f"{found.share:.0%} of the cycles", *seen]) if seen else "not there"


def on_average(prediction: Prediction) -> float | None:
    """Average cycles per iteration over the paths through the region; None if their shares are unknown."""
    values = [each.values.get("average") for each in prediction.assumptions if each.code == "inner-branch"]
    return next((float(value) for value in values if value is not None), None)


def limits(prediction: Prediction) -> str:
    """Names of the bottlenecks: ``Dependencies, Ports``; in words if there is none
    or if records are missing."""
    if missing := lacking(prediction):
        return f"not known ({missing})"
    if levels.is_transfer_bound(prediction):
        return f"Transfers between levels; in L1: {_limits(prediction)}"
    return _limits(prediction)


def _limits(prediction: Prediction) -> str:
    if prediction.bottlenecks == (UNKNOWN,):
        return "none by itself"
    words = vocabulary.of(prediction.microarchitecture)
    return ", ".join(map(words.limit, prediction.bottlenecks))


def explanations(prediction: Prediction) -> Iterator[str]:
    """A sentence per bottleneck on what it means."""
    if missing := lacking(prediction):
        yield _NOT_KNOWN.format(missing)
        return
    words = vocabulary.of(prediction.microarchitecture)
    if prediction.mode is Mode.ONCE and prediction.once is not None:
        once = prediction.once
        for name in prediction.bottlenecks:
            what = (
                "The longest chain of dependent instructions takes"
                if name == "Dependencies"
                else (f"{words.limit(name)} alone {'take' if name.endswith('s') else 'takes'}")
            )
            yield f"{what} {prediction.bounds[name]:.2f} of the {once.cycles} cycles."
        return
    for name in prediction.bottlenecks:
        yield _NO_SINGLE_LIMIT if name == UNKNOWN else words.explanations.get(name, name)
    if prediction.bottlenecks == (UNKNOWN,) and prediction.bounds:
        closest, cycles = max(prediction.bounds.items(), key=lambda bound: bound[1])
        yield f"The closest bound is {words.limit(closest)} with {cycles:.2f} cycles."


def bounds(prediction: Prediction) -> list[str]:
    """Analytic bounds with their names, alphabetical: ``DSB 1.50``."""
    words = vocabulary.of(prediction.microarchitecture)
    named = sorted((words.limit(name), value) for name, value in prediction.bounds.items() if value > 0)
    return [f"{name} {value:.2f}" for name, value in named]


def slots(words: Vocabulary, account: Account) -> str:
    """Use of the issue slots: ``38 % used, 62 % lost to back end: RS full, dependency``."""
    causes = [
        (words.cause(cause), share)
        for cause, share in account.causes()[:_MOST_CAUSES]
        if share >= _LEAST_SHARE
    ]
    if not causes:
        return f"{account.used_share:.0%} used"
    parts = "; ".join(f"{share:.0%} to {text}" for text, share in causes)
    return f"{account.used_share:.0%} used; lost: {parts}"


def lost(words: Vocabulary, account: Account, instruction: int) -> str:
    """The issue slots that an instruction leaves empty, in cycles, and why; no text if they are too few.

    That is no price: other instructions may leave the same slots empty once this one does not."""
    cycles_lost = account.lost_cycles(instruction)
    cause = account.main_cause(instruction) if cycles_lost >= 0.005 else None
    if cause is None:
        return ""
    slots = f"{cycles_lost:.2f} cycles of issue slots per iteration"
    return f"{slots} stay empty because of it ({words.cause(cause)})"


def figure(value: float) -> str:
    """Two decimals; empty for zero, so that used resources stand out in a table."""
    return "" if abs(value) < 0.005 else f"{value:.2f}"


def cycles(count: int) -> str:
    """``1 cycle``, ``4 cycles``."""
    return f"{count} cycle{'' if count == 1 else 's'}"


def on_chain(count: int) -> str:
    """Note for an instruction of the critical chain that adds ``count`` cycles."""
    return f"on the critical chain, {cycles(count)}"


def tied(chains: int) -> str:
    """Addition to that note if several chains take equally long; empty for a single one."""
    if chains < 2:
        return ""
    return f" {chains} chains tie: all of them have to become shorter."


def value(name: str) -> str:
    """The name of a value in a dependency: a register as written, or flags."""
    return {"C": "CF", "SPAZO": "flags"}.get(name, name)


def mode(chosen: Mode) -> str:
    """``loop``, ``unrolled`` or ``one pass``."""
    return {Mode.UNROLL: "unrolled", Mode.ONCE: "one pass"}.get(chosen, chosen.value)


def binding(prediction: Prediction) -> str:
    """Suffix of a figure that depends on the rule of port binding: `` (to 1.33: depends on port binding)``,
    `` (from 1.00: ...)``, `` (1.00 to 2.13: ...)``, or on the steady state: `` (to 1.25: several steady
    states)``; empty for others."""
    found = prediction.port_binding
    if found is None:
        return ""
    cycles = prediction.cycles_per_iteration
    if found.least == cycles:
        text = f"to {found.most:.2f}"
    elif found.most == cycles:
        text = f"from {found.least:.2f}"
    else:
        text = f"{found.least:.2f} to {found.most:.2f}"
    cause = f"depends on {vocabulary.of(prediction.microarchitecture).unit} binding"
    if found.steady_states:
        cause = (
            "several steady states" if cycles in (found.least, found.most) else f"{cause} and steady state"
        )
    return f" ({text}: {cause})"


def elsewhere(prediction: Prediction) -> str:
    """Suffixes of a figure for data beyond L1 (``memory_levels.wording.suffix``), with mispredicted branches
    (``mispredictions.suffix``), or that depends on port
    binding (``binding``) or on the position (``at_positions``)."""
    given = levels.suffix(prediction) + suffix(prediction)
    # Port bindings and positions change the work of the core, which transfers hide.
    if levels.is_transfer_bound(prediction):
        return given
    return given + binding(prediction) + at_positions(prediction)


def by_position(prediction: Prediction) -> str:
    """``at_positions`` for a narrow line: `` (to 3.00 by position)``, `` (from 2.00 by position)``,
    `` (2.00 to 3.00 by position)``."""
    whole = at_positions(prediction)
    cycles = [position.cycles_per_iteration for position in prediction.positions]
    if not cycles or " at " not in whole:
        return whole
    own, least, most = (f"{each:.2f}" for each in (prediction.cycles_per_iteration, min(cycles), max(cycles)))
    if least == own:
        return f" (to {most} by position)"
    return f" (from {least} by position)" if most == own else f" ({least} to {most} by position)"


def at_positions(prediction: Prediction) -> str:
    """Suffix of a figure that depends on the position: `` (or 3.00 at two of four positions in memory)``,
    `` (or 2.00 to 3.00 at 16 of 64 positions in memory)``; empty if it does not.

    `` (…)``: the figures of the other positions follow and may differ.
    """
    first = one_position(prediction)
    if first is not None and not first.values["same_everywhere"]:
        return " (…)"
    count = Counter(position.cycles_per_iteration for position in prediction.positions)
    everywhere = count.total()
    count.pop(prediction.cycles_per_iteration, None)
    if not count:
        return ""
    figures = dict.fromkeys(f"{cycles:.2f}" for cycles in (min(count), max(count)))
    numbers = (count.total(), everywhere)
    some, of_all = (_COUNTS[number] if everywhere < len(_COUNTS) else str(number) for number in numbers)
    return f" (or {' to '.join(figures)} at {some} of {of_all} positions in memory)"


def offsets(numbers: Sequence[int]) -> str:
    """Ascending numbers with adjacent ones merged: ``0, 16``, ``0 to 27, 60``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] + 1 == number:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join(" to ".join(map(str, part)) for part in parts)


def front_end(prediction: Prediction) -> str:
    """Front-end sources with their shares: ``DSB``, ``MITE 75 %, MS 25 %``."""
    total = sum(prediction.front_end.values())
    if not total:
        return "nowhere"
    words = vocabulary.of(prediction.microarchitecture)
    if len(prediction.front_end) == 1:
        return words.part(next(iter(prediction.front_end)))
    shares = sorted(prediction.front_end.items(), key=lambda item: -item[1])
    return ", ".join(f"{words.part(source)} {uops / total * 100:.0f} %" for source, uops in shares)


def sources(words: Vocabulary, shares: Mapping[str, float]) -> str:
    """Front-end sources of one table row: ``DSB``, ``MITE+MS``."""
    return "+".join(words.part(source) for source in SOURCES if shares.get(source, 0.0) >= 0.005)


def place(statement: SourceLine) -> str:
    """Place of a statement: ``line 12``; in an object file ``0x1139`` or ``0x1139 (dot.c:12)``."""
    return short_place(statement) if statement.address is not None else f"line {short_place(statement)}"


def _shortened(parts: list[str]) -> list[str]:
    """The first places of a long list, and how many more there are."""
    left = len(parts) - _MOST_PLACES + 1
    return parts if left < 2 else [*parts[: _MOST_PLACES - 1], f"{left:,} more"]


def places(statements: Iterable[SourceLine]) -> str:
    """Places of several statements: ``line 12``, ``lines 12, 15 and 48 to 51``; of many the first ones."""
    listed = dict.fromkeys(statements)
    in_text = [each.line for each in listed if each.address is None and not each.file]
    if len(in_text) < len(listed):
        return ", ".join(_shortened(list(dict.fromkeys(map(place, listed)))))
    return lines(in_text)


def lines(numbers: Iterable[int]) -> str:
    """Lines of a text, given from 0: ``line 12``, ``lines 12, 15 and 48 to 51``; of many the first ones."""
    in_text = sorted(set(numbers))
    ranges: list[list[int]] = []
    for line in in_text:
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    # Two lines are not written as a range.
    parts = _shortened(
        [
            part
            for first, last in ranges
            for part in (
                [f"{first + 1} to {last + 1}"]
                if last - first > 1
                else [str(line + 1) for line in range(first, last + 1)]
            )
        ]
    )
    text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"line {text}" if len(in_text) == 1 else f"lines {text}"


def short_place(statement: SourceLine) -> str:
    """Place without the word ``line``: ``12``."""
    source = source_line(statement)
    if statement.address is None:
        return source
    return f"{statement.address:#x} ({source})" if source else f"{statement.address:#x}"


def source_line(statement: SourceLine) -> str:
    """Line number: ``12``; with the file if it is not the analysed one: ``dot.c:12``; empty if unknown."""
    if statement.line == UNKNOWN_LINE:
        return ""
    return f"{basename(statement.file)}:{statement.line + 1}" if statement.file else str(statement.line + 1)


def region_place(region: Region) -> str:
    """Where a region begins, like ``place``."""
    if region.lines and region.lines[0].address is not None:
        return place(region.lines[0])
    return f"line {region.first_line + 1}"


def problem_place(problem: Problem, file: str) -> str:
    """``a.s:12:5``; only the file if the problem has no line."""
    if problem.line == UNKNOWN_LINE:
        return file
    return f"{file}:{problem.line + 1}:{problem.column + 1}"
