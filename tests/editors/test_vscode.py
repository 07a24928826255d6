"""The VS Code extension: its settings are the server's, and one command packs it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from cyclelens.server.features import commands

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
PACKAGE: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
LOCK = (EXTENSION / "package-lock.json").read_text(encoding="utf-8")


def generator() -> ModuleType:
    specification = importlib.util.spec_from_file_location("generate", EXTENSION / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_settings_are_the_servers_and_the_extensions_own() -> None:
    """If not: ``python editors/vscode/generate.py``."""
    assert PACKAGE["contributes"]["configuration"]["properties"] == generator().properties()


def test_a_folder_that_is_not_trusted_chooses_no_program_and_no_file() -> None:
    untrusted = PACKAGE["capabilities"]["untrustedWorkspaces"]
    assert untrusted["supported"] == "limited"
    assert set(untrusted["restrictedConfigurations"]) == {
        f"cyclelens.{name}"
        for name in (
            *("server.path", "allowExternalPrograms", "assembler"),
            *("includePaths", "defines", "preIncludes"),
        )
    }


def test_every_command_is_registered_and_none_clashes_with_the_servers() -> None:
    """The client registers the server's commands by itself; a second one of the name would fail."""
    contributed = {command["command"] for command in PACKAGE["contributes"]["commands"]}
    source = (EXTENSION / "src" / "extension.ts").read_text(encoding="utf-8")
    assert contributed == set(re.findall(r'\bcommand\(\s*"([\w.]+)"', source))
    ours = {value for name, value in vars(commands).items() if name.isupper() and isinstance(value, str)}
    assert contributed & ours == set()


def test_every_step_of_the_walkthrough_has_its_page_and_its_commands() -> None:
    contributed = {command["command"] for command in PACKAGE["contributes"]["commands"]}
    for walkthrough in PACKAGE["contributes"]["walkthroughs"]:
        for step in walkthrough["steps"]:
            assert (EXTENSION / step["media"]["markdown"]).is_file()
            assert set(re.findall(r"\(command:([\w.]+)\)", step["description"])) <= contributed


def test_the_types_are_those_of_the_oldest_editor_it_runs_in() -> None:
    assert PACKAGE["engines"]["vscode"] == "^" + PACKAGE["devDependencies"]["@types/vscode"]


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in LOCK
    assert "registry." not in LOCK


def test_panels_allow_no_network_and_no_scripts_but_their_own() -> None:
    source = (EXTENSION / "src" / "panel.ts").read_text(encoding="utf-8")
    (policy,) = re.findall(r"const policy = `(.*)`", source)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    style = (EXTENSION / "media" / "panel.css").read_text(encoding="utf-8")
    # Light and dark: every colour is the theme's.
    assert re.findall(r"#[0-9a-f]{3,6}\b|rgb|url\(", style) == []
