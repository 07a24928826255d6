"""The page's server: its answers, and whom it answers."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.serving.answers import LONGEST_CODE, Answers, Superseded
from cyclelens.analyzer.serving.pages import PageServer

ROOT = Path(__file__).parents[2]
DOT = (ROOT / "examples" / "dot_product.s").read_text(encoding="utf-8")
STALL = (ROOT / "examples" / "lcp_stall.s").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(Answers(external_programs=False), 0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def fetch(
    server: PageServer, path: str, body: object = None, raw: bytes | None = None, **headers: str
) -> tuple[int, str, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    content = raw if raw is not None else None if body is None else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if content is not None:
        given.setdefault("Content-Type", "application/json")
    try:
        connection.request("GET" if content is None else "POST", path, content, given)
        response = connection.getresponse()
        return response.status, response.read().decode(), response.headers
    finally:
        connection.close()


def ask(server: PageServer, path: str, **asked: Any) -> dict[str, Any]:
    status, text, _ = fetch(server, path, {"window": "w", **asked})
    assert status == 200, text
    answer: dict[str, Any] = json.loads(text)
    return answer


def test_a_text_gets_figures_hints_and_problems(server: PageServer) -> None:
    answer = ask(server, "/analysis", text=DOT)
    (region, *_) = answer["regions"]
    (figure,) = region["figures"]
    assert figure["headline"] == "0.500 cycles/float · 4.00 cycles/iter · SKL · latency-bound"
    assert figure["cycles_per_iteration"] == 4.0
    lines = DOT.splitlines()
    chained = [hint for hint in answer["hints"] if hint["label"] == "chain +4"]
    assert chained
    assert all("vfmadd" in lines[hint["line"]] for hint in chained)
    stalls = ask(server, "/analysis", text=STALL)["problems"]
    assert "lcp-stall" in {problem["code"] for problem in stalls}
    broken = DOT.replace("dec", "deck")
    (problem, *_) = ask(server, "/analysis", text=broken)["problems"]
    assert "deck" in broken.splitlines()[problem["line"]]
    assert problem["severity"] == "error"


def test_what_is_chosen_wins_over_the_markers(server: PageServer) -> None:
    marked = DOT.replace("cyclelens-begin dot", "cyclelens-begin dot arch=HSW")
    assert "HSW" in ask(server, "/analysis", text=marked)["regions"][0]["figures"][0]["headline"]
    chosen = ask(server, "/analysis", text=marked, options={"microarchitectures": ["ICL"]})
    assert "ICL" in chosen["regions"][0]["figures"][0]["headline"]


def test_a_region_on_all_processors_and_in_time(server: PageServer) -> None:
    asked = {"text": DOT, "region": "dot", "options": {"microarchitectures": ["HSW"]}}
    cores = ask(server, "/comparison", kind="microarchitectures", **asked)
    figures = cores["columns"].index("cycles/iter")
    cycles = {row[0]: row[figures] for row in cores["rows"]}
    assert (cycles["HSW"], cycles["SKL"]) == (5.0, 4.0)
    assert len(cycles) == len(json.loads(fetch(server, "/cores")[1]))
    drawn = ask(server, "/comparison", kind="timeline", **asked)
    status, page, _ = fetch(server, f"/reports/{drawn['page']}")
    assert status == 200
    assert "Haswell" in page
    assert 'class="timeline"' in page
    gone = ask(server, "/comparison", kind="timeline", text=DOT, region="gone")
    assert "no region 'gone'" in gone["text"]


def test_rewrites_come_with_the_text_after_them(server: PageServer) -> None:
    (first, *_) = ask(server, "/rewrites", text=STALL)["rewrites"]
    assert first["after"] < first["before"]
    again = ask(server, "/analysis", text=first["text"])
    figures = {region["name"]: region["figures"][0] for region in again["regions"]}
    assert figures[first["region"]]["cycles_per_iteration"] == pytest.approx(first["after"], abs=0.005)


@pytest.mark.parametrize("name", ["dot_product.s", "lcp_stall_intel.s"])
def test_rewrites_are_those_of_the_command(
    server: PageServer, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    example = ROOT / "examples" / name
    found = ask(server, "/rewrites", text=example.read_text("utf-8"))["rewrites"]
    assert cli.main(["rewrite", str(example)]) == 0
    printed = re.findall(r"^ +\d+  (.+)\n +(.+)$", capsys.readouterr().out, re.MULTILINE)
    assert [(each["gain"], each["title"]) for each in found] == printed
    assert printed
    (region, *_) = {each["region"] for each in found}
    alone = ask(server, "/rewrites", text=example.read_text("utf-8"), region=region)["rewrites"]
    assert alone == [each for each in found if each["region"] == region]


def test_machine_code_becomes_a_text_with_the_same_figure(
    server: PageServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "c5fc100e c4e275b807 4883c620 4883c720 49ffcf 75ea"
    written = ask(server, "/instructions", text=code)
    assert not written["problem"]
    (region,) = ask(server, "/analysis", text=written["text"])["regions"]
    file = tmp_path / "code.hex"
    file.write_text(code, encoding="utf-8")
    assert cli.main(["analyze", "--hex", str(file), "--format", "json"]) == 0
    (bare,) = json.loads(capsys.readouterr().out)["regions"]
    (figure,) = region["figures"]
    assert figure["cycles_per_iteration"] == bare["predictions"][0]["cycles_per_iteration"] == 4.0
    straight = ask(server, "/instructions", text="480fafc0")["text"]
    assert len(ask(server, "/analysis", text=straight)["regions"]) == 1
    assert "not a row of hexadecimal bytes" in ask(server, "/instructions", text="xyz")["problem"]
    assert ask(server, "/instructions", text="90 " * LONGEST_CODE)["problem"]


def test_a_report_is_that_of_the_command(server: PageServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", str(ROOT / "examples" / "dot_product.s"), "--format", "markdown"]) == 0
    told = capsys.readouterr().out
    report = ask(server, "/report", text=DOT, format="markdown")["report"]
    assert report.splitlines()[2:] == told.splitlines()[2:]
    assert fetch(server, "/report", {"text": DOT, "format": "exe"})[0] == 400


def test_a_line_has_a_card_and_another_none(server: PageServer) -> None:
    line = next(number for number, text in enumerate(DOT.splitlines()) if "vfmadd" in text)
    assert "latency" in ask(server, "/card", text=DOT, line=line)["card"]
    assert ask(server, "/card", text=DOT, line=0)["card"] == ""
    assert fetch(server, "/card", {"text": DOT})[0] == 400


@pytest.mark.parametrize(
    "asked, word",
    [
        ({}, "'text'"),
        ({"text": 7}, "'text'"),
        ({"text": "nop", "window": 3}, "'window'"),
        ({"text": "nop", "options": []}, "'options'"),
        ({"text": "nop", "options": {"includePaths": ["/"]}}, "'options'"),
        ({"text": "nop", "options": {"microarchitectures": ["SKY"]}}, "SKY"),
        ({"text": "nop", "options": {"alignment": 64}}, "alignment"),
    ],
)
def test_malformed_requests_get_a_message(server: PageServer, asked: Any, word: str) -> None:
    status, text, _ = fetch(server, "/analysis", asked)
    assert status == 400
    assert word in json.loads(text)["error"]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_question_is_refused(server: PageServer, raw: bytes) -> None:
    assert fetch(server, "/analysis", raw=raw)[0] == 400


def test_only_the_page_gets_answers(server: PageServer) -> None:
    asked = {"text": DOT}
    assert fetch(server, "/", Host="cycles.example:80")[0] == 403
    assert fetch(server, "/analysis", asked, Host="cycles.example:80")[0] == 403
    assert fetch(server, "/analysis", asked, Origin="http://cycles.example")[0] == 403
    assert fetch(server, "/analysis", asked, Origin="null")[0] == 403
    assert fetch(server, "/analysis", asked, Origin=f"localhost:{server.port}")[0] == 403
    assert fetch(server, "/analysis", asked, Origin=f"https://localhost:{server.port}")[0] == 403
    # A form or a script from elsewhere can send this type without being asked for by its name.
    assert fetch(server, "/analysis", asked, Content_Type="text/plain")[0] == 400
    assert fetch(server, "/analysis", raw=b"{}", Content_Length=str(1 << 40))[0] == 400
    assert fetch(server, "/../pyproject.toml")[0] == 404
    assert fetch(server, "/reports/none")[0] == 404
    assert fetch(server, "/analysis", asked, Origin=f"http://localhost:{server.port}")[0] == 200
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_loads_nothing_from_elsewhere(server: PageServer) -> None:
    _, page, headers = fetch(server, "/")
    assert "://" not in page
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    for path in (
        "/page.js",
        "/cards.js",
        "/highlighting.js",
        "/links.js",
        "/examples.js",
        "/page.css",
        "/colours.css",
        "/codemirror.js",
    ):
        status, text, _ = fetch(server, path)
        assert status == 200
        assert path == "/codemirror.js" or "://" not in text


def test_a_text_reads_no_file_of_this_machine(server: PageServer, tmp_path: Path) -> None:
    (tmp_path / "secret.s").write_text("here_it_is\n", encoding="utf-8")
    text = f'# cyclelens-begin x\n.include "{tmp_path}/secret.s"\nnop\n# cyclelens-end\n'
    answer = ask(server, "/analysis", text=text)
    assert answer["problems"]
    assert "here_it_is" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("later", "more"),
    [("comparison", {"kind": "timeline", "region": "dot"}), ("rewrites", {}), ("analysis", {})],
)
def test_a_question_that_is_overtaken_is_given_up(later: str, more: dict[str, str]) -> None:
    answers = Answers(external_programs=False)
    long = "# cyclelens-begin x\n.l:\n" + "imul %rax, %rax\n" * 3000 + "dec %r15\njnz .l\n# cyclelens-end\n"
    given_up = []

    def first() -> None:
        try:
            answers.comparison({"window": "w", "text": long, "kind": "microarchitectures", "region": "x"})
        except Superseded:
            given_up.append(True)

    thread = threading.Thread(target=first)
    thread.start()
    while not answers.asked:
        thread.join(0.01)
    answers.questions[later]({"window": "w", "text": DOT, **more})
    thread.join()
    assert given_up == [True]


def test_a_port_that_is_taken_is_named(server: PageServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--port", str(server.port)]) == 1
    assert f"port {server.port} cannot be used" in capsys.readouterr().err


def test_the_editor_is_the_one_that_is_described() -> None:
    folder = ROOT / "dev" / "codemirror"
    packages: dict[str, dict[str, str]] = json.loads((folder / "package-lock.json").read_text())["packages"]
    text = (ROOT / "analyzer" / "serving" / "page" / "codemirror.js").read_text(encoding="utf-8")
    heading = text[: text.index("*/")].rstrip() + "\n"
    for name, one in packages.items():
        if name and "esbuild" not in name:
            assert f"{name.removeprefix('node_modules/')} {one['version']}\n" in heading
    assert not any("resolved" in one for one in packages.values())
    if not (folder / "node_modules" / ".package-lock.json").exists():
        pytest.skip("its packages are not installed: dev/page --check does so and compares")
    run = subprocess.run([ROOT / "dev" / "page", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


ODD = [
    b'{"text":"nop","line":' + b"9" * 5000 + b"}",
    b'{"text":"nop","kind":"tools","region":"\\ud800"}',
    b'{"text":"\\ud800 nop"}',
    b'{"text":"nop","format":{}}',
    b'{"text":"nop","format":[]}',
    b'{"text":"nop","kind":{},"region":"r"}',
    b'{"text":"nop","options":{"alignment":1e400}}',
    b'{"text":"nop","options":{"microarchitectures":{}}}',
    b'{"text":"nop","options":{"mode":[]}}',
]


@pytest.mark.parametrize("raw", ODD)
@pytest.mark.parametrize("path", ["analysis", "card", "comparison", "instructions", "report", "rewrites"])
def test_no_question_is_odd_enough_for_an_internal_error(server: PageServer, path: str, raw: bytes) -> None:
    status, text, _ = fetch(server, f"/{path}", raw=raw)
    assert status in (200, 400)
    assert "internal error" not in text


def _sent(server: PageServer, request: str) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request.encode())
        return connection.recv(65536).split(b"\r\n")[0]


def test_a_second_host_and_headers_without_end_are_refused(server: PageServer) -> None:
    host = f"Host: 127.0.0.1:{server.port}\r\n"
    end = "Connection: close\r\n\r\n"
    assert b"200" in _sent(server, f"GET / HTTP/1.1\r\n{host}{end}")
    assert b"403" in _sent(server, f"GET / HTTP/1.1\r\n{host}Host: example.org\r\n{end}")
    assert b"403" in _sent(server, f"GET / HTTP/1.1\r\n{host}Origin: http://example.org\r\n{end}")
    many = "".join(f"X-{number}: {'a' * 900}\r\n" for number in range(90))
    assert b"403" in _sent(server, f"GET / HTTP/1.1\r\n{host}{many}{end}")
    long = "9" * 5000
    asked = (
        f"POST /analysis HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: {long}\r\n\r\n"
    )
    assert b"400" in _sent(server, asked)


@pytest.mark.parametrize(
    ("more", "status"),
    [("", b"200"), ("Content-Length: 5\r\n", b"400"), ("Transfer-Encoding: chunked\r\n", b"400")],
)
def test_a_body_has_one_length(server: PageServer, more: str, status: bytes) -> None:
    body = '{"text":"nop","window":"w"}'
    asked = f"POST /analysis HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    assert status in _sent(server, f"{asked}Content-Length: {len(body)}\r\n{more}\r\n{body}")


def test_a_report_can_be_framed_by_the_page_alone(server: PageServer) -> None:
    drawn = ask(server, "/comparison", kind="timeline", text=DOT, region="dot")
    _, _, headers = fetch(server, f"/reports/{drawn['page']}")
    assert headers["Content-Security-Policy"] == "frame-ancestors 'self'"
