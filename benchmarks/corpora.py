"""Whole assembly files that other people wrote, against the objects that GNU as and NASM make of them.

    python benchmarks/corpora.py [PACKAGE...] [--failures] [--limit N]

Fetches Debian's source packages with apt-get into a cache folder (41 MB with all of them; nothing is kept in
the project), assembles every file with the assembler it was written for, and compares the loops of that
object with those that the front end finds in the text: their number, their code, and their figures.
docs/dialects.md has the results.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cyclelens.analyzer.api import Analyzer
from cyclelens.analyzer.assembly.decoder import decode
from cyclelens.analyzer.assembly.elf import ObjectFile
from cyclelens.analyzer.assembly.frontend import assemble
from cyclelens.analyzer.assembly.machine_code import outermost, regions_of
from cyclelens.analyzer.model.source import Origin, Region

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cyclelens-corpora"
ARCHITECTURE = "SKX"
"""Microarchitecture of the figures that are compared: it has the AVX-512 of all these files."""
_STUBS = 24


class Unavailable(Exception):
    """A package or a program that cannot be had here; the message says why."""


# ---------------------------------------------------------------------------------------------------------
# Fetching


def fetch(package: str) -> Path:
    """The folder with the unpacked sources of a Debian package, from the cache if they are there.

    ``apt-get source`` needs deb-src entries, which most machines do not have: they are made from the
    machine's own entries, for this program alone.
    """
    folder = CACHE / "sources" / package
    if folder.is_dir():
        return folder
    if shutil.which("apt-get") is None:
        raise Unavailable("there is no apt-get to fetch sources with")
    options = _apt_options()
    downloads = CACHE / "downloads" / package
    downloads.mkdir(parents=True, exist_ok=True)
    trouble = f"the sources of {package} hold no archive"
    archives: list[Path] = []
    for version in _versions(package, options):
        try:
            _apt([*options, "source", "--download-only", f"{package}={version}"], downloads)
        except Unavailable as error:
            trouble = str(error)  # perhaps about a signature or a patch, which are not needed
        archives = sorted(downloads.glob("*.orig.tar.*[a-z]"), key=lambda path: -path.stat().st_size)
        if archives:
            break
    if not archives:
        raise Unavailable(trouble)
    unpacked = folder.with_name(f"{package}.{os.getpid()}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(unpacked, filter="data")
    (inner,) = unpacked.iterdir()
    inner.rename(folder)
    unpacked.rmdir()
    return folder


def _apt_options() -> list[str]:
    """Options that make apt-get use source entries and folders of our own; the lists are fetched once."""
    root = CACHE / "apt"
    options = [
        f"-oDir::Etc::SourceList={os.devnull}",
        f"-oDir::Etc::SourceParts={root / 'parts'}",
        f"-oDir::State::Lists={root / 'lists'}",
        f"-oDir::Cache={root / 'cache'}",
        "-oAPT::Sandbox::User=",
    ]
    if (root / "lists").is_dir():
        return options
    parts = root / "parts"
    for path in (parts, root / "lists" / "partial", root / "cache" / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    etc = Path("/etc/apt")
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*"))]:
        if path.suffix == ".sources":
            text = re.sub(r"^Types:.*$", "Types: deb-src", path.read_text(), flags=re.MULTILINE)
        elif path.suffix == ".list" and path.is_file():
            text = re.sub(r"^deb\b", "deb-src", path.read_text(), flags=re.MULTILINE)
        else:
            continue
        (parts / path.name).write_text(text)
    try:
        _apt([*options, "update", "-qq"], root)
    except Unavailable:
        shutil.rmtree(root / "lists")
        raise
    return options


def _versions(package: str, options: list[str]) -> list[str]:
    """All that are listed, the newest first; a mirror need not have each."""
    done = subprocess.run(["apt-cache", *options, "showsrc", package], capture_output=True, text=True)
    return list(dict.fromkeys(reversed(re.findall(r"^Version: (\S+)", done.stdout, re.MULTILINE))))


def _apt(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(["apt-get", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
        raise Unavailable(f"apt-get {arguments[-2]} failed: {(reason or ['no reason given'])[0]}")


# ---------------------------------------------------------------------------------------------------------
# The packages


@dataclass(frozen=True, slots=True)
class Source:
    """One file as the front end gets it, and how its own assembler is called."""

    name: str
    path: Path
    root: Path
    include_paths: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    pre_includes: tuple[Path, ...] = ()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8", errors="replace")

    @property
    def origin(self) -> Origin:
        return Origin(
            str(self.path),
            (str(self.root),),
            tuple(map(str, self.include_paths)),
            tuple(self.defines),
            tuple(map(str, self.pre_includes)),
        )


def _work(package: str) -> Path:
    folder = CACHE / "made" / package
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def glibc() -> Iterator[Source]:
    """The string and memory routines, several versions each."""
    root = fetch("glibc")
    made = _work("glibc")
    (made / "config.h").write_text("#define HAVE_CET 0\n")
    modules = ("testsuite", "LIBS_BEGIN", "libc", "rtld", "libpthread")
    (made / "libc-modules.h").write_text(
        "".join(f"#define MODULE_{name} {number}\n" for number, name in enumerate(modules, 1))
    )
    system = "sysdeps/unix/sysv/linux"
    folders = (
        *(f"{system}/{name}" for name in ("x86_64/64", "x86_64", "x86", "wordsize-64")),
        *("sysdeps/x86_64/nptl", "sysdeps/nptl", system, "sysdeps/unix/x86_64", "sysdeps/unix"),
        *("sysdeps/x86_64/64", "sysdeps/x86_64/multiarch", "sysdeps/x86_64", "sysdeps/x86/include"),
        *("sysdeps/x86", "sysdeps/ieee754", "sysdeps/generic", "include", ""),
    )
    for folder in ("sysdeps/x86_64/multiarch", "sysdeps/x86_64"):
        for path in sorted((root / folder).glob("*.S")):
            if re.match(r"(?:mem|raw|stp|str|wcs|wmem)(?!.*(?:_chk|nonshared))", path.name):
                include = tuple(root / name for name in (folder, *folders))
                # glibc's own build names these headers on the command line.
                target = made / f"{Path(folder).name}-{path.name}"
                headers = '#include "libc-modules.h"\n#include "libc-symbols.h"\n'
                target.write_text(headers + path.read_text(errors="replace"))
                defines = ("MODULE_NAME=libc", "USE_MULTIARCH=1", "__OPTIMIZE__=1")
                yield Source(path.name, target, CACHE, (made, *include), defines)


def openssl() -> Iterator[Source]:
    """What the Perl scripts of three ciphers write."""
    root = fetch("openssl")
    if shutil.which("perl") is None:
        raise Unavailable("perl is not installed")
    made = _work("openssl")
    for script in ("aes/asm/aesni-x86_64", "chacha/asm/chacha-x86_64", "camellia/asm/cmll-x86_64"):
        path = made / f"{Path(script).name}.s"
        if not path.is_file():
            command = ["perl", str(root / "crypto" / f"{script}.pl"), "elf", str(path)]
            subprocess.run(command, check=True, capture_output=True, env=os.environ | {"CC": "cc"})
        yield Source(path.name, path, made)


def openblas() -> Iterator[Source]:
    """The matrix kernels for Haswell and Skylake-X."""
    root = fetch("openblas")
    made = _work("openblas")
    (made / "config.h").write_text(
        "#define OS_LINUX 1\n#define ARCH_X86_64 1\n#define C_GCC 1\n#define __64BIT__ 1\n#define HASWELL\n"
        "#define L1_DATA_LINESIZE 64\n#define DTB_DEFAULT_ENTRIES 64\n"
    )
    for path in sorted((root / "kernel/x86_64").glob("*.S")):
        if re.search("haswell|skylakex", path.name):
            kind = path.name[0]
            defines = ["ASSEMBLER", "ASMNAME=kernel", "ASMFNAME=kernel_", "NAME=kernel_", "CNAME=kernel"]
            defines += ['CHAR_NAME="kernel_"', 'CHAR_CNAME="kernel"', "F_INTERFACE_GFORT"]
            defines += ["DOUBLE"] if kind in "dz" else []
            defines += ["COMPLEX"] if kind in "cz" else []
            yield Source(path.name, path, root, (made, root, path.parent), tuple(defines))


def gmp() -> Iterator[Source]:
    """The routines for long numbers, as m4 leaves them."""
    root = fetch("gmp")
    if shutil.which("m4") is None:
        raise Unavailable("m4 is not installed")
    made = _work("gmp")
    (made / "mpn").mkdir(exist_ok=True)
    (made / "config.m4").write_text(_GMP_CONFIGURATION.replace("ROOT", str(root)))
    for folder in ("", "fastavx", "fastsse", "core2", "coreisbr", "coreihwl", "coreibwl"):
        for path in sorted((root / "mpn/x86_64" / folder).glob("*.asm")):
            operations = re.findall(r"MULFUNC_PROLOGUE\(([^)]*)\)", path.read_text(errors="replace"))
            operation = operations[0].split()[0] if operations else path.stem
            name = f"{folder or 'x86_64'}-{path.stem}.s"
            target = made / "mpn" / name
            if not target.is_file():
                done = subprocess.run(
                    [
                        "m4",
                        "-DHAVE_CONFIG_H",
                        "-D__GMP_WITHIN_GMP",
                        f"-DOPERATION_{operation}",
                        "-DPIC",
                        str(path),
                    ],
                    cwd=made / "mpn",
                    capture_output=True,
                    check=False,
                )
                if done.returncode:
                    continue
                target.write_bytes(done.stdout)
            yield Source(name, target, made)


_GMP_CONFIGURATION = """\
changequote(<,>)
ifdef(<__CONFIG_M4_INCLUDED__>,,<
define(<CONFIG_TOP_SRCDIR>,<ROOT>)
define(<WANT_ASSERT>,0)
define(<WANT_PROFILING>,<no>)
define(<M4WRAP_SPURIOUS>,<no>)
define(<TEXT>, <.text>)
define(<DATA>, <.data>)
define(<LABEL_SUFFIX>, <:>)
define(<GLOBL>, <.globl>)
define(<GLOBL_ATTR>, <>)
define(<GSYM_PREFIX>, <>)
define(<RODATA>, <\t.section\t.rodata>)
define(<TYPE>, <.type\t$1,@$2>)
define(<SIZE>, <.size\t$1,$2>)
define(<LSYM_PREFIX>, <.L>)
define(<W32>, <.long>)
define(<ALIGN_LOGARITHMIC>,<no>)
define(<ALIGN_FILL_0x90>,<no>)
define(<HAVE_COFF_TYPE>, <no>)
define(<HAVE_ABI_64>)
define(<GMP_LIMB_BITS>,64)
define(<GMP_NUMB_BITS>,64)
define(<GMP_NAIL_BITS>,0)
define(<HAVE_HOST_CPU_skylake>)
define(<HAVE_DOUBLE_IEEE_little_endian>)
>)
changequote(`,')
include(CONFIG_TOP_SRCDIR`/mpn/asm-defs.m4')
include(CONFIG_TOP_SRCDIR`/mpn/x86_64/x86_64-defs.m4')
define(`__CONFIG_M4_INCLUDED__')
"""


def dav1d() -> Iterator[Source]:
    """The AV1 decoder's kernels, with the macros of x86inc."""
    root = fetch("dav1d")
    made = _work("dav1d")
    (made / "config.asm").write_text(
        "%define ARCH_X86_32 0\n%define ARCH_X86_64 1\n%define FORCE_VEX_ENCODING 0\n%define PIC 1\n"
        "%define STACK_ALIGNMENT 16\n%define private_prefix dav1d\n"
    )
    for path in sorted((root / "src/x86").glob("*.asm")):
        yield Source(path.name, path, root, (made, root / "src"))


def x264() -> Iterator[Source]:
    """The H.264 encoder's kernels, with the macros of x86inc."""
    root = fetch("x264")
    defines = ("ARCH_X86_64=1", "PIC", "STACK_ALIGNMENT=64", "HIGH_BIT_DEPTH=0", "BIT_DEPTH=8")
    for path in sorted((root / "common/x86").glob("*.asm")):
        if path.stem not in ("x86inc", "x86util") and not path.stem.endswith("-32"):
            yield Source(
                path.name, path, root, (root / "common/x86", root), (*defines, "private_prefix=x264")
            )


def aom() -> Iterator[Source]:
    """The AV1 codec's kernels, with the configuration that its build makes of the defaults."""
    root = fetch("aom")
    made = _work("aom")
    defaults = (root / "build/cmake/aom_config_defaults.cmake").read_text()
    values = dict(re.findall(r"set_aom_(?:detect|config)_var\((\w+)\s+(\d+)", defaults)) | {
        "ARCH_X86_64": "1"
    }
    (made / "config").mkdir(exist_ok=True)
    (made / "config/aom_config.asm").write_text(
        "".join(f"{name} equ {value}\n" for name, value in values.items())
    )
    for folder in ("aom_dsp", "aom_ports", "av1"):
        for path in sorted((root / folder).rglob("*.asm")):
            yield Source(path.name, path, root, (root, made))


def ffmpeg() -> Iterator[Source]:
    """All kernels of the libraries, with the configuration that NASM is to read before each of them."""
    root = fetch("ffmpeg")
    made = _work("ffmpeg")
    if not (made / "config.asm").is_file():
        options = ["--disable-autodetect", "--disable-doc", "--disable-programs"]
        subprocess.run([root / "configure", *options], cwd=made, check=True, capture_output=True)
    for path in sorted(root.glob("lib*/x86/*.asm")):
        folders = (root, path.parent, made)
        yield Source(f"{path.parts[-3]}-{path.name}", path, root, folders, (), (made / "config.asm",))


def ipsec_mb() -> Iterator[Source]:
    """Intel's kernels for several buffers at once: large files that are mostly macros."""
    root = fetch("intel-ipsec-mb")
    for path in sorted((root / "lib").glob("*/*.asm")):
        yield Source(f"{path.parent.name}-{path.name}", path, root, (root / "lib", root / "lib/include"))


PACKAGES: dict[str, Callable[[], Iterator[Source]]] = {
    function.__name__: function
    for function in (glibc, openssl, openblas, gmp, dav1d, x264, aom, ffmpeg, ipsec_mb)
}


# ---------------------------------------------------------------------------------------------------------
# One file


def reference(source: Source) -> bytes | None:
    """The object that the file's own assembler makes of it; None if it refuses the file."""
    target = _work("objects") / f"{source.name}.o"
    includes = [f"-I{folder}/" for folder in source.include_paths]
    includes += [f"-P{path}" for path in source.pre_includes]
    defines = [f"-D{name}" for name in source.defines]
    if source.path.suffix == ".asm":
        command = ["nasm", "-f", "elf64", *includes, *defines, "-o", str(target), str(source.path)]
    else:
        language = "assembler-with-cpp" if source.path.suffix == ".S" else "assembler"
        command = ["cc", "-c", "-x", language, *includes, *defines, "-o", str(target), str(source.path)]
    stubs = _work("stubs")
    for _ in range(_STUBS):
        done = subprocess.run([*command, f"-I{stubs}/"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return target.read_bytes()
        missing = re.search(r"fatal error: (\S+): No such file", done.stderr)
        if missing is None or missing[1].startswith("/") or ".." in missing[1]:
            break
        # What a configured tree would have made; for the macros of assembly files it does not matter.
        stub = stubs / missing[1]
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.touch()
    return None


@dataclass(slots=True)
class Measured:
    """What was found in a file."""

    name: str
    lines: int = 0
    """Statements that were looked at, and those of them that became bytes."""
    encoded: int = 0
    loops: int = 0
    """In the object."""
    found: int = 0
    """In the text."""
    same: int = 0
    """Of the object's, in the text with the same instructions."""
    equal: int = 0
    """Of those, with the same figures."""
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def __iadd__(self, other: Measured) -> Measured:
        for name in ("lines", "encoded", "loops", "found", "same", "equal"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.seconds = max(self.seconds, other.seconds)
        return self


def measure(source: Source, analyzer: Analyzer) -> Measured | None:
    """None if the file's own assembler refuses it."""
    code = reference(source)
    if code is None:
        return None
    result = Measured(source.name)
    started = time.process_time()
    text = assemble(source.text, regions="loops", origin=source.origin)
    result.seconds = time.process_time() - started
    _count_lines(source, result)
    theirs = _by_loop(_object_loops(code))
    ours = _by_loop(text.regions)
    result.loops, result.found = len(theirs), len(ours)
    known: dict[tuple[object, ...], list[list[Region]]] = {}
    for regions in ours:
        known.setdefault(_essence(regions), []).append(regions)
    for regions in theirs:
        candidates = known.get(_essence(regions))
        if not candidates:
            result.failures.append(
                f"loop at {regions[0].lines[0].address:#x} ({regions[0].name}) is not found"
            )
            continue
        result.same += 1
        result.equal += _figures(candidates.pop(), analyzer) == _figures(regions, analyzer)
    return result


def _count_lines(source: Source, result: Measured) -> None:
    """The whole file as one region tells which statements become bytes."""
    comment = ";" if source.path.suffix == ".asm" else "#"
    if source.path.suffix == ".S":
        comment = "//"
    text = f"{comment} cyclelens-begin whole\n{source.text}\n{comment} cyclelens-end\n"
    whole = assemble(text, origin=source.origin)
    errors = [problem for problem in whole.problems if problem.severity == "error"]
    result.encoded = sum(len(region.lines) for region in whole.regions)
    result.lines = result.encoded + len(errors)
    lines = text.splitlines()
    for problem in errors:
        line = lines[problem.line].strip() if problem.line < len(lines) else ""
        result.failures.append(f"{problem.line}: {problem.message} | {line[:100]}")


def _object_loops(code: bytes) -> tuple[Region, ...]:
    """Of functions, because there are tables between them; of whole sections where nothing is declared."""
    file = ObjectFile(code)
    functions = outermost(file.functions) or file.sections
    return regions_of(file, functions, "loops").regions


def _by_loop(regions: Iterable[Region]) -> list[list[Region]]:
    """Basic blocks together with those of the same loop."""
    loops: dict[str, list[Region]] = {}
    for region in regions:
        stem, _, number = region.name.rpartition(".")
        loops.setdefault(stem if number.isdecimal() and stem else region.name, []).append(region)
    return list(loops.values())


def _essence(regions: list[Region]) -> tuple[object, ...]:
    """What figures can depend on: everything but addresses that only a linker knows."""
    found: list[object] = []
    for region in regions:
        if region.incomplete:
            return (id(region),)
        for instruction in decode(region.code):
            wide = any(operand.displacement_bits == 32 for operand in instruction.operands)
            if instruction.branch_displacement is not None:
                found.append((instruction.mnemonic, instruction.length))
            elif wide or instruction.immediate_bits >= 32:
                registers = [(one.register, one.base, one.index, one.scale) for one in instruction.operands]
                found.append((instruction.mnemonic, instruction.length, tuple(registers)))
            else:
                found.append(instruction.code)
    return tuple(found)


def _figures(regions: list[Region], analyzer: Analyzer) -> list[float | None]:
    return [analyzer.predict(region.code, ARCHITECTURE, "unroll").cycles_per_iteration for region in regions]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(PACKAGES)}")
    parser.add_argument("--failures", action="store_true", help="list what is not encoded or not found")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N files of each package")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files with this in their name")
    options = parser.parse_args()
    analyzer = Analyzer()
    print("| package | files | lines | encoded | loops | found | same code | same figures | slowest file |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for package in options.packages or PACKAGES:
        try:
            sources = [source for source in PACKAGES[package]() if options.only in source.name][
                : options.limit
            ]
        except Unavailable as error:
            sys.exit(f"{package}: {error}")
        total, below, refused, files = Measured(package), [], 0, 0
        for source in sources:
            measured = measure(source, analyzer)
            if measured is None:
                refused += 1
                continue
            files += 1
            total += measured
            if measured.encoded < 0.99 * measured.lines or measured.same < measured.loops:
                below.append(measured)
            if options.failures:
                for failure in measured.failures[:20]:
                    print(f"    {source.name}:{failure}", file=sys.stderr)
        share = total.encoded / max(total.lines, 1)
        print(
            f"| {package} | {files} | {total.lines:,} | {share:.2%} | {total.loops:,} | {total.found:,} "
            f"| {total.same:,} | {total.equal:,} | {total.seconds:.2f} s |",
            flush=True,
        )
        for one in below:
            print(
                f"    {one.name}: {one.encoded} of {one.lines} lines, {one.same} of {one.loops} loops",
                file=sys.stderr,
            )
        if refused:
            print(f"    {refused} files are refused by their own assembler", file=sys.stderr)


if __name__ == "__main__":
    main()
