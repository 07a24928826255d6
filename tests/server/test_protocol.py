"""Malformed, unfitting or untimely messages: each gets an answer, and the server survives."""

from __future__ import annotations

import gc
import io
import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from typing import Any

import pytest
from cyclelens.server.app import create_server
from cyclelens.server.protocol.protocol import MAXIMUM_BODY, Messages, Unreadable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pygls.io_ import StdoutWriter

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMETERS, NOT_INITIALIZED = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32002,
)
URI = "file:///kernel.s"
SERVER = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp"]
TIMEOUT = 60.0


def framed(value: object) -> bytes:
    body = json.dumps(value).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def message(**fields: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", **fields}


# -- what arrives --------------------------------------------------------------------------------------------


def cut(data: bytes, size: int = 1 << 20) -> list[Any]:
    """All messages of data that arrives in pieces of a size; ``...`` for malformed ones."""
    messages = Messages()
    pieces = (data[start : start + size] for start in range(0, len(data), size))
    found = [one for piece in pieces for one in messages.feed(piece)]
    return [... if isinstance(one, Unreadable) else one for one in found]


A, B = framed({"a": 1}), framed({"b": 2})
HEADERS = [
    b"content-length:8\r\n\r\n" + A[-8:],
    b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + A,
    A[:17] + b"\r\nContent-Type: x\r\n\r\n" + A[-8:],
    b"X-Long: " + b"x" * 200_000 + b"\r\n" + A,
    b"\r\n\r\n" + A,
    b"Content-Length: 8\n\n" + A[-8:],
]


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("head", HEADERS, ids=[repr(head[:24]) for head in HEADERS])
def test_every_header_of_the_protocol_is_read_in_pieces_of_any_size(head: bytes, size: int) -> None:
    assert cut(head + B, size) == [{"a": 1}, {"b": 2}]


GARBAGE = [
    b"Content-Length: five\r\n\r\n{}",
    b"Content-Length: -5\r\n\r\n{}",
    b"Content-Length: %d\r\n\r\n{}" % (MAXIMUM_BODY + 1),
    b"Content-Length: " + b"9" * 400 + b"\r\n\r\n{}",
    b"no header at all\r\n\r\n",
    b"Content-Length: 0\r\n\r\n",
    b"Content-Length: 5\r\n\r\n" + b'{"longer than it says": 1}',
    b"Content-Length: 200\r\n\r\n" + b'{"shorter than it says": 1}',
    framed({})[:-2] + b"\xff\xfe",
    b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
    b"Content-Length: 10000\r\n\r\n" + b"9" * 10_000,
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=[repr(garbage[:32]) for garbage in GARBAGE])
def test_what_is_no_message_costs_only_itself(garbage: bytes) -> None:
    rest = A + B + framed("x" * 300)
    for size in (1 << 20, 11):
        found = cut(garbage + rest, size)
        assert found[0] is ...
        assert [one for one in found if one is not ...] == [{"a": 1}, {"b": 2}, "x" * 300]
        assert found.count(...) <= 2


def test_a_text_that_looks_like_a_header_is_none() -> None:
    text = {"text": "Content-Length: 5\r\n\r\n{}\r\nContent-Length: 2\r\n\r\n[]"}
    assert cut(framed(text) + A) == [text, {"a": 1}]


def test_of_a_line_without_end_nothing_is_kept() -> None:
    messages = Messages()
    for _ in range(100):
        assert list(messages.feed(b"x" * 100_000)) == []
    assert len(messages._buffer) < 10_000
    assert list(messages.feed(b"\r\n" + A)) == [{"a": 1}]


# -- what is asked -------------------------------------------------------------------------------------------


class Client:
    """A server in this process, and its answers."""

    def __init__(self, *, initialized: bool = True) -> None:
        self._output = io.BytesIO()
        self.server = create_server()
        self.server.protocol.set_writer(StdoutWriter(self._output))
        if initialized:
            self.send(message(id="start", method="initialize", params={"capabilities": {}}))

    def send(self, value: object) -> list[dict[str, Any]]:
        """The answers to a message."""
        self._output.seek(0)
        self._output.truncate()
        self.server.protocol.receive(value)
        return [one for one in Messages().feed(self._output.getvalue()) if isinstance(one, dict)]

    def code(self, value: object) -> int:
        """The code of the only answer, which is an error with a text."""
        (answer,) = self.send(value)
        assert answer["error"]["message"]
        assert "id" in answer
        return int(answer["error"]["code"])

    def open(self, text: str) -> None:
        document = {"uri": URI, "languageId": "asm", "version": 0, "text": text}
        self.send(message(method="textDocument/didOpen", params={"textDocument": document}))


def symbols() -> dict[str, object]:
    ask = {"textDocument": {"uri": URI}}
    return message(id=99, method="textDocument/documentSymbol", params=ask)


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    made.open("one:\n nop\n")
    yield made
    (answer,) = made.send(symbols())
    assert [symbol["name"] for symbol in answer["result"]] == ["one"], "it works as before"


class Values(list[int]):
    """A list that a weak reference can watch."""


@pytest.mark.parametrize(
    "given",
    [
        lambda values: {"a": values},
        lambda values: {"textDocument": {"uri": values}, "position": {"line": values}},
    ],
)
@pytest.mark.parametrize("asked", [{"id": 1}, {}], ids=["request", "notification"])
def test_a_message_that_is_refused_leaves_nothing_in_memory(
    client: Client, asked: dict[str, object], given: Callable[[Values], dict[str, object]]
) -> None:
    """At once, without the garbage collector: the next collection may be hours away."""
    values = Values()
    watched = weakref.ref(values)
    gc.disable()
    try:
        client.send(message(**asked, method=HOVER if asked else CHANGE, params=given(values)))
        del values
        assert watched() is None
    finally:
        gc.enable()


HOVER, CHANGE = "textDocument/hover", "textDocument/didChange"
AT = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
UNFIT = [
    message(id=1, method=HOVER),
    message(id=1, method=HOVER, params=None),
    message(id=1, method=HOVER, params=[]),
    message(id=1, method=HOVER, params=7),
    message(id=1, method=HOVER, params={}),
    message(id=1, method=HOVER, params={**AT, "position": {"line": 1 << 31, "character": 0}}),
    message(id=1, method=HOVER, params={**AT, "position": {"line": -1, "character": 0}}),
    message(id=1, method=HOVER, params={**AT, "position": {"line": "zero", "character": 0}}),
    message(id=1, method=HOVER, params={**AT, "textDocument": None}),
    message(id=1, method="cyclelens/regions"),
    message(id=1, method="cyclelens/regions", params=[URI]),
    message(id=1, method="cyclelens/regions", params={"textDocument": {"uri": 7}}),
]


@pytest.mark.parametrize("unfit", UNFIT, ids=repr)
def test_parameters_that_do_not_fit_are_refused(client: Client, unfit: dict[str, object]) -> None:
    assert client.code(unfit) == INVALID_PARAMETERS


@pytest.mark.parametrize("odd", [[1], {"a": 1}, 1.5, True, None], ids=repr)
@pytest.mark.parametrize(
    ("method", "name"), [("$/cancelRequest", "id"), ("window/workDoneProgress/cancel", "token")]
)
def test_an_odd_identifier_in_a_notification_is_a_warning_and_no_traceback(
    client: Client, caplog: pytest.LogCaptureFixture, method: str, name: str, odd: object
) -> None:
    (warning,) = client.send(message(method=method, params={name: odd}))
    assert warning["method"] == "window/logMessage"
    assert "neither a string nor a whole number" in warning["params"]["message"]
    assert caplog.records == []


def test_a_refusal_says_what_does_not_fit(client: Client) -> None:
    (answer,) = client.send(
        message(id=1, method=HOVER, params={**AT, "position": {"line": -1, "character": 0}})
    )
    assert answer["error"]["message"] == (
        "textDocument/hover: Position.line should be in range [0:2147483647], but was -1. @ $.params.position"
    )


NONE = [
    7,
    None,
    "initialize",
    [message(id=1, method=HOVER, params=AT)],
    {},
    {"id": 1, "method": HOVER, "params": AT},
    {"jsonrpc": "1.0", "id": 1, "method": HOVER, "params": AT},
    {"jsonrpc": {"jsonrpc": "2.0"}, "id": 1, "method": HOVER},
    message(id={"a": 1}, method=HOVER, params=AT),
    message(id=[1], method=HOVER, params=AT),
    message(id=True, method=HOVER, params=AT),
    message(id=1.5, method=HOVER, params=AT),
    message(id=None, method=HOVER, params=AT),
    message(id=1, method=7),
    message(id=1, method=None),
    message(id=1),
]


@pytest.mark.parametrize("none", NONE, ids=repr)
def test_what_is_no_message_is_refused(client: Client, none: object) -> None:
    assert client.code(none) == INVALID_REQUEST


def test_what_cannot_be_read_is_refused(client: Client) -> None:
    assert client.code(Unreadable("not JSON")) == PARSE_ERROR


def test_unknown_methods_are_refused_or_ignored(client: Client) -> None:
    assert client.code(message(id=1, method="no/such")) == UNKNOWN_METHOD
    assert client.code(message(id=1, method="no/such", params=[3])) == UNKNOWN_METHOD
    assert client.send(message(method="no/such")) == []


def test_a_notification_with_an_identifier_is_refused(client: Client) -> None:
    assert client.code(message(id=1, method="initialized", params={})) == INVALID_REQUEST


def test_unexpected_answers_are_ignored(client: Client) -> None:
    for answer in ({"result": None}, {"error": {"code": 1, "message": "x"}}, {"error": 3}):
        for identifier in (99, "start", None, 2.5):
            assert client.send(message(id=identifier, **answer)) == [] or identifier == 2.5


def test_an_answer_that_does_not_fit_ends_the_wait_for_it() -> None:
    client = Client()
    future = client.server.protocol.send_request("client/registerCapability", None, msg_id="ours")
    client.send(message(id="ours", error="no object"))
    assert future.done()
    assert future.exception() is not None


def test_before_the_start_and_after_the_end_requests_are_refused() -> None:
    client = Client(initialized=False)
    ask = symbols()
    assert client.code(ask) == NOT_INITIALIZED
    assert client.send(message(method="textDocument/didOpen", params={})) == []
    assert client.code(message(id=1, method="initialize", params={"capabilities": 3})) == INVALID_PARAMETERS
    assert "result" in client.send(message(id=1, method="initialize", params={"capabilities": {}}))[0]
    assert client.code(message(id=1, method="initialize", params={"capabilities": {}})) == INVALID_REQUEST
    assert client.send(message(id=2, method="shutdown"))[0]["result"] is None
    assert client.code(ask) == INVALID_REQUEST
    assert client.code(message(id=2, method="shutdown")) == INVALID_REQUEST
    assert client.send(message(method="textDocument/didClose", params={"textDocument": {"uri": URI}})) == []
    with pytest.raises(SystemExit) as end:
        client.send(message(method="exit"))
    assert end.value.code == 0


def test_a_document_with_an_unreadable_change_is_dropped_and_the_user_told() -> None:
    client = Client()
    client.open("one:\n")
    change = {
        "range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}},
        "text": "",
    }
    versioned = {"uri": URI, "version": 1}
    sent = client.send(
        message(
            method="textDocument/didChange", params={"textDocument": versioned, "contentChanges": [change]}
        )
    )
    told = [one["params"]["message"] for one in sent if one["method"] == "window/showMessage"]
    assert len(told) == 1
    assert "until it is opened again" in told[0]
    assert client.send(symbols())[0]["result"] == []
    client.open("two:\n")
    assert client.send(symbols())[0]["result"][0]["name"] == "two"


def test_a_parameter_may_look_like_a_message(client: Client) -> None:
    looks = {**AT, "partialResultToken": message(id=7, method=HOVER, params=None)}
    (answer,) = client.send({**symbols(), "params": looks})
    assert answer["id"] == 99


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(URI),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["textDocument", "uri", "position", "line", "character", "range", "start", "end", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


# How fast a machine that others use makes the inputs says nothing about the server.
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_request_gets_one_answer(data: st.DataObject) -> None:
    client = CLIENT
    known = client.server.protocol.fm
    handlers = {**known.features, **known.builtin_features}
    # Others are answered later, or the last ones.
    at_once = [name for name, handler in handlers.items() if not iscoroutinefunction(handler)]
    method = data.draw(st.sampled_from(sorted(set(at_once) - {"exit", "shutdown"})))
    (answer,) = client.send(message(id=5, method=method, params=data.draw(values)))
    assert answer["id"] == 5
    assert ("error" in answer) != ("result" in answer)


CLIENT = Client()


# -- a real one ----------------------------------------------------------------------------------------------


def test_a_real_server_survives_all_of_it() -> None:
    initialize = message(id="start", method="initialize", params={"capabilities": {}})
    document = {"uri": URI, "languageId": "asm", "version": 0, "text": "one:\n"}
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        sent = [framed(initialize), framed(message(method="initialized", params={}))]
        sent += [*GARBAGE, *HEADERS, *map(framed, NONE), *map(framed, UNFIT)]
        sent += [framed(message(method="textDocument/didOpen", params={"textDocument": document}))]
        sent += [framed(symbols()), framed(message(id="end", method="shutdown")), framed(symbols())]
        sent += [framed(message(method="exit"))]
        writer = threading.Thread(target=lambda: (server.stdin.write(b"".join(sent)), server.stdin.flush()))  # type: ignore[union-attr]
        writer.start()
        answers = list(Messages().feed(server.stdout.read()))
        writer.join()
        assert server.wait(TIMEOUT) == 0
    found = [one for one in answers if one.get("id") == 99]
    assert found[0]["result"][0]["name"] == "one"
    assert found[1]["error"]["code"] == INVALID_REQUEST
    assert sum("error" in one for one in answers) >= len(GARBAGE) + len(NONE) + len(UNFIT)
