"""Classes of ``data_classes`` are used like the standard library's."""

import copy
import dataclasses
import inspect
import pickle

import pytest
from cyclelens.analyzer.common import data_classes
from cyclelens.analyzer.common.data_classes import dataclass, field, field_names, replace
from cyclelens.analyzer.model.options import ModelOptions


@dataclass(frozen=True, slots=True)
class Quick:
    """Fields with and without defaults."""

    first: int
    second: str = "b"
    third: dict[str, int] = field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """The same, made by the standard library."""

    first: int
    second: str = "b"
    third: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    first: int = 1
    second: int


@dataclass(frozen=True)
class Open:
    first: int

    @property
    def twice(self) -> int:
        return 2 * self.first


def shown(value: object) -> str:
    return repr(value).replace("Standard", "Quick")


def test_the_module_is_not_the_standard_library() -> None:
    assert data_classes.dataclass is not dataclasses.dataclass
    assert data_classes.replace is not dataclasses.replace


@pytest.mark.parametrize("arguments", [(1,), (1, "x"), (1, "x", {"y": 2})])
def test_objects_are_made_shown_and_compared_alike(arguments: tuple[object, ...]) -> None:
    quick, standard = Quick(*arguments), Standard(*arguments)  # type: ignore[arg-type]
    assert repr(quick) == shown(standard)
    assert quick == Quick(*arguments)  # type: ignore[arg-type]
    assert quick != standard
    assert quick != Quick(2)
    assert dataclasses.asdict(quick) == dataclasses.asdict(standard)


@pytest.mark.parametrize(
    ("arguments", "named"), [((), {}), ((1, 2, 3, 4), {}), ((1,), {"fourth": 1}), ((1,), {"first": 1})]
)
def test_what_the_standard_library_refuses_is_refused(
    arguments: tuple[int, ...], named: dict[str, int]
) -> None:
    for kind in (Quick, Standard):
        with pytest.raises(TypeError):
            kind(*arguments, **named)  # type: ignore[arg-type]


def test_fields_with_names_only() -> None:
    assert Named(second=2) == Named(first=1, second=2)
    with pytest.raises(TypeError):
        Named(1, 2)  # type: ignore[misc]


def test_a_default_is_made_for_every_object() -> None:
    assert Quick(1).third is not Quick(1).third


def test_objects_are_hashed_by_content() -> None:
    assert len({ModelOptions(), ModelOptions(), ModelOptions(lsd_unrolling=False)}) == 2
    with pytest.raises(TypeError):
        hash(Quick(1))


def test_objects_do_not_change() -> None:
    for value in (Quick(1), Open(1)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.first = 2  # type: ignore[misc]
        with pytest.raises(dataclasses.FrozenInstanceError):
            del value.first
        assert value.first == 1


def test_objects_with_slots_hold_nothing_else() -> None:
    assert not hasattr(Quick(1), "__dict__")
    assert vars(Open(1)) == {"first": 1}
    assert Open(2).twice == 4


@pytest.mark.parametrize("change", [replace, dataclasses.replace])
def test_another_object_with_other_values(change: object) -> None:
    assert callable(change)
    assert change(Quick(1, "x"), first=2) == Quick(2, "x")
    assert change(Named(second=2), second=3) == Named(second=3)
    with pytest.raises(TypeError):
        change(Quick(1), fourth=1)


def test_the_standard_library_knows_the_fields() -> None:
    described = [(each.name, each.default, each.kw_only) for each in dataclasses.fields(Quick)]
    assert described == [(each.name, each.default, each.kw_only) for each in dataclasses.fields(Standard)]
    assert all(each.kw_only for each in dataclasses.fields(Named))
    assert dataclasses.is_dataclass(Quick(1))
    assert field_names(Quick(1)) == field_names(Quick) == ("first", "second", "third")
    assert field_names(1) == ()


def test_objects_are_copied_and_sent() -> None:
    value = Quick(1, "x", {"y": 2})
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    assert copy.deepcopy(value).third is not value.third


def test_patterns_take_the_fields_in_their_order() -> None:
    match Quick(1, "x"):
        case Quick(first, second):
            assert (first, second) == (1, "x")
    assert Named.__match_args__ == ()


def test_the_constructor_says_its_parameters_once_it_was_called_often() -> None:
    assert [Quick(1) for _ in range(20)] == [Quick(1)] * 20
    assert list(inspect.signature(Quick).parameters) == ["first", "second", "third"]


@dataclass(slots=True)
class Changing:
    """One that changes, with a field that others fill in."""

    first: int
    second: list[int] = field(default_factory=list)
    third: str = field(init=False)


@dataclass(slots=True)
class Derived(Changing):
    fourth: int = 4


@dataclass(slots=True, eq=False)
class Itself:
    first: int


def test_objects_that_change() -> None:
    for value in (Changing(1), *[Changing(1) for _ in range(20)]):
        value.first, value.third = 2, "c"
        assert (value.first, value.second, value.third) == (2, [], "c")
        assert not hasattr(value, "__dict__")
        with pytest.raises(TypeError):
            hash(value)
        same = Changing(2)
        same.third = "c"
        assert value == same


def test_a_derived_class_has_the_fields_of_both() -> None:
    for value in (Derived(1, [2], 3), *[Derived(1, [2], 3) for _ in range(20)]):
        value.third = "c"
        assert repr(value) == "Derived(first=1, second=[2], third='c', fourth=3)"
        assert not hasattr(value, "__dict__")
    assert Derived(1).fourth == 4
    assert [(each.name, each.init) for each in dataclasses.fields(Derived)] == [
        ("first", True),
        ("second", True),
        ("third", False),
        ("fourth", True),
    ]
    with pytest.raises(TypeError):
        Derived(1, third="c")  # type: ignore[call-arg]


def test_objects_that_equal_only_themselves() -> None:
    value = Itself(1)
    assert value == value != Itself(1)
    assert len({value, Itself(1)}) == 2
    assert replace(value, first=2).first == 2
