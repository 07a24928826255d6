"""``cyclelens predict``: reads hexadecimal code and prints one CSV row per line, whatever the line holds."""

import io
import sys

import pytest
from cyclelens.analyzer.cli.main import main

LCP = "6605341249ffcf"  # add ax, 0x1234; dec r15


@pytest.fixture
def predict(capsys, monkeypatch):
    def run(text, *arguments):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code = main(["predict", "--arch", "SKL", *arguments])
        output = capsys.readouterr()
        header, *rows = output.out.splitlines()
        assert header == "hex,cycles_per_iteration,problem" + ",least,most" * ("--ranges" in arguments)
        missing = sum(row.split(",")[1] == "" for row in rows)
        assert code == (1 if missing else 0)
        counted = f"cyclelens: {missing} of {len(rows)} blocks have no figure; their rows say why\n"
        assert output.err == (counted if missing else "")
        return rows

    return run


def test_the_length_changing_prefix_of_the_uica_paper(predict):
    assert predict(f"{LCP}\n", "--mode", "unroll") == [f"{LCP},3.42,"]
    assert predict("66053412\n", "--mode", "loop") == ["66053412,1.00,"]


def test_every_line_has_a_row_in_its_place(predict):
    rows = predict(f"\nzz\n{LCP}\n06\n66\n", "--mode", "unroll")
    assert rows == [
        ",,empty line",
        "zz,,not hexadecimal",
        f"{LCP},3.42,",
        "06,,no valid instruction at byte 0",
        "66,,no valid instruction at byte 0",
    ]


def test_bytes_may_be_written_as_analyze_takes_them(predict):
    rows = predict("0x66, 0x05, 0x34, 0x12\n66 05 34 12 # a comment\n# only a comment\n", "--mode", "loop")
    assert rows == [
        '"0x66, 0x05, 0x34, 0x12",1.00,',
        "66 05 34 12 # a comment,1.00,",
        "# only a comment,,empty line",
    ]


def test_no_input_has_no_rows(predict):
    assert predict("", "--mode", "loop") == []


def test_a_block_that_uses_every_register_cannot_be_a_loop(predict):
    pushes = "".join(f"41{0x50 + n:02x}" for n in range(8)) + "".join(f"{0x50 + n:02x}" for n in range(8))
    (row,) = predict(f"{pushes}\n", "--mode", "loop")
    assert row.startswith(f"{pushes},,the block uses every register")
    (row,) = predict(f"{pushes}\n", "--mode", "unroll")
    assert row == f"{pushes},16.00,"


def test_a_lower_bound_is_no_figure_of_a_row(predict):
    """clac beside three imul: a program that adds up the column does not count it."""
    row = "0f01ca" + "480fafc0" * 3
    assert predict(f"{row}\n", "--mode", "unroll") == [f"{row},,at least 9.00: SKL has no figures for clac"]


def test_a_block_of_which_most_is_unknown_has_no_figure(predict):
    (row,) = predict("0f0b\n", "--mode", "unroll")  # ud2
    assert row == "0f0b,,SKL has no figures for ud2 (most of the code)"
    (row,) = predict("d9e8dec1\n", "--mode", "loop")  # fld1; faddp
    assert row == "d9e8dec1,,SKL has no figures for fld1 and faddp (x87 is not modelled)"


def test_a_block_that_is_too_long_says_so(predict):
    (row,) = predict("90" * 20_000 + "\n", "--mode", "unroll")
    assert row.split(",")[1:] == ["", "the block has 20000 bytes; the limit is 16384"]


def test_several_processes_give_the_same_rows_in_the_same_order(predict):
    blocks = "\n".join("90" * (1 + n % 7) for n in range(200))
    assert predict(blocks, "--mode", "unroll", "--jobs", "2") == predict(blocks, "--mode", "unroll")


NARROW_STORE = "880424488b1c24"  # mov [rsp], al; mov rbx, [rsp]


@pytest.mark.parametrize(
    ("block", "arguments", "cycles"),
    [
        (NARROW_STORE, (), "13.00"),
        (NARROW_STORE, ("--model", "hardware"), "13.00"),
        (NARROW_STORE, ("--model", "uica"), "1.00"),
        (NARROW_STORE, ("--model", "reference"), "1.00"),
        (LCP, ("--model", "bounds"), "3.44"),
        (LCP, ("--simple-front-end",), "1.00"),
        ("488906488b07", ("--assume", "same"), "5.00"),
    ],
)
def test_the_model_can_be_chosen(predict, block, arguments, cycles):
    (row,) = predict(f"{block}\n", "--mode", "unroll", *arguments)
    assert row.split(",")[1] == cycles


def test_several_processes_use_the_chosen_model(predict):
    arguments = ("--mode", "unroll", "--random-ports", "3", "--jobs", "2")
    rows = predict(f"{NARROW_STORE}\n" * 3, *arguments, "--model", "uica")
    assert rows == [f"{NARROW_STORE},1.00,"] * 3


def test_a_choice_that_makes_no_sense_is_wrong_usage(capsys):
    assert main(["predict", "--arch", "SKL", "--mode", "unroll", "--assume", "bhive", "--model", "uica"]) == 2
    assert "needs the hardware model" in capsys.readouterr().err


def test_copies_in_a_loop_take_the_loops_overhead_away(predict):
    add = "4883c001"  # add rax, 1
    nops = "0f1f00" * 3
    assert predict(f"{add}\n", "--mode", "loop", "--copies", "8") == [f"{add},1.00,"]
    # Three NOPs and the pair of the loop: four issue slots; 85 copies share one pair.
    assert predict(f"{nops}\n", "--mode", "loop") == [f"{nops},1.00,"]
    (row,) = predict(f"{nops}\n", "--mode", "loop", "--copies", "auto")
    assert 0.75 <= float(row.split(",")[1]) < 0.77


def test_copies_that_would_make_too_long_a_block_have_no_figure(predict):
    (row,) = predict(f"{'90' * 100}\n", "--mode", "loop", "--copies", "200")
    assert row.endswith(",,200 copies have 20000 bytes; the limit is 16384")


@pytest.mark.parametrize("choice", [["unroll", "--copies", "2"], ["loop", "--copies", "0"]])
def test_copies_without_sense_are_refused(choice, capsys):
    assert main(["predict", "--arch", "SKL", "--mode", *choice]) == 2
    assert "--copies" in capsys.readouterr().err


def test_ranges_are_two_more_columns_of_those_who_ask(predict):
    """The first block hangs on port binding: 1.45 and 1.51 were measured of such blocks on Skylake."""
    hangs, fixed, bad = "41ffc64539f24489742438", "480fafc0", "zz"  # inc; cmp; mov [m], r
    rows = predict(f"{hangs}\n{fixed}\n{bad}\n", "--mode", "unroll", "--ranges")
    assert rows[1:] == [f"{fixed},3.00,,3.00,3.00", "zz,,not hexadecimal,,"]
    block, figure, problem, least, most = rows[0].split(",")
    assert (block, problem) == (hangs, "")
    assert float(least) <= float(figure) <= float(most)
    assert float(least) <= 1.45 <= float(most)
    assert float(least) < 0.95 * float(figure)
    (alone,) = predict(f"{hangs}\n", "--mode", "unroll")
    assert alone == f"{hangs},{figure},"


def test_ranges_are_of_blocks_from_standard_input(capsys):
    arguments = ["--arch", "SKL", "--mode", "loop", "--ranges", "--input", "a", "--output", "b"]
    assert main(["predict", *arguments]) == 2
    assert "--ranges needs blocks from standard input" in capsys.readouterr().err
