"""A server of HTTP for one machine: the page's files, and its questions.

It answers this machine alone, by the names that a browser has for it, and no page but its own. A question by
another name (a domain that leads here) or from another page is refused. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from cyclelens.analyzer.reports.html import colours
from cyclelens.analyzer.serving.answers import LONGEST_TEXT, Answers, BadQuestion, Overtaken, cores

ADDRESS = "127.0.0.1"
_MOST_BYTES = 8 * LONGEST_TEXT
_MOST_DIGITS = len(str(_MOST_BYTES))
"""Of the length of a question."""
_MOST_HEADER_BYTES = 1 << 16
"""Of all headers together: the standard library limits a line, and how many there are."""
_FILES = {
    "/": ("index.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/cards.js": ("cards.js", "text/javascript"),
    "/highlighting.js": ("highlighting.js", "text/javascript"),
    "/links.js": ("links.js", "text/javascript"),
    "/examples.js": ("examples.js", "text/javascript"),
    "/codemirror.js": ("codemirror.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
_POLICY = (
    # The editor writes a style sheet of its own; nobody else's text becomes markup.
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class PageServer(ThreadingHTTPServer):
    """Listens on the loopback interface alone; port 0 is any that is free. Raises OSError."""

    daemon_threads = True

    def __init__(self, answers: Answers, port: int) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.answers = answers
        names = (ADDRESS, "localhost")
        self.hosts = {f"{name}:{self.port}" for name in names}
        self.contents = _contents()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser has closed its window: nobody waits any more. Questions have answers for all else."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{ADDRESS}:{self.port}/"


def _contents() -> dict[str, tuple[bytes, str]]:
    """The page's files by their paths, with their types."""
    folder = files("cyclelens.analyzer.serving") / "page"
    found = {path: ((folder / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}
    found["/colours.css"] = (colours().encode(), "text/css")
    found["/cores"] = (json.dumps(cores()).encode(), "application/json")
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "cyclelens"
    sys_version = ""
    timeout = 60
    server: PageServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if not self._is_ours():
            return
        if path in self.server.contents:
            content, kind = self.server.contents[path]
            self._send(HTTPStatus.OK, content, f"{kind}; charset=utf-8", {"Content-Security-Policy": _POLICY})
        elif path.startswith("/reports/") and (page := self.server.answers.page(path[9:])) is not None:
            # It has a policy of its own, which allows less; but only a header can say who may frame it.
            policy = {"Content-Security-Policy": "frame-ancestors 'self'"}
            self._send(HTTPStatus.OK, page.encode("utf-8", "replace"), "text/html; charset=utf-8", policy)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")

    def do_POST(self) -> None:
        question = self.server.answers.questions.get(self.path.removeprefix("/"))
        # A page from elsewhere cannot send this type without being asked for by its name first.
        typed = self.headers.get_content_type() == "application/json"
        length = self.headers.get("Content-Length", "")
        if not self._is_ours():
            return
        if question is None or not typed or not _is_length(length):
            self.close_connection = True  # what it has sent is not read
            status = HTTPStatus.NOT_FOUND if question is None else HTTPStatus.BAD_REQUEST
            self._refuse(status, f"a question is JSON of at most {_MOST_BYTES:,} bytes")
            return
        try:
            asked = _json(self.rfile.read(int(length)))
            if not isinstance(asked, dict):
                raise BadQuestion("a question is a JSON object")
            self._answer(HTTPStatus.OK, question(asked))
        except (BadQuestion, RecursionError) as wrong:
            self._refuse(HTTPStatus.BAD_REQUEST, str(wrong))
        except Overtaken:
            self._refuse(HTTPStatus.CONFLICT, "a later question came, or this one took too long")
        except Exception as error:
            message = f"internal error: {type(error).__name__}: {error}"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    def _is_ours(self) -> bool:
        """This server by its own name, and this page or nobody's. Refuses if not."""
        named, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        hosts = self.server.hosts
        small = sum(len(name) + len(value) for name, value in self.headers.items()) <= _MOST_HEADER_BYTES
        ours = all(origin.removeprefix("http://") in hosts for origin in origins) and len(origins) <= 1
        if small and len(named) == 1 and named[0] in hosts and ours:
            return True
        self.close_connection = True
        self._refuse(HTTPStatus.FORBIDDEN, "this server answers its own page on this machine alone")
        return False

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self._answer(status, {"error": message})

    def _answer(self, status: HTTPStatus, answer: Mapping[str, Any]) -> None:
        content = json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        self._send(status, content, "application/json; charset=utf-8", {})

    def _send(self, status: HTTPStatus, content: bytes, kind: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        always = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in (always | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody has to know."""


def _is_length(text: str) -> bool:
    """Whether it is a number of bytes that a question may have."""
    digits = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return digits and int(text) <= _MOST_BYTES


def _json(content: bytes) -> Any:
    """A JSON value whose texts can be written again. Raises BadQuestion, RecursionError."""
    try:
        value = json.loads(content)
        # Half of a surrogate pair is a text to JSON and to Python, and to nobody else.
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError as wrong:
        raise BadQuestion(f"this is not JSON that can be used: {str(wrong)[:200]}") from None
    return value
