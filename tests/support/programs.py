"""Programs made at random for GNU as, in both of its syntaxes, and for NASM: code with labels, jumps,
alignments, symbols, expressions and sections, in regions that :mod:`differential` compares."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from differential import marked

_WIDE = ("rax", "rcx", "rdx", "rbx", "rsi", "rdi", "rbp", "r8", "r9", "r12", "r13", "r15")
_NARROW = ("eax", "ecx", "edx", "ebx", "esi", "edi", "ebp", "r8d", "r9d", "r12d", "r13d", "r15d")
_BYTES = ("al", "cl", "dl", "bl", "sil", "dil", "bpl", "r8b", "r13b")
_WORDS = ("ax", "cx", "bx", "si", "r8w", "r13w")
_NUMBERS = (0, 1, 2, 3, 5, 7, 8, 16, 100, 127, 128, 129, 255, 256, 1000, 32767, 32768, 65535, 1 << 20)
_LARGE = (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000)
_CONDITIONS = ("e", "nc", "be", "g")
_JUMPS = ("jmp", "je", "jne", "jc", "jbe", "jg", "jns", "jpo")
_TWO = ("add", "sub", "and", "or", "xor", "cmp", "adc", "sbb", "mov", "test")
_ONE = ("inc", "dec", "neg", "not", "mul", "div")
_VECTOR = ("addps", "mulpd", "pxor", "paddd", "andps", "unpcklps", "pminsd")
_THREE = ("vaddps", "vpxor", "vandps", "vsubpd", "vpminsd", "vpaddd")
_SHIFTS = ("shl", "sar", "ror")
_ALONE = ("nop", "ret", "int3", "leave", "pause", "syscall")
_SIZES = {"wide": ("qword", "q"), "narrow": ("dword", "l"), "byte": ("byte", "b"), "word": ("word", "w")}
"""The word for a size in Intel syntax, and the letter in AT&T's."""
_STRINGS = ('"a"', '"ab\\n", "c"', '"\\0\\x41\\"#;"', '""', '"/* */"')
_MOVES = ("movaps", "movups", "movdqa", "movdqu", "movapd")


OFTEN = 3_000


