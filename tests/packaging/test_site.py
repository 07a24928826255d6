"""The documentation builds as a site in which every link leads somewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("index", "install", "first-steps", "server", "command-line", "python", "ci", "measuring", "accuracy")


def test_the_site_has_every_page_and_no_dead_link(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(ROOT / "dev/site/mkdocs.yml")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    run = subprocess.run(
        [*command, "--site-dir", str(tmp_path)], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    assert [page for page in PAGES if not (tmp_path / f"{page}.html").exists()] == []
    assert "--max-cycles" in (tmp_path / "command-line.html").read_text()
    index = (tmp_path / "index.html").read_text()
    assert 'href="first-steps.html"' in index
    # Nothing is fetched from elsewhere.
    assert 'src="http' not in index
