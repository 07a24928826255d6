"""Random programs for NASM, with and without its macros."""

from __future__ import annotations

import random
from collections.abc import Sequence

from testkit.differential import marked
from testkit.writers import JUMPS, NUMBERS, SIZES, WIDE, Writer, with_labels


class Nasm(Writer):
    """Programs in the plain subset of NASM that the front end reads itself."""

    comment = ";"

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.labels = [f"label{number}" for number in range(len(self.labels))]
        self.largest = 128
        self.wide = ("oword", "yword")

    def another(self, source: random.Random) -> Writer:
        return type(self)(source)

    def number(self) -> str:
        """A number that fits its operand; others are left to NASM."""
        value = self.choose([number for number in NUMBERS if number < self.largest])
        return self.choose((str(value), hex(value), f"0{value:x}h"))

    def expression(self, depth: int = 0) -> str:
        kind = self.chance()
        if kind < 0.55 or depth > 2:
            return self.number()
        if kind < 0.75:
            return self.choose(self.constants)
        if kind < 0.8:
            return f"({self.expression(depth + 1)})"
        if kind < 0.85:
            return f"{self.choose('-~')}{self.number()}"
        operator = self.choose(("+", "-", "|", "&", "^") if self.largest < 200 else ("+", "*", "<<", "-"))
        return f"{self.expression(depth + 1)} {operator} {self.expression(depth + 1)}"

    def register(self, kind: str) -> str:
        return self.choose(self.registers[kind])

    def immediate(self) -> str:
        return self.expression()

    def memory(self, size: str) -> str:
        base, index = self.choose((*WIDE, "rsp", "")), self.choose((*WIDE, "", ""))
        parts = [base] if base else []
        if index:
            parts.append(f"{index}*{self.choose((1, 2, 4, 8))}")
        displacement = self.choose(("", "", self.number().lstrip("-"), self.choose(self.constants)))
        if not parts:
            return f"{size} [rel {self.choose(self.labels)}]"
        if displacement:
            parts.append(displacement)
        return f"{size} [{' + '.join(parts)}]"

    def statement(self) -> str:
        kind = self.chance()
        if kind < 0.72:
            size = self.choose(tuple(SIZES))
            self.largest = 128 if size in ("byte", "word") else 1 << 17
            made = self.choose(self.forms(size, *SIZES[size]))
            self.largest = 128
            return made
        if kind < 0.94:
            return f"{self.choose((*JUMPS, 'call'))} {self.choose(self.labels)}"
        return f"align {1 << self.source.randrange(6)}"

    def body(self, labels: Sequence[str]) -> list[str]:
        """Statements with these labels among them."""
        body = [self.statement() for _ in range(self.source.randrange(3, 40))]
        for label in labels:
            body.insert(self.source.randrange(len(body)), f"{label}:")
        return with_labels(self.source, body)

    def lines(self) -> list[str]:
        below = [name for name in self.constants if self.chance() < 0.3]
        result = ["bits 64", *(["default rel"] if self.chance() < 0.3 else []), "section .text"]
        result += [f"{name} equ {self.number()}" for name in self.constants if name not in below]
        regions = self.source.randrange(1, 3)
        shares: list[list[str]] = [[] for _ in range(regions)]
        for label in self.labels:
            self.choose(shares).append(label)
        for number, share in enumerate(shares):
            result += marked(self.body(share), f"r{number}", self.comment)
            result += [self.choose(("nop", "align 8", f"jmp {self.labels[0]}"))]
        return [*result, *(f"{name} equ {self.number()}" for name in below)]


class NasmMacros(Nasm):
    """Programs that use NASM's preprocessor, which only NASM follows."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.used = 0

    def several(self) -> list[str]:
        """A construct of several lines."""
        self.used += 1
        name, inner = f"m{self.used}", self.statement()
        return self.choose(
            (
                [f"%macro {name} 1-2 7", "add %1, %2", inner, "%endmacro", f"{name} {self.register('wide')}"],
                [f"%macro {name} 0", "jc %%over", inner, "%%over:", "%endmacro", name, name],
                [f"%rep {self.source.randrange(4)}", inner, "%endrep"],
                [f"%assign {name} {self.number()}", f"%if {name} > 7", inner, "%else", "nop", "%endif"],
                [f"%define {name}(x) [rax + x*8]", f"mov rcx, {name}(rdx)"],
                [f"times {self.source.randrange(5)} {inner}"],
                [f"times ($ - $$) & 7 {self.choose(('nop', 'db 0x90', 'int3'))}"],
                [f"db {self.number()}, 'ab', {self.labels[0]} - $", f"dd {self.expression()}, $ - $$"],
                [f".part{self.used}:", inner, f"jne .part{self.used}"],
                [f"{name} equ $ - {self.choose(self.labels)}", f"mov eax, {name}"],
                [f"align {1 << self.source.randrange(6)}, {self.choose(('int3', 'db 0', 'nop'))}"],
                [f"{self.choose(JUMPS)} {self.choose(('short ', 'near '))}$ + {self.source.randrange(99)}"],
                [f"mov {self.register('wide')}, {self.choose(('strict ', ''))}dword {self.number()}"],
                ["section .rodata", f"dq {self.number()}, {self.choose(self.labels)}", "section .text"],
                [f"lea {self.register('wide')}, [rel {self.choose(self.labels)} + {self.number()}]"],
            )
        )

    def body(self, labels: Sequence[str]) -> list[str]:
        statements = [[self.statement()] for _ in range(self.source.randrange(3, 25))]
        statements += [self.several() for _ in range(self.source.randrange(1, 5))]
        self.source.shuffle(statements)
        for label in labels:
            statements.insert(self.source.randrange(len(statements)), [f"{label}:"])
        return [line for statement in statements for line in statement]
