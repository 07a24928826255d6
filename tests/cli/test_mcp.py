"""``cyclelens mcp``, driven by the protocol's own client."""

import asyncio
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cyclelens.analyzer.agents import tools as agents_tools
from cyclelens.analyzer.agents.request import folder_of
from cyclelens.analyzer.agents.tools import Tools
from cyclelens.analyzer.rewrites.search import Advice
from cyclelens.analyzer.simulator.failures import Cancelled
from testkit.server.preloaded import preloaded_command

mcp = pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")
from mcp import Client, StdioServerParameters, stdio_client  # noqa: E402
from mcp.types import ListRootsResult, Root, TextContent, TextResourceContents  # noqa: E402

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DOT = (EXAMPLES / "dot_product.s").read_text()
PROGRAM: list[str] = []
"""The words that start ``cyclelens mcp``."""
PATIENT = ("--seconds", "600")
"""A loaded machine may not end a search early."""


@pytest.fixture(scope="module", autouse=True)
def started():
    with preloaded_command("cyclelens.analyzer.agents.mcp_server") as words:
        PROGRAM[:] = [*words, "mcp"]
        yield


def parameters(*options):
    return StdioServerParameters(command=PROGRAM[0], args=[*PROGRAM[1:], *options])


async def asked(*requests, options=(), roots=None, mode="auto"):
    """The texts of the answers, and whether each is an error. ``roots``: the client's, whose list may change
    between requests: a request that is a function is called instead of sent."""
    server = parameters(*PATIENT, *options)

    async def listed(_context):
        return ListRootsResult(roots=[Root(uri=uri) for uri in roots])

    answers = []
    callback = None if roots is None else listed
    async with Client(stdio_client(server), list_roots_callback=callback, mode=mode) as client:
        for request in requests:
            if callable(request):
                request()
                continue
            tool, arguments = request
            result = await client.call_tool(tool, arguments)
            texts = [part.text for part in result.content if isinstance(part, TextContent)]
            answers.append(("".join(texts), bool(result.is_error)))
    return answers


def ask(*requests, options=(), roots=None, mode="auto"):
    return asyncio.run(asked(*requests, options=options, roots=roots, mode=mode))


def patched(text, diff):
    """The text after the hunks of a unified diff, as a client applies it."""
    old, new, at = text.split("\n"), [], 0
    for line in diff.split("\n")[2:]:
        if head := re.match(r"@@ -(\d+)", line):
            begin = int(head[1]) - 1
            new += old[at:begin]
            at = begin
        elif line.startswith("+"):
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            new += [line[1:]] if line.startswith(" ") else []
            at += 1
    return "\n".join(new + old[at:])


def test_an_agent_makes_a_loop_faster_and_proves_it_as_the_page_shows(tmp_path):
    """Analyse, rewrite, apply, check and analyse again; the page has the answers word for word."""
    file = tmp_path / "dot_product.s"
    file.write_text(DOT)
    place = {"source": str(file), "region": "dot", "core": "SKL"}
    roots = [tmp_path.as_uri()]
    (analysis, wrong), (listed, refused) = ask(("analyze", place), ("rewrites", place), roots=roots)
    assert not wrong, analysis
    assert not refused, listed
    number = next(line.split(".")[0].strip() for line in listed.splitlines() if "4.0x" in line)
    ((diff, wrong),) = ask(("rewrites", {**place, "show": int(number)}), roots=roots)
    assert not wrong and diff.startswith("--- before"), diff
    file.write_text(patched(DOT, diff))
    (checked, wrong), (again, failed), (compared, _) = ask(
        ("check", {"before": DOT, "after": str(file), "region": "dot", "times": 4}),
        ("analyze", place),
        ("compare", {"before": DOT, "after": str(file), "core": "SKL"}),
        options=["--allow-run"],
        roots=roots,
    )
    assert not failed, again
    page = (ROOT / "docs" / "agents.md").read_text()
    shown = [block.strip("\n") for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL)]
    assert shown[:2] == [analysis, listed]
    assert shown[2] == diff
    if "nothing can be run here" in checked:
        pytest.skip(checked)
    assert not wrong, checked
    first, *_ = again.splitlines()
    assert shown[3] == "\n".join([checked, first, *compared.splitlines()[:2]])


def test_two_versions_are_compared_and_checked():
    before = "# cyclelens-begin sum\n.L: add (%rdi), %rax\nadd $8, %rdi\ndec %rcx\njnz .L\n# cyclelens-end\n"
    same = before.replace("dec %rcx", "sub $1, %rcx")
    other = before.replace("add (%rdi), %rax", "xor (%rdi), %rax")
    (compared, _), (equal, _), (differing, _) = ask(
        ("compare", {"before": before, "after": other, "core": "SKL"}),
        ("check", {"before": before, "after": same, "region": "sum"}),
        ("check", {"before": before, "after": other, "region": "sum"}),
        options=["--allow-run"],
    )
    assert compared.startswith("sum: before 0.15") and "SKL: no difference" in compared
    if "nothing can be run here" in equal:
        pytest.skip(equal)
    assert "the same results on 10,000 random inputs" in equal
    assert "results differ" in differing


