"""Every value of a core has a source, which decides the confidence that users see."""

from __future__ import annotations

import re
import textwrap
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from cyclelens.analyzer import microarchitectures
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures import values as values_module
from cyclelens.analyzer.microarchitectures.picture import picture
from cyclelens.analyzer.microarchitectures.values import confidence, values
from cyclelens.analyzer.model.microarchitecture import derived
from cyclelens.analyzer.model.provenance import NO_SOURCES, UNRECORDED, Certainty, Source, Sources
from msgspec.structs import replace

SKL = registry.get("SKL")
GUIDE = Source(Certainty.PUBLISHED, "guide", "A guide")
GUESS = Source(Certainty.ASSUMED, "guess", "A guess")
NOT_HERE = Source(Certainty.UNUSED, "another's", "Another maker's rule")
AS_BEFORE = Source(Certainty.INFERRED, "as before", "As on the core before")


def families() -> list[str]:
    """The files of cores."""
    package = microarchitectures
    names = [f"{package.__name__}.{each.name}" for each in iter_modules(package.__path__)]
    return [name for name in names if hasattr(import_module(name), "MODELS")]


# -- the files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registry.names())
def test_every_value_has_a_source(name: str) -> None:
    assert [value.name for value in values(registry.get(name)) if value.source is UNRECORDED] == []


@pytest.mark.parametrize("name", registry.names())
def test_sources_are_of_values_that_there_are(name: str) -> None:
    """A name in a core's sources is a value, or one above values."""
    core = registry.get(name)
    known = {value.name for value in values(core)} | set(core.__struct_fields__)
    above = {value.rpartition(".")[0] for value in known}
    assert set(core.sources) - known - above == set()


@pytest.mark.parametrize("name", registry.names())
def test_every_core_says_in_which_products_it_is(name: str) -> None:
    assert registry.get(name).products


@pytest.mark.parametrize("family", families())
def test_a_picture_of_the_machine_heads_the_file(family: str) -> None:
    """As ``cyclelens arch show`` draws it; of at least one core, and of no core another one."""
    module = import_module(family)
    text = module.__doc__ or ""
    drawn = [core for core in module.MODELS if f"    {core.name}: {core.title}\n" in text]
    assert drawn
    for core in drawn:
        expected = textwrap.indent(picture(core), "    ")
        assert expected in text, f"the picture in {family} should be:\n{expected}"


# -- the rules -----------------------------------------------------------------------------------------------


def test_the_most_particular_source_counts() -> None:
    sources = Sources(GUIDE, {GUESS: "units", AS_BEFORE: "units.0 macro_ops.wasted"})
    found = [sources.of(name) for name in ("idq_size", "units.1", "units.0", "macro_ops.wasted.fresh")]
    assert found == [GUIDE, GUESS, AS_BEFORE, AS_BEFORE]


def test_a_value_has_one_source() -> None:
    with pytest.raises(ValueError, match="'units' has two sources"):
        Sources(GUIDE, {GUESS: "units", AS_BEFORE: "idq_size units"})


def test_what_a_derived_core_changes_needs_a_source() -> None:
    with pytest.raises(ValueError, match="without a source: idq_size"):
        derived(SKL, name="NEW", idq_size=70)
    core = derived(SKL, name="NEW", idq_size=70, sources={GUESS: "idq_size"})
    assert (core.idq_size, core.sources.of("idq_size")) == (70, GUESS)
    assert core.sources.of("retire_width") is SKL.sources.of("retire_width")


def test_what_a_derived_core_inherits_is_less_certain_there() -> None:
    older = replace(SKL, sources=Sources(GUIDE, {GUESS: "idq_size", NOT_HERE: "lsd_unroll"}))
    newer = derived(older, inherited=AS_BEFORE, retire_width=8, sources={GUIDE: "retire_width"})
    found = [newer.sources.of(name) for name in ("retire_width", "decoders", "idq_size", "lsd_unroll")]
    assert found == [GUIDE, AS_BEFORE, GUESS, NOT_HERE]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (Sources(GUIDE), ""),
        (Sources(GUIDE, {GUESS: "idq_size", AS_BEFORE: "decoders"}), ""),
        (Sources(GUIDE, {GUESS: "load_buffer_size store_buffer_size integer_registers"}), ""),
        (Sources(NOT_HERE, {GUIDE: "units"}), ""),
        (Sources(AS_BEFORE, {NOT_HERE: "units"}), r"approximate: (\d+) inferred of the \1 values"),
        (Sources(GUIDE, {GUESS: "units idq_size"}), r"approximate: 9 assumed of the \d+ values"),
        (NO_SOURCES, r"approximate: (\d+) unrecorded of the \1 values"),
    ],
)
def test_confidence_follows_from_the_sources(
    sources: Sources, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than one in ten of the values that play a part, without the optional resources."""
    core = replace(SKL, sources=sources)
    monkeypatch.setattr(values_module.registry, "get", lambda name: core)
    text = confidence.__wrapped__("SKL")
    assert re.match(expected, text) if expected else not text


def test_confidence_of_the_cores() -> None:
    """Compared with a reference or measured: no reservation."""
    approximate = {name for name in registry.names() if confidence(name)}
    assert approximate >= {"ZEN", "ZEN+", "ZEN2"}
    assert not approximate & {"SNB", "HSW", "SKL", "CLX", "ICL", "RKL", "ZEN5"}


def test_a_picture_is_drawn_from_the_values() -> None:
    bigger = replace(SKL, idq_size=71, reorder_buffer_size=225, reservation_station_size=98)
    before, after = picture(SKL).splitlines(), picture(bigger).splitlines()
    assert len(before) == len(after)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert "uop queue 71" in changed[0]
    assert "reorder buffer 225" in changed[1]
    assert "scheduler 98" in changed[2]


def test_every_rule_of_later_cores_says_what_is_certain_of_family_17h() -> None:
    """The table of docs/zen5.md names each rule once; the cores themselves have none of these rules."""
    text = (Path(__file__).parents[2] / "docs/zen5.md").read_text(encoding="utf-8")
    defined = {int(label) for label in re.findall(r"^- \*\*M(\d+)\*\*", text, re.MULTILINE)}
    section = text.partition("### Zen 2, Zen+ and Zen\n")[2].partition("\n## ")[0]
    named: list[int] = []
    for cell in re.findall(r"^\| (M\d.*?) \|", section, re.MULTILINE):
        for part in cell.split(", "):
            first, _, last = part.replace("M", "").partition(" to ")
            named += range(int(first), int(last or first) + 1)
    assert defined and sorted(named) == sorted(defined)
    for name in ("ZEN", "ZEN+", "ZEN2"):
        core = registry.get(name)
        assert core.macro_ops is None
        assert "docs/zen5.md" in core.sources.of("policies.picker").text
