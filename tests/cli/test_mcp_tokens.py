"""The size of an agent's answers, in tokens."""

import re
from pathlib import Path

import pytest
from cyclelens.analyzer.agents.tools import Tools
from testkit.kernels import KERNELS

ROOT = Path(__file__).parents[2]
LONGEST = 600
"""Most tokens of an answer about one region."""
FILES = [*sorted((ROOT / "examples").glob("*.s")), *sorted((ROOT / "benchmarks").glob("*.s"))]


def tokens(text: str) -> int:
    """An estimate: a token is at most five letters, three digits or one other sign.

    On 220 such answers it was 0.89 to 1.09 times the count of OpenAI's public tokenizers o200k_base and
    cl100k_base (the larger of the two)."""
    return len(re.findall(r"[A-Za-z]{1,5}|\d{1,3}|[^\sA-Za-z\d]", text))


@pytest.fixture(scope="module")
def tools() -> Tools:
    return Tools()


@pytest.mark.parametrize("core", ["SKL", "ZEN4"])
def test_an_answer_about_one_region_is_short(tools: Tools, core: str) -> None:
    marked = [
        (text, name)
        for text in (file.read_text() for file in FILES)
        for name in re.findall(r"cyclelens-begin (\S+)", text)
    ]
    marked += [(text, "loop") for each in KERNELS.values() for text in (each.text, each.expert_text)]
    answers = [tools.analyze(text, region=name, core=core) for text, name in marked]
    described = [answer for answer in answers if "limited by: " in answer]
    assert len(described) > 40
    assert max(map(tokens, described)) <= LONGEST


def test_a_long_list_is_cut(tools: Tools) -> None:
    """Eight chains of equal length."""
    sums = "".join(f"vaddps %ymm{n}, %ymm{n}, %ymm{n}\n" for n in range(8))
    text = f"# cyclelens-begin sums\n.L:\n{sums}dec %rcx\njnz .L\n# cyclelens-end\n"
    answer = tools.analyze(text, core="SKL")
    assert "more lines of chains" in answer
    assert tokens(answer) <= LONGEST
