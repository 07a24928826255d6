"""``cyclelens`` as a program: how it begins."""

from __future__ import annotations

import gc

from cyclelens.analyzer.stand_ins import import_without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def command() -> NoReturn:
    """The command line, which begins without looking for cycles in what it imports."""
    gc.disable()
    # Our messages are English alone: argparse need not look for translations of its own.
    import_without("argparse", {"gettext": {"gettext": str, "ngettext": _plural}})
    from cyclelens.analyzer import cli

    gc.freeze()
    gc.enable()
    cli.command()


def _plural(one: str, several: str, count: int) -> str:
    return one if count == 1 else several
