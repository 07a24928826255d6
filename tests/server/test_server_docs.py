"""The server's documentation agrees with the code."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from cyclelens.analyzer.compiling.analyzer import NOT_COMPILED
from cyclelens.analyzer.engine.files import NO_REGION
from cyclelens.analyzer.frontend.source.problems import CODES
from cyclelens.analyzer.insight import absence, hazards
from cyclelens.server.app import create_server
from cyclelens.server.display import documentation
from cyclelens.server.features import extensions
from cyclelens.server.features.diagnostics import NO_COST
from cyclelens.server.settings import SETTINGS, Setting

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")


def row(setting: Setting) -> str:
    """The line of the documentation's table."""
    kind = {
        "choice": " or ".join(f"`{choice}`" for choice in setting.choices),
        "integer": f"{setting.minimum} to {setting.maximum}",
        "boolean": "true or false",
        "names": "list of names",
        "text": "string",
        "texts": "list of strings",
    }[setting.type]
    default = setting.default
    if isinstance(default, tuple):
        default = "[" + ", ".join(f'"{name}"' for name in default) + "]"
    elif isinstance(default, bool) or default is None:
        default = "null" if default is None else str(default).lower()
    shown = f"`{default}`" if default != "" else "empty"
    return f"| `{setting.name}` | {kind} | {shown} | {setting.doc} |"


def test_the_table_of_settings_is_the_list_of_settings() -> None:
    table = TEXT.split("|---|---|---|---|\n")[1].split("\n<!-- end of settings")[0]
    assert table.splitlines() == [row(setting) for setting in SETTINGS]


def test_every_request_of_our_own_is_described() -> None:
    for name in (extensions.ANALYSIS, extensions.REGIONS, extensions.TIMELINE):
        assert f"`{name}`" in TEXT


def codes() -> set[str]:
    """Every code that can reach an editor: of the front end, of the hazards, of markers and settings."""
    found = set(CODES)
    for module in iter_modules(hazards.__path__):
        hazard = import_module(f"{hazards.__name__}.{module.name}")
        found |= getattr(hazard, "CODES", None) or {hazard.CODE}
    plans = (ROOT / "analyzer" / "engine" / "regions.py").read_text(encoding="utf-8")
    return (
        found
        | set(re.findall(r'\bproblem\(\s*"([a-z-]+)"', plans))
        | {"no-such-region", absence.CODE, NO_REGION, NO_COST, NOT_COMPILED}
    )


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "diagnostics").glob("*.md")} - {"README"}
    assert pages == codes()


def test_a_page_names_its_code_and_says_what_to_do() -> None:
    for code in codes():
        text = (ROOT / "docs" / "diagnostics" / f"{code}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {code}\n")
        assert "## What to do" in text


def test_the_list_has_the_first_sentence_of_every_page() -> None:
    expected = []
    for code in sorted(codes()):
        text = (ROOT / "docs" / "diagnostics" / f"{code}.md").read_text(encoding="utf-8")
        paragraph = " ".join(text.split("\n\n")[1].split())
        first = re.split(r"\.(?: |$)", paragraph)[0]
        expected.append(f"- [{code}]({code}.md): {first}")
    listed = (ROOT / "docs" / "diagnostics" / "README.md").read_text(encoding="utf-8")
    assert re.findall("^- .*", listed, re.M) == expected


def test_the_link_of_a_code_leads_to_its_page_here_or_where_the_pages_are_published() -> None:
    here = documentation.page("lcp-stall")
    assert here == (ROOT / "docs" / "diagnostics" / "lcp-stall.md").resolve().as_uri()
    assert documentation.page("lcp-stall", "https://example.org/d/") == "https://example.org/d/lcp-stall.md"
    assert documentation.page("no-such-code") is None
    assert documentation.page("no-such-code", "https://example.org") is None


def test_every_command_is_described() -> None:
    for command in create_server().protocol.fm.commands:
        assert f"`{command}`" in TEXT


def test_every_registered_method_that_shows_something_is_described() -> None:
    silent = ("initialize", "initialized", "shutdown", "exit")
    features = create_server().protocol.fm.features
    for method in features:
        if method not in silent and not method.startswith(("textDocument/did", "workspace/did")):
            assert f"`{method}`" in TEXT
