"""Tests damaged object files: each must quickly give figures or one message, in little memory.

    python benchmarks/damaged_objects.py [--count 3000] [--seed N] [--read-only]

Objects, libraries and programs that gcc makes of one source, with and without line information, are changed
in one to eight places: bytes, bits, integers in headers, symbols, relocations, line tables and code, runs of
equal bytes, truncated ends. `--count` files of each kind are tried. With `--read-only` they are read and
decoded, and nothing is simulated. Failing files are kept in build/mutants.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import tempfile
import time
from collections import Counter
from io import BytesIO
from pathlib import Path

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_code import named_regions
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from elftools.elf.elffile import ELFFile

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


def main() -> None:
    """Try all files; the exit code tells whether any failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--read-only", action="store_true", help="without figures")
    options = parser.parse_args()
    chance, analyzer, broken = random.Random(options.seed), Analyzer(), 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "k.c")
        source.write_text(SOURCE)
        for kind, flags in KINDS.items():
            target = Path(folder, "made")
            subprocess.run(["gcc", *flags, "-o", target, source], check=True)
            whole = target.read_bytes()
            places, ends, slowest = parts(whole), Counter[str](), 0.0
            for number in range(options.count):
                data = damaged(whole, places, chance)
                begun = time.process_time()
                try:
                    if options.read_only:
                        file = ObjectFile(data)
                        named_regions(file, None, AnalysisOptions().source.regions)
                    else:
                        analyzer.analyze_object(data, AnalysisOptions())
                    end = "figures"
                except ObjectFileError:
                    end = "one message"
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
