"""``cyclelens whatif``: simulates again with one change, or tries many changes and lists those that help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cyclelens.analyzer.cli.argument_types import alignment
from cyclelens.analyzer.cli.common import add_analysis_arguments, report_each, title_of
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import new_parser

if TYPE_CHECKING:
    from cyclelens.analyzer.insight.whatif import ChangeResult, Experiment
    from cyclelens.analyzer.model.result import Prediction, RegionAnalysis, Work

Change = Callable[["_NamedRegion"], "ChangeResult"]
_MOST_REGISTERS = 16


class _NamedRegion:
    """A region and the users' names for its instructions (lines or addresses)."""

    def __init__(self, region: RegionAnalysis, prediction: Prediction, experiment: Experiment) -> None:
        from cyclelens.analyzer.insight.as_written import with_places

        self.experiment = experiment
        statements = [region.region.lines[statement] for statement in region.instruction_lines]
        self.lines = [statement.line + 1 for statement in statements]
        self.addresses = [statement.address for statement in statements]
        self.places = with_places(region, prediction)

    def at(self, place: str) -> int:
        """Index of the first instruction on a line, or of the one at an address (``0x1139``). Raises
        InputError."""
        known: list[int] | list[int | None] = self.lines
        what, number = "on line", int(place, 0)
        if place.startswith("0x"):
            known, what = self.addresses, "at"
        if number not in known:
            raise InputError(f"there is no instruction of the region {what} {place}")
        return known.index(number)


def main(arguments: list[str]) -> int:
    """Print the figures before and after each change."""
    parser = new_parser(
        "whatif",
        "Change one thing at a time and simulate again. By default, try all changes that are likely "
        "to matter, and list those that help. LINE is the number of a line in the file; in an "
        "ELF file, an address such as 0x1139 or a line of the source.",
    )
    add_analysis_arguments(parser)
    changes = parser.add_argument_group("changes, each tried on its own; may be repeated")

    def add(option: str, metavar: str, kind: Callable[[str], Change], text: str) -> None:
        changes.add_argument(
            option, metavar=metavar, type=kind, action="append", dest="changes", default=[], help=text
        )

    add("--remove", "LINE", _remove, "leave an instruction out")
    add("--swap", "LINE,LINE", _swap, "exchange two instructions")
    add("--latency", "LINE=CYCLES", _latency, "give an instruction another latency")
    add("--ports", "LINE=PORTS", _ports, "give an instruction other ports, such as 0156")
    add("--no-wait", "LINE=REGISTER", _no_wait, "let an instruction ignore a register that it reads")
    add(
        "--split",
        "REGISTER[,..]=N",
        _split,
        "split an accumulator into N registers used in turn; the body is repeated as needed",
    )
    add("--unroll", "N", _unroll, "repeat the body of a loop; the figure is for one original iteration")
    add("--align", "N", _align, "place the first byte at this offset within a 64-byte line")
    add("--load-latency", "CYCLES", _load_latency, "give all loads another latency")
    add("--set", "NAME=VALUE", _set, "set a parameter of the microarchitecture, such as rs=200")
    options = parser.parse_args(arguments)

    from cyclelens.analyzer.insight.confidence import is_lower_bound
    from cyclelens.analyzer.insight.work import work_of

    def report(region: RegionAnalysis, prediction: Prediction, experiment: Experiment) -> Iterator[str]:
        subject = _NamedRegion(region, prediction, experiment)
        # A change that cannot be made is an error, without a heading above it.
        results = [change(subject) for change in options.changes]
        yield f"== {title_of(region)} =="
        work = None if is_lower_bound(prediction) else work_of(region)
        yield from _report(subject, prediction, results, work)

    return report_each(options, report, exact=True)


def _report(
    subject: _NamedRegion, prediction: Prediction, results: list[ChangeResult], work: Work | None
) -> Iterator[str]:
    from cyclelens.analyzer.comparisons.sensitivity import answer
    from cyclelens.analyzer.insight import vocabulary
    from cyclelens.analyzer.insight.sensitivity import explore
    from cyclelens.analyzer.insight.work import pace_of

    base = subject.experiment.baseline()
    if not results:
        tried = [each for each, _ in explore(subject.experiment, base, subject.places)]
        yield from (f"   {line}" for line in answer(subject.experiment, base, tried, work))
        return
    words = vocabulary.of(prediction.microarchitecture)
    yield (
        f"   {pace_of(prediction, base.cycles_per_iteration, work)} on {prediction.microarchitecture}, "
        f"{prediction.mode} ({', '.join(map(words.limit, base.bottlenecks))})"
    )
    rate = f"cycles/{work.unit}" if work else ""
    yield f"   {rate and f'{rate}  '} saves  cycles/iter  change"
    for result in results:
        saved = base.cycles_per_iteration - result.cycles_per_iteration
        limits = ", ".join(map(words.limit, result.bottlenecks))
        per = result.cycles_per_iteration / work.amount if work else 0.0
        first = f"{per:{len(rate)}.3f}  " if work else ""
        yield f"   {first}{saved:6.2f} {result.cycles_per_iteration:12.2f}  {result.change} ({limits})"


