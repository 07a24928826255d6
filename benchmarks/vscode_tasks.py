"""What a new user does in the real VS Code: ``python benchmarks/vscode_tasks.py EXTENSION.vsix``.

``CYCLELENS_ARCH`` is SKL, for figures that do not depend on the machine. Each task is done by keyboard and
mouse, from an empty profile, and its time is from the first action to the answer that is drawn. No setting of
the editor is changed but those that would ask other machines for something.
``dev/vsix`` packs the extension, ``dev/editors vscode`` installs the editor; docs/first-steps.md
has the results.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from testkit import workbench  # noqa: E402
from testkit.kernels import KERNELS  # noqa: E402
from testkit.workbench import OFFLINE, Closed, Server, Workbench, wait  # noqa: E402

TWO_LOOPS = """\
void scale(float *restrict a, const float *restrict b, long n) {
    for (long i = 0; i < n; i++) a[i] = b[i] * 3;
}
long sum(const long *a, long n) {
    long s = 0;
    for (long i = 0; i < n; i++) s = s * 3 + a[i];
    return s;
}
"""
NASM = """\
%macro step 1
        imul    rax, [rdi + %1]
%endmacro
kernel:
.next:
        step    0
        add     rdi, 8
        dec     rsi
        jnz     .next
        ret
