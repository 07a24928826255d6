"""Builds the simulator's stages as C extensions; everything else is declared in pyproject.toml.

Without a C compiler the same files run as plain Python, slower.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent
MIRROR = ROOT / "build" / "ns" / "cyclelens"
FOLDERS = ("analyzer", "server", "data")
SUPPORT = "cyclelens.analyzer.simulator._cython_support"
FLAGS = [] if sys.platform == "win32" else ["-O2", "-g0"]


def mirror() -> None:
    """The packages under their full names: Cython finds a module's .pxd by that name only."""
    MIRROR.mkdir(parents=True, exist_ok=True)
    for folder in FOLDERS:
        link = MIRROR / folder
        if link.is_symlink() or link.exists():
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


setup(ext_modules=extensions())
