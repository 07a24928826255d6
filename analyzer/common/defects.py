"""Records a defect that must not end the program: its place and its traceback."""

from __future__ import annotations

import logging
import os
import traceback

from cyclelens.analyzer.common import log


def traceback_of(error: BaseException) -> str:
    """The whole traceback of an error, as Python prints it."""
    return "".join(traceback.format_exception(error))


def described(error: Exception) -> str:
    """Describes an unexpected error: its type, its message and the source line that raised it.

    The traceback goes to the log (``--log FILE``). If ``CYCLELENS_DEBUG`` is set, it also goes to Python's
    ``logging``: to standard error, unless the embedding program configures it otherwise.
    """
    log.write_traceback(traceback_of(error))
    if os.environ.get("CYCLELENS_DEBUG"):
        logging.getLogger("cyclelens").error("internal error", exc_info=error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


INTERNAL_ERROR = "Internal error"
"""Prefix of a defect's message."""


def internal_error(error: Exception) -> str:
    """The message of a defect."""
    return f"{INTERNAL_ERROR}, please report it: {described(error)}"
