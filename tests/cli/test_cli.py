"""The command line's conventions: exit codes, one-line errors, no traceback."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.engine import files
from cyclelens.analyzer.microarchitectures import processors
from cyclelens.analyzer.microarchitectures.processors import Processor

KERNEL = """
# cyclelens-begin lcp
    add $0x1234, %ax
    dec %r15
# cyclelens-end
# cyclelens-begin looped
.loop:
    add $0x1234, %ax
    dec %r15
    jnz .loop
# cyclelens-end
"""


@pytest.fixture
def run(capsys, tmp_path):
    """Run a command line on a file ``kernel.s`` with the given text; its exit code, output and errors."""

    def run_(*arguments, text=KERNEL):
        file = tmp_path / "kernel.s"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        code = main([str(file) if argument == "kernel.s" else argument for argument in arguments])
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        return code, output.out, output.err

    return run_


def test_analyze_names_figure_bottleneck_and_stall(run):
    code, out, _ = run("analyze", "kernel.s", "--region", "lcp")
    assert code == 0
    assert "3.44 cycles/iter on SKL (Skylake), unrolled" in out
    assert "Bottleneck: Predecoder" in out
    assert "LCP stall" in out


def test_a_region_that_ends_in_a_jump_to_its_start_is_a_loop(run):
    _, out, _ = run("analyze", "kernel.s", "--region", "looped")
    assert re.search(r"1\.00 cycles/iter \(.* of 64 positions in memory\) on SKL \(Skylake\), loop", out)


def test_the_mode_can_be_forced(run):
    _, out, _ = run("analyze", "kernel.s", "--region", "lcp", "--mode", "loop")
    assert re.search(r"1\.00 cycles/iter \(.* of 64 positions in memory\) on SKL \(Skylake\), loop", out)
    assert "'dec r14; jnz' was added" in out


def test_several_microarchitectures_are_compared(run):
    _, out, _ = run("analyze", "kernel.s", "--region", "lcp", "--arch", "skl,HSW")
    assert "SKL       3.44 cycles/iter" in out
    assert "HSW       3.44 cycles/iter" in out


def test_an_explicit_option_wins_over_the_marker(run):
    text = "# cyclelens-begin a arch=SKL\nnop\n# cyclelens-end\n"
    assert "on HSW (Haswell)" in run("analyze", "kernel.s", "--arch", "HSW", text=text)[1]


def test_a_marker_may_ask_for_this_machine(run, monkeypatch):
    """``native`` beside the name of the same core is one figure."""
    machine = Processor("GenuineIntel", 6, 60, 3, "Core i7-4770")
    monkeypatch.setattr(processors, "this_processor", lambda: machine)
    text = "# cyclelens-begin a arch=native,HSW\nnop\n# cyclelens-end\n"
    _, out, _ = run("analyze", "kernel.s", "--format", "json", text=text)
    (region,) = json.loads(out)["regions"]
    assert [each["microarchitecture"] for each in region["predictions"]] == ["HSW"]


def test_the_hardware_model_sees_failed_forwarding(run):
    text = "# cyclelens-begin\nmovb %al, (%rsp)\nmovq (%rsp), %rbx\n# cyclelens-end\n"
    assert "13.00 cycles/iter" in run("analyze", "kernel.s", text=text)[1]
    assert "13.00 cycles/iter" in run("analyze", "kernel.s", "--model", "hardware", text=text)[1]


@pytest.mark.parametrize("name", ["uica", "reference"])
def test_the_published_model_has_a_name_and_its_former_one(run, name):
    text = "# cyclelens-begin\nmovb %al, (%rsp)\nmovq (%rsp), %rbx\n# cyclelens-end\n"
    assert "1.00 cycles/iter" in run("analyze", "kernel.s", "--model", name, text=text)[1]


def test_parts_of_the_model_can_be_switched_off(run):
    """Without limits of the front end the prefix costs nothing; on Zen 5 there is no such model."""
    _, out, _ = run("analyze", "kernel.s", "--region", "lcp", "--simple-front-end")
    assert "1.00 cycles/iter on SKL (Skylake), unrolled" in out
    code, out, _ = run("analyze", "kernel.s", "--region", "lcp", "--arch", "ZEN5", "--simple-front-end")
    assert code == 1 and "ZEN5 counts macro-ops: there is no model of it with a simple front end" in out


def test_a_run_can_be_longer_and_too_short_a_one_is_refused(run):
    code, out, _ = run("analyze", "kernel.s", "--region", "lcp", "--min-iterations", "500")
    assert code == 0 and "3.44 cycles/iter" in out
    code, _, error = run("analyze", "kernel.s", "--region", "lcp", "--min-iterations", "1")
    assert code == 1 and "iterations was asked for; 2 to 10,000 are possible" in error


def test_paths_and_rates_stand_below_the_report(run):
    code, out, _ = run("analyze", "kernel.s", "--region", "looped", "--critical-path", "--frequency", "2GHz")
    below = out.partition("== looped on SKL ==")[2]
    assert code == 0 and "At 2.00 GHz: 2.00 Giterations/s, 0.00 FLOP/s (0 FLOP per iteration)" in below
    assert "CP    LCD" in below


def test_json_is_one_object(run):
    _, out, _ = run("analyze", "kernel.s", "--format", "json")
    figures = [region["predictions"][0]["cycles_per_iteration"] for region in json.loads(out)["regions"]]
    assert figures == [3.44, 1.0]


def test_trace_adds_the_timeline(run):
    assert "Timeline:" in run("analyze", "kernel.s", "--trace")[1]


def test_standard_input_is_a_file_too(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(KERNEL.encode())))
    assert "3.44 cycles/iter" in run("analyze", "-")[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no region is marked"),
        (bytes(range(256)) * 8, "binary file"),
        ("# cyclelens-begin a\n# cyclelens-end\n", "contains no instructions"),
        (
            "# cyclelens-begin a\nfrobnicate %rax\n# cyclelens-end\n",
            "does not know the instruction 'frobnicate'",
        ),
        ("# cyclelens-begin a arch=Z80\nnop\n# cyclelens-end\n", "unknown microarchitecture 'Z80'"),
        ("# cyclelens-begin a mode=sideways\nnop\n# cyclelens-end\n", "unknown mode 'sideways'"),
        ("# cyclelens-begin a align=64\nnop\n# cyclelens-end\n", "'64' is not an alignment"),
    ],
)
def test_problems_in_the_file_are_reported_with_exit_code_1(run, text, said):
    code, out, _ = run("analyze", "kernel.s", text=text)
    assert code == 1
    assert said in out


def test_a_mistake_in_one_region_leaves_the_others_alone(run):
    code, out, _ = run("analyze", "kernel.s", text=KERNEL + "# cyclelens-begin c\nfrob\n# cyclelens-end\n")
    assert code == 1
    assert "3.44 cycles/iter" in out


def test_an_unknown_marker_option_does_not_keep_the_region_from_being_analysed(run):
    code, out, _ = run("analyze", "kernel.s", text="# cyclelens-begin a colour=red\nnop\n# cyclelens-end\n")
    assert code == 1
    assert "kernel.s:1:1: warning: unknown option 'colour'" in out
    assert "0.25 cycles/iter" in out


def test_a_region_that_does_not_exist(run):
    code, out, _ = run("analyze", "kernel.s", "--region", "nowhere")
    assert code == 1
    assert "there is no region 'nowhere'; known are lcp, looped" in out


def test_a_missing_file_is_one_line(run):
    code, out, err = run("analyze", "no-such-file.s")
    assert (code, out) == (1, "")
    assert err == "cyclelens: no-such-file.s cannot be read: No such file or directory\n"


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no file without end here")
def test_a_file_without_end_is_one_line(run):
    code, out, err = run("analyze", "/dev/zero")
    assert (code, out, err) == (1, "", "cyclelens: /dev/zero cannot be read: it is not a regular file\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "arch", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "cyclelens: the output cannot be written: No space left on device\n"


def test_a_file_that_is_too_large_is_one_line(run, monkeypatch, tmp_path):
    monkeypatch.setattr(files, "MAXIMUM_BYTES", 1 << 20)
    large = tmp_path / "large.s"
    large.write_bytes(b" " * ((1 << 20) + 1))
    code, out, err = run("analyze", str(large))
    assert (code, out, err) == (1, "", f"cyclelens: {large} cannot be read: it has more than 1 MB\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a command is missing"),
        (["frobnicate"], "unknown command 'frobnicate'"),
        (["analyze"], "FILE"),
        (["analyze", "kernel.s", "--arch", "Z80"], "unknown microarchitecture 'Z80'; known are SNB"),
        (["analyze", "kernel.s", "--alignment", "64"], "'64' is not a number of bytes from 0 to 63"),
        (["predict", "--arch", "SKL", "--mode", "auto"], "invalid choice: 'auto'"),
        (["predict", "--arch", "SKL", "--mode", "loop", "--jobs", "0"], "'0' is not a number of processes"),
        (["data"], "ACTION"),
    ],
)
def test_wrong_usage_is_exit_code_2(run, arguments, said):
    code, _, err = run(*arguments)
    assert code == 2
    assert said in err


def test_arch_list_shows_names_titles_and_products(run):
    code, out, _ = run("arch", "list")
    assert code == 0
    *listed, missing, own = out.splitlines()
    rows = {tuple(re.split(" {2,}", line)) for line in listed}
    assert ("ZEN2", "Zen 2 (approximate)", "Ryzen 3000, EPYC 7002") in rows
    assert ("ZEN5", "Zen 5", "Ryzen 9000, EPYC 9005") in rows
    assert missing.startswith("Not simulated: ") and "Cannon Lake" in missing
    assert own.startswith("This machine: ")


def test_arch_show_has_a_picture_and_every_value_with_its_source(run):
    code, out, _ = run("arch", "show", "icl")
    assert code == 0
    assert out.startswith("ICL: Ice Lake\n") and "renamer 5 --> reorder buffer 352" in out
    rows = [tuple(re.split(" {2,}", line.strip())) for line in out.splitlines()]
    assert ("reorder_buffer_size", "published", "uiCA", "352") in rows
    assert ("instruction_queue_size", "inferred", "uiCA, uncertain", "25") in rows
    assert [row for row in rows if row[0] == "uiCA" and "ICS 2022" in row[1]]


def test_arch_show_as_json(run):
    code, out, _ = run("arch", "show", "ZEN2", "--format", "json")
    assert code == 0
    shown = json.loads(out)
    assert shown["products"] == "Ryzen 3000, EPYC 7002" and shown["picture"][0] == "ZEN2: Zen 2"
    assert shown["confidence"].startswith("approximate: ")
    (binding,) = (value for value in shown["values"] if value["name"] == "policies.binding")
    assert (binding["section"], binding["certainty"]) == ("back end", "assumed")


def test_arch_show_of_nothing_known(run):
    code, _, err = run("arch", "show", "Z80")
    assert code == 2
    assert "unknown microarchitecture 'Z80'" in err


def test_version_and_help_are_no_errors(run):
    assert run("--version")[0] == 0
    code, out, _ = run("--help")
    assert code == 0
    assert "analyze" in out


def test_importing_what_is_no_table_is_one_line(run, tmp_path):
    target = tmp_path / "tables.sqlite"
    code, _, err = run("data", "import", "kernel.s", "--output", str(target))
    assert code == 1
    assert err.startswith("cyclelens: ") and err.count("\n") == 1
    assert not target.exists()


def test_an_error_in_cyclelens_itself_is_one_line(run, monkeypatch):
    def broken(_):
        raise KeyError("oops")

    monkeypatch.setitem(cli.COMMANDS, "arch", (broken, ""))
    code, _, err = run("arch", "list")
    assert code == 70
    assert "internal error: KeyError: 'oops' (test_cli.py:" in err
    assert "CYCLELENS_DEBUG=1" in err


def test_ctrl_c_is_exit_code_130(run, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setitem(cli.COMMANDS, "arch", (interrupted, ""))
    assert run("arch", "list")[0] == 130


def test_other_packages_add_commands_by_entry_point(run, monkeypatch):
    received = []

    def command(arguments):
        received.append(arguments)
        return 5

    monkeypatch.setattr(cli, "_plugins", lambda: iter([("extra", lambda: command)]))
    assert run("extra", "--x", "1")[0] == 5
    assert received == [["--x", "1"]]


def test_a_reader_that_goes_away_is_no_error():
    script = (
        "import sys, os; from cyclelens.analyzer.cli.main import main; r, w = os.pipe(); os.dup2(w, 1);"
        "os.close(r); os.close(w); sys.exit(main(['arch', 'list']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_starting_imports_nothing_heavy():
    script = (
        "import sys; from cyclelens.analyzer.cli.main import main; main(['arch', 'list']);"
        "heavy = {'pygls', 'lsprotocol', 'lxml', 'tqdm', 'keystone', 'iced_x86', 'sqlite3'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
