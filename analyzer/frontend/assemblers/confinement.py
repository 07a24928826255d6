"""What a program of the user's machine may open: the kernel refuses everything else (Landlock, Linux 5.13).

A restriction holds for the thread that asks for it and for the programs that this thread starts, for good. It
follows links to what they lead to, also those that change after somebody has looked.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls, with the same numbers on every machine."""
_ASK_VERSION, _BENEATH_PATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _CONTROL = (1 << bit for bit in (0, 1, 2, 3, 14, 15))
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _CONTROL
"""Rights that mean something for a file; a folder has all others, too."""
_FIRST_RIGHTS = (1 << 13) - 1
_MORE_RIGHTS = {2: 1 << 13, 3: _TRUNCATE, 5: _CONTROL}
"""Rights by the version of Landlock that brought them."""
_NETWORK, _SIGNALS = (4, 0b11), (6, 0b11)
"""Version; binding and connecting (TCP), abstract sockets and signals: nothing of that is allowed."""

SYSTEM = (
    *("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin"),
    *("/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/include"),
    *("/usr/x86_64-linux-gnu", "/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/libexec"),
    *("/usr/local/include", "/etc/alternatives", "/etc/ld.so.cache", "/dev/null", "/dev/urandom"),
    *("/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew"),
    *("/Library/Developer", "/Applications/Xcode.app"),
)
"""Programs, their libraries and the compiler's headers."""
_OF_INSTALLATION = ("bin", "lib*", "include", "*-linux-gnu*")
"""The same where somebody has installed an assembler or a compiler of their own, beside its ``bin``."""


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scope")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("place", ctypes.c_int32)]


@cache
def version() -> int:
    """Which Landlock the kernel has; 0: none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return max(int(_library().syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)), 0)
    except (OSError, AttributeError):
        return 0


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def installation(program: str, environment: Mapping[str, str]) -> list[str]:
    """What a program needs that is not among the system's own: its libraries and headers."""
    found = [os.path.dirname(os.path.realpath(program)), os.path.dirname(program)]
    beside = [os.path.join(os.path.dirname(folder), part) for folder in found for part in _OF_INSTALLATION]
    libraries = filter(os.path.isabs, environment.get("LD_LIBRARY_PATH", "").split(":"))
    return [*dict.fromkeys(found), *(place for part in beside for place in glob.glob(part)), *libraries]


def confine_this_thread(programs: Iterable[str], readable: Iterable[str], writable: Iterable[str]) -> bool:
    """From now on this thread, and what it starts, can only run and read ``programs``, read ``readable`` and
    do as it likes in ``writable``: files and folders with all in them. ``readable`` holds resolved paths; a
    link that has been put in the place of one is not followed. No other file can be opened, no connection
    made. False: nothing is restricted, the kernel cannot do that."""
    known = version()
    if not known:
        return False
    all_rights = _FIRST_RIGHTS | sum(right for since, right in _MORE_RIGHTS.items() if since <= known)
    network, scope = (rights if since <= known else 0 for since, rights in (_NETWORK, _SIGNALS))
    asked = _Ruleset(all_rights, network, scope)
    # Older versions take a shorter structure.
    size = ctypes.sizeof(asked) if scope else 16 if network else 8
    call = _library().syscall
    rules = call(_CREATE_RULESET, ctypes.byref(asked), ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    try:
        granted = ((_EXECUTE | _READ | _LIST, programs), (_READ, readable), (all_rights, writable))
        resolved = frozenset(readable)
        for rights, place in ((rights, place) for rights, places in granted for place in places):
            with _opened(place) as (number, is_folder):
                # What was named without links is that, or nothing: somebody may have put a link there since.
                if number >= 0 and (place not in resolved or _is_place(number, place)):
                    rule = _Beneath(rights & (all_rights if is_folder else _OF_FILES & all_rights), number)
                    if call(_ADD_RULE, rules, _BENEATH_PATH, ctypes.byref(rule), 0):
                        return False
        if _library().prctl(_NO_NEW_PRIVILEGES, *map(ctypes.c_ulong, (1, 0, 0, 0))):
            return False
        return not call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _is_place(number: int, place: str) -> bool:
    """Whether what is open is what had this name when its links were resolved."""
    try:
        return os.readlink(f"/proc/self/fd/{number}") == place
    except OSError:
        return False  # without /proc nobody can tell


@contextlib.contextmanager
def _opened(place: str) -> Iterator[tuple[int, bool]]:
    """A file or folder without leave to read it, and whether it is a folder; -1 if it is not there."""
    try:
        number = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        yield -1, False
        return
    try:
        yield number, os.path.isdir(place)
    finally:
        os.close(number)
