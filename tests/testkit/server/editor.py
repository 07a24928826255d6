"""A client that behaves like an editor: keeps the text, sends edits, reads what is shown."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

from lsprotocol import converters, types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from testkit.narrowing import some

TIMEOUT = 180.0
"""Seconds; far more than anything takes, so that only a server that hangs reaches it."""

URI = "file:///kernel.s"


converter = cache(default_converter)
"""One for all clients of a process: it learns each kind of message once."""


class PatientClient(LanguageClient):
    """An editor whose user grants an analysis a minute: machines that run tests stand still for seconds."""

    def set_configuration(self, item: Any, **place: Any) -> None:
        super().set_configuration({"timeoutMs": 60_000, **item}, **place)


def make_client() -> LanguageClient:
    """pytest-lsp's client, extended with answers to requests that it does not know."""
    client = PatientClient(converter_factory=converter)
    client.published = {}  # type: ignore[attr-defined]
    client.requests = []  # type: ignore[attr-defined]
    client.questions = []  # type: ignore[attr-defined]
    client.answer = None  # type: ignore[attr-defined]
    client.changed = asyncio.Condition()  # type: ignore[attr-defined]

    async def published(params: types.PublishDiagnosticsParams) -> None:
        async with client.changed:  # type: ignore[attr-defined]
            client.published[params.uri] = params  # type: ignore[attr-defined]
            client.changed.notify_all()  # type: ignore[attr-defined]

    def remember(method: str) -> Any:
        async def answer(params: Any) -> None:
            async with client.changed:  # type: ignore[attr-defined]
                client.requests.append((method, params))  # type: ignore[attr-defined]
                client.changed.notify_all()  # type: ignore[attr-defined]

        return answer

    async def asked(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        """Answers a question of the server as ``answer`` says, or not at all."""
        client.questions.append(params.message)  # type: ignore[attr-defined]
        return next((item for item in params.actions or () if item.title == client.answer), None)  # type: ignore[attr-defined]

    features: dict[str, Any] = dict(DEFAULT_CLIENT_FEATURES)
    features[types.WINDOW_SHOW_MESSAGE_REQUEST] = asked
    features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = published
    for method in (
        types.WORKSPACE_INLAY_HINT_REFRESH,
        types.WORKSPACE_CODE_LENS_REFRESH,
        types.WORKSPACE_DIAGNOSTIC_REFRESH,
        types.CLIENT_REGISTER_CAPABILITY,
    ):
        features[method] = remember(method)
    register_lsp_features(client, features)
    return client


def capabilities(path: Path) -> types.ClientCapabilities:
    """Capabilities captured from a real editor."""
    return converters.get_converter().structure(json.loads(path.read_text()), types.ClientCapabilities)


def small_capabilities() -> types.ClientCapabilities:
    """Capabilities of a client that requests hints, supports refreshes, and counts columns like VS Code."""
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            configuration=True,
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        ),
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown])
        ),
        general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf16]),
    )


def with_code_actions() -> types.ClientCapabilities:
    """``small_capabilities`` of a client that also supports code actions."""
    able = small_capabilities()
    kinds = types.ClientCodeActionKindOptions([types.CodeActionKind.QuickFix])
    literals = types.ClientCodeActionLiteralOptions(kinds)
    some(able.text_document).code_action = types.CodeActionClientCapabilities(
        code_action_literal_support=literals
    )
    return able


