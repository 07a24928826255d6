"""``cyclelens measure --working-set`` runs a loop on data of several sizes, within the harness's limits."""

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.common.byte_sizes import parse_size, written_size
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring import data_by_level, machine_memory
from cyclelens.analyzer.measuring.harness import PROGRAM
from cyclelens.analyzer.measuring.machine_memory import MachineMemory
from cyclelens.analyzer.measuring.requests import Measurement, MeasurementRequest
from cyclelens.analyzer.measuring.working_sets import SizeMeasurement
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.choices import Clocks

pytestmark = pytest.mark.timed

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/working-sets-1.schema.json").read_text())
TEXT = """# cyclelens-begin copy
1:  vmovups (%rsi), %ymm0
    vmovups %ymm0, (%rdi)
    add $32, %rsi
    add $32, %rdi
    dec %rcx
    jnz 1b
# cyclelens-end
# cyclelens-begin table
2:  movzbl (%rsi), %eax
    add (%rdi,%rax,8), %rbx
    inc %rsi
    dec %rcx
    jnz 2b
# cyclelens-end
"""
WALKED = 0x200000000000
TRIES = 10


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "loops.s"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture
def measure(any_clock, file, capsys):
    """Runs the command until the machine is not too busy for a figure."""

    def measure(*words):
        for _ in range(TRIES):
            status = main(["measure", file, "--arch", "ZEN4", "--runs", "1", *words])
            shown = capsys.readouterr()
            if "the machine is busy" not in shown.out:
                return status, shown
        pytest.skip("the machine is too busy to measure anything")

    return measure


def test_every_size_has_its_level_beside_the_figure(measure, monkeypatch):
    memory = MachineMemory({"L1": 32 << 10, "L2": 1 << 20})
    monkeypatch.setattr(data_by_level, "this_machine", lambda: memory)
    status, shown = measure("--region", "copy", "--working-set", "16KiB,128KiB,2MiB")
    assert status == 0
    rows = [line.split() for line in shown.out.splitlines() if "iB  " in line]
    assert [row[:3] for row in rows] == [
        ["16", "KiB", "L1"],
        ["128", "KiB", "L2"],
        ["2", "MiB", "memory"],
    ]
    assert "Pages:      " in shown.out
    assert "cycles/byte" in shown.out


def test_a_loop_that_walks_through_no_array_is_named_and_the_others_are_measured(measure):
    status, shown = measure("--working-set", "16KiB")
    assert status == 1
    assert (
        "Not measured: 'add rbx, qword ptr [rdi+rax*8]': its address does not move by a constant" in shown.out
    )
    assert "16 KiB  L1" in shown.out


def test_the_json_is_as_its_schema_says(measure):
    _, shown = measure("--working-set", "16KiB,128KiB", "--format", "json")
    found = json.loads(shown.out)
    jsonschema.validate(found, SCHEMA)
    copy, table = found
    assert [size["bytes"] for size in copy["sizes"]] == [16 << 10, 128 << 10]
    assert [size["iterations_per_pass"] for size in copy["sizes"]] == [256, 2048]
    assert copy["work"] == {"amount": 32, "unit": "byte", "source": "step of rsi and rdi"}
    assert all(size["measured"] is None and size["problem"] for size in table["sizes"])


def test_the_plot_marks_the_caches(measure, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "copy.svg"
    status, _ = measure("--region", "copy", "--working-set", "16KiB,128KiB", "--plot", str(path))
    assert status == 0
    texts = [each.text for each in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert {
        "16 KiB",
        "128 KiB",
        "copy",
        "cycles per iteration",
        *machine_memory.this_machine().caches,
    } <= set(texts)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--working-set", "16KiB,much"], "'much' is no size: 32KiB, 8MiB, 1GiB or a number of bytes"),
        (["--plot", "x.svg"], "--plot needs --working-set"),
        (["--working-set", "16KiB", "--plot", "x.gif"], "a drawing is written as .svg or .png"),
    ],
)
def test_options_that_make_no_sense_are_named(file, capsys, words, message):
    failed = False
    try:
        failed = main(["measure", file, *words]) != 0
    except SystemExit:
        failed = True
    assert failed
    assert message in capsys.readouterr().err


def test_a_working_set_needs_free_memory(measure, monkeypatch):
    monkeypatch.setattr(data_by_level, "this_machine", lambda: MachineMemory({}, 1 << 20))
    _, shown = measure("--region", "copy", "--working-set", "16KiB,8MiB")
    assert "Not measured with 8 MiB: this machine has too little free memory: at most 1 MiB" in shown.out


def test_half_of_the_free_memory_may_be_used(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:  4096 kB\n")
    (tmp_path / "limit").write_text("max\n")
    monkeypatch.setattr(machine_memory, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine_memory, "_LIMIT", tmp_path / "limit")
    assert machine_memory.this_machine().most == 2 << 20
    (tmp_path / "limit").write_text("1048576\n")
    assert machine_memory.this_machine().most == 1 << 19


@pytest.mark.parametrize(
    "text, size",
    [("32KiB", 32 << 10), ("8M", 8 << 20), ("1gib", 1 << 30), ("4096", 4096), ("64B", 64)],
)
def test_sizes_are_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "KiB", "-1", "1.5MiB", "8 MiB x", "1TiB", "32iB"])
def test_what_is_no_size_is_none(text):
    assert parse_size(text) is None


