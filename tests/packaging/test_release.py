"""The requirements of a release: its tag, its workflows, its locked versions."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import release_version
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of version 1.2.3, ready for its release."""
    (tmp_path / "editors/vscode").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "editors/vscode/package.json").write_text(json.dumps({"version": "1.2.3"}))
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n")
    return tmp_path


def test_the_tag_of_the_version_is_released(tree: Path) -> None:
    assert release_version.objections("v1.2.3", tree) == []


@pytest.mark.parametrize("tag", ["v1.2.4", "1.2.3", "v1.2.3-rc1"])
def test_another_tag_is_not(tree: Path, tag: str) -> None:
    (objection,) = release_version.objections(tag, tree)
    assert tag in objection
    assert "1.2.3" in objection


def test_extension_and_changelog_belong_to_the_release(tree: Path) -> None:
    (tree / "editors/vscode/package.json").write_text(json.dumps({"version": "1.2.2"}))
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    objections = " ".join(release_version.objections("v1.2.3", tree))
    assert "package.json" in objections
    assert "CHANGELOG.md" in objections


def test_an_odd_second_number_is_a_pre_release() -> None:
    assert [release_version.channel(each) for each in ("0.1.0", "0.2.3", "1.10.0", "1.11.1")] == [
        "pre-release",
        "release",
        "release",
        "pre-release",
    ]


def test_the_extension_has_the_version_of_the_server() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert json.loads((ROOT / "editors/vscode/package.json").read_text())["version"] == project["version"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash(workflow: Path) -> None:
    """The owner of an action can move a tag to other code."""
    used = re.findall(r"uses: (\S+)", workflow.read_text())
    assert used
    assert [one for one in used if not re.search(r"@[0-9a-f]{40}$|^\./", one)] == []


@pytest.mark.parametrize(("token", "tool"), [("VSCE_PAT", "vsce"), ("OVSX_PAT", "ovsx")])
def test_the_extension_goes_to_a_store_only_with_its_token_and_a_tag(token: str, tool: str) -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    job = jobs["extension-stores"]
    assert (job["needs"], job["if"]) == ("attest", "github.ref_type == 'tag'")
    assert job["env"][token] == f"${{{{ secrets.{token} }}}}"
    (step,) = (each for each in job["steps"] if f"{tool} publish" in each.get("run", ""))
    assert step["if"] == f"env.{token} != ''"
    # The tool is one of those that are locked.
    assert f'"{tool}"' in (ROOT / "dev/stores/package.json").read_text().replace("@vscode/", "")
    # Its name of the token is the one on the page for maintainers.
    assert f"`{token}`" in (ROOT / "docs/releasing.md").read_text()


def test_every_direct_package_of_development_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [
        *project["dependencies"],
        *(each for name in ("test", "dev", "plots") for each in extras[name]),
    ]
    names = {re.split(r"[\[<>=;~! ]", each, maxsplit=1)[0].lower() for each in asked}
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "dev/locks/development.txt").read_text(), re.MULTILINE))
    assert names - locked == set()


@pytest.mark.parametrize("name", ["release", "stores"])
def test_the_tools_of_a_release_are_locked_by_hash(name: str) -> None:
    lines = (ROOT / f"dev/locks/{name}.txt").read_text()
    pins = re.findall(r"^[\w.-]+==.*$", lines, re.MULTILINE)
    assert pins
    assert [pin for pin in pins if not pin.endswith("\\")] == []