class Editor:
    """One open document in one client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.uri = URI
        self.version = 0
        self.text = ""
        self.pulls = False
        """The client asks for diagnostics by itself."""

    async def start(
        self,
        client_capabilities: types.ClientCapabilities | None = None,
        options: Any = None,
        process: int | None = None,
        folder: Path | None = None,
    ) -> types.InitializeResult:
        able = client_capabilities or small_capabilities()
        known = able.workspace and able.workspace.diagnostics
        wants = able.text_document and able.text_document.diagnostic
        self.pulls = bool(wants and known and known.refresh_support)
        parameters = types.InitializeParams(
            capabilities=able,
            initialization_options=options,
            process_id=process,
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name)] if folder else None,
        )
        return await self.client.initialize_session(parameters)  # type: ignore[no-any-return]

    def changed_settings(self) -> None:
        """Notify the server that the settings have changed."""
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))

    async def open(self, text: str) -> None:
        """Open the document and wait for its analysis."""
        self.send_open(text)
        await self.analysed()

    def send_open(self, text: str) -> None:
        """Open the document; does not wait."""
        self.text = text
        document = types.TextDocumentItem(self.uri, "asm", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    def save(self, reason: types.TextDocumentSaveReason | None = None) -> None:
        """Notify the server of a save, with the reason if the client sends one; does not wait."""
        document = types.TextDocumentIdentifier(self.uri)
        if reason is not None:
            self.client.text_document_will_save(types.WillSaveTextDocumentParams(document, reason))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    async def run(self, command: str, *arguments: str | int) -> Any:
        """Run a command of the server on the document."""
        request = types.ExecuteCommandParams(command, [self.uri, *arguments])
        return await self.client.workspace_execute_command_async(request)

    def type(self, line: int, character: int, text: str, delete: int = 0) -> None:
        """Replace ``delete`` characters of a line; does not wait."""
        where = types.Range(types.Position(line, character), types.Position(line, character + delete))
        self._change(types.TextDocumentContentChangePartial(range=where, text=text))
        lines = self.text.split("\n")
        lines[line] = lines[line][:character] + text + lines[line][character + delete :]
        self.text = "\n".join(lines)

    def replace_line(self, line: int, text: str) -> None:
        """Replace a whole line; does not wait."""
        old = self.text.split("\n")[line]
        self.type(line, 0, text, delete=len(old))

    def replace_all(self, text: str) -> None:
        """Replace the whole text; does not wait."""
        self.text = text
        self._change(types.TextDocumentContentChangeWholeDocument(text))

    def _change(self, change: types.TextDocumentContentChangeEvent) -> None:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def analysed(self) -> types.PublishDiagnosticsParams:
        """Wait until diagnostics of the present version arrive; a client that pulls asks for them."""
        if self.pulls:
            request = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(self.uri))
            report = await self.client.text_document_diagnostic_async(request)
            return types.PublishDiagnosticsParams(self.uri, report.items, self.version)

        def up_to_date() -> bool:
            published = self.client.published.get(self.uri)
            return published is not None and published.version == self.version

        await self.until(up_to_date)
        return self.client.published[self.uri]  # type: ignore[no-any-return]

    async def complete(self) -> None:
        """Wait until all results of the present version have arrived."""
        request = {"textDocument": {"uri": self.uri}}
        async with asyncio.timeout(TIMEOUT):
            while not (await self.client.protocol.send_request_async("cyclelens/analysis", request)).upToDate:
                await asyncio.sleep(0.02)

    async def until(self, condition: Any) -> None:
        """Wait until a condition on the server's messages holds."""
        async with asyncio.timeout(TIMEOUT), self.client.changed:
            await self.client.changed.wait_for(condition)

    async def hints(self) -> list[types.InlayHint]:
        whole = types.Range(types.Position(0, 0), types.Position(self.text.count("\n") + 1, 0))
        request = types.InlayHintParams(types.TextDocumentIdentifier(self.uri), whole)
        return list(await self.client.text_document_inlay_hint_async(request) or [])

    async def until_label(self, line: int, start: str) -> None:
        """Wait until the hint on a line starts with this."""
        while not (await self.labels()).get(line, "").startswith(start):
            await self.pause()

    async def pause(self) -> None:
        """Let a moment pass."""
        await asyncio.sleep(0.02)

    async def labels(self) -> dict[int, str]:
        """Line -> its hint, without the padding that aligns it."""
        return {hint.position.line: str(hint.label).strip() for hint in await self.hints()}

    async def hover(self, line: int, character: int = 0) -> str:
        request = types.HoverParams(types.TextDocumentIdentifier(self.uri), types.Position(line, character))
        answer = await self.client.text_document_hover_async(request)
        return "" if answer is None else str(answer.contents.value)

    async def lenses(self) -> list[types.CodeLens]:
        request = types.CodeLensParams(types.TextDocumentIdentifier(self.uri))
        return list(await self.client.text_document_code_lens_async(request) or [])

    async def actions(self, line: int) -> list[types.CodeAction]:
        """The code actions of a line, without diagnostics."""
        where = types.Range(types.Position(line, 0), types.Position(line, 0))
        document = types.TextDocumentIdentifier(self.uri)
        request = types.CodeActionParams(document, where, types.CodeActionContext([]))
        return list(await self.client.text_document_code_action_async(request) or [])

    def apply(self, action: types.CodeAction) -> None:
        """Make the edits of an action, for texts in ASCII; does not wait."""
        lines = self.text.split("\n")
        assert action.edit is not None and action.edit.changes is not None
        edits = action.edit.changes[self.uri]
        for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character))[::-1]:
            start, end = edit.range.start, edit.range.end
            tail = lines[end.line][end.character :] if end.line < len(lines) else ""
            head = lines[start.line][: start.character] + edit.new_text + tail
            lines[start.line : end.line + 1] = head.split("\n")
        self.replace_all("\n".join(lines))

    async def codes(self) -> list[tuple[int, str]]:
        """Line and code of every diagnostic of the present version."""
        return [(item.range.start.line, str(item.code)) for item in (await self.analysed()).diagnostics]

    async def logged(self, count: int) -> None:
        """Wait until there are this many entries in the log."""
        async with asyncio.timeout(TIMEOUT):
            while len(self.client.log_messages) < count:
                await asyncio.sleep(0.01)

    async def message(self, part: str) -> str:
        """Wait for a message to the user that contains this."""
        async with asyncio.timeout(TIMEOUT):
            while True:
                for message in self.client.messages:
                    if part in message.message:
                        return str(message.message)
                await asyncio.sleep(0.01)