def test_nothing_is_run_and_no_file_is_read_unless_the_user_allowed_it(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "kernel.s").write_text(DOT)
    (inside / "link.s").symlink_to(outside / "kernel.s")
    answers = ask(
        ("check", {"before": DOT, "after": DOT, "region": "dot"}),
        ("analyze", {"source": str(inside / "kernel.s"), "core": "SKL"}),
        ("analyze", {"source": str(outside / "kernel.s"), "core": "SKL"}),
        ("analyze", {"source": str(inside / "link.s"), "core": "SKL"}),
        options=["--folder", str(inside)],
    )
    (run, refused), (read, wrong), (other, beyond), (link, escaped) = answers
    assert refused and "--allow-run" in run
    assert not wrong and "region dot" in read
    assert beyond and "outside of the workspace" in other
    assert escaped and "outside of the workspace" in link
    (without, refused), *_ = ask(("analyze", {"source": str(inside / "kernel.s")}))
    assert refused and "--folder" in without


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_files_are_read_in_the_roots_of_the_client_and_only_there(mode, tmp_path):
    """``auto`` is the protocol of 2026-07-28, ``legacy`` an older one; they ask for roots in other ways."""
    inside, outside, linked = tmp_path / "in side", tmp_path / "outside", tmp_path / "linked"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "kernel.s").write_text(DOT)
    (inside / "link.s").symlink_to(outside / "kernel.s")
    linked.symlink_to(inside)
    roots = [linked.as_uri()]

    def analyze(path):
        return "analyze", {"source": str(path), "region": "dot", "core": "SKL"}

    answers = ask(
        analyze(inside / "kernel.s"),
        analyze(linked / "kernel.s"),
        analyze(inside / "link.s"),
        analyze(outside / "kernel.s"),
        analyze(inside / ".." / "outside" / "kernel.s"),
        ("compare", {"before": DOT, "after": str(outside / "kernel.s"), "core": "SKL"}),
        lambda: roots.append(outside.as_uri()),
        analyze(outside / "kernel.s"),
        analyze(inside / "link.s"),
        lambda: roots.clear(),
        analyze(inside / "kernel.s"),
        roots=roots,
        mode=mode,
    )
    assert [wrong for _, wrong in answers] == [False, False, True, True, True, True, False, False, True]
    assert all("outside of the workspace" in text for text, _ in answers[2:6])
    assert "no folder may be read" in answers[-1][0]


