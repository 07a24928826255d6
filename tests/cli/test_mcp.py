"""``cyclelens mcp``, driven by the protocol's own client."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cyclelens.analyzer.agents.tools import Tools

mcp = pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")
from mcp import Client, StdioServerParameters, stdio_client  # noqa: E402
from mcp.types import TextContent  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"
DOT = (EXAMPLES / "dot_product.s").read_text()
PROGRAM = str(Path(sys.executable).with_name("cyclelens"))
LONGEST = 600
"""Most tokens of an answer about one region; four characters are about a token."""


async def asked(*requests, options=()):
    """The texts of the answers, and whether each is an error."""
    server = StdioServerParameters(command=PROGRAM, args=["mcp", *options])
    answers = []
    async with Client(stdio_client(server)) as client:
        for tool, arguments in requests:
            result = await client.call_tool(tool, arguments)
            texts = [part.text for part in result.content if isinstance(part, TextContent)]
            answers.append(("".join(texts), bool(result.is_error)))
    return answers


def ask(*requests, options=()):
    return asyncio.run(asked(*requests, options=options))


def test_an_agent_makes_a_loop_faster_and_proves_it():
    """Analyse, rewrite, compare and check, as a session does."""
    (analysis, wrong), (listed, refused) = ask(
        ("analyze", {"source": DOT, "region": "dot", "core": "SKL"}),
        ("rewrites", {"source": DOT, "region": "dot", "core": "SKL"}),
    )
    assert not wrong, analysis
    assert not refused, listed
    assert "4.0x" in listed, listed
    assert "region dot (lines 13 to " in analysis and "4.00" in analysis and "SKL" in analysis
    assert "limited by: Dependencies" in analysis
    assert "line 16: vfmadd231ps (%rdi), %ymm1, %ymm0: 4 cycles for ymm0" in analysis
    assert "[warm-caches]" in analysis
    assert len(analysis) <= 4 * LONGEST and len(listed) <= 4 * LONGEST
    number = next(line.split(".")[0].strip() for line in listed.splitlines() if "4.0x" in line)
    ((diff, wrong),) = ask(("rewrites", {"source": DOT, "region": "dot", "core": "SKL", "show": int(number)}))
    assert not wrong and diff.startswith("--- before") and "+" in diff


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


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("analyze", {"source": DOT, "core": "SKLX"}, "SKLX"),
        ("analyze", {"source": "/no/such/file.s"}, "--folder"),
        ("explain", {"code": "nonsense"}, "there is no page about 'nonsense'; known: "),
        ("rewrites", {"source": DOT, "region": "dot", "core": "SKL", "show": 99}, "but no number 99"),
    ],
)
def test_what_cannot_be_answered_is_an_error_with_a_reason(tool, arguments, said):
    ((text, wrong),) = ask((tool, arguments))
    assert wrong and said in text


def test_a_text_with_mistakes_gets_its_messages_and_what_can_be_analysed():
    text = "# cyclelens-begin a\nadd %rax, %rbx\nnonsense\n# cyclelens-end\n"
    ((answer, wrong),) = ask(("analyze", {"source": text, "core": "SKL"}))
    assert not wrong and "error 3:" in answer and "nonsense" in answer
    ((empty, _),) = ask(("analyze", {"source": "ret\n", "core": "SKL"}))
    assert "[no-region]" in empty or "region" in empty


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