"""
ROWS = ".action-widget .monaco-list-row"
TOAST = ".notification-toast .monaco-button"
APPLY = '.editor-actions a[aria-label^="Apply the Rewrite"]'
"""The button in the title bar of the difference."""
SLOWER = "0.50 -> 1.00 cycles/float, +100 % time"
"""What an additional vaddps does to the dot product."""
LCP, DOT = 17, 13
"""Lines of the markers in lcp_stall.s and dot_product.s."""


@contextmanager
def task(name: str, steps: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    print(f"| {name} | {steps} | {time.perf_counter() - started:.1f} |", flush=True)


def files(folder: Path) -> None:
    """The examples and what users have of their own, committed."""
    shutil.copytree(ROOT / "examples", folder)
    (folder / "chained.s").write_text(KERNELS["dot product of two chained FMAs"].text, encoding="utf-8")
    (folder / "loops.c").write_text(TWO_LOOPS, encoding="utf-8")
    for words in (
        ["gcc", "-O3", "-march=haswell", "-S", "loops.c"],
        ["git", "init", "-q"],
        ["git", "add", "."],
        ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "kernels"],
    ):
        subprocess.run(words, cwd=folder, check=True)


def trust(code: Workbench) -> None:
    """Trust the open folder; folders are not trusted at first."""
    code.click(".statusbar-item", "Restricted Mode")
    code.click(".workspace-trust-editor .monaco-button", "Trust")
    code.page.locator(".statusbar-item", has_text="Restricted Mode").wait_for(state="hidden")
    code.page.wait_for_timeout(1000)  # a key that comes too early is lost


def restore(code: Workbench) -> None:
    """Leave the files as they are in HEAD: an empty profile saves by itself."""
    code.run("View: Close All Editors")
    code.page.wait_for_timeout(2000)
    subprocess.run(["git", "checkout", "-q", "."], cwd=code.folder, check=True)


def menu(code: Workbench, words: str) -> None:
    """Open the menu of quick fixes and choose."""

    def offered() -> bool:
        code.press("Escape", "Control+.")
        code.page.wait_for_timeout(1000)
        return any(words in row for row in code.texts(ROWS))

    wait(words, offered)
    code.click(ROWS, words)


def shown(code: Workbench, text: str) -> Callable[[], bool]:
    """Whether a visible line has this text, hints included."""
    return lambda: any(text in line for line in code.lines().values())


def choose_cpu(code: Workbench, name: str) -> None:
    """By the figure in the status bar; a list that something else closes is opened again."""

    def chosen() -> bool:
        code.click('.statusbar-item[id^="cyclelens"]', "·")
        try:
            code.choose("Choose another CPU", last=False)
            code.choose(name)
        except Closed:
            return False
        return True

    wait(name, chosen)


def install(code: Workbench) -> None:
    with task("from nothing to the first figure", "open a file, *Install the Server*"):
        code.open("lcp_stall.s")
        code.click(TOAST, "Install the Server")
        wait("the first figure", shown(code, "3.44 cycles/iter"), 600)
    code.run("View: Close All Editors")


def first_steps(code: Workbench) -> None:
    """The first tasks of docs/first-steps.md."""
    with task("what a loop takes, and why", "open it, point at its first line"):
        code.open("lcp_stall.s")
        wait("the figure", shown(code, "3.44 cycles/iter"))
        code.page.locator(".view-line", has_text="cyclelens-begin unrolled").locator("span").last.hover()
        wait("the card", lambda: "redecoder" in " ".join(code.texts(".monaco-hover:not(.hidden)")))
    with task("remove an LCP stall", "go to the line, `Ctrl+.`, choose"):
        code.go(LCP + 1)
        menu(code, "Use eax")
        wait("what it brought", shown(code, "3.44 -> 1.00, 3.4x"))
    restore(code)
    code.open("dot_product.s")
    wait("the figure", shown(code, "0.500 cycles/float"))
    code.go(DOT + 3)
    with task("what an edit brings", "type"):
        code.press("End", "Enter")
        code.type("vaddps %ymm0, %ymm0, %ymm0")
        wait("the change", shown(code, SLOWER))
    with task("keep a figure to compare with", "*Pin the Baseline*"):
        code.run("Cyclelens: Pin the Baseline")
        wait(
            "the pinned figure", lambda: "->" not in code.line(DOT) and "1.00 cycles/float" in code.line(DOT)
        )
    code.run("Cyclelens: Unpin the Baseline")
    restore(code)
    with task("the figures of a file without markers", "open it"):
        code.open("loops.s")
        wait("the figure", shown(code, "cycles/"))
    loop = next(number for number, line in code.lines().items() if "cycles/" in line)
    with task("a name and options for a loop", "go to it, *Mark the Loop*, a name"):
        code.go(loop + 1)
        code.run("Cyclelens: Mark the Loop or the Selected Lines", answer="Name of the region")
        wait(
            "the marker and its figure",
            lambda: any("cyclelens-begin" in line and "cycles/" in line for line in code.lines().values()),
        )
    restore(code)
    code.open("dot_product.s")
    code.go(DOT)
    wait("the figure", lambda: "SKL" in code.status())
    for name, figure in {"HSW": "0.625", "SKL": "0.500"}.items():
        with task(
            f"another CPU: {name}", "click on the figure in the status bar, *Choose another CPU*, choose"
        ):
            choose_cpu(code, name)
            wait(
                "its figure",
                partial(lambda *words: all(word in code.status() for word in words), name, figure),
            )
    with task("every cycle of it", "click on *Timeline*"):
        code.click(".codelens-decoration a", "Timeline")
        wait("the timeline", lambda: code.frame() and code.frame().locator("main canvas").count())
    for lens, tab, there in (("Compare CPUs", "cpus", "td.bar"), ("Alignment", "alignment", "svg")):
        code.press("Control+1")
        drawn = f"body:has([data-tab={tab}][aria-selected=true]) main {there}"
        with task(f"all of them: {tab}", f"click on *{lens}*"):
            code.click(".codelens-decoration a", lens)
            wait(lens, partial(lambda what: code.frame() and code.frame().locator(what).count(), drawn))
    code.run("View: Close All Editors")


def further(code: Workbench) -> None:
    """What a user does sooner or later."""
    with task("a file as `gcc -O3 -S` writes it", "open it, click on the figure, choose one of its loops"):
        code.open("loops.s")
        wait("the figure", lambda: "cycles/" in code.status())
        code.click('.statusbar-item[id^="cyclelens"]', "SKL")
        rows = wait(
            "its loops",
            lambda: [row for row in code.texts(".quick-input-list .monaco-list-row") if "cycles/" in row],
        )
        code.press("Enter")
        wait("the loop", lambda: not code.page.locator(".quick-input-widget").first.is_visible())
    print(f"  {len(rows)} loops: {rows}", file=sys.stderr)
    with task(
        "one accumulator becomes four, 8.00 -> 2.00 cycles per old iteration",
        "open, go to the loop, `Ctrl+.`, choose, look at the difference, *Apply the Rewrite*",
    ):
        code.open("chained.s")
        code.go(10)
        menu(code, "four accumulators")
        wait("the difference", lambda: code.texts(".monaco-diff-editor .line-insert"))
        code.page.locator(APPLY).click()
        wait("what it brought", shown(code, "4.0x"))
    print("  ", next(line for line in code.lines().values() if "4.0x" in line), file=sys.stderr)
    restore(code)
    code.open("dot_product.s")
    wait("the figure", shown(code, "0.500 cycles/float"))
    code.go(DOT + 3)
    code.press("End", "Enter")
    code.type("vaddps %ymm0, %ymm0, ")
    code.server.kill("lsp")
    with task("the server is killed while a user types", "go on typing"):
        code.type("%ymm0")
        wait("the change since the last save", shown(code, SLOWER))
    with task("a region compared with HEAD", "*Compare with HEAD*"):
        code.run("Cyclelens: Compare with HEAD")
        wait("both figures", lambda: "+100 % time" in code.panel("dot against HEAD"))


MISTAKES = (
    # What is typed, what is said of it, and how it is mended: by the quick fix, at the end, or typed anew.
    ("        vmovup (%rsi), %ymm1", "did you mean 'vmovups'", "vmovups (%rsi), %ymm1"),
    ("vfmadd231ps (%rdi), %ymm1", "it takes 3 operands, not 2", ", %ymm0"),
    ("add 32, %rsi", "did you mean $32?", "$32"),
    ("add $32, %edi, %rdi", "it takes 2 operands, not 3", "add $32, %rdi"),
    ("dec %rdx\njnz .Lnxt", "did you mean '.Lnext'", "jnz .Lnext"),
)


def five_mistakes(code: Workbench) -> None:
    """A kernel typed from nothing. Each mistake is read in the list of problems and mended."""
    (code.folder / "typed.s").touch()
    code.open("typed.s")
    steps = "an empty file, type, read each problem, mend it"
    with task("the dot product typed from nothing, with five mistakes", steps):
        code.type("# cyclelens-begin dot arch=SKL\n.Lnext:\n")
        for typed, said, mended in MISTAKES:
            code.type(typed)
            told = partial(lambda words: any(words in text for text in problems(code)), said)
            wait(said, told)
            code.press("Escape")
            if mended == "$32":
                menu(code, "$32")
                wait("the mended line", shown(code, "add $32, %rsi"))
                code.press("End")
            elif mended[0] == ",":
                code.type(mended)
            else:
                code.press("End", "Home", "Shift+End")
                code.type(mended)
            wait(f"no more: {said}", partial(lambda found: not found(), told))
            code.press("Escape", "End", "Enter")
        code.type("# cyclelens-end\n")
        wait("the figure", shown(code, "0.500 cycles/float"))
    code.screenshot("task-typed")
    code.press("Control+Shift+m", "Control+Shift+m")


def problems(code: Workbench) -> list[str]:
    """The messages of the list of problems."""
    if not code.page.locator(".markers-panel").is_visible():
        code.press("Control+Shift+m")
        code.page.locator(".markers-panel").wait_for()
        code.press("Control+1")
    return code.texts(".markers-panel .monaco-list-row")


WIDE = """\
# cyclelens-begin scale arch=SKX,GNR,ZEN5
.Lscale:
        vmulps  (%rsi,%rax), %zmm0, %zmm1
        vaddps  %zmm1, %zmm2, %zmm1
        vmovups %zmm1, (%rdi,%rax)
        add     $64, %rax
        jnz     .Lscale
