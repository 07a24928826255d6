"""The recipes of docs/editors.md are well-formed and use existing settings; Emacs runs its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.server.settings import SECTION, resolve
from testkit import real_editors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
KERNEL = "# cyclelens-begin k mode=unroll\n    add $0x1234, %ax\n    dec %r14\n# cyclelens-end\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def sections(value: Any) -> list[Any]:
    """The values of all objects with the name of the settings' section, at any depth."""
    if not isinstance(value, dict):
        return []
    own = [value[SECTION]] if isinstance(value.get(SECTION), dict) else []
    return [*own, *(found for inner in value.values() for found in sections(inner))]


def test_the_settings_of_the_recipes_exist() -> None:
    read = [*map(tomllib.loads, blocks("toml")), *map(json.loads, blocks("json"))]
    found = [
        settings
        for value in read
        for settings in sections({key: inner for key, inner in value.items() if key != "language-server"})
        + sections(value.get("language-server", {}).get("cyclelens", {}).get("config", {}))
    ]
    assert len(found) == 3
    for settings in found:
        assert resolve(settings, registry.names())[1] == ()


def test_the_recipe_for_helix_starts_the_program() -> None:
    languages, display = map(tomllib.loads, blocks("toml"))
    server = languages["language-server"]["cyclelens"]
    assert [server["command"], *server["args"]] == ["cyclelens", "lsp"]
    assert {tuple(each["language-servers"]) for each in languages["language"]} == {("cyclelens",)}
    assert display["editor"]["lsp"]["display-inlay-hints"] is True


def test_emacs_shows_hazards_and_costs(tmp_path: Path) -> None:
    real_editors.installed("emacs")
    (recipe,) = blocks("elisp")
    (tmp_path / "recipe.el").write_text(recipe, encoding="utf-8")
    (tmp_path / "kernel.s").write_text(KERNEL, encoding="utf-8")
    environment = os.environ | {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CYCLELENS_RECIPE": str(tmp_path / "recipe.el"),
        "CYCLELENS_FILE": str(tmp_path / "kernel.s"),
    }
    # Packages of the distribution are found at the start; nothing of a user's is read.
    command = [
        "emacs",
        "--batch",
        "--no-init-file",
        "--load",
        str(Path(__file__).with_name("emacs_session.el")),
    ]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert run.returncode == 0, run.stderr[-2000:]
    assert re.search(r"^diagnostic 2 .*predecoder", run.stdout, re.MULTILINE), run.stdout + run.stderr[-500:]
    assert "add $0x1234, %ax" in run.stdout.partition("hover")[2]
