"""Builds the cycle-accurate core and, on Linux on x86-64, the program that runs measured blocks."""

import os
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

NATIVE = Path("analyzer", "measuring", "native")
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")  # Then one build serves 3.11 and later.
CHECKED = os.environ.get("CYCLELENS_CHECKED") == "1"  # for ``dev/checked``
SANITIZE = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"] if CHECKED else []
# -O2 would compile for 24 s of processor time instead of 14 s; what it would save on Intel's cores,
# -fstrict-aliasing saves as well. A level of optimisation in CFLAGS is left as it is.
QUICK = ["-O1", "-finline-functions", "-finline-small-functions", "-fstrict-aliasing"]
OPTIMIZE = [] if "-O" in os.environ.get("CFLAGS", "") else QUICK
FLAGS = [*OPTIMIZE, "-fwrapv", "-g0", *SANITIZE]
# For the harness, which checks the processor's features itself: the compiler must not assume any.
PLAIN = ["-O2", "-g0", "-fno-stack-protector", "-mno-avx"]
NO_COMPILER = """The simulator cannot be compiled here: install a C compiler (Debian: apt install gcc
python3-dev) or the wheel, which needs none (pip install --only-binary cyclelens cyclelens)."""


class Build(build_ext):
    """Compiles the core, then the harness."""

    def run(self) -> None:
        self.cython_c_in_temp = True
        self.cython_directives = {"boundscheck": CHECKED}
        try:
            super().run()
        except (BaseError, CCompilerError) as error:
            raise SystemExit(f"{error}\n{NO_COMPILER}") from None
        if sysconfig.get_platform() == "linux-x86_64":
            try:
                sources = sorted(map(str, NATIVE.glob("*.c")))
                objects = self.compiler.compile(sources, output_dir=self.build_temp, extra_postargs=PLAIN)
                self.mkpath(str(self.harness().parent))
                self.compiler.link_executable(objects, str(self.harness()), libraries=["m"])
            except CCompilerError as error:
                self.warn(f"measuring will not be possible: {error}")

    def harness(self) -> Path:
        """Where the program that runs measured blocks goes."""
        return Path("" if self.inplace else f"{self.build_lib}/cyclelens", NATIVE.parent, "cyclelens-harness")

    def get_outputs(self) -> list[str]:
        return [*super().get_outputs(), *([str(self.harness())] if self.harness().exists() else [])]


core = Extension(
    "cyclelens.analyzer.simulator.core",
    ["analyzer/simulator/core.pyx"],
    extra_compile_args=[] if sys.platform == "win32" else FLAGS,
    extra_link_args=SANITIZE,
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if LIMITED else [],
    py_limited_api=LIMITED,
)
tag = {"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {}
setup(ext_modules=[core], cmdclass={"build_ext": Build}, options=tag)
