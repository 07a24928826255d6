"""Random programs for GNU as, in both of its syntaxes."""

from __future__ import annotations

import random
from collections.abc import Sequence

from testkit.differential import marked
from testkit.writers import JUMPS, WIDE, Writer, with_labels

_STRINGS = ('"a"', '"ab\\n", "c"', '"\\0\\x41\\"#;"', '""', '"/* */"')


class Gas(Writer):
    """Programs for GNU as; ``syntax`` is ``att`` or ``intel``."""

    def __init__(self, source: random.Random, syntax: str) -> None:
        super().__init__(source)
        self.is_att = syntax == "att"
        self.undefined = ("outside", "memcpy")
        self.used = 0
        """Labels of macros so far."""

    # Expressions

    def another(self, source: random.Random) -> Writer:
        return Gas(source, "att" if self.is_att else "intel")

    def constant(self, depth: int = 0) -> str:
        """An expression with a constant value."""
        kind = self.source.random()
        if kind < 0.45 or depth > 2:
            return self.number()
        if kind < 0.65:
            return self.choose(self.constants)
        if kind < 0.72:
            return self.distance()
        if kind < 0.78:
            return f"({self.constant(depth + 1)})"
        if kind < 0.82:
            return (
                f"{self.choose('-~')}{self.choose((self.number().lstrip('-'), self.choose(self.constants)))}"
            )
        operators = ["+", "-", "*", "<<", "|", "&", "^", "+", "-"]
        if self.is_att:
            operators += ["!", "%"]
        else:
            operators += [" shl ", " mod ", " and ", " or ", " xor "]
        first, second = self.constant(depth + 1), self.constant(depth + 1)
        return f"{first}{self.choose(operators)}{second}"

    def distance(self) -> str:
        first, second = self.choose(self.labels), self.choose(self.labels)
        return self.choose((f"{first}-{second}", f"({first}-{second})", f".-{first}", f"{first}-."))

    def place(self) -> str:
        """An address."""
        kind = self.source.random()
        if kind < 0.6:
            return self.choose(self.labels)
        if kind < 0.75:
            return f"{self.choose(self.labels)}{self.choose('+-')}{self.source.randrange(9)}"
        if kind < 0.8:
            return f"{self.choose(self.labels)}+{self.choose(self.constants)}"
        if kind < 0.85:
            return f".{self.choose('+-')}{self.source.randrange(140)}"
        if kind < 0.9:
            return self.choose(self.undefined)
        if kind < 0.95:
            return "a0"
        return f"{self.source.randrange(1, 3)}{self.choose('bf')}"

    # Operands

    def register(self, kind: str) -> str:
        name = self.choose(self.registers[kind])
        return f"%{name}" if self.is_att else name

    def immediate(self) -> str:
        kind = self.source.random()
        if kind < 0.6:
            text = self.number()
        elif kind < 0.93:
            text = self.constant()
        elif self.is_att:
            text = self.place()
        else:
            return f"offset {self.choose(self.labels)}"
        return f"${text}" if self.is_att else text

    def memory(self, size: str) -> str:
        base, index = self.choose((*WIDE, "rsp", "rip", "")), self.choose((*WIDE, "", "", ""))
        if base in ("rip", "") or not index:
            index = "" if base else index
        scale = self.choose((1, 2, 4, 8))
        displacement = self.choose(("", "", self.number(), self.constant(), self.place()))
        if base == "rip":
            displacement = self.place()
        if self.is_att:
            displacement = "" if "(" in displacement and displacement.endswith(")") else displacement
            if not base and not index:
                return displacement or "0x1000"
            return f"{displacement}({f'%{base}' if base else ''}{f',%{index},{scale}' if index else ''})"
        parts = [base] if base else []
        if index:
            parts.append(f"{index}*{scale}")
        if displacement or not parts:
            parts.append(displacement or "0x1000")
        return f"{size} ptr [{'+'.join(parts)}]"

    # Statements

    def jump(self) -> str:
        name = self.choose((*JUMPS, *JUMPS, "call", "loop", "jrcxz"))
        if self.chance() < 0.06:
            name = (
                self.choose(("bnd", "{disp32}", "ds", "cs", "fs", "addr32", "rex.w", "rex64z")) + f" {name}"
            )
        if name in ("loop", "jrcxz"):
            return f"{name} .+{self.source.randrange(2, 40)}"
        return f"{name} {self.place()}"

    def filler(self) -> str:
        return f".{self.choose(('skip', 'zero', 'space'))} {self.source.randrange(1, 130)}"

    def alignment(self) -> str:
        power = self.source.randrange(6)
        name = self.choose(("p2align", "p2align", "balign", "align"))
        if self.chance() < 0.1:
            name = self.choose(("p2alignw", "balignl", "balignw"))
            fill = f"{self.choose((0x90, 0x1234, 0x66906690))}, 12"
            # GNU as writes fewer bytes than it counts where a fill is not a multiple of its pattern.
            return f".balign 4; .{name} {power if name[0] == 'p' else 1 << power}, {fill}"
        amount = power if name == "p2align" else 1 << power
        rest = self.choose(
            (
                "",
                "",
                "",
                f",,{self.source.randrange(1, 20)}",
                ",0x90",
                ",0xcc",
                f",0,{self.source.randrange(1, 20)}",
            )
        )
        return f".{name} {amount}{rest}"

    def data(self) -> str:
        if self.chance() < 0.25:
            name = self.choose(("ascii", "asciz", "string", "string16"))
            return f".{name} {self.choose(_STRINGS)}"
        name = self.choose(("byte", "word", "long", "quad", "byte", "short", "int", "value", "2byte", "octa"))
        if name == "octa":
            return f".{name} {self.number()}"
        return f".{name} {', '.join(self.constant() for _ in range(self.source.randrange(1, 4)))}"

    def assignment(self) -> str:
        name = self.choose(self.constants)
        value = self.constant() if self.chance() < 0.97 else self.choose((self.place(), "."))
        kind = self.chance()
        if kind < 0.5:
            return f"{name} = {value}"
        if kind < 0.95:
            return f".{self.choose(('set', 'equ'))} {name}, {value}"
        self.used += 1
        return f".equiv d{self.used}, {value}"

    def space(self) -> str:
        """A directive for bytes whose number is an expression."""
        amount = self.choose((self.choose(self.constants), self.distance(), self.constant()))
        return self.choose(
            (
                f".skip ({amount})&31",
                f".space ({amount})&15, 0x90",
                f".fill ({amount})&7, {self.source.randrange(1, 9)}, {self.number()}",
                f".fill {self.source.randrange(9)}, {self.source.randrange(1, 9)}, {self.number()}",
                f".nops {self.source.randrange(1, 40)}",
                f".nops {self.source.randrange(1, 40)}, {self.source.randrange(1, 11)}",
                f".org .+{self.source.randrange(40)}",
                f".org .+{self.source.randrange(40)}, 0x90",
                f".org {self.choose(self.labels)}+{self.source.randrange(100, 400)}",
                f".size {self.choose(self.labels)}, .-{self.choose(self.labels)}",
                f".type {self.choose(self.labels)}, @function",
            )
        )

    def repetition(self) -> list[str]:
        """`.rept` and its like, and macros; some of them with labels of their own."""
        self.used += 1
        name, register = f"m{self.used}", self.register("wide")
        inner = self.choose((self.instruction(), self.jump(), self.alignment(), self.filler()))
        pushed, added = ("%\\r", "add $\\b, \\a") if self.is_att else ("\\r", "add \\a, \\b")
        use = self.choose((register, f"{register}, 300", f"a={register} b=0x80"))
        skipping = [f"jc .L{name}\\@", inner, f".L{name}\\@:", ".if \\n", f"{name} \\n-1", ".endif"]
        return self.choose(
            (
                [f".rept {self.source.randrange(4)}", inner, ".endr"],
                [".irp r, rax, rcx, r9", f"push {pushed}", inner, ".endr"],
                [".irpc r, 123", f"1: .byte \\r, {self.distance()}", "jne 1b", ".endr"],
                [f".macro {name} a, b=7", added, inner, ".endm", f"{name} {use}"],
                [f".macro {name} n", *skipping, ".endm", f"{name} {self.source.randrange(3)}"],
                [f".macro {name} l:req", "jmp \\l", ".endm", f"{name} {self.choose(self.labels)}"],
            )
        )

    def literal(self, text: str) -> str:
        """An immediate."""
        return f"${text}" if self.is_att else text

    def condition(self) -> list[str]:
        kind = self.chance()
        test = f".if {self.number()}>{self.number()}"
        if kind < 0.25:
            test = f".if {self.constant()}"
        elif kind < 0.5:
            first, second = self.choose(self.labels), self.choose(self.labels)
            relation = self.choose(("==", ">", "<", "<=", "!="))
            test = f".if {first}-{second} {relation} {self.source.randrange(30)}"
        elif kind < 0.6:
            test = f".{self.choose(('ifdef', 'ifndef'))} {self.choose((*self.labels, *self.constants))}"
        elif kind < 0.65:
            test = f".{self.choose(('ifeq', 'ifge', 'iflt'))} {self.choose((self.number(), self.constant()))}"
        return [test, self.instruction(), ".else", self.instruction(), ".endif"]

    def statement(self) -> list[str]:
        kind = self.source.random()
        if kind < 0.5:
            return [self.instruction()]
        if kind < 0.7:
            return [self.jump()]
        if kind < 0.78:
            return [self.alignment()]
        if kind < 0.86:
            return [self.filler()]
        if kind < 0.9:
            return [self.data()]
        if kind < 0.95:
            return [self.assignment()]
        if kind < 0.96:
            return [f"{self.source.randrange(1, 3)}:"]
        if kind < 0.97:
            return self.repetition()
        if kind < 0.98:
            return self.condition()
        if kind < 0.99:
            return [self.space()]
        if kind < 0.993:
            other = self.choose(('.rodata,"a"', ".text, 2", '.text.other, "ax"'))
            more = self.choose(([], [f".subsection {self.source.randrange(3)}"]))
            inner = self.choose((self.data(), self.instruction(), self.jump()))
            return [f".pushsection {other}", *more, inner, ".popsection"]
        return [self.choose((f".uleb128 {self.constant()}", f".sleb128 {self.number()}"))]

    def body(self, labels: Sequence[str]) -> list[str]:
        statements = [self.statement() for _ in range(self.source.randrange(3, 25))]
        for label in labels:
            self.choose(statements).insert(0, f"{label}:")
        return with_labels(self.source, [line for statement in statements for line in statement])

    def lines(self) -> list[str]:
        result = [] if self.is_att else [".intel_syntax noprefix"]
        for name in self.constants:
            if self.chance() < 0.8:
                result.append(f".set {name}, {self.number()}")
        if self.chance() < 0.2:
            register = self.choose(WIDE)
            result.append(f"name0 = {'%' if self.is_att else ''}{register}")
            self.registers["wide"] += ["name0"]
        for label in self.labels:
            kind = self.chance()
            if kind < 0.15:
                result.append(f".{self.choose(('globl', 'weak', 'local', 'hidden'))} {label}")
        result.append(
            f"a0 = {self.choose(self.labels)}{self.choose(('', '+1', '+c0'))}"
            if self.chance() < 0.5
            else f".set a0, {self.choose(self.labels)}"
        )
        result += ["1:", "2:"]
        regions = self.source.randrange(1, 4)
        shares: list[list[str]] = [[] for _ in range(regions)]
        for label in self.labels:
            self.choose(shares).append(label)
        for number, share in enumerate(shares):
            if number:
                result += self.between()
            result += marked(self.body(share), f"r{number}", self.comment)
        result += [
            "1:",
            "2:",
            "nop",
            *(f"{name} = {self.number()}" for name in self.constants if self.chance() < 0.3),
        ]
        # Registers by another name have no percent sign.
        return [line.replace("%name0", "name0") for line in result]

    def between(self) -> list[str]:
        """Statements between two regions: perhaps another section."""
        return self.choose(
            (
                [],
                [],
                [self.filler()],
                [self.alignment()],
                [f".subsection {self.source.randrange(3)}"],
                [f".text {self.source.randrange(3)}"],
                ['.section .text.other,"ax"'],
                [".text"],
                [".previous"],
                [".data", self.data(), ".text"],
                ['.pushsection .rodata,"a"', self.data(), ".popsection"],
            )
        )
