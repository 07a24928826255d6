"""Documents on disk: which files may be read to understand one."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cyclelens.analyzer.model.source import Origin
from pygls.uris import to_fs_path


def origin_of(
    uri: str, folder_uris: Iterable[str | None], include_paths: Iterable[str], defines: Iterable[str]
) -> Origin:
    """The place of a document in a workspace. Relative include paths are those of every folder of the
    workspace; a file that is open without a workspace has its own folder for one."""
    path = (to_fs_path(uri) or "") if uri.startswith("file:") else ""
    folders = [folder for folder_uri in folder_uris if folder_uri and (folder := to_fs_path(folder_uri))]
    if not folders and path:
        folders = [os.path.dirname(path)]
    # An absolute path stays as it is in a join.
    found = [
        os.path.normpath(os.path.join(folder, name)) for name in include_paths for folder in folders or [""]
    ]
    return Origin(path, tuple(folders), tuple(filter(os.path.isabs, dict.fromkeys(found))), tuple(defines))
