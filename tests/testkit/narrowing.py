"""Asserts that an optional value is present, for the type checker's sake."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def some(value: T | None) -> T:
    """The value; fails if there is none."""
    assert value is not None
    return value
