"""Compiles an editor's text at the lowest priority, stops when cancelled, and caches object files."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.common.file_digests import FileDigests
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.common.regular_files import read_regular
from cyclelens.analyzer.compiling.commands import CommandError, CompileStep, steps
from cyclelens.analyzer.compiling.projects import Command, language
from msgspec import Struct

PATIENCE = 300.0
"""Seconds that a compiler may take; Cargo also compiles the crate's dependencies."""
MEMORY_LIMIT = 4 << 30
"""Bytes of address space for each compiler process."""
FILE_LIMIT = 256 << 20
"""Bytes of each file that a compiler may write, and of the object file that is read back."""
_MESSAGES_LIMIT = 1 << 20
"""Bytes read of a compiler's messages."""
_POLL_SECONDS = 0.02
_KEPT = 8
_SCRIPT = """\
exec 3<&0 </dev/null
(cat <&3 >/dev/null; kill -9 0) &
watch=$!
ulimit -c 0; ulimit -t "$1"; ulimit -v "$2"; ulimit -f "$3"; shift 3
nice -n 19 "$@"
status=$?
kill $watch
exit $status
"""
"""Runs a command in its own process group, which ends when its standard input closes or this process dies."""
_ERROR = re.compile(r"^.*\berror\b.*", re.MULTILINE)
_BEYOND = (
    (re.compile(r".*(?:virtual memory exhausted|out of memory|bad_alloc|memory allocation of ).*"), "memory"),
    (re.compile(r".*(?:File size limit exceeded|File too large).*"), "file"),
)
"""What compilers and their drivers print where a limit stops them."""
_ESCAPES = re.compile(r"\x1b\[[\d;]*[A-Za-z]")

Cancel = Callable[[], bool]
_Read = tuple[tuple[str, bytes], ...]
"""Files with the digests of their contents."""


class CannotCompileError(Exception):
    """The compiler made no object file; the message is for the user."""


class RequestCancelled(Exception):
    """The request was cancelled."""


class _Kept(Struct, frozen=True):
    data: bytes
    read: _Read
    """Files that the compiler read, with their digests at that time."""


class Objects:
    """Compiles texts to object files. Keeps the latest ones until a file that they depend on changes."""

    def __init__(self, caches: Caches) -> None:
        self._digests = caches.of(FileDigests)
        self._kept: OrderedDict[tuple[Command, str], _Kept] = OrderedDict()

    def object_of(self, command: Command, text: str, cancel: Cancel) -> bytes:
        """Compile ``text`` as the content of the command's file. Raises CannotCompileError and
        RequestCancelled."""
        known = self._kept.pop((command, text), None)
        if known is None or _as_read((name for name, _ in known.read), self._digests) != known.read:
            known = _compile(command, text, cancel, self._digests)
        self._kept[command, text] = known
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return known.data


def _compile(command: Command, text: str, cancel: Cancel, digests: FileDigests) -> _Kept:
    try:
        with temporary.folder() as folder:
            return _compile_in(folder, command, text, cancel, digests)
    except OSError as error:
        raise CannotCompileError(f"temporary files cannot be written: {error.strerror or error}") from None


def _compile_in(folder: str, command: Command, text: str, cancel: Cancel, digests: FileDigests) -> _Kept:
    words = _with_text(command, text, folder)
    try:
        (step, *_) = steps(words, folder)
    except CommandError as error:
        raise CannotCompileError(str(error)) from None
    read = f"{folder}/read"
    _run(_telling_what_is_read(step, command, read), command, folder, cancel)
    try:
        data = read_regular(step.target, FILE_LIMIT)
    except FileNotFoundError:
        raise CannotCompileError(f"{words[0]} made no object file") from None
    except OSError as error:
        raise CannotCompileError(f"the object file cannot be read: {error.strerror}") from None
    return _Kept(data, _as_read(_read(read, command.folder, folder), digests))


