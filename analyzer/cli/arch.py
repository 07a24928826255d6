"""``cyclelens arch``: lists the microarchitectures, or shows every value of one with its source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.argument_types import one_microarchitecture
from cyclelens.analyzer.common.usage import OK, new_parser

if TYPE_CHECKING:
    from cyclelens.analyzer.microarchitectures.values import Value
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture


def main(arguments: list[str]) -> int:
    """Print the list, or the values of one microarchitecture."""
    parser = new_parser("arch", "The microarchitectures that can be simulated.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="names, titles and products, by maker, oldest first")
    show = actions.add_parser(
        "show", help="a picture of one, and its values, each with its source and how certain it is"
    )
    show.add_argument(
        "microarchitecture",
        type=one_microarchitecture,
        metavar="NAME",
        help="a name from the list, or native",
    )
    show.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    options = parser.parse_args(arguments)

    from cyclelens.analyzer.microarchitectures import registry

    if options.action == "list":
        _list()
    else:
        core = registry.get(options.microarchitecture)
        print(_as_json(core) if options.format == "json" else _as_text(core))
    return OK


def _list() -> None:
    from cyclelens.analyzer.microarchitectures import registry
    from cyclelens.analyzer.microarchitectures.values import confidence

    rows = []
    for name in registry.names():
        core = registry.get(name)
        rows.append((name, core.title + (" (approximate)" if confidence(name) else ""), core.products))
    print(_table(rows, ""))
    print(f"Not simulated: {', '.join(registry.not_simulated().values())}")
    own = registry.native()
    print(f"This machine: {'not simulated' if own is None else own.name} ({registry.own_name()})")


def _as_text(core: Microarchitecture) -> str:
    from cyclelens.analyzer.microarchitectures.picture import picture
    from cyclelens.analyzer.microarchitectures.values import confidence, values
    from cyclelens.analyzer.model.provenance import Certainty

    found = list(values(core))
    parts = [
        picture(core),
        f"Products: {core.products or 'none known'}",
        f"Confidence: {confidence(core.name) or 'full'}",
    ]
    used = [value for value in found if value.source.certainty is not Certainty.UNUSED]
    for section, group in groupby(used, key=lambda value: value.section):
        rows = [(value.name, value.source.certainty, value.source.name, value.text) for value in group]
        parts.append(f"{section}\n{_table(rows)}")
    sources = dict.fromkeys(value.source for value in used)
    parts.append(f"sources\n{_table([(source.name, source.text) for source in sources])}")
    unused = [value for value in found if value.source.certainty is Certainty.UNUSED]
    for source, those in groupby(sorted(unused, key=lambda value: value.source), lambda value: value.source):
        names = ", ".join(value.name for value in those)
        parts.append(f"not simulated: {source.text}\n  {names}")
    return "\n\n".join(parts)


def _table(rows: Sequence[tuple[str, ...]], indent: str = "  ") -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        (indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in rows
    )


def _as_json(core: Microarchitecture) -> str:
    from cyclelens.analyzer.microarchitectures.picture import picture
    from cyclelens.analyzer.microarchitectures.values import confidence, values

    return json.dumps(
        {
            "name": core.name,
            "title": core.title,
            "products": core.products,
            "confidence": confidence(core.name),
            "picture": picture(core).splitlines(),
            "values": [_value(value) for value in values(core)],
        },
        indent=2,
    )


def _value(value: Value) -> dict[str, str]:
    return {
        "section": value.section,
        "name": value.name,
        "value": value.text,
        "certainty": value.source.certainty,
        "source": value.source.name,
        "citation": value.source.text,
    }
