"""What is kept of a defect that must not end the program: where it is, and its traceback."""

from __future__ import annotations

import os
from pathlib import PurePath


def described(error: Exception) -> str:
    """The kind of an unexpected error, what it says, and the line of the program where it arose.

    With ``CYCLELENS_DEBUG`` in the environment its traceback is logged, too: on standard error, unless the
    program that embeds this one has other plans.
    """
    import logging  # not before there is a defect: commands start faster
    import traceback

    if os.environ.get("CYCLELENS_DEBUG"):
        logging.getLogger("cyclelens").error("internal error", exc_info=error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