def _number(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1_000_000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return int(text)


def _cycles(text: str) -> int:
    cycles = _number(text)
    if cycles > 1000:
        raise argparse.ArgumentTypeError(f"{cycles} cycles are too many to simulate")
    return cycles


def _pair(text: str, separator: str = "=") -> tuple[str, str]:
    left, found, right = text.partition(separator)
    if not (left and found and right):
        raise argparse.ArgumentTypeError(f"'{text}' lacks a part on one side of '{separator}'")
    return left, right


def _edited(subject: _NamedRegion, words: str, **edit: Any) -> ChangeResult:
    from cyclelens.analyzer.insight.whatif import BlockEdit

    return subject.experiment.edited(BlockEdit(**edit), words)


def _remove(text: str) -> Change:
    line = _place(text)

    def change(subject: _NamedRegion) -> ChangeResult:
        position = subject.at(line)
        return _edited(subject, f"without {subject.places[position]}", removed=frozenset([position]))

    return change


def _swap(text: str) -> Change:
    one, other = map(_place, _pair(text, ","))
    return lambda subject: subject.experiment.swapped(
        subject.at(one), subject.at(other), f"lines {one} and {other} exchanged"
    )


def _latency(text: str) -> Change:
    left, right = _pair(text)
    line, cycles = _place(left), _cycles(right)
    return lambda subject: subject.experiment.with_latency(
        subject.at(line), cycles, f"latency {cycles} of {subject.places[subject.at(line)]}"
    )


def _ports(text: str) -> Change:
    left, ports = _pair(text)
    line = _place(left)
    return lambda subject: subject.experiment.with_ports(
        subject.at(line), ports, f"ports {ports} for {subject.places[subject.at(line)]}"
    )


def _no_wait(text: str) -> Change:
    left, register = _pair(text)
    line = _place(left)
    return lambda subject: subject.experiment.without_input(
        subject.at(line), register.upper(), f"{subject.places[subject.at(line)]} does not wait for {register}"
    )


def _place(text: str) -> str:
    """A line number, or an address in hexadecimal."""
    text = text.lower()
    if not text.startswith("0x"):
        return str(_number(text))
    try:
        return hex(int(text, 16))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not an address such as 0x1139") from None


def _unroll(text: str) -> Change:
    times = _number(text)
    if times > 64:
        raise argparse.ArgumentTypeError("more than 64 times is too long to simulate")
    return lambda subject: _edited(subject, f"unrolled {times} times", times=times)


def _align(text: str) -> Change:
    place = alignment(text)
    return lambda subject: _edited(subject, f"alignment {place}", alignment=place)


def _split(text: str) -> Change:
    names, registers = _pair(text)
    count = _number(registers)
    if not 2 <= count <= _MOST_REGISTERS:
        raise argparse.ArgumentTypeError(f"'{registers}': 2 to {_MOST_REGISTERS} registers are possible")

    def change(subject: _NamedRegion) -> ChangeResult:
        from cyclelens.analyzer.insight.sensitivity import split_words
        from cyclelens.analyzer.uops.registers import canonical

        known = {each.register: each for each in subject.experiment.accumulators}
        split = []
        for name in names.split(","):
            found = known.get(canonical(name.strip().lstrip("%").upper()))
            if found is None:
                sums = ", ".join(each.name for each in known.values()) or "none"
                raise InputError(f"'{name}' is not an accumulator; accumulators: {sums}")
            split.append((found, count))
        return _edited(subject, split_words(tuple(split)), split=tuple(split))

    return change


def _load_latency(text: str) -> Change:
    cycles = _cycles(text)
    return lambda subject: subject.experiment.with_load_latency(cycles, f"load latency {cycles}")


def _set(text: str) -> Change:
    name, value = _pair(text)
    return lambda subject: subject.experiment.with_parameter(name, value, f"{name} {value}")
