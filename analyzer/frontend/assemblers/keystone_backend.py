"""Assembler child process with Keystone. Only this module imports keystone."""

from __future__ import annotations

from cyclelens.analyzer.frontend.assemblers import child

SELF_TEST = (
    ("att", "addq $0x100,%rsi", "4881c600010000"),
    ("att", "movl 0x10(%rsi),%eax", "8b4610"),
    ("att", "vfmadd231ps 0x20(%rdi),%ymm1,%ymm0", "c4e275b84720"),
    ("intel", "add rsi,0x100", "4881c600010000"),
    ("intel", "mov eax,dword ptr [rsi+0x10]", "8b4610"),
    ("intel", "vfmadd231ps ymm0,ymm1,ymmword ptr [rdi+0x20]", "c4e275b84720"),
)
"""Statements with their known bytes. If one is wrong, this build of Keystone cannot be used."""


class KeystoneEngine:
    """One Keystone engine per dialect."""

    def __init__(self) -> None:
        import keystone

        self._error = keystone.KsError
        self._engines = {}
        for dialect, syntax in (("att", keystone.KS_OPT_SYNTAX_ATT), ("intel", keystone.KS_OPT_SYNTAX_INTEL)):
            engine = keystone.Ks(keystone.KS_ARCH_X86, keystone.KS_MODE_64)
            engine.syntax = syntax
            self._engines[dialect] = engine

    def encode(self, dialect: str, statement: str) -> str:
        """The statement's bytes in hexadecimal, or ``!`` and a reason. An empty encoding is a failure,
        although Keystone reports success."""
        try:
            code, _ = self._engines[dialect].asm(statement, 0, as_bytes=True)
        except self._error as error:
            return f"!{error}"
        return bytes(code).hex() if code else "!empty"


def main() -> None:
    """Entry point of the child process."""
    child.run(KeystoneEngine, SELF_TEST)
