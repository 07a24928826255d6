"""The assembler child: batches, hangs, crashes, prints, forks. Most tests put a script in its place."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.assemblers import keystone_backend
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Syntax

SCRIPT = """
import os, sys, time
print("ready", flush=True)
for line in sys.stdin:
    dialect, text = line.rstrip("\\n").split("\\t")
    if text == "hang":
        time.sleep(60)
    if text == "die":
        os._exit(3)
    print({"no": "", "garbage": "x"}.get(text, text.encode().hex()), flush=True)
"""


@pytest.fixture
def client() -> Iterator[AssemblerClient]:
    made = AssemblerClient((sys.executable, "-c", SCRIPT), timeout=0.25)
    yield made
    made.close()


@pytest.fixture
def real() -> Iterator[AssemblerClient]:
    made = AssemblerClient()
    yield made
    made.close()


def replies(client: AssemblerClient, *texts: str) -> dict[str, bytes]:
    return {text: reply for (_, text), reply in client.encode(("att", text) for text in texts).items()}


def test_every_request_gets_its_own_answer(client: AssemblerClient) -> None:
    texts = [f"t{n}" for n in range(5 * AssemblerClient.WINDOW + 3)]
    assert replies(client, *texts, "t0") == {text: text.encode() for text in texts}
    assert replies(client, "no")["no"] == b""


@pytest.mark.parametrize("bad", ["hang", "die", "garbage"])
def test_a_statement_that_kills_the_child_counts_as_refused(client: AssemblerClient, bad: str) -> None:
    found = replies(client, "a", bad, "b", "c")
    assert found == {"a": b"a", bad: b"", "b": b"b", "c": b"c"}


def test_a_bad_statement_is_not_sent_with_every_text(client: AssemblerClient) -> None:
    replies(client, "hang", "a")
    child = client._child
    for number in range(1000):
        assert replies(client, "hang", f"t{number}")["hang"] == b""
    assert client._child is child
    assert client._cache.size() < 1000


def test_too_many_deaths_end_a_batch_but_not_the_client(client: AssemblerClient) -> None:
    script = SCRIPT.replace('text == "die"', 'text.startswith("die")')
    client._command = (sys.executable, "-c", script)
    texts = [f"die{n}" for n in range(AssemblerClient.MAXIMUM_DEATHS + 5)]
    assert set(replies(client, *texts, "after").values()) == {b""}
    assert replies(client, "after")["after"] == b"after"


def test_without_the_child_everything_is_encoded_all_the_same() -> None:
    for command in (
        ["/nonexistent"],
        [sys.executable, "-c", "pass"],
        [sys.executable, "-c", "print('failed\\tx')"],
    ):
        broken = AssemblerClient(command)
        assert replies(broken, "a") == {"a": b""}
        result = assemble(
            "# cyclelens-begin\nadd %rax, %rax\nsub %rax, %rax\nnop\n# cyclelens-end\n",
            SourceOptions(allow_external_programs=False),
            client=broken,
        )
        assert result.problems == ()
        assert result.regions[0].code.hex() == "4801c04829c090"
        assert [line.backend for line in result.regions[0].lines] == ["iced-x86", "iced-x86", "cyclelens"]


def test_a_statement_on_which_the_child_hangs_is_encoded_all_the_same() -> None:
    # The stand-in hangs on one instruction and asks the real engine for the others.
    script = (
        "import time\nfrom cyclelens.analyzer.frontend.assemblers import keystone_backend as backend\n"
        "real = backend.KeystoneEngine.encode\n"
        "def encode(self, dialect, text):\n    if 'ebx' in text:\n        time.sleep(60)\n"
        "    return real(self, dialect, text)\n"
        "backend.KeystoneEngine.encode = encode\nbackend.main()\n"
    )
    client = AssemblerClient((sys.executable, "-c", script), timeout=0.5)
    regions = ("inc %eax\ninc %ebx\ninc %ecx", "inc %edx")
    text = "".join(f"# cyclelens-begin\n{region}\n# cyclelens-end\n" for region in regions)
    result = assemble(text, SourceOptions(allow_external_programs=False), client=client)
    client.close()
    assert result.problems == ()
    assert [region.code.hex() for region in result.regions] == ["ffc0ffc3ffc1", "ffc2"]


def test_cancelling_stops_asking(client: AssemblerClient) -> None:
    found = client.encode([("att", "a")], cancel=lambda: True)
    assert found == {("att", "a"): b""}
    assert replies(client, "a")["a"] == b"a"


def test_closing_leaves_no_process(client: AssemblerClient) -> None:
    replies(client, "a")
    assert client._child is not None
    process = client._child
    client.close()
    assert process.returncode is not None
    assert replies(client, "b")["b"] == b"b"


def test_a_child_started_ahead_answers_the_first_statements(client: AssemblerClient) -> None:
    client.start()
    child = client._child
    assert child is not None
    client.start()
    assert replies(client, "a")["a"] == b"a"
    assert client._child is child


def test_a_child_that_is_not_ready_yet_is_not_waited_for() -> None:
    slow = AssemblerClient((sys.executable, "-c", "import time; time.sleep(60)"))
    begin = time.monotonic()
    slow.start()
    child = slow._child
    slow.close()
    assert child is not None
    assert child.returncode == -signal.SIGKILL
    assert time.monotonic() - begin < 30


def test_the_real_engine_survives_what_hangs_it(real: AssemblerClient) -> None:
    # One of the lines on which this release of Keystone does not return; the gate would not let it pass.
    empty = "vpternlogd $0x3,%ymm0,%ymm1,%ymm2"
    found = replies(real, "incl %eax", "[cmp    $031,%si", "incl %ecx", "frobnicate", empty)
    # Keystone calls the last one a success without bytes.
    assert [code.hex() for code in found.values()] == ["ffc0", "", "ffc1", "", ""]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_the_real_engine_ends_itself_where_it_hangs() -> None:
    """The parent, which would wait for longer, has not killed it."""
    client = AssemblerClient(timeout=100 * keystone_backend.TIME_LIMIT)
    replies(client, "incl %eax")
    child = client._child
    assert child is not None
    assert replies(client, "[cmp    $031,%si") == {"[cmp    $031,%si": b""}
    assert child.returncode == -signal.SIGPROF
    client.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Unix has the limit")
def test_the_memory_of_the_real_engine_is_limited() -> None:
    script = (
        "from cyclelens.analyzer.frontend.assemblers import keystone_backend as backend\nimport mmap\n"
        "real = backend.KeystoneEngine.encode\n"
        "def encode(self, dialect, text):\n    mmap.mmap(-1, backend.MEMORY_LIMIT if 'ecx' in text else 1)\n"
        "    return real(self, dialect, text)\n"
        "backend.KeystoneEngine.encode = encode\nbackend.main()\n"
    )
    client = AssemblerClient((sys.executable, "-c", script))
    found = replies(client, "incl %eax", "incl %ecx", "incl %edx")
    assert [code.hex() for code in found.values()] == ["ffc0", "", "ffc2"]
    client.close()


def test_the_front_end_does_not_let_the_hanging_line_pass() -> None:
    def never(*_: object) -> None:
        raise AssertionError

    class Unused(AssemblerClient):
        _exchange = never  # type: ignore[assignment]

    result = assemble(
        "# cyclelens-begin\n[cmp    $031,%si\n# cyclelens-end\n",
        SourceOptions(syntax=Syntax.ATT),
        client=Unused(),
    )
    assert [(p.line, p.code) for p in result.problems] == [(1, "syntax-error")]


def test_the_self_test_notices_a_wrong_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = keystone_backend.KeystoneEngine()
    assert engine.works()
    monkeypatch.setattr(engine, "encode", lambda dialect, statement: "90")
    assert not engine.works()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_starts_a_child_of_its_own(client: AssemblerClient) -> None:
    replies(client, "a")
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        answer = replies(client, "b")["b"] == b"b"
        client.close()
        os.write(write_end, b"1" if answer else b"0")
        os._exit(0)
    assert os.read(read_end, 1) == b"1"
    os.waitpid(pid, 0)
    os.close(read_end)
    os.close(write_end)
    assert replies(client, "c")["c"] == b"c"


def test_a_killed_child_is_replaced(real: AssemblerClient) -> None:
    assert replies(real, "incl %eax")["incl %eax"]
    assert real._child is not None
    real._child.kill()
    real._child.wait()
    assert replies(real, "incl %ecx")["incl %ecx"].hex() == "ffc1"


def test_prints_cannot_get_between_the_replies(capfd: pytest.CaptureFixture[str]) -> None:
    script = (
        "from cyclelens.analyzer.frontend.assemblers import keystone_backend as backend\nimport os\n"
        "real = backend.KeystoneEngine.encode\n"
        "def encode(self, dialect, text):\n    print('noise', flush=True)\n    os.write(1, b'noise')\n"
        "    return real(self, dialect, text)\n"
        "backend.KeystoneEngine.encode = encode\nbackend.main()\n"
    )
    noisy = AssemblerClient((sys.executable, "-c", script))
    assert replies(noisy, "incl %eax", "incl %ecx")["incl %ecx"].hex() == "ffc1"
    noisy.close()
    assert capfd.readouterr().out == ""