def test_sizes_are_written_in_their_largest_unit():
    assert [written_size(size) for size in (32 << 10, 3 << 20, 1 << 30, 100)] == [
        "32 KiB",
        "3 MiB",
        "1 GiB",
        "100 bytes",
    ]


def test_the_difference_is_that_of_the_prediction():
    assert SizeMeasurement(64, "L1", Measurement(2.0), 2.5).difference == 0.25
    assert SizeMeasurement(64, "L1", Measurement(2.0)).difference is None
    assert SizeMeasurement(64, "L1", Measurement(None), 2.5).difference is None


def by_level(statements):
    """The predictions for a loop on Zen 4."""
    text = (
        "# cyclelens-begin\n1:\n" + statements.replace(";", "\n") + "\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    )
    (region,) = Analyzer().analyze(text, AnalysisOptions(target=Target(microarchitectures=("ZEN4",)))).regions
    found = {
        name: data_by_level.cycles_with_data(region.predictions[0], name, size)
        for name, size in (("L1", 16 << 10), ("L2", 256 << 10), ("L3", 8 << 20), ("memory", 256 << 20))
    }
    return {name: cycles for name, cycles in found.items() if cycles is not None}


def test_a_copy_takes_the_time_of_its_lines():
    """A line loaded and one stored take 2.0 cycles each in L2 (docs/data.md); 32 bytes are half a line."""
    found = by_level("vmovups (%rsi), %ymm0; vmovups %ymm0, (%rdi); add $32, %rsi; add $32, %rdi")
    assert list(found) == ["L1", "L2", "L3", "memory"]
    assert (found["L1"], found["L2"]) == (1.0, 2.0)


def test_every_link_of_a_chase_waits_for_its_level():
    """4 cycles from L1, 14 from L2, and 50 from L3 with 7 for the translation of addresses (docs/data.md)."""
    one, two = by_level("mov (%rax), %rax"), by_level("mov (%rax), %rax; mov (%rax), %rax")
    assert [one[level] for level in ("L1", "L2", "L3")] == pytest.approx([4.0, 14.0, 56.75], abs=0.01)
    assert [two[level] for level in ("L1", "L2", "L3")] == pytest.approx([8.0, 28.0, 113.51], abs=0.01)


def test_a_loop_whose_addresses_the_data_decide_has_a_figure_for_l1_alone():
    assert list(by_level("movzbl (%rsi), %eax; add (%rdi,%rax,8), %rbx; inc %rsi")) == ["L1"]


# ---------------------------------------------------------------------------------------------------------
# The harness


@pytest.mark.parametrize(
    "walk",
    [
        "walked=0 rounds=16",
        f"walked={17 << 30} rounds=16",
        "walked=4096 rounds=0",
        f"walked=4096 rounds=16 chain={WALKED:x}:65:64:0",
        f"walked=4096 rounds=16 chain={WALKED - 8:x}:1:64:0",
        f"walked=4096 rounds=16 chain={WALKED:x}:1:4:0",
        "walked=4096 rounds=16 chain=nonsense",
    ],
)
def test_a_working_set_that_is_none_is_not_mapped(any_clock, walk):
    line = f"mode=walk {walk} instructions=1 code=90\n"
    done = subprocess.run([PROGRAM, "--time-stamps"], input=line, capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[1].startswith("status=unreadable")


def test_a_walk_uses_the_memory_that_is_there_already(confined, encode):
    """Its data are mapped before the sandbox closes: the code touches no further page."""
    request = _request(encode("mov rax, [rsi]; add rsi, 64"), "walked=65536 rounds=1024")
    found = _measured(confined, request)
    assert found.cycles is not None
    assert found.pages == 0


def test_code_that_leaves_its_working_set_gets_no_more_than_other_code(open_harness, encode):
    """Beyond the working set each page counts: the limit of pages holds there, too."""
    code = encode("add rsi, 4096; mov [rsi], rax")
    with open_harness(clock=Clocks.NONE, milliseconds=10_000) as harness:
        found = harness.measure(_request(code, "walked=65536 rounds=1000000"))
    assert found.problem == "the code uses too much memory"


@pytest.mark.parametrize(
    "statements", ["mov eax, 39; syscall", "1: jmp 1b", "mov rax, 0x8000000000000000; jmp rax"]
)
def test_hostile_code_is_contained_on_a_working_set_too(confined, encode, statements):
    found = confined.measure(_request(encode(statements), "walked=65536 rounds=16"))
    assert found.cycles is None


class _Line(MeasurementRequest, frozen=True, kw_only=True):
    """A request whose line names its walk itself."""

    text: str = ""

    def line(self):
        return f"mode=walk instructions=2 registers=6:{WALKED:x} {self.text} code={self.code.hex()}"


def _request(code, walk):
    return _Line(code=code, instructions=2, text=walk)


def _measured(harness, request):
    for _ in range(TRIES):
        found = harness.measure(request)
        if "busy" not in found.problem:
            return found
    pytest.skip("the machine is too busy to measure anything")
    return found
