"""Fills the files for stores and registries (dev/stores) with what a release fixes.

Every word between two @ is a value: the version and texts of pyproject.toml, the checksum of the source
distribution, and the two things that only a maintainer knows.

    python dev/fill_stores.py --sdist dist/cyclelens-0.1.0.tar.gz --output dist/stores \\
        --repository URL --maintainer NAME
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEMPLATES = ROOT / "dev" / "stores"
SKIPPED = frozenset({"check", "package.json", "package-lock.json", "node_modules"})
"""What is beside the templates: the check of filled files, and its tools."""
_VALUE = re.compile(r"@([A-Z0-9_]+)@")


class Unfilled(Exception):
    """A template asks for a value that does not exist."""


def values(project: Mapping[str, object], build: list[str], sdist: Path) -> dict[str, str]:
    """The values of a release. ``project`` and ``build`` are [project] and the build requirements of
    pyproject.toml; ``sdist`` is the source distribution, whose name must have the version."""
    version = str(project["version"])
    if sdist.name != f"cyclelens-{version}.tar.gz":
        raise Unfilled(f"{sdist.name} is not the source distribution of version {version}")
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)
    return {
        "VERSION": version,
        "SUMMARY": str(project["description"]),
        "SHA256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        "BUILD_REQUIREMENTS": _listed(build),
        "RUN_REQUIREMENTS": _listed([each for each in dependencies if ";" not in each]),
    }


def _listed(requirements: list[str]) -> str:
    """Requirements of pip, without markers, as a list of conda's: ``msgspec >=0.20,<1``."""
    found = []
    for each in requirements:
        match = re.fullmatch(r"([\w.-]+)(.*)", each.replace(" ", ""))
        assert match is not None
        found.append(f"    - {f'{match[1]} {match[2]}'.strip()}")
    return "\n".join(found)


def filled(text: str, known: Mapping[str, str]) -> str:
    """The text with its values. Raises Unfilled if one is not known."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise Unfilled(f"there is no value for {match[0]}")
        return known[match[1]]

    return _VALUE.sub(value, text)


def fill(output: Path, known: Mapping[str, str], root: Path = ROOT) -> list[Path]:
    """Writes every filled file below ``output``, with the licence for Zed; returns their paths."""
    made = []
    for template in sorted((root / "dev" / "stores").rglob("*")):
        place = template.relative_to(root / "dev" / "stores")
        if template.is_file() and place.parts[0] not in SKIPPED:
            made.append(output / place)
            made[-1].parent.mkdir(parents=True, exist_ok=True)
            made[-1].write_text(filled(template.read_text("utf-8"), known), "utf-8")
    made.append(output / "zed" / "LICENSE")
    made[-1].write_text((root / "LICENSE").read_text("utf-8"), "utf-8")
    return made


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sdist", type=Path, required=True, help="the source distribution of the release")
    parser.add_argument("--repository", required=True, metavar="URL", help="address of the project")
    parser.add_argument(
        "--maintainer", required=True, metavar="NAME", help="who maintains the recipe of conda-forge"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args(arguments)
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    try:
        known = values(metadata["project"], metadata["build-system"]["requires"], options.sdist)
        known |= {"REPOSITORY": options.repository.rstrip("/"), "MAINTAINER": options.maintainer}
        made = fill(options.output, known)
    except Unfilled as error:
        sys.exit(str(error))
    print(f"{len(made)} files in {options.output}")


if __name__ == "__main__":
    main(sys.argv[1:])
