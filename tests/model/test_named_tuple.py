"""Named tuples that are quick to define, against those of the standard library."""

from __future__ import annotations

import pickle
import typing
from typing import Any

import pytest
from cyclelens.analyzer.common.named_tuple import NamedTuple


class Quick(NamedTuple):
    """With a method and a default."""

    first: int
    second: tuple[int, ...] = ()
    """A field's text."""

    def total(self) -> int:
        return self.first + sum(self.second)


class Usual(typing.NamedTuple):
    """With a method and a default."""

    first: int
    second: tuple[int, ...] = ()

    def total(self) -> int:
        return self.first + sum(self.second)


@pytest.mark.parametrize("kind", [Quick, Usual])
def test_a_class_is_what_the_standard_library_makes(kind: Any) -> None:
    value = kind(1, second=(2, 3))
    assert kind(1) == (1, ())
    assert value == (1, (2, 3))
    assert value.total() == 6
    assert value._replace(first=5).total() == 10
    assert repr(value) == f"{kind.__name__}(first=1, second=(2, 3))"
    assert pickle.loads(pickle.dumps(value)) == value
    assert type(pickle.loads(pickle.dumps(value))) is kind
    assert kind._fields == ("first", "second")
    assert kind._field_defaults == {"second": ()}
    assert kind.__doc__ == "With a method and a default."
    assert (kind.__module__, kind.__qualname__) == (__name__, kind.__name__)
    with pytest.raises(AttributeError):
        value.third = 1
    with pytest.raises(TypeError):
        kind(1, (), 3)


def test_annotations_are_not_compiled() -> None:
    assert Quick.__annotations__ == {"first": "int", "second": "tuple[int, ...]"}
