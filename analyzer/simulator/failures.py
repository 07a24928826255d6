"""Exceptions of a run that ends without a figure."""

from __future__ import annotations


class Cancelled(Exception):
    """The caller asked to stop."""


class SimulationStuck(Exception):
    """Nothing retires any more: the block has no defined prediction."""
