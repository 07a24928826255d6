"""Committed versions of a file. The only place that runs git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TIMEOUT = 20.0
"""Seconds that git may take, for a large repository on a slow disk."""
MAXIMUM_BYTES = 64 << 20
"""Of a committed file; what a repository holds may unpack to a thousand times its size."""

_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
"""No locks in the repository, no questions, no network for what a partial clone lacks."""


class NoVersion(Exception):
    """There is no such version; the message is for the user."""


def committed(path: str, revision: str) -> str:
    """The text of a file as it was committed, without the filters that a repository can ask for.

    Raises NoVersion, also if there is no git.
    """
    file = Path(path)
    if not path or revision.startswith("-") or ":" in revision:
        raise NoVersion(f"'{revision}' is no version of a file." if path else "The text is in no file.")
    size = int(_cat_file(file, revision, "-s"))
    if size > MAXIMUM_BYTES:
        most = f"{MAXIMUM_BYTES >> 20} MB are the most"
        raise NoVersion(f"{file.name} has {size >> 20} MB in the version {revision}; {most}.")
    return _cat_file(file, revision, "blob").decode("utf-8-sig", errors="replace")


def _cat_file(file: Path, revision: str, what: str) -> bytes:
    """What git says of a committed file. Raises NoVersion."""
    try:
        # A plumbing command: it runs no text conversions, no hooks and no pager.
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
        raise NoVersion(f"Git could not be asked: {error}.") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = reason[-1].removeprefix("fatal: ") if reason else f"exit code {done.returncode}"
        raise NoVersion(f"Git has no version {revision} of {file.name}: {said}")
    return done.stdout
