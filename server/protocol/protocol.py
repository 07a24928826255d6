"""Corrections where pygls deviates from the protocol, all in this file.

pygls 2.1 ends, or stops reading, at a long header line, an identifier that is an object, or an invalid
length. It does not answer requests with unsuitable parameters, nor those after ``shutdown``. It takes any
value for an identifier within parameters, and fails later. It takes any nested object with a member
``jsonrpc`` for a message, and a response that bears the identifier of the client's own request for one to
ours. Its copy of the documents breaks lines where LSP does not (at form feeds, for example), so later
incremental changes land in the wrong place; this server keeps no such copy and uses the session's snapshots
instead.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterator
from inspect import isawaitable, signature
from typing import Any, get_type_hints

import cattrs
import cattrs.v
from lsprotocol import types
from msgspec import Struct
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

MAXIMUM_BODY = 64 << 20
"""Largest message in bytes; the longest texts that are analysed are far shorter. The values of a message may
take 25 times its size in memory (empty lists do)."""
_MAXIMUM_LINE = 8 << 10
"""Bytes of a header line that are examined."""
_MAXIMUM_REASON = 500
"""Longest error text about a message, in characters."""
_LENGTH = re.compile(rb"Content-Length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)


def no_refusal(record: logging.LogRecord) -> bool:
    """Log filter for pygls: a refused request has been answered, so it is not logged as an error."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


class Unreadable(Struct, frozen=True):
    """Input that is not a message; ``reason`` is for the client."""

    reason: str


class Messages:
    """Splits the input into messages (JSON values). Malformed input costs only itself: reading resumes at the
    next header with a length, even within what was taken for a body, because no line inside JSON ends like
    that."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        """Length of the body in bytes, once its header was read."""
        self._in_body = False
        self._has_header = False
        """Whether the header has any line before the empty one that ends it."""

    def feed(self, data: bytes) -> Iterator[Any]:
        """The messages that are now complete; ``Unreadable`` for malformed input."""
        self._buffer += data
        while True:
            found = self._body() if self._in_body else self._header()
            if found is None:
                return
            yield from found

    def _header(self) -> list[Any] | None:
        """Read one header line; None if the rest of the line has not arrived."""
        end = self._buffer.find(b"\n") + 1
        if not end:
            # The end of a long line may still give a length.
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
            return [Unreadable(f"a message of {length} bytes; the limit is {MAXIMUM_BODY >> 20} MB")]
        self._in_body = True
        return []

    def _body(self) -> list[Any] | None:
        """The message; None if it has not arrived completely."""
        assert self._length is not None
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        self._length, self._in_body = None, False
        try:
            return [json.loads(body)]
        except (ValueError, RecursionError, MemoryError) as error:
            if another := _LENGTH.search(body):
                self._buffer[:0] = body[another.start() :]
            return [Unreadable(f"not JSON: {error or type(error).__name__}")]


def _last(pattern: re.Pattern[bytes], line: bytes) -> re.Match[bytes] | None:
    """The match that ends the line; None if there is none."""
    return next((match for match in pattern.finditer(line) if match.end() == len(line)), None)


class Protocol(LanguageServerProtocol):
    """Parses and checks one client's messages and passes them to the features."""

    _is_initialized = False

    def __init__(self, server: Any, converter: Any) -> None:
        converter.register_structure_hook(int | str, _identifier)
        super().__init__(server, converter)

    def receive(self, received: Any) -> None:
        """Handle one message of a client. Every request is answered, with an error if necessary, and an
        invalid message does not affect the next one. Raises only ``SystemExit``, at the end."""
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
        """Handle a response; responses to no request of ours are ignored."""
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
        """The message as the type of its method, or as ``other``. Raises JsonRpcInvalidParams."""
        return _structure(self._converter, received, self.get_message_type(method) or other)

    def _refuse(self, identifier: Any, error: JsonRpcException) -> None:
        if identifier is not None:
            self._send_response(identifier, error=error.to_response_error())
            return
        # pygls omits an identifier that is null.
        refusal = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": None, "error": refusal})

    # Plain functions: if a generator handles a notification, pygls keeps its future for ever.

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
        """Run a command. Unlike the method of pygls, it passes the cancellation of the request on to the
        command."""
        command = self.fm.commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command}")
        try:
            given = signature(command).bind(*(params.arguments or ()))
        except TypeError as error:
            raise JsonRpcInvalidParams(f"{params.command}: {error}") from None
        declared = get_type_hints(command)
        for name, value in given.arguments.items():
            if not isinstance(value, declared[name]):
                wanted = getattr(declared[name], "__name__", declared[name])
                raise JsonRpcInvalidParams(f"{params.command}: {name} must be {wanted}, not {value!r:.200}")
        answer = command(*given.args)
        return await answer if isawaitable(answer) else answer


def _wrong(received: Any) -> str:
    """Why a JSON value is not a message; empty if it is one."""
    if not isinstance(received, dict):
        return "not an object"
    if received.get("jsonrpc") != LanguageServerProtocol.VERSION:
        return 'jsonrpc is not "2.0"'
    if not isinstance(received.get("method", ""), str):
        return "the method is not a string"
    is_response = "method" not in received
    if is_response and not received.keys() & {"result", "error"}:
        return "neither a method nor a result nor an error"
    # The id of a response may be null.
    if "id" in received and not (_is_identifier(received["id"]) or (is_response and received["id"] is None)):
        return "the id is neither a string nor a whole number"
    return ""


def _is_identifier(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


class _OddIdentifier(ValueError):
    pass


def _identifier(value: Any, _kind: object) -> int | str:
    """An identifier or token within parameters; pygls takes any value. Raises _OddIdentifier."""
    if not _is_identifier(value):
        raise _OddIdentifier("neither a string nor a whole number")
    return value  # type: ignore[no-any-return]


def _structure(converter: Any, received: dict[str, Any], kind: type[Any]) -> Any:
    """The message as ``kind``. Raises JsonRpcInvalidParams, which says what does not fit and where."""
    try:
        return converter.structure(received, kind)
    except Exception as error:
        found = [str(error)]
        if isinstance(error, cattrs.BaseValidationError):
            found = cattrs.transform_error(error, format_exception=_said)
        message = f"{received.get('method', 'response')}: {'; '.join(found)}"
        _clear(error)
        raise JsonRpcInvalidParams(message[:_MAXIMUM_REASON]) from None


def _clear(error: BaseException) -> None:
    """Clear the frames of an exception. The converter's refer to their own exceptions; such a cycle keeps the
    whole message in memory until the garbage collector finds it, which takes long in this server."""
    traceback.clear_frames(error.__traceback__)
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            _clear(part)


def _said(error: BaseException, kind: type[Any] | None) -> str:
    said = cattrs.v.format_exception(error, kind)
    return str(error) if said == "invalid value" or isinstance(error, _OddIdentifier) else said
