"""Types of the command line's arguments: each checks a text and returns its value."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cyclelens.analyzer.microarchitectures import registry

if TYPE_CHECKING:
    from cyclelens.analyzer.model.machine_file import MachineFile

_CLOCK = r"(?i)([0-9]+(?:\.[0-9]+)?(?:e[0-9]{1,2})?) ?([kMG]?)(?:Hz)?"
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}


def one_microarchitecture(name: str) -> str:
    """Argument type: the name of a microarchitecture in any case. Prints a note if the core found for
    ``native`` is doubtful."""
    try:
        found = registry.get(name).name
    except registry.UnknownMicroarchitecture as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if registry.is_native(name) and registry.native_doubt():
        print(f"note: this machine's processor is {registry.own_name()}", file=sys.stderr)
    return found


def microarchitectures(text: str) -> tuple[str, ...]:
    """Argument type: microarchitectures separated by commas."""
    names = tuple(dict.fromkeys(one_microarchitecture(name) for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("no microarchitecture is given")
    return names


def alignment(text: str) -> int:
    """Argument type: offset in bytes within a 64-byte line."""
    if not (text.isascii() and text.isdecimal()) or int(text) > 63:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of bytes from 0 to 63")
    return int(text)


def shares(text: str) -> tuple[str, str]:
    """Argument type: the region (may be empty) and the shares of its branches, separated by ``=``."""
    from cyclelens.analyzer.insight.paths import share_of

    region, _, given = text.rpartition("=")
    for share in filter(None, map(str.strip, given.split(","))):
        _checked(share.rpartition(":")[2].strip(), share_of)
    return region, given


def data_place(text: str) -> str:
    """Argument type: where the data are: ``L2``, ``rsi:L3,rdi:L1``, ``2MiB``."""
    from cyclelens.analyzer.insight.memory_levels.placement import place_of

    return _checked(text, place_of)


def working_set(text: str) -> str:
    """Argument type: the size of the data: ``2MiB``."""
    from cyclelens.analyzer.insight.memory_levels.placement import place_of_size

    return _checked(text, place_of_size)


def _checked(text: str, check: Callable[[str], object]) -> str:
    try:
        check(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def positive(text: str) -> int:
    """Argument type: a whole number from 1 on."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def frequency(text: str) -> float:
    """Argument type: a clock in hertz, such as ``3.5GHz``, ``3500MHz`` or ``3.5e9``."""
    found = re.fullmatch(_CLOCK, text.strip())
    hertz = float(found[1]) * _PREFIXES[found[2].upper()] if found else 0.0
    if not 1e6 <= hertz <= 1e11:
        raise argparse.ArgumentTypeError(f"'{text}' is not a clock from 1MHz to 100GHz, such as 3.5GHz")
    return hertz


def machine_file(path: str) -> MachineFile:
    """Argument type: the file with the levels of a machine's memory."""
    from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, read

    try:
        return read(Path(path))
    except MachineFileError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
