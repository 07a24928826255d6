"""Everything that the documents name exists, and everything that the code cites is documented."""

import re
import subprocess
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import COMMANDS
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.values import confidence

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
] + sorted((ROOT / "docs").rglob("*.md"))
LABEL = r"[A-Z]{1,2}\d+[a-z]?"
LABELS = rf"{LABEL}(?:(?:, | to | and ){LABEL})*"
CITED = re.compile(rf"\brules? {LABELS}|(?<![A-Z0-9_\"'] )\({LABELS}[;)]|\"{LABELS}: ")
"""As rules, in parentheses (but for operands behind a mnemonic), or at the beginning of a text."""


def headings(document: Path) -> set[str]:
    """Anchors of headings: lower case, dashes for spaces, without punctuation."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", document.read_text()):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (document.parent / name).resolve() if name else document
        assert file.exists(), target
        assert not anchor or anchor in headings(file), target


def test_commits_that_are_named_as_examples_exist() -> None:
    named = re.findall(r"`([0-9a-f]{7})` \|$", (ROOT / "docs/extending.md").read_text(), re.M)
    assert len(named) == 10
    unknown = [commit for commit in named if not _is_in_history(commit)]
    if len(unknown) == len(named):
        pytest.skip("the history is not here")
    assert unknown == []


def _is_in_history(commit: str) -> bool:
    command = ["git", "-C", str(ROOT), "merge-base", "--is-ancestor", commit, "HEAD"]
    return subprocess.run(command, capture_output=True).returncode == 0


def documented_rules() -> list[str]:
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("pipeline.md", "zen5.md"))
    return re.findall(rf"^- \*\*({LABEL})\*\*", pages, re.M)


def test_every_rule_is_documented_once() -> None:
    rules = documented_rules()
    assert len(rules) == len(set(rules)) > 100


def test_cited_rules_are_documented() -> None:
    known = set(documented_rules())
    unknown = []
    for top in ("analyzer", "server", "tests"):
        for file in (ROOT / top).rglob("*.py"):
            for match in CITED.finditer(file.read_text()):
                unknown += [
                    f"{file.name}: {label}" for label in re.findall(LABEL, match[0]) if label not in known
                ]
    assert unknown == []


def test_folders_that_hold_the_invariants_exist() -> None:
    named = set(re.findall(r"`(tests/\w+)`", (ROOT / "ARCHITECTURE.md").read_text()))
    assert [name for name in sorted(named) if not list((ROOT / name).glob("test_*.py"))] == []


def test_the_page_of_processors_names_every_microarchitecture() -> None:
    page = (ROOT / "docs/processors.md").read_text()
    rows = re.findall(r"^\| `([A-Z0-9+]+)` \| (.+?) \|", page, re.M)
    assert tuple(name for name, _ in rows) == registry.names()
    approximate = [name for name, title in rows if "approximate" in title]
    assert approximate == [name for name in registry.names() if confidence(name)]
    assert f"[{len(rows)} processors](docs/processors.md)" in (ROOT / "README.md").read_text()


def test_the_readme_has_a_picture_and_the_two_commands() -> None:
    first_screen = (ROOT / "README.md").read_text().split("\n## ")[0]
    assert re.search(r"^!\[.+\]\(docs/images/[\w-]+\.png\)$", first_screen, re.M)
    assert re.search(r"^\./dev/analyze ", first_screen, re.M)
    assert re.search(r"^\./dev/test ", first_screen, re.M)


@pytest.mark.parametrize(
    "document",
    [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/extending.md",
        "docs/pipeline.md",
        "docs/reliability.md",
        "docs/zen5.md",
        "SECURITY.md",
        "data/SOURCES.md",
    ],
)
def test_modules_that_a_page_names_exist(document: str) -> None:
    named = set(re.findall(r"`([\w/-]+\.py)`", (ROOT / document).read_text()))
    tops = ("analyzer", "server", "tests", "dev", "benchmarks")
    files = [file.relative_to(ROOT).as_posix() for top in tops for file in (ROOT / top).rglob("*.py")]
    assert [
        name for name in sorted(named) if not any(f"/{file}".endswith(f"/{name}") for file in files)
    ] == []


@pytest.mark.parametrize("document", ["README.md", "docs/commands.md"])
def test_commands_in_the_readme_exist(document: str) -> None:
    named = set(re.findall(r"^cyclelens ([a-z-]+)", (ROOT / document).read_text(), re.M))
    assert named >= {"analyze", "predict", "lsp", "data"}
    plugins = {entry.name for entry in entry_points(group="cyclelens.commands")}
    assert named <= {*COMMANDS, *plugins}


def test_files_in_the_readme_exist() -> None:
    named = re.findall(r"(?:examples|docs|dev)/[\w./-]+\w", (ROOT / "README.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
