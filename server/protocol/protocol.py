"""What pygls does not do as the protocol says, put right, all of it in this file.

pygls 2.1 ends, or never reads on, at a long header line, an identifier that is an object, or a length that is
none; it answers neither requests whose parameters do not fit nor those after ``shutdown``, takes every object
with a member ``jsonrpc`` within a message for a message, and a client's answer with the identifier of the
client's own request for one to us. Its copy of the documents breaks lines where LSP does not (form feeds, for
one), so that later incremental changes land elsewhere; here there is none, the session's snapshots take its
place.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import isawaitable, signature
from typing import Any

import cattrs
import cattrs.v
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

log = logging.getLogger(__name__)

MAXIMUM_BODY = 256 << 20
"""Bytes of one message; the longest texts that are analysed are far shorter."""
_MAXIMUM_LINE = 8 << 10
"""Bytes of a header line that are looked at."""
_MAXIMUM_REASON = 500
"""Characters of what is said about a message."""
_LENGTH = re.compile(rb"Content-Length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)


def no_refusal(record: logging.LogRecord) -> bool:
    """A filter for what pygls logs: a request that a feature refuses is answered, and that is no defect."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that is no message; the reason is for the client."""

    reason: str


class Messages:
    """Cuts what arrives into messages: JSON values. Whatever is none costs only itself, because reading goes
    on at the next header that gives a length, be it behind something else or in what was taken for a body:
    within JSON no line ends like that."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        """Of the body, once its header was seen."""
        self._in_body = False
        self._has_header = False
        """Something stands in front of the empty line that ends a header."""

    def feed(self, data: bytes) -> Iterator[Any]:
        """The messages that are complete now, ``Unreadable`` for what is none."""
        self._buffer += data
        while True:
            found = self._body() if self._in_body else self._header()
            if found is None:
                return
            yield from found

    def _header(self) -> list[Any] | None:
        """One line of it; None: the rest of the line has not arrived."""
        end = self._buffer.find(b"\n") + 1
        if not end:
            # What ends a long line may still give a length.
            del self._buffer[:-_MAXIMUM_LINE]
            return None
        line = bytes(self._buffer[max(end - _MAXIMUM_LINE, 0) : end])
        del self._buffer[:end]
        if line.strip():
            self._has_header = True
            if match := _last(_LENGTH, line):
                self._length = int(match[1])
            return []
        length, has_header = self._length, self._has_header
        self._has_header = False
        if length is None:
            return [Unreadable("a header without Content-Length")] if has_header else []
        if length > MAXIMUM_BODY:
            self._length = None
            return [Unreadable(f"a message of {length} bytes; {MAXIMUM_BODY >> 20} MB are the most")]
        self._in_body = True
        return []

    def _body(self) -> list[Any] | None:
        """The message; None: it has not arrived yet."""
        assert self._length is not None
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        self._length, self._in_body = None, False
        try:
            return [json.loads(body)]
        except (ValueError, RecursionError) as error:
            if another := _LENGTH.search(body):
                self._buffer[:0] = body[another.start() :]
            return [Unreadable(f"no JSON: {error}")]


def _last(pattern: re.Pattern[bytes], line: bytes) -> re.Match[bytes] | None:
    """The match with which a line ends."""
    return next((match for match in pattern.finditer(line) if match.end() == len(line)), None)


class Protocol(LanguageServerProtocol):
    """One client's messages, parsed, checked and handed to the features."""

    _is_initialized = False

    def receive(self, received: Any) -> None:
        """Handle one message of a client. Raises nothing but ``SystemExit`` at the end: every request is
        answered, by an error if need be, and a mistake in one message is none of the next."""
        if isinstance(received, Unreadable):
            self._refuse(None, JsonRpcParseError(f"This is not a message: {received.reason}"))
            return
        reason = _wrong(received)
        if reason:
            identifier = received.get("id") if isinstance(received, dict) else None
            self._refuse(
                identifier if _is_identifier(identifier) else None,
                JsonRpcInvalidRequest(f"This is not a message: {reason}"),
            )
            return
        method, identifier = received.get("method"), received.get("id")
        if method is None:
            self._receive_response(received, identifier)
            return
        if "id" not in received:
            self._receive_notification(received, method)
            return
        try:
            if self._shutdown:
                raise JsonRpcInvalidRequest("The server was asked to shut down.")
            if method != types.INITIALIZE and not self._is_initialized:
                raise JsonRpcServerNotInitialized("The server has not been initialized.")
            if method == types.INITIALIZE and self._is_initialized:
                raise JsonRpcInvalidRequest("The server has been initialized already.")
            message = self._structured({"params": None, **received}, method, JsonRPCRequestMessage)
            if not hasattr(message, "id"):
                raise JsonRpcInvalidRequest(f"{method} is a notification and has no id.")
            self._is_initialized |= method == types.INITIALIZE
            self.handle_message(message)
        except JsonRpcException as error:
            self._refuse(identifier, error)
        except Exception as error:
            log.exception("a request could not be handled")
            self._refuse(identifier, JsonRpcInternalError(str(error)))

    def _receive_notification(self, received: dict[str, Any], method: str) -> None:
        if method != types.EXIT and (self._shutdown or not self._is_initialized):
            return
        try:
            message = self._structured({"params": None, **received}, method, JsonRPCNotification)
            self.handle_message(message)
        except JsonRpcException as error:
            self._server.misunderstood(method, received.get("params"), error.message)  # type: ignore[attr-defined]
        except Exception:
            log.exception("a notification could not be handled")

    def _receive_response(self, received: dict[str, Any], identifier: Any) -> None:
        """What we have not asked for is nothing to us."""
        if identifier not in self._result_types:
            return
        kind = self._result_types.pop(identifier) or JsonRPCResponseMessage
        future = self._request_futures.get(identifier)
        try:
            if "error" in received:
                kind = types.ResponseErrorMessage
            self.handle_message(_structure(self._converter, {"result": None, **received}, kind))
        except Exception as error:
            self._request_futures.pop(identifier, None)
            if future is not None and not future.done():
                future.set_exception(JsonRpcInternalError(str(error)))

    def _structured(self, received: dict[str, Any], method: str, other: type[Any]) -> Any:
        """The message as the type of its method, or ``other``. Raises JsonRpcInvalidParams."""
        return _structure(self._converter, received, self.get_message_type(method) or other)

    def _refuse(self, identifier: Any, error: JsonRpcException) -> None:
        if identifier is not None:
            self._send_response(identifier, error=error.to_response_error())
            return
        # pygls leaves out an identifier that is null.
        refusal = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": None, "error": refusal})

    # Plain functions: of a generator that handles a notification pygls keeps the future for ever.

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Any) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Any) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE](params)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Unlike pygls's own, hands the cancellation of the request on to the command."""
        command = self.fm.commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command}")
        try:
            signature(command).bind(*(params.arguments or ()))
        except TypeError as error:
            raise JsonRpcInvalidParams(f"{params.command}: {error}") from None
        answer = command(*(params.arguments or ()))
        return await answer if isawaitable(answer) else answer


