"""Settings from the client are resolved; wrong ones are reported and replaced by their defaults."""

from __future__ import annotations

from typing import Any

import pytest
from cyclelens.analyzer.hints import registry as hint_kinds
from cyclelens.analyzer.microarchitectures import processors, registry
from cyclelens.analyzer.microarchitectures.processors import Processor
from cyclelens.server.settings import DEFAULTS, SETTINGS, resolve

KNOWN = ("HSW", "SKL", "ICL")


@pytest.mark.parametrize("nothing", [None, {}, [], "text", 3])
def test_nothing_sent_means_the_defaults_without_a_word(nothing: object) -> None:
    assert resolve(nothing, KNOWN) == (DEFAULTS, ())


@pytest.mark.parametrize(
    "sent",
    [
        {"microarchitectures": ["hsw", "SKL"], "hints": {"ports": False}},
        {"microarchitectures": "HSW, SKL", "hints.ports": False},
        {"microarchitectures": ["HSW", "SKL", "HSW"], "hints": {"ports": False, "region": None}},
    ],
)
def test_names_are_normalised_and_nesting_may_be_dotted(sent: Any) -> None:
    settings, messages = resolve(sent, KNOWN)
    assert messages == ()
    assert settings["microarchitectures"] == ("HSW", "SKL")
    assert "ports" not in settings.hint_kinds
    assert "region" in settings.hint_kinds


def test_native_is_this_machines_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Processor("GenuineIntel", 6, 94, 3, "Core i7-6700")
    monkeypatch.setattr(processors, "this_processor", lambda: machine)
    settings, messages = resolve({"microarchitectures": ["ICL", "Native", "SKL"]}, KNOWN)
    assert (settings["microarchitectures"], messages) == (("ICL", "SKL"), ())


def test_a_machine_without_a_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Processor("GenuineIntel", 6, 102, 3, "Core i3-8121U")
    monkeypatch.setattr(processors, "this_processor", lambda: machine)
    monkeypatch.delenv(registry.DEFAULT_ARCH)
    settings, messages = resolve({"microarchitectures": ["native"]}, KNOWN)
    assert settings == DEFAULTS
    assert messages == (
        "Setting cyclelens.microarchitectures: This machine's processor is not simulated: "
        "Core i3-8121U, Cannon Lake. The default, SKL, is used.",
    )


@pytest.mark.parametrize("sent", [None, {"microarchitectures": ["native"]}])
def test_without_a_choice_the_core_is_that_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, sent: Any
) -> None:
    machine = Processor("AuthenticAMD", 0x19, 0x21, 0, "Ryzen 9 5950X")
    monkeypatch.setattr(processors, "this_processor", lambda: machine)
    monkeypatch.delenv(registry.DEFAULT_ARCH)
    settings, messages = resolve(sent, KNOWN)
    assert (settings.cores, settings.options.target.by_default, messages) == (("ZEN3",), "this machine", ())
    assert settings.within({"microarchitectures": ("HSW",)}).cores == ("HSW",), "a project's file wins"


def test_the_environment_names_another_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(registry.DEFAULT_ARCH, "hsw,ICL")
    assert resolve(None, KNOWN)[0].cores == ("HSW", "ICL")
    monkeypatch.setenv(registry.DEFAULT_ARCH, "Z80")
    settings, (message,) = resolve(None, KNOWN)
    assert message.startswith("CYCLELENS_ARCH of the environment: unknown microarchitecture 'Z80'")
    assert settings.cores == ("SKL",)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("microarchitectures", ["SKL", "Z80"], "'Z80' is not a known microarchitecture; known are HSW, SKL"),
        ("microarchitectures", [], "not a list of microarchitecture names"),
        ("microarchitectures", [1], "not a list of microarchitecture names"),
        ("syntax", "nasm", "'nasm' is not one of auto, att, intel"),
        ("mode", 1, "not one of auto, loop, unroll"),
        ("alignment", 64, "not a whole number from 0 to 63"),
        ("alignment", True, "not a whole number"),
        ("debounceMs", -1, "not a whole number from 0 to 5000"),
        ("timeoutMs", "10 s", "not a whole number from 100 to 600000"),
        ("includePaths", "include", "not a list of strings"),
        ("includePaths", ["a\ud800"], "not a list of strings of whole characters"),
        ("profile", "\udfff.txt", "not a string of whole characters"),
        ("machineFile", "a\0b", "not a string without NUL characters"),
        ("hints.enabled", "yes", "neither true nor false"),
    ],
)
def test_a_bad_value_gives_one_message_and_the_default(name: str, value: object, says: str) -> None:
    settings, messages = resolve({name: value}, KNOWN)
    assert settings == DEFAULTS
    (message,) = messages
    assert f"cyclelens.{name}" in message
    assert says in message
    assert "default" in message


def test_one_bad_value_does_not_spoil_the_others() -> None:
    settings, messages = resolve({"syntax": "nasm", "alignment": 16.0}, KNOWN)
    assert len(messages) == 1
    assert settings["alignment"] == 16


def test_a_name_that_does_not_exist_is_pointed_out_unless_it_is_the_editors_own() -> None:
    assert resolve({"server": {"path": "x"}, "trace": {"server": "off"}}, KNOWN) == (DEFAULTS, ())
    _, messages = resolve({"microarchitecture": "SKL"}, KNOWN)
    assert messages == ("Setting cyclelens.microarchitecture does not exist; it is ignored.",)


def test_every_default_passes_its_own_check() -> None:
    assert resolve({setting.name: setting.default for setting in SETTINGS}, KNOWN) == (DEFAULTS, ())


def test_every_kind_of_hint_has_a_switch() -> None:
    assert set(DEFAULTS.hint_kinds) == {kind.name for kind in hint_kinds.KINDS}
    off, _ = resolve({"hints": {"enabled": False}}, KNOWN)
    assert off.hint_kinds == ()


def test_settings_become_the_analyzers_options() -> None:
    settings, _ = resolve({"microarchitectures": ["ICL"], "mode": "loop", "syntax": "intel"}, KNOWN)
    options = settings.options
    assert (options.target.microarchitectures, options.target.mode, options.source.syntax) == (
        ("ICL",),
        "loop",
        "intel",
    )
