"""Chooses items of a list, spread over it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def spread(items: Sequence[_Item], limit: int | None) -> Sequence[_Item]:
    """At most ``limit`` items, in their order; the same call chooses the same ones."""
    if limit is None or limit >= len(items):
        return items
    chosen = sorted(random.Random(0).sample(range(len(items)), limit))
    return [items[number] for number in chosen]