# cyclelens-end
"""


def three_cores(code: Workbench) -> None:
    (code.folder / "wide.s").write_text(WIDE, encoding="utf-8")
    with task("an AVX-512 kernel on three cores", "open it, point at its first line"):
        code.open("wide.s")
        wait("the figure", shown(code, "SKX"))
        code.go(1)
        code.hover(
            "three figures",
            lambda: all(
                name in " ".join(code.texts(".monaco-hover:not(.hidden)"))
                for name in ("on SKX", "on GNR", "on ZEN5")
            ),
        )
    code.screenshot("task-cores")
    code.press("Escape")


def undone(code: Workbench) -> None:
    code.open("lcp_stall.s")
    with task("a fix applied and undone", "`Ctrl+.`, choose, `Ctrl+Z`"):
        code.go(LCP + 1)
        menu(code, "Use eax")
        wait("what it brought", shown(code, "3.44 -> 1.00, 3.4x"))
        code.press("Control+z")
        wait("the old figure", lambda: "->" not in code.line(LCP) and "3.44" in code.line(LCP))
    restore(code)


def one_picture(code: Workbench) -> None:
    code.open("dot_product.s")
    code.go(DOT)
    wait("the figure", shown(code, "0.500 cycles/float"))
    with task("a figure explained by one picture", "*Timeline*, a picture of the panel"):
        code.click(".codelens-decoration a", "Timeline")
        wait("the timeline", lambda: code.frame() and code.frame().locator("main canvas").count())
        code.page.wait_for_timeout(500)
        code.screenshot("task-picture")
    code.run("View: Close All Editors")


def dav1d(code: Workbench) -> None:
    steps = "open `src/x86/cdef_avx2.asm` in a clone that was not built"
    with task("dav1d's CDEF filter in a clean clone", steps):
        code.open("cdef_avx2.asm")
        wait("its loops", lambda: "cycles/" in code.status(), 300)
    code.screenshot("task-dav1d")
    print("  ", code.status(), code.texts(".statusbar-item[id^='status.problems']"), file=sys.stderr)
    with task("the figures at the code of its loops", "go to a label in the macro"):
        line = 1 + next(
            number
            for number, text in enumerate((code.folder / CDEF).read_text(encoding="utf-8").splitlines())
            if text.startswith(".k_loop:")
        )
        code.go(line)
        wait("the figures", lambda: "cycles/iter by use" in code.line(line))
        print("  ", code.line(line), file=sys.stderr)
    code.screenshot("task-dav1d-label")


CDEF = "src/x86/cdef_avx2.asm"


def clone(folder: Path) -> bool:
    """dav1d's sources as they are in its repository, if they can be had here."""
    sys.path.append(str(ROOT / "benchmarks"))
    from fetching import Unavailable, fetch

    try:
        shutil.copytree(fetch("dav1d"), folder)
    except Unavailable as reason:
        print(f"no sources of dav1d: {reason}", file=sys.stderr)
        return False
    return True


