"""The VS Code extension has the server's settings, and one command packs it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cyclelens.server.features import commands, semantic_tokens

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
            *("includePaths", "defines", "preIncludes", "profile", "machineFile"),
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


def test_every_choice_of_a_setting_says_what_it_means() -> None:
    for name, setting in PACKAGE["contributes"]["configuration"]["properties"].items():
        choices = setting.get("enum", setting.get("items", {}).get("enum", []))
        meanings = setting.get("enumDescriptions", setting.get("items", {}).get("enumDescriptions", []))
        assert len(choices) == len(meanings), name


def test_the_settings_stand_in_the_order_of_the_list() -> None:
    properties = PACKAGE["contributes"]["configuration"]["properties"].values()
    assert [setting["order"] for setting in properties] == list(range(len(properties)))


def test_commands_about_assembly_are_there_only_where_assembly_is() -> None:
    contributes = PACKAGE["contributes"]
    enabled = {command["command"] for command in contributes["commands"] if "enablement" in command}
    offered = {
        entry["command"] for entry in contributes["menus"]["commandPalette"] if entry["when"] != "false"
    }
    assert enabled == offered
    everywhere = {command["command"] for command in contributes["commands"]} - enabled
    assert everywhere == {
        f"cyclelens.{name}"
        for name in (
            *("chooseMicroarchitecture", "openExample", "installServer"),
            *("restart", "showLog", "explain"),
        )
    }
    for key in contributes["keybindings"]:
        assert key["command"] in enabled
        assert "editorTextFocus" in key["when"] or key["when"] == "resourceScheme == cyclelens-rewrite"


def test_a_rewrite_has_its_buttons_in_the_title_bar_and_keys() -> None:
    contributes = PACKAGE["contributes"]
    commands = {"cyclelens.applyRewrite", "cyclelens.discardRewrite"}
    for shown in (contributes["menus"]["editor/title"], contributes["keybindings"]):
        found = {
            entry["command"] for entry in shown if entry["when"] == "resourceScheme == cyclelens-rewrite"
        }
        assert found == commands


@pytest.mark.parametrize(
    ("language", "extensions", "comment"),
    [("asm", {".s", ".S"}, "#"), ("nasm", {".asm", ".nasm", ".inc"}, ";")],
)
def test_assembly_has_its_language_and_colours_without_a_server(
    language: str, extensions: set[str], comment: str
) -> None:
    contributes = PACKAGE["contributes"]
    (entry,) = (each for each in contributes["languages"] if each["id"] == language)
    assert set(entry["extensions"]) == extensions
    configuration = json.loads((EXTENSION / entry["configuration"]).read_text(encoding="utf-8"))
    assert configuration["comments"]["lineComment"] == comment
    (grammar,) = (each for each in contributes["grammars"] if each["language"] == language)
    rules = json.loads((EXTENSION / grammar["path"]).read_text(encoding="utf-8"))
    assert rules["scopeName"] == grammar["scopeName"]

    def scopes(line: str) -> dict[str, str]:
        """Scope -> the first text that it colours, for each rule by itself."""
        found = {}
        for rule in rules["repository"]["line"]["patterns"]:
            match = re.search(rule.get("match", rule.get("begin")).replace("(?i)", ""), line, re.IGNORECASE)
            if match and "captures" in rule:
                found[rule["captures"]["1"]["name"]] = match[1]
            elif match:
                found[rule["name"]] = match[0]
        return found

    line = "loop: vaddps ymm0, ymm1, [rdi + 0x40] " + comment + " add"
    seen = scopes(line)
    assert seen["entity.name.function"] == "loop"
    assert seen["keyword.mnemonic"] == "vaddps"
    assert seen["variable.language"] == "ymm0"
    assert seen["constant.numeric"] == "0x40"
    assert seen["comment.line"] == f"{comment} add"


def test_words_keep_their_colours_when_the_server_answers() -> None:
    """Each kind of word has the scope that the grammar gives it before."""
    kinds = set(semantic_tokens.LEGEND.token_types) - {"enumMember"}  # no grammar knows the symbols
    for entry in PACKAGE["contributes"]["semanticTokenScopes"]:
        (grammar,) = (
            each for each in PACKAGE["contributes"]["grammars"] if each["language"] == entry["language"]
        )
        text = (EXTENSION / grammar["path"]).read_text(encoding="utf-8")
        assert entry["scopes"].keys() == kinds
        for (scope,) in entry["scopes"].values():
            assert f'"{scope}"' in text


def test_the_pages_of_the_extension_show_what_is_there() -> None:
    text = (EXTENSION / "README.md").read_text(encoding="utf-8")
    images = re.findall(r"!\[[^]]+\]\(images/([\w.-]+)\)", text)
    assert images
    assert all((ROOT / "docs" / "images" / name).is_file() for name in images)
    titles = {command["title"] for command in PACKAGE["contributes"]["commands"]}
    keys = {key["command"]: key["key"] for key in PACKAGE["contributes"]["keybindings"]}
    named = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.MULTILINE))
    assert set(named.values()) <= titles
    assert {f"alt+c {letter.lower()}" for letter in named} == set(keys.values())
    icon = (EXTENSION / PACKAGE["icon"]).read_bytes()
    assert icon[:8] == b"\x89PNG\r\n\x1a\n"
    assert icon[16:24] == bytes([0, 0, 0, 128]) * 2


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
