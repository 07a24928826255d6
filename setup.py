"""Builds the simulator's stages as C extensions and the measuring harness as a program; everything else is
declared in pyproject.toml.

Without a C compiler the stages run as plain Python, slower, and nothing can be measured.
"""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

ROOT = Path(__file__).parent
MIRROR = ROOT / "build" / "ns" / "cyclelens"
FOLDERS = ("analyzer", "server", "data")
SUPPORT = "cyclelens.analyzer.simulator._cython_support"
HARNESS = Path("analyzer", "measuring", "native")
FLAGS = [] if sys.platform == "win32" else ["-O2", "-g0"]


def mirror() -> None:
    """The packages under their full names: Cython finds a module's .pxd by that name only."""
    MIRROR.mkdir(parents=True, exist_ok=True)
    for folder in FOLDERS:
        link = MIRROR / folder
        if link.is_symlink() and link.resolve() != (ROOT / folder).resolve():
            link.unlink()  # a copied tree brings links to the one that it was copied from
        if link.exists():
            continue
        try:
            link.symlink_to(ROOT / folder, target_is_directory=True)
        except OSError:  # Windows without the right to make links
            shutil.copytree(ROOT / folder, link)


def extensions() -> list[Extension]:
    """One extension per file of the simulator that has a .pxd beside it; none without Cython."""
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    mirror()
    simulator = MIRROR / "analyzer" / "simulator"
    modules = [
        Extension(
            ".".join(path.relative_to(MIRROR.parent).with_suffix("").parts),
            [str(path.with_suffix(".py").relative_to(ROOT))],
            extra_compile_args=FLAGS,
        )
        for path in sorted(simulator.rglob("*.pxd"))
    ]
    # Cython's own support code once instead of in every module: a quarter of the size and build time.
    shared = ROOT / "build" / "cython" / "_cython_support.c"
    shared.parent.mkdir(parents=True, exist_ok=True)
    modules.append(Extension(SUPPORT, [str(shared.relative_to(ROOT))], extra_compile_args=FLAGS))
    built: list[Extension] = cythonize(
        modules,
        include_path=[str(MIRROR.parent.relative_to(ROOT))],
        build_dir="build/cython",
        shared_utility_qualified_name=SUPPORT,
        compiler_directives={
            "language_level": 3,
            "infer_types": True,
            "annotation_typing": False,
            "boundscheck": False,
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": True,
            "nonecheck": False,
            "embedsignature": True,
            "auto_pickle": False,
        },
    )
    for module in built:
        module.optional = True  # set here, because Cython drops it: without a compiler the build goes on
    return built


class Build(build_ext):
    """The extensions, and beside them the program that runs measured blocks, on Linux on x86-64."""

    def run(self) -> None:
        super().run()
        if sys.platform == "linux" and platform.machine() == "x86_64":
            try:
                self._harness()
            except (CompileError, LinkError) as error:
                self.warn(f"measuring will not be possible: {error}")

    def _harness(self) -> None:
        sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / HARNESS).glob("*.c"))
        # The harness decides by what the processor has; the compiler must not.
        flags = ["-O2", "-g0", "-fno-stack-protector", "-mno-avx"]
        objects = self.compiler.compile(sources, output_dir=self.build_temp, extra_postargs=flags)
        target = self._harness_program()
        target.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_executable(objects, target.name, output_dir=str(target.parent), libraries=["m"])

    def _harness_program(self) -> Path:
        folder = ROOT / HARNESS.parent if self.inplace else Path(self.build_lib, "cyclelens", HARNESS.parent)
        return folder / "cyclelens-harness"

    def get_outputs(self) -> list[str]:
        program = self._harness_program()
        return [*super().get_outputs(), *([str(program)] if program.exists() else [])]


setup(ext_modules=extensions(), cmdclass={"build_ext": Build})
