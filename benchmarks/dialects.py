"""Measures how much real assembly the front end encodes, and compares its bytes with GNU as.

    python benchmarks/dialects.py shapes        instructions of Debian's libdav1d, libx264, libx265, libcrypto
    python benchmarks/dialects.py files DIR...  loops of .s and .S files, those of `gcc -S` among them

`shapes` downloads the packages with `apt-get download` into a temporary folder and keeps nothing. It compares
one statement of each shape: mnemonic, register kinds, sizes of numbers and addresses. docs/dialects.md has
the results.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.source import AssembledFile

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from testkit.gnu_as import assembled

PACKAGES = ("libdav1d6", "libx264-164", "libx265-199", "libssl3")
CHUNK = 4000
BRANCH = re.compile(
    r"(?:(?:bnd|notrack|rep[nez]*|data16|addr32|cs|ds) )*(?:j\w+|call\w*|loop\w*|xbegin)\s+[0-9a-f]+\b"
)
NONSENSE = re.compile(
    r"\brex[.\w]*|^(?:data16|addr32|[c-gs]s)\b|,p[nt]\b|\((?:%e\w\w|%r\d+d)\)|"
    r"^(?:ljmp|lcall|ins|outs|in|out|iret)|%cs|%db"
)
WAYS_OUT = ("ret", "repz ret", "bnd ret", "jmp", "notrack jmp", "ud2", "hlt")
LINE = re.compile(r"\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)\s*\t([^#<\n]+)")
REGISTER_KINDS = (
    (re.compile(r"%(?:r(?:[abcd]x|[sd]i|[sb]p)|r(?:8|9|1[0-5]))(?!\w)"), "R64"),
    (re.compile(r"%(?:e(?:[abcd]x|[sd]i|[sb]p)|r(?:8|9|1[0-5])d)(?!\w)"), "R32"),
    (re.compile(r"%(?:(?:[abcd]x|[sd]i|[sb]p)|r(?:8|9|1[0-5])w)(?!\w)"), "R16"),
    (re.compile(r"%(?:[abcd][lh]|(?:[sd]i|[sb]p)l|r(?:8|9|1[0-5])b)(?!\w)"), "R8"),
    (re.compile(r"%([xyz]mm)(?:[0-9]|1[0-5])(?!\w)"), r"\1"),
    (re.compile(r"%([xyz]mm)\d+"), r"\1high"),
    (re.compile(r"%k[0-7]"), "K"),
    (re.compile(r"%st\(\d\)"), "ST"),
)


def shape(text: str) -> str:
    """The shape of a statement, which similar statements share."""

    def size(match: re.Match[str]) -> str:
        value = int(match[2], 16) * (-1 if match[1] else 1)
        sign = "-" if value < 0 else ""
        return sign + next(
            f"N{bits}" for bits in (8, 16, 32, 64) if abs(value) <= 1 << (bits - 1) or bits == 64
        )

    result = text
    for pattern, kind in REGISTER_KINDS:
        result = pattern.sub(kind, result)
    return re.sub(r"(-?)0x([0-9a-f]+)", size, result)


def statements(library: Path) -> Iterator[str]:
    """Statements that objdump prints for a library, without branches, whose bytes depend on addresses.

    Tables between functions disassemble to nonsense. A run up to the next exit is omitted if it contains
    bytes that are no instruction, or unusual code (stray prefixes, hints, far jumps, port access)."""
    done = subprocess.run(["objdump", "-d", "-w", str(library)], capture_output=True, text=True, check=True)
    run: list[str] = []
    is_code = True
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        text = " ".join(match[2].split())
        is_code = is_code and "(bad)" not in line and not NONSENSE.search(text)
        if not BRANCH.match(text):
            run.append(text)
        if text.startswith(WAYS_OUT):
            if is_code:
                yield from run
            run, is_code = [], True


def libraries(folder: Path) -> Iterator[Path]:
    """The shared libraries of the packages."""
    for package in PACKAGES:
        done = subprocess.run(
            ["apt-get", "download", package], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{package} cannot be had: {done.stderr.strip().splitlines()[-1]}")
    for number, archive in enumerate(sorted(folder.glob("*.deb"))):
        target = folder / str(number)
        subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True)
        for path in sorted(target.rglob("lib*.so*")):
            if not path.is_symlink() and re.match(r"lib(dav1d|x264|x265|crypto)", path.name):
                yield path


def encode(texts: list[str]) -> dict[str, tuple[str, str]]:
    """Bytes in hexadecimal (empty if refused) and backend of every statement."""
    result: dict[str, tuple[str, str]] = {}
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        text = "\n".join(["# cyclelens-begin", *chunk, "# cyclelens-end"])
        done = assemble(text, SourceOptions(syntax=Syntax.ATT, allow_external_programs=False))
        for line in done.regions[0].lines:
            result[chunk[line.line - 1]] = line.code.hex(), line.backend
    return {text: result.get(text, ("", "")) for text in texts}


def compare_shapes() -> None:
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for library in libraries(Path(folder)):
            before = len(found)
            counted = Counter(statements(library))
            for text in counted:
                found.setdefault(shape(text), text)
            new = len(found) - before
            print(f"{library.name}: {counted.total():,} instructions, {new:,} new shapes", flush=True)
    texts = list(dict.fromkeys(found.values()))
    reference = assembled("att", texts)
    texts = [text for text in texts if reference[text]]
    print(f"{len(texts):,} shapes that GNU as assembles again")
    ours = encode(texts)
    counts: dict[str, Counter[str]] = {"legacy and VEX": Counter(), "EVEX": Counter()}
    for text in texts:
        expected = reference[text]
        is_evex = expected.lstrip(b"\x26\x2e\x36\x3e\x64\x65\x67")[:1] == b"\x62"
        code, backend = ours[text]
        verdict = backend if code == expected.hex() else "refused" if not code else "different"
        counts["EVEX" if is_evex else "legacy and VEX"][verdict] += 1
        if verdict in ("different", "refused"):
            print(f"    {verdict}: {text}  {expected.hex()} {code}")
    for kind, verdicts in counts.items():
        print(f"  {kind}: {sum(verdicts.values()):,} shapes, {dict(verdicts)}")


def in_object(result: AssembledFile, text: str) -> tuple[int, int]:
    """Number of regions with the same bytes as GNU as's object, and number of comparable regions.

    Comparable regions are whole in the file and have no addresses that only the linker knows."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["as", "--64", "-o", "x.o"], cwd=folder, input=text.encode(), check=False)
        if done.returncode:
            return 0, 0
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "x.o", "x.bin"], cwd=folder, check=True)
        code = (Path(folder) / "x.bin").read_bytes()
    comparable = [
        region
        for region in result.regions
        if not region.incomplete and not any("rip" in line.text for line in region.lines)
    ]
    return sum(region.code in code for region in comparable), len(comparable)


def measure_files(folders: list[str]) -> None:
    """Print the loops and the share of encoded statements of each file."""
    for folder in folders:
        paths = [Path(folder)] if Path(folder).is_file() else sorted(Path(folder).rglob("*.[sS]"))
        for path in paths:
            text = path.read_text(errors="replace")
            loops = assemble(text, SourceOptions(regions=Regions.LOOPS))
            errors = [problem for problem in loops.problems if problem.severity == "error"]
            encoded = sum(len(region.lines) for region in loops.regions)
            share = encoded / max(encoded + len(errors), 1)
            names = {re.sub(r"\.\d+$", "", region.name): region for region in loops.regions}
            same, comparable = in_object(loops, text)
            print(
                f"{path.name}: {len(names)} loops, {encoded} statements, {share:.1%} encoded, "
                f"{same} of {comparable} as in the object"
            )
            for problem in errors[:5]:
                print(f"    {problem.line + 1}: {problem.message}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("shapes", "files"))
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    if options.what == "shapes":
        compare_shapes()
    else:
        measure_files(options.folders)


if __name__ == "__main__":
    main()
