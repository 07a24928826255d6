"""Data classes that are quick to define: ``dataclass``, ``field`` and ``replace`` as in the standard library,
for frozen classes alone.

The standard library writes and compiles six methods for every class, which took a fifth of the time until
the first figure. Here a class gets a constructor of its own when it has been called a few times, and shares
all other methods with the rest. ``dataclasses.fields``, ``asdict`` and ``replace`` take these classes too.
Modules that every start loads define their classes with this; for all others the standard library is good
enough.
"""

from __future__ import annotations


def field_names(value: object) -> tuple[str, ...]:
    """The fields of an object or class of this module's, in their order; none of anything else."""
    names: tuple[str, ...] = getattr(value, "_field_names", ())
    return names


TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from operator import attrgetter

    _FEW = 16
    """Objects of a class before its constructor is written: to compile it takes as long as to make 25
    objects without, and of most classes there are one or two."""

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

        def __reduce__(self):
            return object.__new__, (self.__class__,), [getattr(self, name) for name in self._field_names]

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

        calls = 0

        def first_new(cls, *arguments, **named):
            nonlocal calls
            calls += 1
            given = dict(zip(names, arguments, strict=False), **named)
            usual = len(given) == len(arguments) + len(named) and not (kw_only and arguments)
            if calls > _FEW or not usual or {*given, *defaults} != {*names}:
                made.__new__ = _constructor(made, names, defaults, slots, kw_only)
                return made.__new__(cls, *arguments, **named)
            self = object.__new__(cls)
            for name in names:
                value = given[name] if name in given else defaults[name]
                object.__setattr__(self, name, value.factory() if isinstance(value, _Made) else value)
            if hasattr(cls, "__post_init__"):
                self.__post_init__()
            return self

        # All of it before the class is made: it costs far more to add special methods to one that exists.
        parts["__new__"] = first_new
        parts["_values"] = attrgetter(*names)
        parts["_field_names"] = names
        parts["__match_args__"] = () if kw_only else names
        parts["__dataclass_fields__"] = _Fields(names, defaults, kw_only)
        made = type(cls.__name__, (_Frozen,), parts)
        return made

    def _constructor(cls, names, defaults, slots, kw_only):
        """``__new__`` with the fields as its parameters. An object gets its values while its class is one
        that does not guard them: so each takes a tenth of the time."""
        parts = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
        if slots:
            parts["__slots__"] = names
        known = {"_open": type(cls.__name__, (_Frozen,), parts), "_new": object.__new__}
        parameters, lines = ["cls", *(["*"] if kw_only else [])], [" self = _new(_open)"]
        for name in names:
            known[f"_default_{name}"] = default = defaults.get(name)
            parameters.append(f"{name}=_default_{name}" if name in defaults else name)
            given = name
            if isinstance(default, _Made):
                given = f"_default_{name}.factory() if {name} is _default_{name} else {name}"
            lines.append(f" self.{name} = {given}")
        lines.append(" self.__class__ = cls")
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        made = {}
        exec(f"def __new__({', '.join(parameters)}):\n" + "\n".join(lines) + "\n return self", known, made)
        made["__new__"].__qualname__ = f"{cls.__qualname__}.__new__"
        return made["__new__"]

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