def test_what_a_text_names_is_not_read_either(tmp_path):
    """A directive of the text must not be a way around the folders."""
    secret = tmp_path / "secret.s"
    secret.write_text("add $12345, %rax\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    texts, files = [], []
    for number, directive in enumerate(
        (f'.include "{secret}"', '.include "../secret.s"', f'.incbin "{secret}"')
    ):
        texts.append(f"# cyclelens-begin a\n{directive}\nadd %rax, %rbx\n# cyclelens-end\n")
        file = folder / f"kernel{number}.s"
        file.write_text(texts[-1])
        files.append(str(file))
    for sources, roots in ((texts, None), (files, [folder.as_uri()])):
        answers = ask(*(("analyze", {"source": source, "core": "SKL"}) for source in sources), roots=roots)
        assert len(answers) == 3
        for answer, _ in answers:
            assert "12345" not in answer and "error" in answer, answer


@pytest.mark.parametrize(
    ("root", "folder"),
    [
        ("file:///home/me/a%20b", "/home/me/a b"),
        ("file://localhost/home/me", "/home/me"),
        ("file://elsewhere/home/me", None),
        ("https://example.org/home/me", None),
        ("file://[/home", None),
        ("file:relative", None),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_a_root_is_a_folder_of_this_machine(root, folder):
    assert folder_of(root) == folder


def test_the_figure_beside_rewrites_is_a_lower_bound_where_the_loop_calls():
    calling = "# cyclelens-begin a\n.La:\n call f\n dec %rcx\n jnz .La\n# cyclelens-end\n"
    assert Tools().rewrites(calling, core="SKL").startswith("a: at least ")


def test_a_search_that_takes_too_long_says_so_beside_what_it_found(monkeypatch):
    """It used to be refused as a whole, which a loaded machine showed now and then."""

    def search(*arguments):
        yield Advice("dot", 3.0)
        raise Cancelled

    monkeypatch.setattr(agents_tools, "search", search)
    answer = Tools().rewrites(DOT, region="dot", core="SKL")
    assert answer.startswith("dot: 3.00 cycles") and "The time was over" in answer
    with pytest.raises(agents_tools.RefusedRequest, match="longer than 0 s"):
        Tools(seconds=0).analyze(DOT, region="dot", core="SKL")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("analyze", {"source": DOT, "core": "SKLX"}, "SKLX"),
        ("analyze", {"source": "/no/such/file.s"}, "--folder"),
        ("explain", {"code": "nonsense"}, "there is no page about 'nonsense'; known: "),
        ("rewrites", {"source": DOT, "region": "dot", "core": "SKL", "show": 99}, "there is no rewrite 99"),
    ],
)
def test_what_cannot_be_answered_is_an_error_with_a_reason(tool, arguments, said):
    ((text, wrong),) = ask((tool, arguments))
    assert wrong and said in text


def _message(**members):
    return json.dumps({"jsonrpc": "2.0", **members}) + "\n"


def _call(identifier, source):
    return _message(
        id=identifier, method="tools/call", params={"name": "analyze", "arguments": {"source": source}}
    )


def _initialize(**capabilities):
    client = {"name": "test", "version": "1"}
    return _message(
        id=0,
        method="initialize",
        params={"protocolVersion": "2025-03-26", "capabilities": capabilities, "clientInfo": client},
    ) + _message(method="notifications/initialized")


@pytest.fixture
def answered():
    """Sends lines to a server and returns its next message."""
    with subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        given, told = server.stdin, server.stdout
        assert given is not None and told is not None

        def answered(lines):
            given.write(lines)
            given.flush()
            return json.loads(told.readline())

        yield answered
        given.close()
        assert server.wait(60) == 0


def test_a_message_that_cannot_be_read_is_answered_and_harms_no_other(answered):
    """Codes and the identifier of what has none: JSON-RPC 2.0, 5 and 5.1. The SDK drops such a message."""
    assert answered(_initialize())["id"] == 0
    for line, identifier, code in [
        (_call(1, "\ud800 nop"), 1, -32700),
        (_call("two", "nop \udfff"), "two", -32700),
        (_call("\ud800", "nop"), None, -32700),
        ("{\n", None, -32700),
        ("[" * 100_000 + "\n", None, -32700),
        ("5\n", None, -32600),
        (_message(id=3, method=5), 3, -32600),
        (_message(id=4), 4, -32600),
        (_message(id=True, method=5), None, -32600),
    ]:
        answer = answered(line)
        assert (answer["id"], answer["error"]["code"]) == (identifier, code), line
    # Nobody waits for an answer to these.
    silent = "\n" + _message(method="ping", params={"a": "\ud800"})
    assert answered(silent + _message(id=5, method="ping")) == {"jsonrpc": "2.0", "id": 5, "result": {}}


def test_a_reply_that_cannot_be_read_fails_what_waits_for_it(answered):
    assert answered(_initialize(roots={}))["id"] == 0
    asked = answered(_call(1, "/no/such/file.s"))
    assert asked["method"] == "roots/list"
    answer = answered(_message(id=asked["id"], result={"roots": [{"uri": "file:///\ud800"}]}))
    assert answer["id"] == 1
    assert "error" in answer or answer["result"]["isError"]


def test_a_text_with_mistakes_gets_its_messages_and_what_can_be_analysed():
    text = "# cyclelens-begin a\nadd %rax, %rbx\nnonsense\n# cyclelens-end\n"
    ((answer, wrong),) = ask(("analyze", {"source": text, "core": "SKL"}))
    assert not wrong and "error 3:" in answer and "nonsense" in answer
    ((empty, _),) = ask(("analyze", {"source": "ret\n", "core": "SKL"}))
    assert "[no-region]" in empty or "region" in empty


def test_documents_are_resources():
    program = str(Path(sys.executable).with_name("cyclelens"))

    async def read():
        async with Client(stdio_client(StdioServerParameters(command=program, args=["mcp"]))) as client:
            listed = {str(each.uri) for each in (await client.list_resources()).resources}
            texts = []
            for each in ("diagnostics", "diagnostics/lcp-stall", "documents/agents"):
                (content,) = (await client.read_resource(f"cyclelens://{each}")).contents
                assert isinstance(content, TextResourceContents)
                texts.append(content.text)
            return listed, texts

    listed, (index, page, agents) = asyncio.run(read())
    assert listed == {"cyclelens://diagnostics"} | {
        f"cyclelens://documents/{each.stem}" for each in (ROOT / "docs").glob("*.md")
    }
    assert "[lcp-stall]" in index and page.startswith("# ") and "length" in page
    assert agents == (ROOT / "docs" / "agents.md").read_text()


def test_pages_and_cores_are_listed():
    (page, _), (cores, _) = ask(("explain", {"code": "lcp-stall"}), ("cores", {}))
    assert page.startswith("# ") and "length" in page
    assert "SKL: Skylake" in cores and "this machine: " in cores


def test_requests_come_from_any_thread():
    """The protocol's server runs each request in one of several threads; the tables belong to the first."""
    tools, answers = Tools(), []
    for _ in range(3):
        with ThreadPoolExecutor(1) as thread:
            answers.append(thread.submit(tools.analyze, DOT, region="dot", core="SKL").result())
    assert answers[0].startswith("region dot") and len(set(answers)) == 1
