"""Checks whether a tag may become a release, and says in which channel the extension is published.

pyproject.toml and the extension must name the same version, and the changelog must have a chapter on it.
Stores of extensions have no versions such as 1.2.0-rc1, so an odd second number stands for a pre-release, as
VS Code's documentation recommends.

    python3 dev/release_version.py v0.1.0
    python3 dev/release_version.py --channel
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def objections(tag: str, root: Path = ROOT) -> list[str]:
    """Reasons why this tag cannot be a release of the tree at ``root``; empty if it can."""
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    extension = json.loads((root / "editors/vscode/package.json").read_text("utf-8"))["version"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, the version in pyproject.toml {version}")
    if extension != version:
        found.append(
            f"the version in editors/vscode/package.json is {extension}, in pyproject.toml {version}"
        )
    if f"\n## {version}" not in (root / "CHANGELOG.md").read_text("utf-8"):
        found.append(f"CHANGELOG.md has no chapter ## {version}")
    return found


def channel(version: str) -> str:
    """``pre-release`` if the second number of the version is odd, otherwise ``release``."""
    return "pre-release" if int(version.split(".")[1]) % 2 else "release"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--channel":
        print(channel(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]))
        sys.exit()
    problems = objections(sys.argv[1])
    if problems:
        sys.exit("\n".join(problems))
