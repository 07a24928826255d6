"""Maps a recorded profile to the statements of a text, by the symbols that the text defines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.sampled import OTHER_CODE, LocatedProfile, Placed
from cyclelens.analyzer.frontend.regions.sections import SECTION_SIGN, Layouts
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError
from cyclelens.analyzer.model.source import Branching, Counts, Problem, Region, Severity
from cyclelens.analyzer.profiles.profile import CodeLocation, Profile

Spot = tuple[str, int]
"""Section and offset in bytes."""
SOMEWHERE: Spot = ("", 0)
"""Result for a symbol that the text defines after a statement of unknown size."""
_APART = 40
"""Bit position above which the addresses of two sections differ."""
_PLAIN_SYMBOL = r"[A-Za-z_.$?@][\w.$?@]*"
_NOT_LAID_OUT = (
    "The profile cannot be matched: a statement before '{}' in its section is not understood, so its "
    "distance from the symbols in the profile is unknown."
)
_NONE_OF_IT = (
    "The profile names no symbol that this text defines. Record a program that contains this text, with the "
    "linker's symbols: perf script -F brstacksym --no-demangle, or perf annotate. Plain addresses "
    "(-F brstack) also need the program, which perf script --show-mmap-events names; it must be in the "
    "workspace."
)


def counts_of(
    profile: Profile,
    regions: Iterable[Region],
    branchings: Iterable[Branching],
    spot: Callable[[str], Spot | None],
) -> tuple[dict[str, Counts], list[Problem]]:
    """Profile counts of each region, by name, and problems where the profile does not match. ``branchings``:
    control flow of regions that were split into blocks. ``spot``: location of a symbol, if known."""
    bases: dict[str, int] = {}
    known: dict[str, int | None] = {}
    lost: list[str] = []

    def base(section: str) -> int:
        return bases.setdefault(section, len(bases) << _APART)

    def address_of(place: CodeLocation) -> int | None:
        name = place.symbol
        if name not in known:
            found = spot(name) if re.fullmatch(_PLAIN_SYMBOL, name) else None
            if found == SOMEWHERE:
                found = None
                lost.append(name)
            known[name] = None if found is None else base(found[0]) + found[1]
        start = known[name]
        return None if start is None else start + place.offset

    sampled = LocatedProfile(profile, address_of)
    if sampled.is_empty:
        if lost:
            return {}, [make_problem("no-profile", _NOT_LAID_OUT.format(lost[0]), 0, 0, 0, Severity.WARNING)]
        return {}, [make_problem("not-in-profile", _NONE_OF_IT, 0, 0, 0, Severity.WARNING)]
    owners = {name: each for each in branchings for name in each.blocks}
    together: dict[tuple[str, int], list[Region]] = {}
    for region in regions:
        owner = owners.get(region.name, region)
        if region.code and not region.incomplete:
            together.setdefault((owner.name, owner.first_line), []).append(region)
    counts: dict[str, Counts] = {}
    problems: list[Problem] = []
    for (name, line), blocks in together.items():
        message = _NOT_LAID_OUT
        if all(region.offsets for region in blocks):
            placed = {region.name: list(_placed(region, base(region.section))) for region in blocks}
            if sampled.is_of(each for block in placed.values() for each in block):
                counts.update((block, sampled.counts(found)) for block, found in placed.items())
                continue
            message = OTHER_CODE
        problems.append(
            make_problem("no-profile", message.format(name), line, 0, 0, Severity.WARNING),
        )
    return counts, problems


def _placed(region: Region, base: int) -> Iterator[Placed]:
    instructions = iter(region.instructions)
    done = 0
    for line, offset in zip(region.lines, region.offsets, strict=True):
        while done < len(line.code):
            instruction = next(instructions)
            yield base + offset + done, instruction
            done += instruction.length
        done -= len(line.code)


def spot_in_text(layouts: Layouts, name: str) -> Spot | None:
    """Location of a symbol of a text."""
    behind = len(layouts.program.statements) - 1
    try:
        label = layouts.program.find_label(name, behind)
        if label is not None:
            modulus = layouts.modulus(label.index)
            return SOMEWHERE if modulus else (label.section, layouts.offset(label.index))
        value = layouts.certain(name, behind)
    except ExpressionError:
        return SOMEWHERE if layouts.program.find_label(name, behind) is not None else None
    symbol = value.symbol or ""
    return (symbol.removeprefix(SECTION_SIGN), value.constant) if symbol.startswith(SECTION_SIGN) else None


def spot_in_object(object_file: ObjectFile | None, name: str) -> Spot | None:
    """Location of a symbol of the object that a text was assembled to."""
    address = None if object_file is None else object_file.named.get(name)
    if object_file is None or address is None:
        return None
    for section in object_file.names_of_code:
        start = object_file.base(section)
        if start is not None and start <= address < start + len(object_file.section(section)[0]):
            return section, address - start
    return None
