"""``cyclelens`` as a program: how it begins."""

from __future__ import annotations

import gc

from cyclelens.analyzer.common.stand_ins import import_without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_SELDOM = 10_000
"""New objects until Python looks for cycles among them: 700 by default, which takes a short command a tenth
of its time."""


def command() -> NoReturn:
    """The command line as a process of its own."""
    gc.set_threshold(_SELDOM)
    # Our messages are English alone: argparse need not look for translations of its own.
    import_without("argparse", {"gettext": {"gettext": str, "ngettext": _plural}})
    from cyclelens.analyzer.cli import main as cli

    cli.command()


def _plural(one: str, several: str, count: int) -> str:
    return one if count == 1 else several
