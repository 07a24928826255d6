"""COFF and Mach-O objects give what ELF objects of the same C give."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import main as cli
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_code import named_regions
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.reports.json import document

TARGETS = {"elf": "x86_64-linux-gnu", "coff": "x86_64-pc-windows-msvc", "mach-o": "x86_64-apple-macos"}
FOREIGN = ("coff", "mach-o")
# One calling convention and one size of long, so that the compiler writes the same code.
HEAD = """\
#define F __attribute__((sysv_abi, noinline))
typedef long long i64;
typedef unsigned u32;
typedef unsigned char byte;
#define EACH for (i64 i = 0; i < n; i++)
"""
BODIES = (
    "F {t} f{n}(const {t} *a, i64 n) {{ {t} s = {c}; EACH s += a[i]; return s; }}",
    "F void f{n}({t} *a, const {t} *b, i64 n) {{ EACH a[i] = b[i] * ({t}){c} + a[i]; }}",
    "F {t} f{n}(const {t} *a, const {t} *b, i64 n) {{ {t} s = 0; EACH s += a[i] * b[i]; return s; }}",
    "F i64 f{n}(const {t} *a, i64 n) {{ i64 s = 0; EACH if (a[i] > {c}) s++; return s; }}",
    "F u32 f{n}(const byte *a, i64 n) {{ u32 h = {c}; EACH h = h * 33 ^ a[i]; return h; }}",
    "F void f{n}({t} *a, i64 n) {{ for (i64 i = {c}; i < n; i++) a[i] = a[i - 1] + a[i - {c}]; }}",
    "F {t} f{n}(const {t} *a, i64 n) {{ {t} m = 0; EACH for (i64 j = 0; j < i; j++) m += a[j] * a[i]; "
    "return m; }}",
    "F i64 f{n}(i64 x) {{ i64 s = 0; while (x > {c}) {{ s += x & 7; x >>= 1; }} return s; }}",
)
FUNCTIONS, FEW = 100, 10


def source(count: int = FUNCTIONS) -> str:
    chosen = random.Random(47)
    # No short: the systems differ in who extends it to a register.
    kinds = ("int", "float", "double", "i64", "u32")
    lines = [
        chosen.choice(BODIES).format(n=number, t=chosen.choice(kinds), c=chosen.randrange(2, 9))
        for number in range(count)
    ]
    return HEAD + "\n".join(lines) + "\n"


# Apple's default processor is another one, and so would be the choice of instructions.
COMMAND = ("-O2", "-march=x86-64", "-g", "-gdwarf-4", "-fomit-frame-pointer", "-ffreestanding")


def built(folder: Path, text: str) -> dict[str, Path]:
    """The text compiled for each target. Skips the test without clang."""
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    (folder / "code.c").write_text(text)
    found = {}
    for name, target in TARGETS.items():
        found[name] = folder / f"{name}.o"
        command = ["clang", f"--target={target}", *COMMAND, "-c", "code.c", "-o", found[name].name]
        subprocess.run(command, check=True, cwd=folder)
    return found


def loops_of(path: Path) -> dict[str, list[tuple[str, int | None]]]:
    """The instructions of every region with their lines, without the addresses that a linker fills in."""
    file = ObjectFile(path.read_bytes())
    found = named_regions(file, None, Regions.AUTO)
    return {
        region.name: [
            (re.sub(r"\[(rip|r\w+\+)?[+-]?0x[0-9a-f]{6,}\]|(?<=^j)(\w+ ).*", r"\2", line.text), line.line)
            for line in region.lines
        ]
        for region in found.regions
    }


def figures_of(path: Path) -> dict[str, list[float]]:
    options = AnalysisOptions(SourceOptions(), Target(microarchitectures=("SKL", "ZEN4")))
    found = document(Analyzer().analyze_object(path.read_bytes(), options), "")
    return {
        region["name"]: [each["cycles_per_iteration"] for each in region["predictions"]]
        for region in found["regions"]
    }


def test_a_hundred_functions_have_the_loops_and_lines_of_elf(tmp_path: Path) -> None:
    objects = built(tmp_path, source())
    expected = loops_of(objects["elf"])
    assert len({name.partition(".")[0] for name in expected}) == FUNCTIONS
    assert sum(line >= 0 for lines in expected.values() for _, line in lines if line is not None) > 500
    for kind in FOREIGN:
        assert loops_of(objects[kind]) == expected


def test_functions_have_the_figures_of_elf(tmp_path: Path) -> None:
    objects = built(tmp_path, source(FEW))
    expected = figures_of(objects["elf"])
    assert len(expected) >= FEW
    for kind in FOREIGN:
        assert figures_of(objects[kind]) == expected


REFERENCES = """\
#define F __attribute__((sysv_abi))
extern int shared; extern void call(int); static const float table[4] = {1, 2, 3, 4};
F float looked_up(int n) { float s = 0; for (int i = 0; i < n; i++) s += table[i & 3]; return s; }
F void calling(int n) { for (int i = 0; i < n; i++) call(shared); }
F int switched(int x, int n) {
    int r = 0;
    for (int i = 0; i < n; i++) switch (x + i) {
        case 0: r += 1; break; case 1: r *= 7; break; case 2: r ^= 9; break;
        case 3: r -= 3; break; case 4: r <<= 2; break; case 5: r += x; break; }
    return r;
}
"""


@pytest.mark.parametrize("kind", FOREIGN)
def test_calls_tables_and_constants_are_found(kind: str, tmp_path: Path) -> None:
    file = ObjectFile(built(tmp_path, REFERENCES)[kind].read_bytes())
    found = {region.name: region for region in named_regions(file, None, Regions.AUTO).regions}
    assert any(name.startswith("looked_up.loop-1") for name in found)
    assert any("call" in line.text for name in found if "calling" in name for line in found[name].lines)
    # The jump table leads to six cases.
    cases = [name for name in found if re.match(r"switched\.(loop|outer)-1\.", name)]
    assert len(cases) >= 8


def mutants(content: bytes, count: int) -> list[bytes]:
    chosen = random.Random(20_261_129)
    found = [content[: chosen.randrange(8, len(content))] for _ in range(count // 4)]
    for _ in range(count - len(found)):
        damaged = bytearray(content)
        for _ in range(chosen.choice((1, 4, 16))):
            # Most damage in the headers, where it matters.
            end = chosen.choice((64, 600, len(content)))
            damaged[chosen.randrange(4, min(end, len(content)))] = chosen.randrange(256)
        found.append(bytes(damaged))
    return found


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_damaged_object_gives_regions_or_one_error(kind: str, tmp_path: Path) -> None:
    content = built(tmp_path, REFERENCES)[kind].read_bytes()
    refused = 0
    for damaged in mutants(content, 80):
        try:
            named_regions(ObjectFile(damaged), None, Regions.AUTO)
        except ObjectFileError as error:
            refused += 1
            assert str(error) and "\n" not in str(error)
    assert refused > 20


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_cut_object_has_one_message(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = built(tmp_path, REFERENCES)[kind]
    path.write_bytes(path.read_bytes()[:300])
    assert cli.main(["analyze", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "damaged" in error


def test_other_files_of_macos_and_other_processors_are_named(tmp_path: Path) -> None:
    content = bytearray(built(tmp_path, REFERENCES)["mach-o"].read_bytes())
    content[12] = 4  # MH_CORE
    with pytest.raises(ObjectFileError, match="neither an object nor a program"):
        ObjectFile(bytes(content))
    content[4:8] = b"\x0c\x00\x00\x01"  # CPU_TYPE_ARM64
    with pytest.raises(ObjectFileError, match="another processor"):
        ObjectFile(bytes(content))
