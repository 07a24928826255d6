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
"""What is compiled, under the full names: Cython finds a module's .pxd by that name only."""
SUPPORT = "cyclelens.analyzer.simulator._cython_support"
COMPILED = "cyclelens.analyzer.simulator._compiled"
"""The one file with all that is compiled, which a start opens sooner than forty, and the module in it that
names the others."""
HARNESS = Path("analyzer", "measuring", "native")
IN_LINE = ["--param=max-inline-insns-auto=300", "--param=inline-unit-growth=300"]
"""A stage's methods are called from one or two places of it, uop for uop: in line they take less."""
FLAGS = [] if sys.platform == "win32" else ["-O3", "-g0", *IN_LINE, *os.environ.get("CFLAGS", "").split()]
"""The environment has the last word: ``CFLAGS=-O0`` compiles in a tenth of the time."""
FORKS = sys.platform == "linux" and sys.version_info < (3, 14)
TRANSLATORS = (os.cpu_count() or 1) if FORKS else 0
"""Processes that translate. Where they are not copies of this one each would begin with this file."""
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether only the stable part of Python's interface is used. What the oldest supported Python compiles then
serves every later one. A free-threaded Python has no such part."""
OLDEST = (3, 11)
CODE_MARKS = [
    (f"CO_{name}", str(getattr(inspect, f"CO_{name}")))
    for name in (
        *("OPTIMIZED", "NEWLOCALS", "VARARGS", "VARKEYWORDS"),
        *("GENERATOR", "COROUTINE", "ASYNC_GENERATOR"),
    )
]
"""What code objects can be marked as, which is not part of that interface, and the same in every version."""


ROWS = {
    member: row
    for row, members in re.findall(
        r"^cdef struct (\w+):\n((?:    int .+\n)+)",
        (ROOT / "analyzer" / "simulator" / "tables" / "column_classes.pxd").read_text("utf-8"),
        re.MULTILINE,
    )
    for member in re.findall(r"int (\w+)$", members, re.MULTILINE)
}
"""By column the kind of row in which compiled stages find it."""


def compiled(declarations: Path) -> str:
    """The Python of a module with the same lines, changed in two ways. The methods that its ``.pxd`` defines
    in line are left out. A local name for a stage, queue or table that is set up once
    (``columns = self._columns``) is replaced by the attribute: the compiler counts every reference that a
    local name holds."""
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
    """Python or declarations in which compiled stages find columns in rows, which takes one pointer for all
    columns of a table: ``columns.uops_rows[uop].port`` for ``columns.port[uop]``."""
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
    """Local names that only ever stand for one of these attributes, and the attribute."""
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
    """Write a file of the build if it changes: only what has changed is compiled. Returns its path."""
    target = STAGES / "cyclelens" / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_text("utf-8") != text:
        target.write_text(text, "utf-8")
    return str(target.relative_to(ROOT))


def without_inspect(source: Path) -> None:
    """Have a module that uses only the stable interface know the marks of code objects (``CODE_MARKS``): to
    import ``inspect`` for them takes a tenth of a start."""
    text = source.read_text("utf-8")
    changed = text.replace('PyImport_ImportModule("inspect")', 'PyImport_ImportModule("sys")')
    if changed != text:
        source.write_text(changed, "utf-8")


def translated() -> list[str]:
    """The files of the simulator that have a .pxd beside them, as C; none without Cython."""
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
    # Cython's own support code once instead of in every module: a quarter of the size and build time.
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
    [],  # translated when they are built: who only packs or asks what is needed does not wait for that
    extra_compile_args=FLAGS,
    define_macros=MACROS,
    py_limited_api=LIMITED,
    optional=True,  # without a compiler the build goes on
)


class Build(build_ext):
    """The extensions, and beside them the program that runs measured blocks, on Linux on x86-64."""

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
        """Compile its sources side by side."""
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


tag = {"bdist_wheel": {"py_limited_api": f"cp{OLDEST[0]}{OLDEST[1]}"}} if LIMITED else {}
setup(ext_modules=[SIMULATOR], cmdclass={"build_ext": Build}, options=tag)
