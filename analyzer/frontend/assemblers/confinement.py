"""Restricts which files an external program may open, with Landlock (Linux 5.13 and later).

A restriction permanently applies to the calling thread and all programs that it starts. The kernel checks the
target of a link when it is opened, so a link that is changed later cannot evade it.
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
"""System call numbers, which are the same on every architecture."""
_ASK_VERSION, _BENEATH_PATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _CONTROL = (1 << bit for bit in (0, 1, 2, 3, 14, 15))
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _CONTROL
"""Rights that apply to files; folders have all the others, too."""
_FIRST_RIGHTS = (1 << 13) - 1
_MORE_RIGHTS = {2: 1 << 13, 3: _TRUNCATE, 5: _CONTROL}
"""Rights added by each version of Landlock."""
_NETWORK, _SIGNALS = (4, 0b11), (6, 0b11)
"""Landlock version and rights: TCP bind and connect; abstract sockets and signals. None of these is ever
granted."""

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
"""The same for an assembler or compiler that is installed elsewhere, relative to the parent of its
``bin``."""


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scope")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("place", ctypes.c_int32)]


@cache
def version() -> int:
    """The kernel's Landlock version; 0 if it has none."""
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
    """Folders with the libraries and headers of a program that is installed outside the system's folders."""
    found = [os.path.dirname(os.path.realpath(program)), os.path.dirname(program)]
    beside = [os.path.join(os.path.dirname(folder), part) for folder in found for part in _OF_INSTALLATION]
    libraries = filter(os.path.isabs, environment.get("LD_LIBRARY_PATH", "").split(":"))
    return [*dict.fromkeys(found), *(place for part in beside for place in glob.glob(part)), *libraries]


def confine_this_thread(programs: Iterable[str], readable: Iterable[str], writable: Iterable[str]) -> bool:
    """Restrict this thread, and the programs that it starts, permanently. They can run and read ``programs``,
    read ``readable``, and do anything in ``writable``: files, and folders with all their contents. They can
    open no other file and make no connection.

    ``readable`` holds resolved paths; a link that has replaced one of them since is not followed. Returns
    False if the kernel cannot do this; then nothing is restricted.
    """
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
                # A resolved path must still be what it was: a link may have replaced it since.
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
    """Whether the open file or folder has this path, without any link."""
    try:
        return os.readlink(f"/proc/self/fd/{number}") == place
    except OSError:
        return False  # without /proc it cannot be checked


@contextlib.contextmanager
def _opened(place: str) -> Iterator[tuple[int, bool]]:
    """File descriptor of a path (without read access) and whether it is a folder; -1 if it does not exist."""
    try:
        number = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        yield -1, False
        return
    try:
        yield number, os.path.isdir(place)
    finally:
        os.close(number)
