"""Adds pages to the site from outside docs/: the README and others of the project's root, and command help.

Links to files outside the site, such as sources, become plain text."""

import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md": "CODE_OF_CONDUCT.md",
    "THIRD-PARTY.md": "THIRD-PARTY.md",
    "data/SOURCES.md": "SOURCES.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Page of the site by path below the root."""
COMMANDS = [
    "analyze",
    "check",
    "compare",
    "whatif",
    "sweep",
    "predict",
    "measure",
    "characterize",
    "evaluate",
    "arch",
    "data",
    "lsp",
]
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/."""
    for source, page in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    files.append(File.generated(config, "command-line.md", content=_command_line()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links to their targets' places in the site."""
    here = page.file.src_uri
    sources = {page: source for source, page in ELSEWHERE.items()}
    base = PurePosixPath(sources[here]).parent if here in sources else PurePosixPath("docs", here).parent

    def moved(match: re.Match[str]) -> str:
        target = _normal(base / match[1])
        inside = ELSEWHERE.get(target) or target.removeprefix("docs/")
        known = target in ELSEWHERE or target.startswith("docs/")
        if known and files.get_file_from_path(inside) is not None:
            steps = "../" * (len(PurePosixPath(here).parts) - 1)
            return f"]({steps}{inside}{match[2] or ''})"
        if not (ROOT / target).exists():
            raise ValueError(f"{here}: there is no {target}")
        return "]()"

    linked = _LINK.sub(moved, markdown)
    return re.sub(r"(?<!!)\[([^\]\[]*)\]\(\)", r"\1", linked)


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _command_line() -> str:
    lines = ["# Command line", "", "What `cyclelens COMMAND --help-all` says.", ""]
    for command in COMMANDS:
        run = subprocess.run(
            [sys.executable, "-m", "cyclelens.analyzer.cli.main", command, "--help-all"],
            capture_output=True,
            text=True,
            check=True,
            env={"COLUMNS": "100", "PATH": ""},
        )
        lines += [f"## {command}", "", "```text", run.stdout.rstrip(), "```", ""]
    return "\n".join(lines)
