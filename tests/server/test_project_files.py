"""The server applies ``cyclelens.toml`` as the command line does, and again when the file changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.server.settings import DEFAULTS, resolve
from lsprotocol import types
from testkit.server.editor import Editor

KERNEL = "# cyclelens-begin dot\nadd %rax, %rax\n# cyclelens-end\n"


async def started(editor: Editor, folder: Path) -> None:
    editor.uri = (folder / "src" / "a.s").as_uri()
    (folder / "src").mkdir()
    capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            configuration=True,
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        )
    )
    parameters = types.InitializeParams(
        capabilities=capabilities, workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "project")]
    )
    await editor.client.initialize_session(parameters)


async def shown(editor: Editor, text: str) -> None:
    """Wait until the region's hint says this."""

    async def says() -> bool:
        return text in (await editor.labels()).get(0, "")

    async with editor.client.changed:
        while not await says():
            await editor.client.changed.wait()


@pytest.mark.asyncio
async def test_a_project_is_obeyed_and_read_again_when_it_changes(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "cyclelens.toml"
    file.write_text('microarchitectures = ["ZEN4"]')
    await started(editor, tmp_path)
    await editor.open(KERNEL)
    await shown(editor, "ZEN4")
    registered = [
        watcher["globPattern"]
        for method, params in editor.client.requests
        if method == types.CLIENT_REGISTER_CAPABILITY
        for one in params.registrations
        if one.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        for watcher in one.register_options["watchers"]
    ]
    assert registered == ["**/cyclelens.toml", "**/compile_commands.json", "**/*.{s,S,asm,nasm,inc,mac,h}"]

    def changed(text: str) -> None:
        # In one step: the server may read at any moment, and an empty file is a project without settings.
        beside = tmp_path / "beside"
        beside.write_text(text)
        beside.replace(file)
        event = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    changed('microarchitectures = ["ICL"]')
    await shown(editor, "ICL")
    changed("microarchitectures = [")
    await editor.message("cyclelens.toml is not TOML")
    assert "ICL" in (await editor.labels())[0]
    changed('microarchitectures = ["HSW", "SKL"]')
    await shown(editor, "HSW")


@pytest.mark.asyncio
async def test_a_project_above_the_workspace_is_not_read(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "cyclelens.toml").write_text('microarchitectures = ["ZEN4"]')
    inner = tmp_path / "inner"
    inner.mkdir()
    await started(editor, inner)
    await editor.open(KERNEL)
    await shown(editor, "SKL")


def test_the_editor_s_settings_win_over_the_project() -> None:
    settings, _ = resolve({"microarchitectures": ["HSW"], "mode": "auto"}, ["HSW", "SKL", "ICL"])
    project = {"microarchitectures": ("ICL",), "mode": "loop"}
    assert settings.within(project)["microarchitectures"] == ("HSW",)
    assert settings.within(project)["mode"] == "loop"
    assert DEFAULTS.within({}) is DEFAULTS
