"""Tests damaged object files: each must quickly give figures or one message, in little memory.

    python benchmarks/damaged_objects.py [--count 3000] [--seed N] [--read-only] [--kinds PART]

Objects, libraries and programs of one source, with and without line information, are changed in one to eight
places: bytes, bits, integers in headers, symbols, relocations, line tables and code, runs of equal bytes,
truncated ends. gcc makes the ELF files; clang and the linkers of LLVM and MinGW make those of Windows and
macOS, and kinds whose program is not installed are left out. `--count` files of each kind are tried. With
`--read-only` they are read and decoded, and nothing is simulated. `--kinds` chooses kinds by a part of their
names. Failing files are kept in build/mutants.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.files import analyze_bytes, read_bytes
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_code import named_regions
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.profile import ProfileError
from elftools.elf.elffile import ELFFile

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from testkit.foreign_objects import big, fat

FOUND = Path(__file__).parents[1] / "build" / "mutants"
SLOW = 3.0
"""Limit of processor time per file, in seconds."""
SOURCE = """
int pick(int x) { switch (x) { case 0: return 7; case 1: return 9; case 2: return 4; case 3: return 1;
  case 4: return 8; case 5: return 3; } return 0; }
float dot(const float *a, const float *b, long n) { float s = 0;
  for (long i = 0; i < n; i++) s += a[i] * b[i];
  return s; }
