"""Assembler child process with LLVM. Only this module imports llvmlite (`cyclelens[llvm]`).

LLVM ends the process on a statement that it rejects, so a fork of this process handles each statement.
Without fork, the child itself ends, and its parent starts another one.
"""

from __future__ import annotations

import importlib.util
import os
import select
import signal
import sys

from cyclelens.analyzer.frontend.assemblers import child
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient
from cyclelens.analyzer.frontend.assemblers.object_code import code_sections

COMMAND = (sys.executable, "-P", "-X", "utf8", "-m", "cyclelens.analyzer.frontend.assemblers.llvm_backend")
TIMEOUT = 0.25
"""Seconds that a statement may take in its process."""
SELF_TEST = (
    ("att", "vaddps 0x40(%rdi),%zmm1,%zmm2{%k1}{z}", "62f174c9585701"),
    ("intel", "vaddps zmm2{k1}{z},zmm1,zmmword ptr [rdi+0x40]", "62f174c9585701"),
)
_TRIPLE = "x86_64-unknown-linux-gnu"
_HEADERS = {"att": "", "intel": ".intel_syntax noprefix\n"}


class Engine:
    """LLVM's assembler, which llvmlite exposes as `module asm`."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        self._parse = llvm.parse_assembly
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        llvm.initialize_native_asmparser()
        self._machine = llvm.Target.from_triple(_TRIPLE).create_target_machine()

    def encode(self, dialect: str, statement: str) -> str:
        """The statement's bytes in hexadecimal, or ``!`` and a reason."""
        if not hasattr(os, "fork"):
            return self._encode(dialect, statement)
        reading, writing = os.pipe()
        process = os.fork()
        if not process:
            code = 1
            try:
                os.write(writing, self._encode(dialect, statement).encode("ascii"))
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        ready, _, _ = select.select([reading], [], [], TIMEOUT)
        if not ready:
            os.kill(process, signal.SIGKILL)
        answer = os.read(reading, 4096).decode("ascii") if ready else "!hung"
        os.close(reading)
        os.waitpid(process, 0)
        return answer or "!refused"

    def _encode(self, dialect: str, statement: str) -> str:
        text = f"{_HEADERS[dialect]}{statement}\n"
        escaped = "".join(c if c.isalnum() or c in " ,.%$()*+-{}[]_" else f"\\{ord(c):02x}" for c in text)
        module = self._parse(f'target triple = "{_TRIPLE}"\nmodule asm "{escaped}"\n')
        code = b"".join(code_sections(self._machine.emit_object(module)).values())
        return code.hex() or "!empty"


def is_installed() -> bool:
    """Whether llvmlite is installed; does not load it."""
    return importlib.util.find_spec("llvmlite") is not None


def new_client() -> AssemblerClient:
    """A client whose child uses LLVM."""
    return AssemblerClient(COMMAND)


def main() -> None:
    """Entry point of the child process."""
    child.run(Engine, SELF_TEST)


if __name__ == "__main__":
    main()
