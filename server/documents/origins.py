"""Locations of documents on disk: which files the analysis of a document may read."""

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
    """The location of a document in its workspace. Relative include paths are resolved in every workspace
    folder; files read before the document are looked up there and in the include paths. Without a workspace,
    the document's own folder serves as one."""
    path, folders = place_of(uri, folder_uris)
    # Joining keeps absolute paths unchanged.
    found = [
        os.path.normpath(os.path.join(folder, name)) for name in include_paths for folder in folders or [""]
    ]
    paths = tuple(filter(os.path.isabs, dict.fromkeys(found)))
    before = tuple(first_of(name, (*folders, *paths)) for name in pre_includes)
    return Origin(path, tuple(folders), paths, tuple(defines), before)


def place_of(uri: str, folder_uris: Iterable[str | None]) -> tuple[str, list[str]]:
    """The path of a document, empty if it is not a file, and the folders of its workspace."""
    path = path_of(uri)
    folders = [folder for folder_uri in folder_uris if folder_uri and (folder := path_of(folder_uri))]
    return path, folders or ([os.path.dirname(path)] if path else [])


def path_of(uri: str) -> str:
    """The path of a ``file:`` URI; empty for other URIs and for malformed ones."""
    if not uri.startswith("file:"):
        return ""
    try:
        path = to_fs_path(uri) or ""
        os.fsencode(path)
    except ValueError:  # malformed: an invalid address in brackets, or a letter that no path can have
        return ""
    return "" if "\0" in path else path


def is_below(path: str, folder: str) -> bool:
    """Whether a path is inside a folder by its name; links are not followed."""
    return os.path.normpath(path).startswith(os.path.join(os.path.normpath(folder), ""))


def first_of(name: str, folders: Iterable[str]) -> str:
    """The first existing file of this name; if there is none, the path where it is expected."""
    places = [os.path.normpath(os.path.join(folder, name)) for folder in folders] or [name]
    return next(filter(os.path.isfile, places), places[0])