long sum(const int *a, long n) { long s = 0; while (n--) s += pick(*a++); return s; }
int _fltused; void __main(void) {}
int main(void) { return 0; }
"""
KINDS = {
    "object": ("-c", "-O2"),
    "object with lines": ("-c", "-O2", "-g"),
    "library": ("-shared", "-fPIC", "-O2", "-g"),
    "program": ("-O2", "-g"),
    "stripped program": ("-O2", "-s"),
    "code model large": ("-c", "-O2", "-mcmodel=large"),
}
_WINDOWS = "--target=x86_64-pc-windows-msvc -O2 -ffreestanding -fasynchronous-unwind-tables -c k.c -o k.o"
_MINGW = _WINDOWS.replace("msvc", "gnu") + " -g"
_MACOS = "--target=x86_64-apple-macos11 -O2 -ffreestanding -c k.c -o k.o"
FOREIGN = {
    "COFF object": [f"clang {_WINDOWS} -gdwarf-4 -o made"],
    "COFF object with CodeView": [f"clang {_WINDOWS} -g -gcodeview -o made"],
    "COFF object, bigobj": [f"clang {_WINDOWS} -g -gcodeview -o made"],
    "Windows library": [f"clang {_WINDOWS}", "lld-link /dll /noentry /out:made k.o /export:dot /export:sum"],
    "MinGW library": [f"clang {_MINGW}", "x86_64-w64-mingw32-ld -shared -e 0 -o made k.o"],
    "Mach-O object": [f"clang {_MACOS} -g -o made"],
    "Mach-O library": [
        f"clang {_MACOS} -g",
        "ld64.lld-14 -arch x86_64 -platform_version macos 11.0 11.0 -dylib -o made k.o",
    ],
    "Mach-O for several processors": [f"clang {_MACOS} -g -o made"],
    "archive": ["gcc -c -O2 -g k.c -o k.o", "ar rc made k.o"],
}
"""The commands that make each kind."""
CHANGED = {"COFF object, bigobj": big, "Mach-O for several processors": fat}
PROFILE = "perf script"
SAMPLES = """\
main 4711 [001] 100.000001:     250000 cpu-clock:pppH:      %x dot+0x20 (/tmp/made)
main 4711 100.000251: 1 cycles:u: %x sum+0x4 (/tmp/made) 0x401139/0x401120/P/-/-/3
"""
NUMBERS = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFF0,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    -1,
)
CHANGES = (1, 1, 1, 2, 3, 8)


def parts(data: bytes) -> list[tuple[int, int]]:
    """First byte and size of the header, the table of sections, and each section."""
    file = ELFFile(BytesIO(data))
    found = [(0, 64), (file["e_shoff"], file["e_shnum"] * file["e_shentsize"])]
    return found + [(each["sh_offset"], each["sh_size"]) for each in file.iter_sections() if each["sh_size"]]


def damaged(whole: bytes, places: list[tuple[int, int]], chance: random.Random) -> bytes:
    """A copy with random damage."""
    data = bytearray(whole)
    for _ in range(chance.choice(CHANGES)):
        start, size = chance.choice(places)
        at = start + chance.randrange(size)
        kind = chance.randrange(5)
        if kind == 0:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif kind in (1, 2):
            width = chance.choice((1, 2, 4, 8))
            at = start + chance.randrange(size) // width * width
            number = chance.choice(NUMBERS) % (1 << 8 * width)
            data[at : at + width] = number.to_bytes(width, "little")
        elif kind == 3:
            length = min(chance.choice((1, 4, 16, 256)), start + size - at)
            data[at : at + length] = bytes([chance.choice((0, 0xFF, 0x80))]) * length
        elif chance.random() < 0.3:
            return bytes(data[: chance.randrange(len(data)) + 1])
    return bytes(data)


def foreign(folder: Path, kind: str) -> bytes | None:
    """A file of one kind of ``FOREIGN``; None if a program for it is not installed."""
    (folder / "made").unlink(missing_ok=True)
    for command in FOREIGN[kind]:
        words = command.split()
        if shutil.which(words[0]) is None:
            return None
        subprocess.run(words, check=True, cwd=folder, capture_output=True)
    made = (folder / "made").read_bytes()
    return CHANGED[kind](made) if kind in CHANGED else made


def examples(folder: Path) -> Iterator[tuple[str, bytes, list[tuple[int, int]]]]:
    """Each kind with a whole file and the places to damage."""
    (folder / "k.c").write_text(SOURCE)
    for kind, flags in KINDS.items():
        subprocess.run(["gcc", *flags, "-o", folder / "made", folder / "k.c"], check=True)
        whole = (folder / "made").read_bytes()
        yield kind, whole, parts(whole)
    for kind in FOREIGN:
        made = foreign(folder, kind)
        if made is None:
            print(f"{kind}: left out, a program for it is not installed", flush=True)
        else:
            # Headers first; the others have symbols and tables at their end.
            size = len(made)
            yield kind, made, [(0, min(600, size)), (0, size), (size // 2, size - size // 2)]
    text = "".join(SAMPLES.replace("%x", f"{0x401120 + number:x}") for number in range(60)).encode()
    yield PROFILE, text, [(0, len(text))]


class Trial:
    """How a damaged file is read."""

    def __init__(self, folder: Path, read_only: bool) -> None:
        self._analyzer = Analyzer()
        self._path = folder / "damaged"
        self._read_only = read_only

    def end(self, kind: str, data: bytes) -> str:
        """What the file gives. Raises whatever its reader should not raise."""
        try:
            if kind == PROFILE:
                self._path.write_bytes(data)
                Profiles(Caches()).of(str(self._path))
            elif kind == "archive":
                self._path.write_bytes(data)
                analyze_bytes(self._analyzer, read_bytes(str(self._path)), "damaged", AnalysisOptions(), None)
            elif self._read_only:
                named_regions(ObjectFile(data), None, AnalysisOptions().source.regions)
            else:
                self._analyzer.analyze_object(data, AnalysisOptions())
        except (ObjectFileError, ProfileError, InputError) as error:
            return "one message" if "\n" not in str(error) else f"broken: {error!r}"
        return "figures"


def main() -> None:
    """Try all files; the exit code tells whether any failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--read-only", action="store_true", help="without figures")
    parser.add_argument("--kinds", default="", help="a part of the names of the kinds to try")
    options = parser.parse_args()
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder), options.read_only)
        for kind, whole, places in examples(Path(folder)):
            if options.kinds not in kind:
                continue
            chance = random.Random(f"{options.seed} {kind}")
            ends, slowest = Counter[str](), 0.0
            for number in range(options.count):
                data = damaged(whole, places, chance)
                begun = time.process_time()
                try:
                    end = trial.end(kind, data)
                except Exception as error:
                    end = f"broken: {type(error).__name__}: {error}"
                taken = time.process_time() - begun
                slowest = max(slowest, taken)
                if end.startswith("broken") or taken > SLOW:
                    broken += 1
                    FOUND.mkdir(parents=True, exist_ok=True)
                    (FOUND / f"{options.seed}-{kind.replace(' ', '-')}-{number}").write_bytes(data)
                ends[end] += 1
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(f"{kind}: {dict(ends)}; slowest {slowest:.2f} s, at most {memory} MiB", flush=True)
    raise SystemExit(1 if broken else 0)


if __name__ == "__main__":
    main()
