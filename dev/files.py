"""Lists the modules with the first sentence of each docstring: ``python dev/files.py [FOLDER ...]``."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def first_sentence(file: Path) -> str:
    """The first sentence of a module's docstring, or of the comment at the head of a file of the core, on one
    line; empty if there is none."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".pxi":
        text = text.split("\n\n")[0].replace("# ", "").replace("#\n", "\n")
    else:
        text = ast.get_docstring(ast.parse(text)) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.!?]) (?=[A-Z`])", paragraph)[0]


def main(folders: list[str]) -> None:
    """Print a line per module below these folders of the project."""
    files = [
        file
        for folder in folders
        for file in sorted((ROOT / folder).rglob("*.p*"))
        if file.suffix in (".py", ".pxi")
    ]
    names = [file.relative_to(ROOT).as_posix() for file in files]
    width = max(map(len, names), default=0)
    for name, file in zip(names, files, strict=True):
        print(f"{name:{width}}  {first_sentence(file)}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["analyzer", "server"])