class _Writer:
    """What all three languages have in common."""

    comment = "#"

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.choose = source.choice
        count = source.randrange(2, 7)
        self.labels = [f"{source.choice(('f', 'loop', '.L'))}{number}" for number in range(count)]
        self.constants = [f"c{number}" for number in range(source.randrange(1, 5))]
        self.chance = source.random
        self.is_att = False
        self.wide = ("xmmword", "ymmword")
        self.registers = {
            "wide": list(_WIDE),
            "narrow": list(_NARROW),
            "byte": list(_BYTES),
            "word": list(_WORDS),
        }

    def number(self) -> str:
        value = self.choose(_NUMBERS if self.chance() < 0.95 else _LARGE)
        if self.chance() < 0.3:
            value = -value
        return self.choose((str(value), hex(value), str(value)))

    def pair(self, target: str, source: str) -> str:
        return f"{source}, {target}" if self.is_att else f"{target}, {source}"

    def instruction(self) -> str:
        if self.chance() < 0.6:
            return self.choose(_often(type(self).__name__, self.is_att))
        return self.any_instruction()

    def any_instruction(self) -> str:
        kind = self.choose(tuple(_SIZES))
        return self.choose(self.forms(kind, *_SIZES[kind]))

    def forms(self, kind: str, size: str, suffix: str) -> list[str]:
        """One instruction of each form, with operands of a size."""
        two, one = self.choose(_TWO), self.choose(_ONE)
        sign, mark = ("$", "%") if self.is_att else ("", "")
        register, immediate, memory = self.register, self.immediate, self.memory
        vectors = [f"{mark}{{}}mm{self.source.randrange(16)}" for _ in range(3)]
        whole = self.choose(("wide", "narrow"))
        product = [register(whole), register(whole), immediate()]
        return [
            f"{two} {self.pair(register(kind), immediate())}",
            f"{two} {self.pair(register(kind), register(kind))}",
            f"{two} {self.pair(register(kind), register(kind))}",
            f"{self.choose(_TWO[:-1])} {self.pair(register(kind), memory(size))}",
            f"{two} {self.pair(memory(size), register(kind))}",
            f"{two}{suffix if self.is_att else ''} {self.pair(memory(size), immediate())}",
            f"{one} {register(kind)}",
            f"lea {self.pair(register('wide'), memory('qword'))}",
            f"{self.choose(('push', 'pop'))} {register('wide')}",
            f"push {immediate()}",
            f"imul {', '.join(reversed(product) if self.is_att else product)}",
            f"{self.choose(_SHIFTS)} {self.pair(register(kind), f'{sign}{self.source.randrange(1, 8)}')}",
            f"xchg {self.pair(register(kind), register(kind))}",
            f"{self.choose(_VECTOR + _MOVES)} {', '.join(vectors[:2]).format('x', 'x')}",
            f"{self.choose(_THREE)} {', '.join(vectors).format('y', 'y', 'y')}",
            f"{'movzbl' if self.is_att else 'movzx'} {self.pair(register('narrow'), register('byte'))}",
            f"int {sign}3",
            self.choose(_ALONE),
            f"xchg {self.pair(*[register('wide')] * 2)}",
            f"bswap {register(whole)}",
            f"cmov{self.choose(_CONDITIONS)} {self.pair(register(whole), register(whole))}",
            f"set{self.choose(_CONDITIONS)} {self.choose((register('byte'), memory('byte')))}",
            f"lock {self.choose(_TWO[:2])} {self.pair(memory(size), register(kind))}",
            f"{self.choose(_SHIFTS)}{suffix if self.is_att else ''} {self.pair(memory(size), f'{sign}1')}",
            f"{self.choose(_MOVES[:4])} {self.pair(memory(self.wide[0]), vectors[0].format('x'))}",
            f"v{self.choose(_MOVES[:4])} {self.pair(vectors[1].format('y'), memory(self.wide[1]))}",
            f"{self.choose(('jmp', 'call'))} {'*' if self.is_att else ''}{register('wide')}",
        ]

    def register(self, kind: str) -> str:
        """One of a size."""
        raise NotImplementedError

    def immediate(self) -> str:
        raise NotImplementedError

    def memory(self, size: str) -> str:
        """An operand of so many bytes, as the word of Intel syntax says it."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """A whole text."""
        raise NotImplementedError


@cache
def _often(language: str, is_att: bool) -> list[str]:
    """Instructions that many programs have, which takes less time than others in each."""
    source = random.Random("often")
    nasm = {each.__name__: each for each in (Nasm, NasmMacros)}
    writer = nasm[language](source) if language in nasm else Gas(source, "att" if is_att else "intel")
    writer.labels, writer.constants = ["outside"], ["16"]
    made = (writer.any_instruction() for _ in range(4 * OFTEN))
    return [text for text in made if "outside" not in text and "." not in text][:OFTEN]


def with_labels(source: random.Random, lines: Sequence[str]) -> list[str]:
    """The lines, some labels in front of the statement that follows them."""
    made: list[str] = []
    for line in lines:
        if made and made[-1].endswith(":") and source.random() < 0.3:
            made[-1] += f" {line}"
        else:
            made.append(line)
    return made


class Gas(_Writer):
    """For GNU as; ``syntax`` is ``att`` or ``intel``."""

    def __init__(self, source: random.Random, syntax: str) -> None:
        super().__init__(source)
        self.is_att = syntax == "att"
        self.undefined = ("outside", "memcpy")
        self.used = 0
        """Labels of macros so far."""

    # Expressions

    def constant(self, depth: int = 0) -> str:
        """An expression that is a number in the end."""
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
        base, index = self.choose((*_WIDE, "rsp", "rip", "")), self.choose((*_WIDE, "", "", ""))
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
        name = self.choose((*_JUMPS, *_JUMPS, "call", "loop", "jrcxz"))
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
        """Bytes whose number an expression says."""
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
            register = self.choose(_WIDE)
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
        """What stands between two regions: perhaps another section."""
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


class Nasm(_Writer):
    """For NASM: the plain subset that is read without it."""

    comment = ";"

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.labels = [f"label{number}" for number in range(len(self.labels))]
        self.largest = 128
        self.wide = ("oword", "yword")

    def number(self) -> str:
        """One that fits its operand: NASM is asked about others."""
        value = self.choose([number for number in _NUMBERS if number < self.largest])
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
        base, index = self.choose((*_WIDE, "rsp", "")), self.choose((*_WIDE, "", ""))
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
            size = self.choose(tuple(_SIZES))
            self.largest = 128 if size in ("byte", "word") else 1 << 17
            made = self.choose(self.forms(size, *_SIZES[size]))
            self.largest = 128
            return made
        if kind < 0.94:
            return f"{self.choose((*_JUMPS, 'call'))} {self.choose(self.labels)}"
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
    """For NASM with its preprocessor, which only NASM follows."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.used = 0

    def several(self) -> list[str]:
        """What takes several lines."""
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
                [f"{self.choose(_JUMPS)} {self.choose(('short ', 'near '))}$ + {self.source.randrange(99)}"],
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


LANGUAGES = ("att", "intel", "nasm")
"""As programs are counted."""


class Program(NamedTuple):
    """``language``: ``gas`` or ``nasm``; ``syntax``: ``att`` or ``intel`` for ``gas``, else ``auto``."""

    text: str
    language: str
    syntax: str
    needs_programs: bool = False
    """Only with other programs there is a figure."""


def random_program(source: random.Random) -> Program:
    """A program in any of the languages."""
    kind = source.random()
    if kind < 0.03:
        return Program("\n".join([*NasmMacros(source).lines(), ""]), "nasm", "auto", True)
    if kind < 0.3:
        return Program("\n".join([*Nasm(source).lines(), ""]), "nasm", "auto")
    syntax = source.choice(("att", "intel"))
    return Program("\n".join([*Gas(source, syntax).lines(), ""]), "gas", syntax)
