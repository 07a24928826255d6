"""Committed versions of a file. Only this module runs git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TIMEOUT = 20.0
"""Seconds that git may take, for a large repository on a slow disk."""
MAXIMUM_BYTES = 64 << 20
"""Largest committed file in bytes; compressed content of a repository may expand a thousandfold."""

_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
"""No locks in the repository, no prompts, and no network access for objects missing from a partial clone."""


class NoVersion(Exception):
    """The version does not exist; the message is for the user."""


def committed(path: str, revision: str) -> str:
    """The text of a file as committed, without the filters that a repository can define.

    Raises NoVersion, also if git is not installed.
    """
    file = Path(path)
    if not path or revision.startswith("-") or ":" in revision:
        raise NoVersion(
            f"There is no version '{revision}' of a file." if path else "The text is not in a file."
        )
    size = int(_cat_file(file, revision, "-s"))
    if size > MAXIMUM_BYTES:
        most = f"the limit is {MAXIMUM_BYTES >> 20} MB"
        raise NoVersion(f"{file.name} has {size >> 20} MB in the version {revision}; {most}.")
    return _cat_file(file, revision, "blob").decode("utf-8-sig", errors="replace")


def _cat_file(file: Path, revision: str, what: str) -> bytes:
    """The output of ``git cat-file`` for a committed file. Raises NoVersion."""
    try:
        # A plumbing command runs no text conversions, no hooks and no pager.
        done = subprocess.run(
            ["git", "cat-file", what, f"{revision}:./{file.name}"],
            cwd=file.absolute().parent,
            env={**os.environ, **_QUIET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise NoVersion("Git is not installed, or the folder of the file does not exist.") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoVersion(f"Git could not be run: {error}.") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = reason[-1].removeprefix("fatal: ") if reason else f"exit code {done.returncode}"
        raise NoVersion(f"Git has no version {revision} of {file.name}: {said}")
    return done.stdout
