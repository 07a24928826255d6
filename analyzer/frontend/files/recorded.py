"""Adds symbols of the programs that ran to profiles with plain addresses, if these programs may be read."""

from __future__ import annotations

from bisect import bisect_right

from cyclelens.analyzer.common.regular_files import read_regular
from cyclelens.analyzer.frontend.files.includes import may_read
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.model.source import Origin
from cyclelens.analyzer.profiles.profile import CodeLocation, FileMapping, Profile
from msgspec.structs import replace

_MAXIMUM_BYTES = 256 << 20


def with_symbols(profile: Profile, origin: Origin) -> Profile:
    """The profile with a symbol for each location that has only an address. The mapped program must exist, be
    readable for a text of this origin, and have a symbol for the address."""
    programs: dict[str, _ElfSymbols | None] = {}

    def named(place: CodeLocation) -> CodeLocation:
        if place.symbol or place.address is None:
            return place
        for each in profile.mapped:
            if each.start <= place.address < each.start + each.size:
                if each.path not in programs:
                    programs[each.path] = _program(each.path, origin)
                program = programs[each.path]
                return place if program is None else program.named(place, each)
        return place

    if not profile.mapped:
        return profile
    return replace(
        profile,
        runs={(named(first), named(last)): count for (first, last), count in profile.runs.items()},
        samples={named(place): hits for place, hits in profile.samples.items()},
        outcomes={named(place): both for place, both in profile.outcomes.items()},
    )


class _ElfSymbols:
    """Symbols of an ELF file."""

    def __init__(self, file: ObjectFile) -> None:
        self._file = file
        self._names = sorted((address, name) for name, address in file.named.items())

    def named(self, place: CodeLocation, mapped: FileMapping) -> CodeLocation:
        assert place.address is not None
        address = self._file.address_of_offset(place.address - mapped.start + mapped.offset)
        at = -1 if address is None else bisect_right(self._names, address, key=lambda known: known[0]) - 1
        if address is None or at < 0:
            return place
        start, name = self._names[at]
        return CodeLocation(name, address - start, place.address)


def _program(path: str, origin: Origin) -> _ElfSymbols | None:
    try:
        if not may_read(path, origin):
            return None
        return _ElfSymbols(ObjectFile(read_regular(path, _MAXIMUM_BYTES)))
    except (OSError, ObjectFileError):
        return None
