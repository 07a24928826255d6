"""Looks up source lines and functions by address in DWARF tables. Only this module uses pyelftools."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from posixpath import join
from typing import TYPE_CHECKING, Any

from cyclelens.analyzer.frontend.objects.elf_format import Function, LinePlace
from elftools.dwarf.callframe import FDE
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from elftools.dwarf.compileunit import CompileUnit
    from elftools.dwarf.die import DIE
    from elftools.dwarf.dwarfinfo import DWARFInfo
    from elftools.dwarf.lineprogram import LineProgram

MAXIMUM_UNITS = 20_000
"""Maximum compilation units that are searched for a function's lines."""
_SYSTEM = re.compile(r"/usr/|/opt/|/rustc/|.*/lib/(?:gcc|clang|rustlib)/")
_Call = tuple[int, int, LinePlace]
"""Inlined code: first address, end address, and the place of the call."""


class DebugInfo:
    """The DWARF tables of an ELF file. Damaged ones raise any exception, in any method."""

    def __init__(self, image: bytes) -> None:
        self._dwarf: DWARFInfo = ELFFile(BytesIO(image)).get_dwarf_info(follow_links=False)

    def places(self, function: Function, addresses: Sequence[int]) -> list[LinePlace | None]:
        """Source places of the instructions at these addresses of a function; None where unknown. Code
        inlined from the system's own files has the place of its call."""
        for unit in _units(self._dwarf, function.address):
            program = self._dwarf.line_program_for_CU(unit)
            ranges = [] if program is None else list(_line_ranges(program, function))
            if ranges and program is not None:
                found = _look_up(ranges, addresses)
                if any(place is not None and _is_of_system(place.file) for place in found):
                    calls = sorted(
                        _inlined_calls(self._dwarf, unit, program, function),
                        key=lambda call: call[1] - call[0],
                    )
                    return [_own_place(place, at, calls) for place, at in zip(found, addresses, strict=True)]
                return found
        return [None] * len(addresses)

    def unwinding_entries(self) -> Iterator[tuple[int, int]]:
        """First address and size in bytes of each piece of code that has an entry for unwinding the stack."""
        for entry in self._dwarf.EH_CFI_entries() if self._dwarf.has_EH_CFI() else ():
            if isinstance(entry, FDE):
                yield entry["initial_location"], entry["address_range"]


def _units(dwarf: DWARFInfo, address: int) -> Iterator[CompileUnit]:
    """Compilation units that may contain an address, the likeliest first."""
    if not dwarf.has_debug_info:
        return
    ranges = dwarf.get_aranges()
    offset = ranges.cu_offset_at_addr(address) if ranges is not None else None
    if offset is not None:
        yield dwarf.get_CU_at(offset)
    for number, unit in enumerate(dwarf.iter_CUs()):
        if number == MAXIMUM_UNITS:
            return
        attributes = unit.get_top_DIE().attributes
        low, high = attributes.get("DW_AT_low_pc"), attributes.get("DW_AT_high_pc")
        if low is not None and high is not None and isinstance(high.value, int):
            end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
            if not low.value <= address < end:
                continue
        yield unit


def _is_of_system(file: str) -> bool:
    return _SYSTEM.match(file) is not None


def _own_place(place: LinePlace | None, address: int, calls: Sequence[_Call]) -> LinePlace | None:
    """The innermost place outside of the system's files; the place itself if there is none. ``calls``: inner
    ones first."""
    if place is not None and _is_of_system(place.file):
        for start, end, outer in calls:
            if start <= address < end and not _is_of_system(outer.file):
                return outer
    return place


