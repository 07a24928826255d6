"""Data classes that are quick to define: ``dataclass``, ``field`` and ``replace`` as in the standard library,
for frozen classes alone.

The standard library writes and compiles six methods for every class, which took a fifth of the time until
the first figure. Here a class gets its constructor when it is first called, and shares all other methods with
the rest. ``dataclasses.fields``, ``asdict`` and ``replace`` take these classes too. Modules that every start
loads define their classes with this; for all others the standard library is good enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING


def field_names(value: object) -> tuple[str, ...]:
    """The fields of an object or class of this module's, in their order; none of anything else."""
    names: tuple[str, ...] = getattr(value, "_field_names", ())
    return names


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from operator import attrgetter

    class _Made:
        """The default of a field that every object gets anew."""

        def __init__(self, factory):
            self.factory = factory

    def field(*, default_factory):
        """A field whose default is what ``default_factory`` returns."""
        return _Made(default_factory)

    def dataclass(*, frozen, slots=False, kw_only=False):
        """The decorator of a class without bases whose annotations are its fields, in their order."""
        if not frozen:
            raise TypeError("for frozen classes only")
        return lambda cls: _complete(cls, slots, kw_only)

    def replace(value, /, **changes):
        """Another one, with these values in place of its own. Raises TypeError for what is no field."""
        for name in value._field_names:
            if name not in changes:
                changes[name] = getattr(value, name)
        return value.__class__(**changes)

    class _Frozen:
        """What all classes of this module share."""

        __slots__ = ()

        def __eq__(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            values = self._values
            return values(self) == values(other)

        def __hash__(self):
            return hash(self._values(self))

        def __repr__(self):
            values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._field_names)
            return f"{type(self).__qualname__}({values})"

        def __setattr__(self, name, value=None):
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot change field {name!r}")

        __delattr__ = __setattr__

        def __getstate__(self):
            return [getattr(self, name) for name in self._field_names]

        def __setstate__(self, state):
            for name, value in zip(self._field_names, state, strict=True):
                object.__setattr__(self, name, value)

    def _complete(cls, slots, kw_only):
        names = tuple(cls.__annotations__)
        parts = dict(cls.__dict__)
        del parts["__dict__"], parts["__weakref__"]
        defaults = {name: parts[name] for name in names if name in parts}
        if slots:
            for name in defaults:
                del parts[name]
            parts["__slots__"] = names

        def first_init(self, *arguments, **named):
            made.__init__ = _constructor(made, names, defaults, slots, kw_only)
            made.__init__(self, *arguments, **named)

        # All of it before the class is made: it costs far more to add special methods to one that exists.
        parts["__init__"] = first_init
        parts["_values"] = attrgetter(*names)
        parts["_field_names"] = names
        parts["__match_args__"] = () if kw_only else names
        parts["__dataclass_fields__"] = _Fields(names, defaults, kw_only)
        made = type(cls.__name__, (_Frozen,), parts)
        return made

    def _constructor(cls, names, defaults, slots, kw_only):
        """``__init__`` with the fields as its parameters."""
        known = {"_set": object.__setattr__, "_Made": _Made}
        parameters, lines = ["self", *(["*"] if kw_only else [])], []
        for name in names:
            known[f"_default_{name}"] = default = defaults.get(name)
            parameters.append(f"{name}=_default_{name}" if name in defaults else name)
            given = name
            if isinstance(default, _Made):
                given = f"_default_{name}.factory() if {name} is _default_{name} else {name}"
            if slots:
                # Without the way through the class to the place in the object.
                known[f"_set_{name}"] = cls.__dict__[name].__set__
                lines.append(f" _set_{name}(self, {given})")
            else:
                lines.append(f" _set(self, '{name}', {given})")
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        made = {}
        text = f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"])
        exec(text, known, made)
        made["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return made["__init__"]

    class _Fields:
        """The standard library's description of the fields, made when it is first asked for."""

        def __init__(self, names, defaults, kw_only):
            self._names = names
            self._defaults = defaults
            self._kw_only = kw_only

        def __get__(self, instance, cls):
            import dataclasses

            described = []
            for name in self._names:
                kind = cls.__annotations__[name]
                if name not in self._defaults:
                    described.append((name, kind))
                    continue
                default = self._defaults[name]
                if isinstance(default, _Made):
                    known = dataclasses.field(default_factory=default.factory)
                else:
                    known = dataclasses.field(default=default)
                described.append((name, kind, known))
            made = dataclasses.make_dataclass(cls.__name__, described, kw_only=self._kw_only, frozen=True)
            cls.__dataclass_fields__ = made.__dataclass_fields__
            cls.__dataclass_params__ = made.__dataclass_params__
            return cls.__dataclass_fields__
