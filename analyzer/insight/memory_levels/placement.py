"""Reads where a user says that a region's data are, and finds the figure for it: ``L2`` for all of them,
``rsi:L3,rdi:L1`` by pointer, ``2MiB`` by the size of the working set."""

from __future__ import annotations

import re

from cyclelens.analyzer.common.byte_sizes import parse_size, written_size
from cyclelens.analyzer.insight.assumption_codes import WARM_CACHES
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.insight.memory_levels.ecm import cycles
from cyclelens.analyzer.insight.memory_levels.streams import in_core, levels_in_use
from cyclelens.analyzer.insight.memory_levels.wording import sentences
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.model.memory_levels import LEVEL_NAMES, ChosenData, DataLevels
from cyclelens.analyzer.model.result import Prediction
from msgspec import Struct
from msgspec.structs import replace

_BY_LOWER = {name.lower(): name for name in LEVEL_NAMES}
_PAIR = re.compile(r"%?(\w+):(\w+)")


class DataPlace(Struct, frozen=True):
    """Where a user says that the data of a region are."""

    level: str = ""
    """The level of all streams; empty: by pointer or by size."""
    pointers: tuple[tuple[str, str], ...] = ()
    """(pointer, level of its streams); the others are in L1."""
    size: int = 0
    """Bytes of the working set; 0: not given."""


def place_of(text: str) -> DataPlace:
    """Reads ``data=`` of a marker: a level, levels by pointer, or a size. Raises ValueError with a sentence
    that lists the valid values."""
    if level := _BY_LOWER.get(text.strip().lower()):
        return DataPlace(level)
    if size := parse_size(text):
        return DataPlace(size=size)
    matches = [_PAIR.fullmatch(part.strip()) for part in text.split(",")]
    pairs = tuple((match[1].lower(), _BY_LOWER.get(match[2].lower(), "")) for match in matches if match)
    if len(pairs) == len(matches) and all(level for _, level in pairs):
        return DataPlace(pointers=pairs)
    raise ValueError(
        f"'{text}' does not say where the data are: use a level ({', '.join(LEVEL_NAMES)}), a level for each "
        "pointer (rsi:L3,rdi:L1), or the size of the working set (2MiB)"
    )


def place_of_size(text: str) -> DataPlace:
    """Reads ``working-set=`` of a marker. Raises ValueError with a sentence that says what is valid."""
    size = parse_size(text)
    if size is None:
        raise ValueError(f"'{text}' is not the size of a working set: use bytes, KiB, MiB or GiB (2MiB)")
    return DataPlace(size=size)


def unknown_pointers(data: DataLevels, place: DataPlace) -> list[str]:
    """Pointers of a place through which the region has no stream."""
    known = {stream.pointer for stream in data.streams}
    return [pointer for pointer, _ in place.pointers if pointer not in known]


def placed(prediction: Prediction, place: DataPlace) -> Prediction:
    """The prediction with the figure for data in this place; unchanged if it touches no new addresses."""
    data = prediction.data
    if data is None:
        return prediction
    levels = levels_in_use(prediction)
    if levels is None:
        chosen = ChosenData(_in_words(place, written_size(place.size)))
    elif place.pointers:
        by_pointer = dict(place.pointers)
        where = [by_pointer.get(stream.pointer, levels.names[0]) for stream in data.streams]
        found = None if data.chased else cycles(levels, in_core(prediction), data.streams, where)
        chosen = ChosenData(_in_words(place, ""), found)
    else:
        level = place.level or levels.holding(place.size)
        found = next((each.cycles for each in data.figures if each.level == level), None)
        if found is not None:
            found += data.translated(place.size)
        least = bool(data.left_out) and level != levels.names[0]
        chosen = ChosenData(_in_words(place, level), found, least)
    data = replace(data, chosen=chosen)
    told = sentences(data, AT_LEAST if is_lower_bound(prediction) else "")
    assumptions = tuple(
        replace(each, message=told) if each.code == WARM_CACHES else each for each in prediction.assumptions
    )
    return replace(prediction, data=data, assumptions=assumptions)


def _in_words(place: DataPlace, otherwise: str) -> str:
    """``data in L2``, ``rsi in L3, rdi in L1``."""
    if place.pointers:
        return ", ".join(f"{pointer} in {name}" for pointer, name in place.pointers)
    return f"data in {place.level or otherwise}"
