"""What axe-core says about a page in a real browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
OF_DOCUMENTS = ("document-title", "page-has-heading-one", "landmark-no-duplicate-main")
"""Rules about whole documents. The editor around a panel is in charge of them."""


def violations(cache: Path, frame: Any, without: Sequence[str] = ()) -> list[str]:
    """Rule, reason and element of every violation; ``without``: rules to ignore."""
    frame.evaluate((cache / "axe" / "axe_playwright_python" / "axe.min.js").read_text(encoding="utf-8"))
    options = {"runOnly": RULES, "rules": {rule: {"enabled": False} for rule in without}}
    found = frame.evaluate(f"axe.run(document, {json.dumps(options)})")
    assert len(found["passes"]) > 10, "it has looked at the page"
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:200]}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
