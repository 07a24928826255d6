"""Writes the settings into package.json from the server's one list: ``python editors/vscode/generate.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.server.settings import SECTION, SETTINGS, Setting

PACKAGE = Path(__file__).with_name("package.json")

OWN: dict[str, dict[str, Any]] = {
    f"{SECTION}.server.path": {
        "type": "string",
        "default": "",
        "scope": "machine",
        "description": "The program cyclelens; if empty, the one that the extension installed or on PATH.",
    },
    f"{SECTION}.trace.server": {
        "type": "string",
        "enum": ["messages", "verbose"],
        "enumDescriptions": ["Names of the messages", "Full content of the messages"],
        "default": "messages",
        "description": "Which part of the messages between editor and server is logged while the log level "
        "is Trace: their names, or their full content.",
    },
}
"""Settings of the extension itself, which the server does not know."""


def properties() -> dict[str, dict[str, Any]]:
    """``contributes.configuration.properties`` of package.json."""
    found = {f"{SECTION}.{setting.name}": _property(setting) for setting in SETTINGS} | OWN
    # Editors sort by name without an order.
    return {name: {"order": order, **value} for order, (name, value) in enumerate(found.items())}


def _property(setting: Setting) -> dict[str, Any]:
    kind: dict[str, Any] = {
        "names": {
            "type": "array",
            "items": {
                "type": "string",
                "enum": [*registry.names(), registry.NATIVE],
                "enumDescriptions": [
                    *map(_described, registry.names()),
                    "The microarchitecture of this machine",
                ],
            },
            "uniqueItems": True,
            "minItems": 1,
        },
        "texts": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "choice": {
            "type": "string",
            "enum": list(setting.choices),
            "enumDescriptions": list(setting.meanings),
        },
        "integer": {"type": "integer", "minimum": setting.minimum, "maximum": setting.maximum},
        "boolean": {"type": "boolean"},
        "text": {"type": "string"},
    }[setting.type]
    if setting.default is None:
        kind["type"] = [kind["type"], "null"]
    default = list(setting.default) if isinstance(setting.default, tuple) else setting.default
    return {**kind, "default": default, "scope": "resource", "description": setting.doc}


def _described(name: str) -> str:
    """A microarchitecture by its title and the products that have it."""
    core = registry.get(name)
    return f"{core.title}: {core.products}"


def main() -> None:
    package = json.loads(PACKAGE.read_text(encoding="utf-8"))
    package["contributes"]["configuration"]["properties"] = properties()
    PACKAGE.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
