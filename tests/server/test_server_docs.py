"""The documentation says what the code does."""

from __future__ import annotations

from pathlib import Path

from cyclelens.server import extensions
from cyclelens.server.app import create_server
from cyclelens.server.settings import SETTINGS, Setting

TEXT = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def row(setting: Setting) -> str:
    """The line of the documentation's table."""
    kind = {
        "choice": " or ".join(f"`{choice}`" for choice in setting.choices),
        "integer": f"{setting.minimum} to {setting.maximum}",
        "boolean": "true or false",
        "names": "list of names",
    }[setting.type]
    default = setting.default
    if isinstance(default, tuple):
        default = "[" + ", ".join(f'"{name}"' for name in default) + "]"
    elif isinstance(default, bool):
        default = str(default).lower()
    return f"| `{setting.name}` | {kind} | `{default}` | {setting.doc} |"


def test_the_table_of_settings_is_the_list_of_settings() -> None:
    table = TEXT.split("|---|---|---|---|\n")[1].split("\n<!-- end of settings")[0]
    assert table.splitlines() == [row(setting) for setting in SETTINGS]


def test_every_request_of_our_own_is_described() -> None:
    for name in (extensions.ANALYSIS, extensions.TIMELINE):
        assert f"`{name}`" in TEXT


def test_every_registered_method_that_shows_something_is_described() -> None:
    silent = ("initialize", "initialized", "shutdown", "exit")
    features = create_server().protocol.fm.features
    for method in features:
        if method not in silent and not method.startswith(("textDocument/did", "workspace/did")):
            assert f"`{method}`" in TEXT
