"""Parses the initial registers and memory of a measurement as users write them."""

from __future__ import annotations

from collections.abc import Iterable

from cyclelens.analyzer.measuring.requests import DISTINCT, REGISTERS, Inputs

MOST_WORDS = 64


class InputsError(ValueError):
    """A line or pair that cannot be parsed; the message is for the user."""


def with_marker(inputs: Inputs, text: str) -> Inputs:
    """Add the inputs of a marker's ``init=rsi:0x10000,rcx:100,[0x10008]:7``. Raises InputsError."""
    return with_pairs(inputs, (pair.partition(":") for pair in text.split(",") if pair.strip()))


def read_inputs(text: str) -> Inputs:
    """Parse a file of inputs: ``rsi = 0x10000`` or ``[0x10008] = 7`` per line, ``#`` begins a comment.

    Registers and words that it does not name are as in ``DISTINCT``. Raises InputsError."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return with_pairs(DISTINCT, (line.partition("=") for line in lines if line))


def with_pairs(inputs: Inputs, pairs: Iterable[tuple[str, str, str]]) -> Inputs:
    """Add inputs given as name, separator (empty if there is no value), and value. Raises InputsError."""
    registers, words = dict(inputs.registers), dict(inputs.words)
    for name, separator, text in pairs:
        name, value = name.strip(), _number(text)
        if not separator or value is None:
            raise InputsError(f"'{name}{separator}{text}' has no value")
        if name.startswith("[") and name.endswith("]"):
            address = _number(name[1:-1])
            if address is None or address % 8:
                raise InputsError(f"'{name}' is not the address of a word of 8 bytes")
            words[address] = value
        elif name.upper() in REGISTERS:
            registers[name.upper()] = value
        else:
            raise InputsError(f"'{name}' is neither a 64-bit register nor an [address]")
    if len(words) > MOST_WORDS:
        raise InputsError(f"at most {MOST_WORDS} words of memory can be set")
    return Inputs(registers=registers, words=words)


def _number(text: str) -> int | None:
    try:
        return int(text.strip(), 0)
    except ValueError:
        return None