def untrusted(code: Workbench) -> None:
    steps = "open it, click on *Restricted Mode*, *Trust*, back to the file"
    with task("a NASM file with macros in a folder that is not trusted", steps):
        code.open("kernel.asm")
        code.page.locator(".squiggly-info").first.wait_for()
        trust(code)
        code.open("kernel.asm")
        wait("the figure", shown(code, "3.00 cycles/iter"))


@contextmanager
def opened(chromium: object, address: str, server: Server, folder: Path) -> Iterator[Workbench]:
    """A window, whose picture is kept if something goes wrong."""
    code = Workbench(chromium, address, server, folder)
    code.page.set_viewport_size({"width": 1280, "height": 800})
    try:
        yield code
    except BaseException:
        code.screenshot("vscode-tasks")
        raise
    finally:
        code.page.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Tasks of a new user in the real VS Code, with their seconds."
    )
    parser.add_argument("extension", type=Path, help="the packed extension, from dev/vsix")
    options = parser.parse_args()
    cache = Path(subprocess.check_output([ROOT / "dev" / "editors", "vscode"], text=True).strip())
    with tempfile.TemporaryDirectory() as folder, workbench.browser(cache) as chromium:
        home, other = Path(folder), Path(folder, "downloads")
        files(home / "kernels")
        other.mkdir()
        (other / "kernel.asm").write_text(NASM, encoding="utf-8")
        server = Server(cache, home, home / "extensions")
        server.configure(user={}, machine={}, always=OFFLINE)
        server.install(options.extension.absolute())
        # As on a machine on which Cyclelens was never installed.
        path = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin"))
        print("| task | steps | seconds |\n|---|---|---|")
        with server.running(PATH=path, CYCLELENS_ARCH="SKL") as address:
            with opened(chromium, address, server, home / "kernels") as code:
                trust(code)
                install(code)
                first_steps(code)
                further(code)
                undone(code)
                three_cores(code)
                one_picture(code)
                five_mistakes(code)
            with opened(chromium, address, server, other) as code:
                untrusted(code)
            if clone(home / "dav1d"):
                with opened(chromium, address, server, home / "dav1d") as code:
                    trust(code)
                    dav1d(code)


if __name__ == "__main__":
    main()