def _wrong(received: Any) -> str:
    """What keeps a JSON value from being a message; empty if nothing."""
    if not isinstance(received, dict):
        return "not an object"
    if received.get("jsonrpc") != LanguageServerProtocol.VERSION:
        return 'jsonrpc is not "2.0"'
    if not isinstance(received.get("method", ""), str):
        return "the method is not a string"
    is_response = "method" not in received
    if is_response and not received.keys() & {"result", "error"}:
        return "neither a method nor a result nor an error"
    # That of an answer may be null.
    if "id" in received and not (_is_identifier(received["id"]) or (is_response and received["id"] is None)):
        return "the id is neither a string nor a whole number"
    return ""


def _is_identifier(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _structure(converter: Any, received: dict[str, Any], kind: type[Any]) -> Any:
    """Raises JsonRpcInvalidParams, which says where something does not fit."""
    try:
        return converter.structure(received, kind)
    except Exception as error:
        found = [str(error)]
        if isinstance(error, cattrs.BaseValidationError):
            found = cattrs.transform_error(error, format_exception=_said)
        message = f"{received.get('method', 'response')}: {'; '.join(found)}"
        raise JsonRpcInvalidParams(message[:_MAXIMUM_REASON]) from None


def _said(error: BaseException, kind: type[Any] | None) -> str:
    said = cattrs.v.format_exception(error, kind)
    return str(error) if said == "invalid value" else said
