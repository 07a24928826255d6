"""Named tuples that are quick to define: ``NamedTuple`` as in the standard library, for modules that every
start loads. That one compiles the annotation of every field, which takes as long as all the rest of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Defining(type):
        """Makes a class whose annotations are its fields, in their order."""

        def __new__(mcs, name, bases, parts):
            if not bases:
                return super().__new__(mcs, name, bases, parts)
            fields = parts.get("__annotations__", {})
            defaults = [parts.pop(field) for field in fields if field in parts]
            made = namedtuple(name, fields, defaults=defaults, module=parts["__module__"])
            for own in parts.keys() - {"__module__"}:
                setattr(made, own, parts[own])
            return made

    class NamedTuple(metaclass=_Defining):
        """The base of such a class."""
