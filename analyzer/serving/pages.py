"""An HTTP server for one machine: it serves the page's files and answers its requests.

It answers this machine alone, under its loopback names, and only its own page. A request under another host
name (a domain that resolves here) or from another page is refused. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from cyclelens.analyzer.reports.html import colours
from cyclelens.analyzer.serving.answers import LONGEST_TEXT, Answers, BadRequest, Superseded, cores

ADDRESS = "127.0.0.1"
_MOST_BYTES = 8 * LONGEST_TEXT
_MOST_DIGITS = len(str(_MOST_BYTES))
"""Digits of the longest request length."""
_MOST_HEADER_BYTES = 1 << 16
"""Size limit of all headers together; the standard library limits only their number and line length."""
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
    # The editor writes a style sheet of its own; no untrusted text becomes markup.
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class PageServer(ThreadingHTTPServer):
    """Listens on the loopback interface alone; port 0 selects any free port. Raises OSError."""

    daemon_threads = True

    def __init__(self, answers: Answers, port: int) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.answers = answers
        names = (ADDRESS, "localhost")
        self.hosts = {f"{name}:{self.port}" for name in names}
        self.contents = _contents()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore connections that a browser closes early; all other errors are answered."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return f"http://{ADDRESS}:{self.port}/"


def _contents() -> dict[str, tuple[bytes, str]]:
    """Path -> content and type of the page's files."""
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
            # The report's own policy is stricter, but only a header can restrict who may frame it.
            policy = {"Content-Security-Policy": "frame-ancestors 'self'"}
            self._send(HTTPStatus.OK, page.encode("utf-8", "replace"), "text/html; charset=utf-8", policy)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "this path does not exist")

    def do_POST(self) -> None:
        question = self.server.answers.questions.get(self.path.removeprefix("/"))
        # A page from elsewhere cannot send this type without a preflight request.
        typed = self.headers.get_content_type() == "application/json"
        # Two lengths, or pieces, would leave a part of the body to be read as the next request.
        lengths = self.headers.get_all("Content-Length", [])
        sized = len(lengths) == 1 and _is_length(lengths[0]) and "Transfer-Encoding" not in self.headers
        if not self._is_ours():
            return
        if question is None or not typed or not sized:
            self.close_connection = True  # the body is not read
            status = HTTPStatus.NOT_FOUND if question is None else HTTPStatus.BAD_REQUEST
            self._refuse(status, f"a request must be JSON of at most {_MOST_BYTES:,} bytes")
            return
        try:
            asked = _json(self.rfile.read(int(lengths[0])))
            if not isinstance(asked, dict):
                raise BadRequest("a request must be a JSON object")
            self._answer(HTTPStatus.OK, question(asked))
        except (BadRequest, RecursionError) as wrong:
            self._refuse(HTTPStatus.BAD_REQUEST, str(wrong))
        except Superseded:
            self._refuse(HTTPStatus.CONFLICT, "a later request superseded this one, or it took too long")
        except Exception as error:
            message = f"internal error: {type(error).__name__}: {error}"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    def _is_ours(self) -> bool:
        """Whether the request uses a name of this server and comes from its page, or from no page. Refuses it
        otherwise."""
        named, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        hosts = self.server.hosts
        small = sum(len(name) + len(value) for name, value in self.headers.items()) <= _MOST_HEADER_BYTES
        ours = not origins or origins in [[f"http://{host}"] for host in hosts]
        if small and len(named) == 1 and named[0] in hosts and ours:
            return True
        self.close_connection = True
        self._refuse(HTTPStatus.FORBIDDEN, "this server answers only its own page on this machine")
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
        """Log nothing."""


def _is_length(text: str) -> bool:
    """Whether the text is an acceptable request length in bytes."""
    digits = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return digits and int(text) <= _MOST_BYTES


def _json(content: bytes) -> Any:
    """Parse a JSON value whose strings can be encoded. Raises BadRequest, RecursionError."""
    try:
        value = json.loads(content)
        # JSON and Python accept half of a surrogate pair; encodings do not.
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError as wrong:
        raise BadRequest(f"this is not usable JSON: {str(wrong)[:200]}") from None
    return value
