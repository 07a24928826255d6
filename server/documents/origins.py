"""Documents on disk: which files may be read to understand one."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cyclelens.analyzer.model.source import Origin
from pygls.uris import to_fs_path


def origin_of(
    uri: str,
    folder_uris: Iterable[str | None],
    include_paths: Iterable[str],
    defines: Iterable[str],
    pre_includes: Iterable[str] = (),
) -> Origin:
    """The place of a document in a workspace. Relative include paths are those of every folder of the
    workspace, files to be read before the document are looked for there and in the include paths; a file that
    is open without a workspace has its own folder for one."""
    path, folders = place_of(uri, folder_uris)
    # An absolute path stays as it is in a join.
    found = [
        os.path.normpath(os.path.join(folder, name)) for name in include_paths for folder in folders or [""]
    ]
    paths = tuple(filter(os.path.isabs, dict.fromkeys(found)))
    before = tuple(first_of(name, (*folders, *paths)) for name in pre_includes)
    return Origin(path, tuple(folders), paths, tuple(defines), before)


def place_of(uri: str, folder_uris: Iterable[str | None]) -> tuple[str, list[str]]:
    """The file of a document, empty if it is in none, and the folders of its workspace."""
    path = path_of(uri)
    folders = [folder for folder_uri in folder_uris if folder_uri and (folder := path_of(folder_uri))]
    return path, folders or ([os.path.dirname(path)] if path else [])


def path_of(uri: str) -> str:
    """The path of a ``file:`` URI; empty for any other, and for what is no URI or no path."""
    if not uri.startswith("file:"):
        return ""
    try:
        path = to_fs_path(uri) or ""
    except ValueError:  # no URI: an address in brackets that is none, say
        return ""
    return "" if "\0" in path else path


def is_below(path: str, folder: str) -> bool:
    """Whether a path lies in a folder by its name, whatever links make of it."""
    return os.path.normpath(path).startswith(os.path.join(os.path.normpath(folder), ""))


def first_of(name: str, folders: Iterable[str]) -> str:
    """The first file of this name that is there; if there is none, where it should be."""
    places = [os.path.normpath(os.path.join(folder, name)) for folder in folders] or [name]
    return next(filter(os.path.isfile, places), places[0])
