"""The real VS Code with the packed extension: reads hints, edits, applies a rewrite, opens the panels."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from testkit.compiled_loops import CARGO, CPP, RUST, C
from testkit.workbench import PROGRAM, ROOT, Server, Workbench, wait

EXTENSION = ROOT / "editors" / "vscode"
PACKAGE: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
OWN = """\
sum:
    xor %eax, %eax
.Lnext:
    imul %rdi, %rax
    add $8, %rdi
    dec %rsi
    jnz .Lnext
    ret
"""
"""A file without markers."""


@pytest.fixture(scope="module")
def code(window: Workbench) -> Iterator[Workbench]:
    """A window with the examples, in which nothing has been measured yet."""
    folder = window.folder
    shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
    (folder / "own.s").write_text(OWN, encoding="utf-8")
    (folder / "typed.s").touch()
    (folder / "dot.c").write_text(C, encoding="utf-8")
    (folder / "product.cpp").write_text(CPP, encoding="utf-8")
    commands = {"dot.c": "gcc -O2 -mavx2 -mfma -c dot.c", "product.cpp": "g++ -O2 -c product.cpp"}
    entries = [
        {"directory": str(folder), "file": name, "command": command} for name, command in commands.items()
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    (folder / "chain" / "src").mkdir(parents=True)
    (folder / "chain" / "Cargo.toml").write_text(CARGO, encoding="utf-8")
    (folder / "chain" / "src" / "lib.rs").write_text(RUST, encoding="utf-8")
    yield window
    window.run("File: Save All Files")
    window.run("View: Close All Editors")


def test_it_carries_a_compiled_server_for_every_python(vsix: Path) -> None:
    wheels = [Path(name).name for name in zipfile.ZipFile(vsix).namelist() if name.endswith(".whl")]
    assert [name for name in wheels if name.startswith("cyclelens-") and "-cp311-abi3-" in name]
    # The only package with a wheel of its own for each version.
    assert {name.split("-")[2] for name in wheels if name.startswith("lxml-")} == {
        "cp311",
        "cp312",
        "cp313",
        "cp314",
    }


def test_one_command_packs_it(vsix: Path) -> None:
    assert re.fullmatch(rf"cyclelens-\w+-\w+-{re.escape(PACKAGE['version'])}\.vsix", vsix.name)
    names = set(zipfile.ZipFile(vsix).namelist())
    parts = {
        "dist/extension.js",
        "media/panel.css",
        "media/live.js",
        "media/icon.png",
        "walkthrough/example.s",
        "readme.md",
    }
    parts |= {"changelog.md", "languages/nasm.tmLanguage.json", "images/vscode-rewrite.png"}
    assert {f"extension/{name}" for name in parts} <= names
    assert {".gz", ".whl"} == {Path(name).suffix for name in names if "/server/cyclelens-" in name}
    assert not any("node_modules" in name or name.endswith(".ts") for name in names)


UNIT = " (?:cycles/|·)"
"""Behind a figure: its unit of work or, where advice needs the room, none."""


def shows(code: Workbench, line: int, figure: str) -> bool:
    """Whether a line shows this figure."""
    return re.search(re.escape(figure) + UNIT, code.line(line)) is not None


def test_an_example_shows_hints_lenses_diagnostics_and_the_figure(code: Workbench) -> None:
    code.open("lcp_stall.s")
    wait("the region's hint", lambda: "3.44 cycles/iter · SKL · predecoder-bound" in code.line(17))
    assert code.line(18).endswith("LCP stall")
    titles = wait("lenses", code.lenses)[0].split(" | ")
    assert titles[:3] == ["Timeline", "Compare CPUs", "Alignment"]
    assert titles[3:] in ([], ["Measure"])  # where the machine can
    code.page.wait_for_selector(".squiggly-warning")
    wait("the status item", lambda: code.status() == "3.44 cycles/iter · SKL")
    code.go(25)
    wait("the figure of the other region", lambda: code.status() == "1.00 cycles/iter · SKL")
    code.screenshot("vscode-example")


def test_enter_makes_a_new_line_whatever_is_suggested(code: Workbench) -> None:
    """A whole kernel, key by key, at the default settings; most lines end with a list of suggestions."""
    file = code.folder / "typed.s"
    code.open(file.name)
    written = [
        *(".text", ".globl dot", "dot:", "vxorps %ymm0, %ymm0, %ymm0", ".Lloop:", "vmovups (%rdi), %ymm1"),
        *(
            "vfmadd231ps (%rsi), %ymm1, %ymm0",
            "add $32, %rdi",
            "dec %rdx",
            "jnz .Lloop",
            "vzeroupper",
            "ret",
            "",
        ),
    ]
    for line in written[:-1]:
        code.type(line)
        code.page.wait_for_timeout(400)
        code.press("Enter")
    code.press("Control+s")
    wait("the saved text", lambda: file.read_text("utf-8"))
    assert [line.strip() for line in file.read_text("utf-8").split("\n")] == written
    wait("the figure", lambda: any(re.search(r"\d" + UNIT, line) for line in code.lines().values()))


def test_hints_follow_what_is_typed(code: Workbench) -> None:
    code.open("dot_product.s")
    number = next(n for n, text in wait("the region", code.lines).items() if "cyclelens-begin" in text)
    wait("the figure", lambda: shows(code, number, "0.500"))
    code.go(number + 1)
    code.press("End", "Enter")
    code.type("        vaddps %ymm0, %ymm0, %ymm0")
    wait("the change", lambda: "0.50 -> 1.00 cycles/float, +100 % time" in code.line(number))
    code.run("File: Revert File")
    wait("the old figure", lambda: shows(code, number, "0.500"))


def test_a_rewrite_is_chosen_from_the_menu_and_pays(code: Workbench) -> None:
    code.open("lcp_stall.s")
    code.go(18)
    rows = ".action-widget .monaco-list-row"

    def offered() -> list[str]:
        code.press("Escape", "Control+.")
        code.page.wait_for_timeout(500)
        return [row for row in code.texts(rows) if "Use eax" in row]

    (title,) = wait("the rewrite", offered)
    assert title == "3.44 -> 1.00, 3.4x: Use eax (its upper half and the flags may differ)"
    code.screenshot("vscode-rewrite")
    code.click(rows, "Use eax")
    wait("the rewritten line", lambda: "add     $0x1234, %eax" in code.line(18))
    wait("what it brought", lambda: "3.44 -> 1.00, 3.4x" in code.line(17))
    assert "LCP stall" not in code.line(18)


def test_lenses_and_commands_open_panels(code: Workbench) -> None:
    code.open("lcp_stall.s")
    wait("lenses", code.lenses)
    code.click(".codelens-decoration a", "Compare CPUs")
    wait("the comparison", lambda: "ZEN5" in code.panel("Cyclelens: unrolled"))
    code.press("Control+1")
    code.go(25)
    code.run("Cyclelens: Show the Timeline")
    wait("the timeline", lambda: "1.00 cycles/iter" in code.panel("Cyclelens: loop"))
    assert len(code.texts('.tab[aria-label^="Cyclelens: "]')) == 1, "one panel for all"


def test_the_panel_follows_the_text_and_the_cursor_and_survives_a_reload(code: Workbench) -> None:
    code.page.set_viewport_size({"width": 1280, "height": 800})
    code.open("lcp_stall.s")
    code.run("File: Revert File")
    code.go(18)
    code.run("Cyclelens: Show the Instructions")
    wait("the instructions", lambda: "3.44 cycles/iter" in code.panel("Cyclelens: unrolled"))
    page = code.frame()
    table = page.locator("table.instructions")
    assert table.bounding_box()["width"] <= page.locator("body").bounding_box()["width"], "nothing off-screen"
    first = page.locator("table.instructions tr[data-line]").first
    wait("the cursor's line", lambda: "cursor" in (first.get_attribute("class") or ""))
    code.screenshot("vscode-panel-instructions")

    code.press("Control+1")
    code.press("End", "Enter")
    code.type("    nop")
    wait("the new text", lambda: "nop" in code.panel("Cyclelens: unrolled"))
    code.run("File: Revert File")
    wait("the old text", lambda: "nop" not in code.panel("Cyclelens: unrolled"))
    code.go(25)
    wait("the other region", lambda: "1.00 cycles/iter" in code.panel("Cyclelens: loop"))
    code.frame().locator("table.instructions tr[data-line]").nth(1).click()
    wait("the line of the text", lambda: "Ln 26" in " ".join(code.texts(".statusbar-item")))

    code.page.reload()
    wait("the text again", lambda: shows(code, 23, "1.00"))
    wait("the panel again", lambda: "cycles/iter" in code.panel("Cyclelens: "))
    code.page.set_viewport_size({"width": 1100, "height": 620})


def test_the_history_of_a_figure_opens_its_difference(code: Workbench) -> None:
    code.open("big_add.s")
    number = next(n for n, text in wait("the region", code.lines).items() if "cyclelens-begin" in text)
    wait("the figure", lambda: re.search(r"\d" + UNIT, code.line(number)))
    code.go(number + 1)
    code.press("End", "Enter")
    code.type("    imul %rax, %rax")
    wait("the lens with both figures", lambda: any(" -> " in titles for titles in code.lenses()))
    code.click(".codelens-decoration a", " -> ")
    wait("the versions", lambda: len(code.texts(".quick-input-list .monaco-list-row")) >= 2)
    code.screenshot("vscode-history")
    code.press("ArrowDown", "Enter")
    wait("the difference", lambda: code.texts(".monaco-diff-editor .line-insert"))
    code.press("Control+w")
    code.run("File: Revert File")


def test_measuring_asks_first_and_puts_the_figure_on_the_line(code: Workbench) -> None:
    try:
        Harness().close()
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")
    code.open("dot_product.s")
    number = next(n for n, text in wait("the region", code.lines).items() if "cyclelens-begin" in text)
    wait("the figure", lambda: shows(code, number, "0.500"))
    wait("the lens", lambda: any("Measure" in titles for titles in code.lenses()))
    code.go(number + 1)
    code.run("Cyclelens: Measure")
    wait("the question", lambda: any("runs the code of the region" in text for text in code.notifications()))
    code.screenshot("vscode-measure-question")
    assert "measured" not in code.line(number), "nothing runs before the answer"
    code.click(".notification-toast .monaco-button", "Run It")

    def measured() -> bool:
        if any("busy" in text for text in code.notifications()):
            code.run("Notifications: Clear All Notifications")
            code.run("Cyclelens: Measure")
        return ", measured " in code.line(number)

    wait("the measured figure", measured)
    assert re.search(r"dot +(\w+: )?predicted \d\.\d\d, measured \d\.\d\d", code.line(number)), "all of it"
    assert not [text for text in code.notifications() if "runs the code" in text], "only the first time"
    code.screenshot("vscode-measured")
    code.press("End")
    code.type(" ")
    wait("the text has changed", lambda: "measured" not in code.line(number))
    code.run("File: Revert File")


def test_loops_of_an_own_file_have_figures_and_are_listed_and_marked(code: Workbench) -> None:
    code.open("own.s")
    wait("the figure", lambda: shows(code, 3, "3.00"))
    wait("the chain", lambda: "chain +3" in code.line(4))
    wait("lenses", lambda: code.lenses() and code.lenses()[0].startswith("Timeline"))
    wait("the status item", lambda: code.status() == "3.00 cycles/iter · SKL")
    code.click('.statusbar-item[id^="cyclelens"]', "SKL")
    code.choose(".Lnext")
    code.screenshot("vscode-unmarked-loop")
    code.run("Cyclelens: Mark the Loop or the Selected Lines", answer="Name of the region")
    wait("the marker", lambda: code.line(3).startswith("# cyclelens-begin next"))
    wait("the figure", lambda: shows(code, 3, "3.00"))
    assert code.line(9) == "# cyclelens-end"
    code.run("File: Revert File")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c_with_intrinsics_has_figures_at_its_lines(code: Workbench) -> None:
    code.open("dot.c")
    wait("the figure", lambda: shows(code, 5, "0.500"))
    assert "chain +4" in code.line(7)
    wait("lenses", lambda: code.lenses() and code.lenses()[0].startswith("Timeline"))
    wait("the status item", lambda: code.status() == "0.500 cycles/float · 4.00 cycles/iter · SKL")
    code.screenshot("vscode-c")
    code.page.locator(".view-line", has_text="_mm256_fmadd_ps").locator(
        "span", has_text="_mm256_fmadd_ps"
    ).last.hover()
    wait("the card", lambda: "vfmadd" in " ".join(code.texts(".monaco-hover:not(.hidden)")))
    code.screenshot("vscode-c-hover")
    code.press("Escape")
    code.go(7)
    code.press("End")
    code.type("\nsum = _mm256_add_ps(sum, x);")
    wait("the change", lambda: "0.50 -> 1.00 cycles/float, +100 % time" in code.line(5))
    code.screenshot("vscode-c-edited")
    code.click(".codelens-decoration a", "Timeline")
    wait("the instructions", lambda: "vaddps" in code.panel("Cyclelens: dot"))
    code.screenshot("vscode-c-timeline")
    code.press("Control+1")
    code.run("File: Revert File")


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_a_template_of_cpp_has_figures_at_its_lines(code: Workbench) -> None:
    code.open("product.cpp")
    wait("the figure", lambda: shows(code, 5, "0.375"))
    assert "chain +3" in code.line(6)
    code.go(6)
    code.press("End")
    code.press("Backspace")
    code.type(", all ^= value;")
    wait("the change", lambda: "0.375 -> 0.500" in code.line(5))
    code.screenshot("vscode-cpp")
    code.run("File: Revert File")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_rust_has_figures_at_its_lines_when_it_is_saved(code: Workbench) -> None:

    def figure_at(line: int) -> str:
        found = re.search(r"[\d.]+(?= cycles/| ·)", code.line(line))
        return found[0] if found else ""

    code.open("lib.rs")
    # rustc unrolls and reassociates as it likes: known is that the figure changes.
    before = wait("the figure", lambda: figure_at(4))
    code.go(5)
    code.press("End")
    code.type("\ntotal *= value;")
    code.press("Control+s")
    wait("the change", lambda: figure_at(4) not in ("", before))
    code.screenshot("vscode-rust")


def test_the_figure_in_the_status_bar_is_clicked_to_choose_another_cpu(code: Workbench) -> None:
    code.open("dot_product.s")
    wait("the figure", lambda: "SKL" in code.status())
    code.click('.statusbar-item[id^="cyclelens"]', "SKL")
    code.choose("Choose another CPU", last=False)
    rows = ".quick-input-list .monaco-list-row"
    wait("the list of CPUs", lambda: any("Sandy Bridge: Core 2nd" in row for row in code.texts(rows)))
    code.screenshot("vscode-cpus")
    code.type("Ryzen 9000")
    wait("a CPU by its product", lambda: ["Zen 5: Ryzen 9000" in row for row in code.texts(rows)] == [True])
    code.press("Control+a", "Delete")
    code.choose("HSW")
    wait(
        "the figure of the other CPU", lambda: code.status() == "0.625 cycles/float · 5.00 cycles/iter · HSW"
    )
    code.click('.statusbar-item[id^="cyclelens"]', "HSW")
    code.choose("Choose another CPU", last=False)
    code.choose("SNB")
    wait("the CPU that has no such instruction", lambda: code.status() == "no figure · SNB")
    wait("the hint", lambda: "SNB has no FMA" in code.line(13))
    # The window stays open for the tests behind.
    code.click('.statusbar-item[id^="cyclelens"]', "SNB")
    code.choose("Choose another CPU", last=False)
    code.choose("SKL")
    wait("the figure again", lambda: code.status().endswith("SKL"))


def test_the_server_is_restarted_by_command(code: Workbench) -> None:
    code.open("polynomial.s")
    wait("the figure", lambda: "cycles/iter" in code.status())
    starts = code.log("Cyclelens").count(str(PROGRAM))
    code.run("Cyclelens: Restart the Server")
    wait("another start", lambda: code.log("Cyclelens").count(str(PROGRAM)) > starts)
    code.go(1)
    code.type("# another comment\n")
    wait("the figure again", lambda: code.line(1).startswith("# another") and "cycles/iter" in code.status())


def test_a_program_that_does_not_start_is_explained_in_one_place(code: Workbench) -> None:
    code.open("polynomial.s")
    code.configure(**{"cyclelens.server.path": "/nowhere/cyclelens"})
    (message,) = wait("the message", code.notifications)
    assert message.startswith(
        "Cyclelens: The program /nowhere/cyclelens of the setting cyclelens.server.path does not start"
    )
    assert "does not start" in message
    wait("the status item", lambda: code.status() == "Cyclelens")
    code.page.wait_for_selector('.statusbar-item.error-kind[id^="cyclelens"]')
    code.configure()
    wait("the figure", lambda: "cycles/iter" in code.status())


@pytest.fixture(scope="module")
def fresh(
    cache: Path, extensions: Path, chromium: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workbench]:
    """A window on a machine without the server, with a folder that is not trusted."""
    home = tmp_path_factory.mktemp("fresh")
    folder = home / "kernels"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "lcp_stall.s", folder)
    server = Server(cache, home, extensions)
    quiet = {"security.workspace.trust.startupPrompt": "never", "security.workspace.trust.banner": "never"}
    server.configure(user=quiet | {"workbench.colorTheme": "Dark 2026"}, machine={})
    # As a login shell would leave it, without a compiler and without a network.
    path = f"{home}/.venv/bin:/usr/local/bin:/usr/bin:/bin"
    with server.running(CC="false", PIP_INDEX_URL="http://127.0.0.1:9/", PATH=path) as address:
        yield Workbench(chromium, address, server, folder)


def test_without_a_server_one_message_says_so_and_installs_it(fresh: Workbench) -> None:
    fresh.open("lcp_stall.s")
    (message,) = wait("the message", fresh.notifications)
    assert message.startswith("Cyclelens: Figures need the server, which is not installed yet")
    wait("the status item", lambda: fresh.status() == "Cyclelens: install")
    assert fresh.texts(".statusbar-item.error-kind") == [], "nothing is wrong"
    words = fresh.page.locator(".view-line span[class^=mtk]")
    colours = words.evaluate_all("(all) => new Set(all.map((word) => word.className)).size")
    assert colours >= 4, "colours do not wait for the server"
    assert "Assembly" in " ".join(fresh.texts(".statusbar-item"))
    fresh.screenshot("vscode-first-start")
    fresh.click(".notification-toast .monaco-button", "Install the Server")
    wait("the hints, after the installation", lambda: "3.44 cycles/iter" in fresh.line(17), patience=300)
    assert fresh.notifications() == []
    fresh.page.wait_for_selector(".statusbar-item:has-text('Restricted Mode')")