def _inlined_calls(
    dwarf: DWARFInfo, unit: CompileUnit, program: LineProgram, function: Function
) -> Iterator[_Call]:
    """Inlined calls in a function."""
    name_of = _file_names(program)
    start = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    lists = dwarf.range_lists()

    def ranges(die: DIE) -> Iterator[tuple[int, int]]:
        low, high = (die.attributes.get(name) for name in ("DW_AT_low_pc", "DW_AT_high_pc"))
        if low is not None and high is not None:
            yield low.value, high.value + (0 if high.form == "DW_FORM_addr" else low.value)
        elif "DW_AT_ranges" in die.attributes and lists is not None:
            base = start.value if start is not None else 0
            for entry in lists.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=unit):
                if isinstance(entry, BaseAddressEntry):
                    base = entry.base_address
                else:
                    added = 0 if entry.is_absolute else base
                    yield entry.begin_offset + added, entry.end_offset + added

    def walk(die: DIE) -> Iterator[_Call]:
        for child in die.iter_children():
            meets = [
                (low, high) for low, high in ranges(child) if low < function.end and high > function.address
            ]
            attributes = child.attributes
            if meets and "DW_AT_call_line" in attributes and "DW_AT_call_file" in attributes:
                column = attributes.get("DW_AT_call_column")
                place = LinePlace(
                    name_of(attributes["DW_AT_call_file"].value),
                    attributes["DW_AT_call_line"].value - 1,
                    max(column.value - 1, 0) if column is not None else 0,
                    _name(child),
                )
                yield from ((low, high, place) for low, high in meets)
            # Namespaces have neither addresses nor types; code of other functions is elsewhere.
            if meets or child.tag in _WITHOUT_ADDRESSES:
                yield from walk(child)

    yield from walk(unit.get_top_DIE())


def _name(die: DIE) -> str:
    """Name of an inlined function, found through its declaration."""
    for _ in range(_MOST_ORIGINS):
        if "DW_AT_name" in die.attributes:
            return str(die.attributes["DW_AT_name"].value.decode("utf-8", "replace"))
        link = next((each for each in _ORIGINS if each in die.attributes), None)
        if link is None:
            break
        die = die.get_DIE_from_attribute(link)
    return ""


_ORIGINS = ("DW_AT_abstract_origin", "DW_AT_specification")
_MOST_ORIGINS = 4
"""Links from an inlined call to its name; in a damaged file they may be circular."""
_WITHOUT_ADDRESSES = frozenset({"DW_TAG_namespace", "DW_TAG_lexical_block", "DW_TAG_module"})


def _file_names(program: LineProgram) -> Callable[[int], str]:
    """File names of a line program by number."""
    header = program.header
    version = header["version"]
    directories, files = header["include_directory"], header["file_entry"]

    def name_of(number: int) -> str:
        entry = files[number if version >= 5 else number - 1]
        folder = entry["dir_index"]
        parts = [entry["name"]]
        # The first folder is the compiler's own: names stay as short as they were passed to it.
        if folder > 0:
            parts.insert(0, directories[folder if version >= 5 else folder - 1])
        return str(join(*(part.decode("utf-8", "replace") for part in parts)))

    return name_of


def _line_ranges(program: LineProgram, function: Function) -> Iterator[tuple[int, int, LinePlace]]:
    """First address, end address and place of every entry that overlaps a function."""
    name_of = _file_names(program)
    names: dict[int, str] = {}
    before: Any = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address < function.end and state.address > function.address:
            if before.file not in names:
                names[before.file] = name_of(before.file)
            # Line 0 marks code that the compiler added.
            if before.line:
                place = LinePlace(names[before.file], before.line - 1, max(before.column - 1, 0))
                yield before.address, state.address, place
        before = None if state.end_sequence else state


def _look_up(
    ranges: Sequence[tuple[int, int, LinePlace]], addresses: Sequence[int]
) -> list[LinePlace | None]:
    ordered = sorted(ranges, key=lambda item: item[:2])
    starts = [start for start, _, _ in ordered]
    found: list[LinePlace | None] = []
    for address in addresses:
        at = bisect_right(starts, address) - 1
        found.append(ordered[at][2] if at >= 0 and address < ordered[at][1] else None)
    return found
