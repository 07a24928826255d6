"""Parameters of a core that experiments change: their short names, their limits, and the changed core."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from msgspec.structs import replace


class ChangeError(ValueError):
    """An impossible change; the message is for the user."""


OPTIONAL = {
    "lb": "load_buffer_size",
    "lm": "load_matrix_size",
    "sb": "store_buffer_size",
    "bb": "branch_buffer_size",
    "int": "integer_registers",
    "vec": "vector_registers",
    "regs": "all_registers",
}
"""Short names of capacities that are limits only if the model has them (``ModelOptions.limited``)."""

SIZES = {
    "rob": "reorder_buffer_size",
    "rs": "reservation_station_size",
    "idq": "idq_size",
    "iq": "instruction_queue_size",
    **OPTIONAL,
}
"""Short names of all capacities."""


def changed(model: Microarchitecture, name: str, value: str) -> Microarchitecture:
    """The core with another integer or yes/no parameter. Raises ChangeError if the name or value is wrong."""
    field = SIZES.get(name, name)
    numbers: dict[str, object] = {name: getattr(model, name) for name in model.__struct_fields__}
    current = numbers.get(field)
    new: dict[str, Any]
    if isinstance(current, bool):
        words = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if value.lower() not in words:
            raise ChangeError(f"'{value}': {field} is yes or no")
        new = {field: words[value.lower()]}
        return replace(model, **new)
    if not isinstance(current, int) and field not in OPTIONAL.values():
        known = [*SIZES, *(key for key, old in numbers.items() if isinstance(old, int))]
        alike = ", ".join(get_close_matches(name, known, _MOST_NAMED, cutoff=0))
        raise ChangeError(
            f"'{name}' is not a parameter that can be changed; the nearest names are {alike}, and 'cyclelens "
            f"arch show {model.name}' lists the parameters"
        )
    least = least_value(model, field)
    # The rules of port binding are known only up to the core's issue width.
    most = model.issue_width if field == "issue_width" else _MOST
    if not value.isdecimal() or not least <= int(value) <= most:
        raise ChangeError(f"'{value}': {field} is a whole number from {least} to {most}")
    new = {field: int(value)}
    return replace(model, **new)


def least_value(model: Microarchitecture, field: str) -> int:
    """Smallest value of a parameter with which uops still get through the pipeline."""
    if field in OPTIONAL.values():
        return 1
    if field == "idq_size":
        # With less, the DSB would wait for room that never exists.
        return model.dsb_width + model.issue_width
    if field == "instruction_queue_size":
        return model.predecode_width
    if field.endswith("_size"):
        return model.issue_width
    return 1 if field.endswith(("_width", "_bytes")) else 0


_MOST_NAMED = 3
"""Names that the message on a wrong one has."""
_MOST = 10_000
"""Largest value of a parameter; time and memory grow with it."""
