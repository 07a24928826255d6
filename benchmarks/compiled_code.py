"""Compiles projects in C, C++ and Rust to assembly."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from fetching import Source, Unavailable, fetch, fetch_crate, made


def _compiled(package: str, compiler: str, paths: list[Path], options: list[str]) -> Iterator[Source]:
    """Compile the files that the compiler accepts."""
    if shutil.which(compiler) is None:
        raise Unavailable(f"{compiler} is not installed")
    work = made(f"{compiler}-{package}")
    for path in paths:
        target = work / f"{path.stem}.s"
        if not target.is_file():
            command = [compiler, *options, "-o", str(target), str(path)]
            subprocess.run(command, capture_output=True, check=False)
        if target.is_file():
            yield Source(f"{package}-{target.name}", target, work)


def _of_c(compiler: str) -> Iterator[Source]:
    """zlib, bzip2, lz4 and zstd in C; snappy, RE2 and {fmt} in C++."""
    options = ["-S", "-O3", "-march=haswell", "-w", *(["-fno-addrsig"] if compiler == "clang" else [])]
    for package, pattern in (("zlib", "*.c"), ("bzip2", "*.c"), ("lz4", "lib/*.c"), ("libzstd", "lib/*/*.c")):
        root = fetch(package)
        paths = [
            path for path in sorted(root.glob(pattern)) if path.parent.name not in ("legacy", "deprecated")
        ]
        yield from _compiled(package, compiler, paths, options)
    for package, pattern in (("snappy", "*.cc"), ("re2", "re2/*.cc"), ("fmtlib", "src/*.cc")):
        root = fetch(package)
        if package == "snappy":
            stub = (root / "snappy-stubs-public.h.in").read_text()
            (made("snappy") / "snappy-stubs-public.h").write_text(re.sub(r"\$\{\w+\}", "1", stub))
        folders = [f"-I{folder}" for folder in (root, root / "include", made("snappy"))]
        paths = [path for path in sorted(root.glob(pattern)) if "test" not in path.name]
        yield from _compiled(package, compiler, paths, [*options, "-std=c++17", *folders])


def gcc() -> Iterator[Source]:
    """GCC's output for zlib, bzip2, lz4, zstd, snappy, RE2 and {fmt}."""
    yield from _of_c("gcc")


def clang() -> Iterator[Source]:
    """Clang's output for the same files."""
    yield from _of_c("clang")


def gcc_intel() -> Iterator[Source]:
    """GCC's output for zlib, bzip2 and lz4 in Intel syntax."""
    options = ["-S", "-O3", "-march=skylake", "-masm=intel", "-w"]
    for package, pattern in (("zlib", "*.c"), ("bzip2", "*.c"), ("lz4", "lib/*.c")):
        yield from _compiled(f"{package}-intel", "gcc", sorted(fetch(package).glob(pattern)), options)


def rustc() -> Iterator[Source]:
    """rustc's output, in both syntaxes, for libraries that search, compress, and format numbers."""
    if shutil.which("rustc") is None:
        raise Unavailable("rustc is not installed")
    simd = ("memchr_runtime_simd", "memchr_runtime_sse2", "memchr_runtime_avx")
    crates = {
        "adler": (),
        "memchr": simd,
        "miniz-oxide": ('feature="with-alloc"',),
        "base64": (),
        "itoa": (),
    }
    for syntax in ("att", "intel"):
        work = made(f"rustc-{syntax}")
        for crate, configuration in crates.items():
            name = crate.replace("-", "_")
            target = work / f"{name}.s"
            if not target.is_file():
                path = fetch_crate(f"librust-{crate}-dev") / "src/lib.rs"
                options = ["--crate-type=rlib", f"--crate-name={name}", "--edition=2018", "--cap-lints=allow"]
                options += ["-Copt-level=3", "-Ctarget-cpu=haswell", "-Ccodegen-units=1"]
                options += [f"-Cllvm-args=-x86-asm-syntax={syntax}", "--emit=asm,link", f"--out-dir={work}"]
                options += [f"--cfg={one}" for one in ('feature="std"', *configuration)]
                options += [f"-L{work}", *(["--extern=adler"] if crate == "miniz-oxide" else [])]
                subprocess.run(["rustc", *options, path], check=True, capture_output=True)
            yield Source(f"{syntax}-{target.name}", target, work)
