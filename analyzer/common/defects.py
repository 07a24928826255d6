"""What is kept of a defect that must not end the program: where it is, and its traceback."""

from __future__ import annotations

import os

from cyclelens.analyzer.common import log


def traceback_of(error: BaseException) -> str:
    """The whole traceback of an error, as Python prints it."""
    import traceback  # not before there is a defect: commands start faster

    return "".join(traceback.format_exception(error))


def described(error: Exception) -> str:
    """The kind of an unexpected error, what it says, and the line of the program where it arose.

    Its traceback goes to the log (``--log FILE``). With ``CYCLELENS_DEBUG`` in the environment Python's own
    logging gets it, too: on standard error, unless the program that embeds this one has other plans.
    """
    import logging
    import traceback

    log.write_traceback(traceback_of(error))
    if os.environ.get("CYCLELENS_DEBUG"):
        logging.getLogger("cyclelens").error("internal error", exc_info=error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


INTERNAL_ERROR = "Internal error"
"""How the message of a defect begins."""


def internal_error(error: Exception) -> str:
    """The message of a defect."""
    return f"{INTERNAL_ERROR}, please report it: {described(error)}"