def _with_text(command: Command, text: str, folder: str) -> tuple[str, ...]:
    """Words of the command for this text: the file itself if it is saved as such, else a temporary copy."""
    if _is_saved(command.path, text):
        return command.words
    if not command.word:
        raise CannotCompileError("Cargo only compiles saved files")
    stand_in = Path(folder) / f"text{Path(command.path).suffix}"
    name = command.path.replace("\\", "\\\\").replace('"', '\\"')
    stand_in.write_text(f'#line 1 "{name}"\n{text}', encoding="utf-8", errors="replace")
    at = command.words.index(command.word)
    # Quoted includes are searched beside the original file.
    beside = ("-iquote", os.path.dirname(command.path))
    return (*command.words[:at], *beside, str(stand_in), *command.words[at + 1 :])


def _is_saved(path: str, text: str) -> bool:
    try:
        return read_regular(path, 4 * len(text)).decode("utf-8", "replace") == text
    except OSError:
        return False


def _telling_what_is_read(step: CompileStep, command: Command, read: str) -> tuple[str, ...]:
    if language(command.path) == "Rust":
        return (*step.words, f"--emit=dep-info={read}")
    return (*step.words, "-MD", "-MF", read)


def _run(words: tuple[str, ...], command: Command, folder: str, cancel: Cancel) -> None:
    messages = Path(folder) / "messages"
    limits = (str(int(PATIENCE)), str(MEMORY_LIMIT // 1024), str(FILE_LIMIT // 512))
    script = ("/bin/sh", "-c", _SCRIPT, "sh", *limits) if os.name == "posix" else ()
    try:
        with messages.open("wb") as said:
            process = subprocess.Popen(
                (*script, *words),
                cwd=command.folder,
                # A killed compiler's temporary files are deleted together with the folder.
                env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)},
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                process_group=0 if script else None,
            )
    except OSError as error:
        raise CannotCompileError(f"{words[0]} cannot be run: {error.strerror or error}") from None
    end = time.monotonic() + PATIENCE
    try:
        while process.poll() is None:
            if cancel():
                raise RequestCancelled
            if time.monotonic() > end:
                raise CannotCompileError(f"{words[0]} took more than {PATIENCE:.0f} s")
            time.sleep(_POLL_SECONDS)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        if not script:
            process.kill()
        process.wait()
    if process.returncode:
        with messages.open("rb") as said:
            text = _ESCAPES.sub("", said.read(_MESSAGES_LIMIT).decode("utf-8", "replace"))
        raise CannotCompileError(_failure(text) or f"{words[0]} ended with {process.returncode}")


def _failure(messages: str) -> str:
    """The reason that a compiler gives, with the limit if it is one of ours; empty if it gives none."""
    limits = {
        "memory": f"a compiler may use {MEMORY_LIMIT / (1 << 30):g} GiB of memory here",
        "file": f"a compiler may write files of {FILE_LIMIT >> 20} MiB here",
    }
    for pattern, limit in _BEYOND:
        if found := pattern.search(messages):
            return f"{found[0].strip()} ({limits[limit]})"
    first = _ERROR.search(messages) or re.search(r".+", messages)
    return first[0].strip() if first else ""


def _read(file: str, folder: str, own: str) -> set[str]:
    """Prerequisites in a make rule such as ``x.o: x.c y.h``, without files below ``own``."""
    try:
        rules = read_regular(file, FILE_LIMIT).decode("utf-8", "replace").replace("\\\n", " ")
    except OSError:
        return set()
    names = (name for rule in rules.splitlines() for name in rule.partition(": ")[2].split())
    return {path for name in names if not (path := os.path.join(folder, name)).startswith(own)}


def _as_read(files: Iterable[str], digests: FileDigests) -> _Read:
    found = []
    for file in sorted(files):
        try:
            found.append((file, digests.of(file)))
        except OSError:
            found.append((file, b""))
    return tuple(found)
