"""The setting ``machineFile`` in an editor: read again when the file changes, and only where it may be."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from testkit.kernels import COPY_LOOP
from testkit.machine_files import slow_machine
from testkit.server.editor import TIMEOUT, Editor

TEXT = f"# cyclelens-begin copy arch=ZEN4\n{COPY_LOOP}# cyclelens-end\n"
MEASURED = "(levels measured: own.toml)"
PUBLISHED = "1.00 in L1 · 2.0 L2 · 2.5 L3 · 6.9 memory: cycles per iteration by where the data are;"


async def says(editor: Editor, text: str) -> None:
    """Wait until the hover of the marker has this text."""
    async with asyncio.timeout(TIMEOUT):
        while text not in await editor.hover(0):
            await asyncio.sleep(0.05)


async def opened(editor: Editor, folder: Path, **settings: Any) -> None:
    editor.client.set_configuration({"advice": False, **settings}, section="cyclelens")
    editor.uri = (folder / "k.s").as_uri()
    await editor.start(folder=folder)
    await editor.open(TEXT)


@pytest.mark.asyncio
async def test_the_setting_is_relative_to_the_workspace_and_the_file_is_read_again(
    editor: Editor, tmp_path: Path
) -> None:
    file = tmp_path / "own.toml"
    file.write_text("core = 1")
    await opened(editor, tmp_path, machineFile="own.toml")
    assert "own.toml is no file of cyclelens characterize --memory" in await editor.message("own.toml")
    await says(editor, PUBLISHED)
    slow_machine(file)
    editor.replace_all(TEXT.replace("copy", "move"))
    await says(editor, MEASURED)


@pytest.mark.asyncio
async def test_the_file_of_a_project_is_used(editor: Editor, tmp_path: Path) -> None:
    slow_machine(tmp_path / "own.toml")
    (tmp_path / "cyclelens.toml").write_text('machineFile = "own.toml"')
    await opened(editor, tmp_path)
    await says(editor, MEASURED)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "name", ["{outside}/own.toml", "{outside}/absent.toml", "../outside/own.toml", "link"]
)
async def test_in_a_folder_without_trust_a_machine_file_elsewhere_is_not_opened(
    editor: Editor, tmp_path: Path, name: str
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    slow_machine(outside / "own.toml")
    (inside / "link").symlink_to(outside / "own.toml")
    settings = {"advice": False, "machineFile": name.format(outside=outside)}
    await opened(editor, inside, allowExternalPrograms=False, **settings)
    assert "is outside the workspace" in await editor.message("cyclelens.machineFile: ")
    await says(editor, PUBLISHED)
    if name == "link":
        return
    # With trust, it is read: it has measured levels, or does not exist.
    editor.client.set_configuration({**settings, "allowExternalPrograms": True}, section="cyclelens")
    editor.changed_settings()
    if "absent" in name:
        await editor.message("absent.toml cannot be read: No such file")
    else:
        await says(editor, MEASURED)
