"""Builds the simulator's stages as C extensions and the measuring harness as a program; everything else is
declared in pyproject.toml.

Without a C compiler the stages run as plain Python, slower, and nothing can be measured.
"""

from __future__ import annotations

import ast
import inspect
import os
import platform
import re
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

ROOT = Path(__file__).parent
STAGES = ROOT / "build" / "stages"
"""Copies of the compiled files under their full names, by which Cython finds a module's .pxd."""
SUPPORT = "cyclelens.analyzer.simulator._cython_support"
COMPILED = "cyclelens.analyzer.simulator._compiled"
"""Module in the one compiled file that names the others; one file opens faster at start-up than forty."""
HARNESS = Path("analyzer", "measuring", "native")
IN_LINE = ["--param=max-inline-insns-auto=300", "--param=inline-unit-growth=300"]
"""Compiler options for more inlining: a stage calls its methods from one or two places, once per uop."""
FLAGS = [] if sys.platform == "win32" else ["-O3", "-g0", *IN_LINE, *os.environ.get("CFLAGS", "").split()]
"""Compiler options; the environment overrides them: ``CFLAGS=-O0`` compiles in a tenth of the time."""
FORKS = sys.platform == "linux" and sys.version_info < (3, 14)
TRANSLATORS = (os.cpu_count() or 1) if FORKS else 0
"""Processes for Cython; zero without fork, because each process would then run this file first."""
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether to use only Python's stable ABI, so that one build serves all later versions.

