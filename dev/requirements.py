"""Prints the packages that the project needs, one per line: ``python dev/requirements.py [EXTRA,...]``.

Those of the build come with them, because the commands in this folder build without isolation."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main(extras: str) -> None:
    """Print the requirements in the form that pip reads."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    needed = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in filter(None, extras.split(",")):
        needed += project["project"]["optional-dependencies"][extra]
    print("\n".join(needed))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
