"""Data classes that are quick to define: ``dataclass``, ``field`` and ``replace`` as in the standard library.

The standard library writes and compiles six methods for every class, which took a fifth of the time until
the first figure. Here a class gets a constructor of its own when it has been called a few times, and shares
all other methods with the rest. ``dataclasses.fields``, ``asdict`` and ``replace`` take these classes too.
Modules that a prediction or an analysis loads define their classes with this; for all others the standard
library is good enough.
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

    _LATER = object()
    """The default of a field that the constructor leaves out."""

    def field(*, default_factory=None, init=True):
        """A field whose default is what ``default_factory`` returns, or that others give a value: no
        ``init``."""
        return _Made(default_factory) if init else _LATER

    def dataclass(*, frozen=False, slots=False, kw_only=False, eq=True):
        """The decorator of a class whose annotations are its fields, in their order, behind those of the
        only class of this kind that it is derived from."""

        def complete(cls):
            return _complete(cls, frozen, slots, kw_only, eq)

        return complete

    def replace(value, /, **changes):
        """Another one, with these values in place of its own. Raises TypeError for what is no field."""
        for name in value._parameters:
            if name not in changes:
                changes[name] = getattr(value, name)
        return value.__class__(**changes)

    class _Changing:
        """What all classes of this module share."""

        __slots__ = ()

        def __eq__(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            values = self._values
            return values(self) == values(other)

        __hash__ = None

        def __repr__(self):
            values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._field_names)
            return f"{type(self).__qualname__}({values})"

        def __reduce__(self):
            return object.__new__, (self.__class__,), [getattr(self, name) for name in self._field_names]

        def __setstate__(self, state):
            for name, value in zip(self._field_names, state, strict=True):
                object.__setattr__(self, name, value)

    class _Frozen(_Changing):
        """What all frozen ones share."""

        __slots__ = ()

        __eq__ = _Changing.__eq__

        def __hash__(self):
            return hash(self._values(self))

        def __setattr__(self, name, value=None):
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot change field {name!r}")

        __delattr__ = __setattr__

    def _complete(cls, frozen, slots, kw_only, eq):
        parts = dict(cls.__dict__)
        own = tuple(cls.__annotations__)
        del parts["__dict__"], parts["__weakref__"]
        (base,) = cls.__bases__
        if base is object:
            base, names, defaults = _Frozen if frozen else _Changing, own, {}
        else:
            names, defaults = base._field_names + own, dict(base._defaults)
        defaults.update({name: parts[name] for name in own if name in parts})
        parameters = tuple([name for name in names if defaults.get(name) is not _LATER])
        if slots:
            for name in own:
                parts.pop(name, None)
            parts["__slots__"] = own

        calls = 0

        def first_new(cls, *arguments, **named):
            nonlocal calls
            calls += 1
            given = dict(zip(parameters, arguments, strict=False), **named)
            usual = len(given) == len(arguments) + len(named) and not (kw_only and arguments)
            if calls > _FEW or not usual or {*given, *defaults} != {*names}:
                made.__new__ = _constructor(made, parameters, frozen, kw_only)
                return made.__new__(cls, *arguments, **named)
            self = object.__new__(cls)
            for name in parameters:
                value = given[name] if name in given else defaults[name]
                object.__setattr__(self, name, value.factory() if isinstance(value, _Made) else value)
            if hasattr(cls, "__post_init__"):
                self.__post_init__()
            return self

        # All of it before the class is made: it costs far more to add special methods to one that exists.
        parts["__new__"] = first_new
        parts["_values"] = attrgetter(*names)
        parts["_field_names"] = names
        parts["_parameters"] = parameters
        parts["_defaults"] = defaults
        parts["__match_args__"] = () if kw_only else parameters
        parts["__dataclass_fields__"] = _Fields(frozen, kw_only)
        if not eq:
            parts.update(__eq__=object.__eq__, __hash__=object.__hash__)
        made = type(cls.__name__, (base,), parts)
        return made

    def _constructor(cls, names, frozen, kw_only):
        """``__new__`` with the fields as its parameters. A frozen object gets its values while its class is
        one that does not guard them: so each takes a tenth of the time."""
        defaults = cls._defaults
        known = {"_new": object.__new__, "_open": cls}
        if frozen:
            open_ = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
            if "__slots__" in cls.__dict__:
                open_["__slots__"] = cls.__slots__
            known["_open"] = type(cls.__name__, cls.__bases__, open_)
        parameters, lines = ["cls", *(["*"] if kw_only else [])], []
        for name in names:
            known[f"_default_{name}"] = default = defaults.get(name)
            parameters.append(f"{name}=_default_{name}" if name in defaults else name)
            given = name
            if isinstance(default, _Made):
                given = f"_default_{name}.factory() if {name} is _default_{name} else {name}"
            lines.append(f" self.{name} = {given}")
        lines.insert(0, f" self = _new({'_open' if frozen else 'cls'})")
        if frozen:
            lines.append(" self.__class__ = cls")
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        made = {}
        exec(f"def __new__({', '.join(parameters)}):\n" + "\n".join(lines) + "\n return self", known, made)
        made["__new__"].__qualname__ = f"{cls.__qualname__}.__new__"
        return made["__new__"]

    class _Fields:
        """The standard library's description of the fields, made when it is first asked for."""

        def __init__(self, frozen, kw_only):
            self._how = {"frozen": frozen, "kw_only": kw_only}

        def __get__(self, instance, cls):
            import dataclasses

            kinds = {}
            for each in reversed(cls.__mro__):
                if field_names(each):
                    kinds |= each.__annotations__
            described = []
            for name in cls._field_names:
                default = cls._defaults.get(name, dataclasses.MISSING)
                if default is _LATER:
                    known = dataclasses.field(init=False)
                elif isinstance(default, _Made):
                    known = dataclasses.field(default_factory=default.factory)
                else:
                    known = dataclasses.field(default=default)
                described.append((name, kinds[name], known))
            made = dataclasses.make_dataclass(cls.__name__, described, **self._how)
            cls.__dataclass_fields__ = made.__dataclass_fields__
            cls.__dataclass_params__ = made.__dataclass_params__
            return cls.__dataclass_fields__