A free-threaded Python has no stable ABI."""
OLDEST = (3, 11)
CODE_MARKS = [
    (f"CO_{name}", str(getattr(inspect, f"CO_{name}")))
    for name in (
        *("OPTIMIZED", "NEWLOCALS", "VARARGS", "VARKEYWORDS"),
        *("GENERATOR", "COROUTINE", "ASYNC_GENERATOR"),
    )
]
"""Flags of code objects: not part of the stable ABI, but the same in every version."""


ROWS = {
    member: row
    for row, members in re.findall(
        r"^cdef struct (\w+):\n((?:    int .+\n)+)",
        (ROOT / "analyzer" / "simulator" / "tables" / "column_classes.pxd").read_text("utf-8"),
        re.MULTILINE,
    )
    for member in re.findall(r"int (\w+)$", members, re.MULTILINE)
}
"""Row structure of each column in compiled stages."""


def compiled(declarations: Path) -> str:
    """The Python source of a module for Cython, with unchanged line numbers and two changes.

    Methods that its ``.pxd`` defines inline are omitted. A local name for a stage, queue or table
    (``columns = self._columns``) is replaced by the attribute, because the compiler counts every reference
    that a local name holds."""
    text = declarations.with_suffix(".py").read_text("utf-8").splitlines(keepends=True)
    declared = declarations.read_text("utf-8").split("cdef class ")[1:]
    owners = {re.split(r"\W", each, maxsplit=1)[0]: each for each in declared}
    for item in ast.parse("".join(text)).body:
        if not isinstance(item, ast.ClassDef) or item.name not in owners:
            continue
        in_line = set(re.findall(r"^    cdef inline .*?(\w+)\(", owners[item.name], re.MULTILINE))
        objects = set(re.findall(r"^    cdef (?:public )?[A-Z]\w+ (\w+)$", owners[item.name], re.MULTILINE))
        methods = [part for part in item.body if isinstance(part, ast.FunctionDef)]
        objects -= {
            node.attr
            for each in methods
            if each.name != "__init__"
            for node in ast.walk(each)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        for method in methods:
            lines = range(method.lineno - 1, method.end_lineno or 0)
            for line in lines if method.name in in_line else ():
                text[line] = "\n"
            for local, attribute in aliases(method, objects):
                for line in lines:
                    if text[line].strip() == f"{local} = self.{attribute}":
                        text[line] = "\n"
                    text[line] = re.sub(rf"(?<![\w.]){local}\b(?!=)", f"self.{attribute}", text[line])
    return in_rows("".join(text))


def in_rows(text: str) -> str:
    """Replace column accesses by row accesses: ``columns.uops_rows[uop].port`` for ``columns.port[uop]``.

    Compiled stages then need one pointer for all columns of a table."""
    own = "self|" if re.search(r"\b(?:Flight|Block)Columns\b", text) else ""
    asked = re.compile(rf"\b({own}\w*columns|\w*program)\.({'|'.join(ROWS)})\[")
    while found := asked.search(text):
        end = found.end()
        depth = 1
        while depth:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
        index = text[found.end() : end - 1]
        text = f"{text[: found.start()]}{found[1]}.{ROWS[found[2]]}s[{index}].{found[2]}{text[end:]}"
    return text


def aliases(method: ast.FunctionDef, objects: set[str]) -> list[tuple[str, str]]:
    """Local names that always stand for one of these attributes, and the attribute."""
    names = [
        node.id for node in ast.walk(method) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return [
        (found[1], found[2])
        for statement in method.body
        if (found := re.fullmatch(r"(\w+) = self\.(\w+)", ast.unparse(statement)))
        if found[2] in objects and names.count(found[1]) == 1
    ]


def write(path: Path, text: str) -> str:
    """Write a build file only if its text changes, so that only changed files are compiled. Returns its
    path."""
    target = STAGES / "cyclelens" / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_text("utf-8") != text:
        target.write_text(text, "utf-8")
    return str(target.relative_to(ROOT))


def without_inspect(source: Path) -> None:
    """Insert the flags of code objects (``CODE_MARKS``) into a module built for the stable ABI.

    Importing ``inspect`` for them takes a tenth of the start-up time."""
    text = source.read_text("utf-8")
    changed = text.replace('PyImport_ImportModule("inspect")', 'PyImport_ImportModule("sys")')
    if changed != text:
        source.write_text(changed, "utf-8")


def translated() -> list[str]:
    """Translate the simulator files that have a .pxd to C; empty without Cython."""
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    modules = []
    simulator = ROOT / "analyzer" / "simulator"
    for package in (simulator.parent / "__init__.py", *simulator.rglob("__init__.py")):
        write(package, "")
    for path in sorted(simulator.rglob("*.pxd")):
        write(path, in_rows(path.read_text("utf-8")))
        source = write(path.with_suffix(".py"), compiled(path))
        name = ".".join(("cyclelens", *path.relative_to(ROOT).with_suffix("").parts))
        modules.append(Extension(name, [source]))
    # Share Cython's support code between the modules: a quarter of the size and build time.
    shared = ROOT / "build" / "cython" / "_cython_support.c"
    shared.parent.mkdir(parents=True, exist_ok=True)
    modules.append(Extension(SUPPORT, [str(shared.relative_to(ROOT))]))
    names = sorted(module.name for module in modules)
    modules.append(Extension(COMPILED, [write(simulator / "_compiled.py", f"NAMES = frozenset({names})\n")]))
    built: list[Extension] = cythonize(
        modules,
        nthreads=TRANSLATORS,
        include_path=[str(STAGES.relative_to(ROOT))],
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
    sources = [source for module in built for source in module.sources]
    for source in sources:
        without_inspect(Path(source))
    return sources


MACROS = [("Py_LIMITED_API", f"0x{OLDEST[0]:02X}{OLDEST[1]:02X}0000"), *CODE_MARKS] if LIMITED else []
SIMULATOR = Extension(
    COMPILED,
    [],  # translated at build time, so that packing and metadata queries do not wait
    extra_compile_args=FLAGS,
    define_macros=MACROS,
    py_limited_api=LIMITED,
    optional=True,  # the build continues without a compiler
)


class Build(build_ext):
    """Builds the extensions and, on Linux on x86-64, the program that runs measured blocks."""

    def run(self) -> None:
        SIMULATOR.sources = translated()
        if not SIMULATOR.sources:
            self.extensions = []
        super().run()
        if sys.platform == "linux" and platform.machine() == "x86_64":
            try:
                self._harness()
            except (CompileError, LinkError) as error:
                self.warn(f"measuring will not be possible: {error}")

    def build_extension(self, ext: Extension) -> None:
        """Compile the extension's sources in parallel."""
        one_by_one = self.compiler.compile

        def compile_all(sources: list[str], **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return [
                    made
                    for each in pool.map(lambda one: one_by_one([one], **options), sources)
                    for made in each
                ]

        self.compiler.compile = compile_all
        try:
            super().build_extension(ext)
        finally:
            self.compiler.compile = one_by_one

    def _harness(self) -> None:
        sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / HARNESS).glob("*.c"))
        # The harness checks the processor's features itself; the compiler must not assume any.
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


tag = {"bdist_wheel": {"py_limited_api": f"cp{OLDEST[0]}{OLDEST[1]}"}} if LIMITED else {}
setup(ext_modules=[SIMULATOR], cmdclass={"build_ext": Build}, options=tag)
