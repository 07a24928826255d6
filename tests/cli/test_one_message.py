"""Each mistake gives one message: what is wrong, what was probably meant, and a non-zero exit code."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.common.suggestions import among, did_you_mean, nearest

TEXT = """# cyclelens-begin dot
.Lloop:
 imul %rax, %rax
 dec %rcx
 jnz .Lloop
# cyclelens-end
"""
Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys) -> Run:
    monkeypatch.chdir(tmp_path)

    def run_(*arguments: str, text: str = TEXT) -> tuple[int, list[str]]:
        (tmp_path / "a.s").write_text(text)
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, [line for line in (out + err).splitlines() if line]

    return run_


def test_the_nearest_name_is_found_in_any_case() -> None:
    assert nearest("DTO", ["sum", "dot"]) == "dot"
    assert nearest("xyz", ["sum", "dot"]) == ""
    assert nearest("ad", ["adc", "add", "and", "sad"]) == "add", "a letter that was left out, not another one"
    assert did_you_mean("dto", ["sum", "dot"]) == "; did you mean 'dot'?"
    assert did_you_mean("xyz", ["sum", "dot"]) == ""


def test_all_names_are_listed_unless_they_are_many() -> None:
    assert among("xyz", ["sum", "dot"]) == "; known are sum, dot"
    assert among("dto", ["sum", "dot"]) == "; did you mean 'dot'? Known are sum, dot"
    assert among("dto", ["dot"]) == "; did you mean 'dot'?"
    assert among("xyz", [f"n{number}" for number in range(30)]).endswith("n19 and 10 more")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("analyse", "a.s"), "unknown command 'analyse'; did you mean 'analyze'?"),
        (("lps",), "unknown command 'lps'; did you mean 'lsp'?"),
        (("frobnicate",), "unknown command 'frobnicate'"),
        (("analyze", "a.s", "--arch", "SKYLAKE"), "did you mean SKL (Skylake)? Known are SNB"),
        (("analyze", "a.s", "--arch", "ICE LAKE"), "did you mean ICL (Ice Lake)? Known are SNB"),
        (
            ("analyze", "a.s", "--arch", "Cannon Lake"),
            "Cannon Lake is not simulated; known are SNB",
        ),
        (("analyze", "a.s", "--arch", "cannonlake"), "Cannon Lake is not simulated"),
        (("analyze", "a.s", "--alignmnt", "3"), "unknown option '--alignmnt'; did you mean '--alignment'?"),
        (("analyze", "a.s", "--frobnicate=3"), "unknown option '--frobnicate'"),
        (("analyze", "a.s", "b.s"), "one argument too many: 'b.s'"),
        (("lsp", "--tpc", "3"), "unknown option '--tpc'; did you mean '--tcp'?"),
        (("analyze",), "the following arguments are required: FILE"),
        ((), "a command is missing"),
    ],
)
def test_wrong_usage_takes_two_lines_and_the_first_one_matters(
    arguments: tuple[str, ...], message: str, run: Run
) -> None:
    code, lines = run(*arguments)
    assert code == 2
    assert len(lines) == 2
    assert message in lines[0]
    assert lines[1].startswith("usage: cyclelens")
    assert lines[1].endswith("--help says more")


COMMANDS: list[tuple[str, ...]] = [
    ("analyze", "a.s"),
    ("check", "a.s"),
    ("whatif", "a.s"),
    ("compare", "a.s"),
]
COMMANDS += [("sweep", "a.s", "--resource", "rs", "--scale", "1.0..2.0")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_region_that_is_not_there(command: tuple[str, ...], run: Run) -> None:
    code, lines = run(*command, "--region", "dto")
    assert code == 1
    assert [line.partition("there is ")[2].partition(" [")[0] for line in lines] == [
        "no region 'dto'; did you mean 'dot'?"
    ]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_text_without_regions_names_the_option_that_finds_loops(command: tuple[str, ...], run: Run) -> None:
    code, lines = run(*command, "--regions", "markers", text=TEXT.replace("cyclelens", "nothing"))
    assert code == 1
    assert len(lines) == 1
    assert "no region is marked" in lines[0] and "--regions auto" in lines[0]


@pytest.mark.parametrize(
    ("regions", "said"),
    [("auto", "and no loop"), ("loops", "no loop was found"), ("both", "and no loop")],
)
def test_a_text_without_loops(regions: str, said: str, run: Run) -> None:
    code, lines = run("analyze", "a.s", "--regions", regions, text=" add %rax, %rbx\n")
    assert code == 1
    assert len(lines) == 1 and said in lines[0]


def test_a_text_with_a_misspelt_marker_is_not_said_to_have_no_loop(run: Run) -> None:
    code, lines = run("analyze", "a.s", text=TEXT.replace("begin", "begn"))
    assert code == 1
    assert [line.rpartition("[")[2] for line in lines] == ["invalid-marker]", "no-region]"]
    assert "is not searched for loops" in lines[1]


def test_programs_read_why_there_is_no_region(run: Run) -> None:
    code, lines = run("analyze", "a.s", "--format", "json", text="")
    assert code == 1
    (problem,) = json.loads("\n".join(lines))["problems"]
    assert problem["code"] == "no-region"
    assert problem["line"] is None


def test_a_file_that_is_no_text_has_one_message(run: Run) -> None:
    code, lines = run("analyze", "a.s", text="\0\1\2")
    assert code == 1
    assert len(lines) == 1


@pytest.mark.parametrize(("other", "said"), [("dto", "did you mean 'dot'?"), ("dot", "no other region")])
def test_a_region_to_compare_with(other: str, said: str, run: Run) -> None:
    code, lines = run("compare", "a.s", "--with", other)
    assert code == 1
    assert len(lines) == 1 and said in lines[0]


def test_an_option_of_a_marker(run: Run) -> None:
    code, lines = run("analyze", "a.s", text=TEXT.replace("-begin dot", "-begin dot aling=3"))
    assert code == 1
    assert "unknown option 'aling'; did you mean 'align'? Known are" in lines[-1]


def test_an_unknown_processor_of_a_marker(run: Run) -> None:
    code, lines = run("analyze", "a.s", text=TEXT.replace("-begin dot", "-begin dot arch=HASWELL"))
    assert code == 1
    assert "did you mean HSW (Haswell)?" in lines[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("analyze", "a.s", "--taken", "2.0"), "'2.0' is not a share: write 0 to 1, or 0% to 100%"),
        (("analyze", "a.s", "--mispredicted", "dot=.L1:x"), "'x' is not a share"),
        (("analyze", "a.s", "--min-cycles", "100001"), "a run of at least 100,001 cycles was asked for"),
        (("sweep", "a.s", "--resource", "rob,foo"), "there is no buffer 'foo': one or two of rob, rs,"),
        (("analyze", "a.s", "--arch", "all"), "cyclelens compare shows all of them; known are SNB,"),
        (("check", "a.s", "--max-cycles", "dto=4"), "but no prediction of it; did you mean 'dot'?"),
    ],
)
def test_a_value_that_means_nothing_is_named(run: Run, arguments: tuple[str, ...], message: str) -> None:
    code, lines = run(*arguments, "--arch", "SKL")
    assert code != 0
    assert any(message in line for line in lines)


def test_the_same_message_of_several_lines_is_one(run: Run) -> None:
    text = "1: add %r16, %rax\n add %r17, %rbx\n dec %rcx\n add %r18, %rbx\n jnz 1b\n"
    _, lines = run("analyze", "a.s", text=text)
    (said,) = [line for line in lines if "APX" in line]
    assert said.startswith("a.s:1:4: error: ")
    assert said.endswith(" The same in lines 2 and 4. [unsupported-instruction]")
