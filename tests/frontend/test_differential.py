"""The front end's bytes equal those of the assembler that a text is written for."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Syntax
from cyclelens.analyzer.model.source import AssembledFile
from testkit.differential import Difference, differences, marked
from testkit.programs import random_program

PROGRAMS = 60
"""Random ones of a run; ``python benchmarks/fuzzing.py programs`` tries as many as you like."""


ATT = {
    "a constant further down": ("mov x(%rcx), %eax\nadd $x, %eax\npush $x\nimul $x, %eax, %ebx\n", "x = 5\n"),
    "a jump to what further down tells": ("jmp top + far\njmp top + 200\ntop: nop", "far = 100\n"),
    "the distance of labels as a target": ("top: nop\n1: jmp top + (1b - top)\nd = 1b - top\njmp 1b + d", ""),
    "the place within a list": ("top: nop\n.long 1, . - top, top - .\n.byte . - top, . - top", ""),
    "an address relative to its own place": (".long outside - ., outside - .", ""),
    "breakpoints": ("int $3\nint $4\nint3", ""),
    "exchanges": ("xchg %rax, %rax\nxchg %eax, %eax\nxchg %ax, %ax\nxchg %al, %al\nxchg %rax, %r8", ""),
    "instructions that wait": ("fstcw (%rax)\nfstsw %ax\nfsave 8(%r9)\nfstenv %gs:(%rax)\nfinit\nfclex", ""),
    "long names of comparisons": ("vcmpneq_oqps %ymm0, %ymm1, %ymm2\nvcmpeq_uspd (%rax), %xmm1, %xmm2", ""),
    "what is never optimised": ("{nooptimize} mov %rax, %rbx", ""),
    "a weak symbol": (".weak far\njmp far\njne far + 1\nmov far(%rip), %eax", "far: nop\n"),
    "another name of a weak symbol": (".weak far\na = far\njmp a\ntestq $16, a(%rip)", "far: nop\n"),
    "a number of no bytes beside an address": ("top: nop\nxorl $0, top(%rip)\nadcw $0, top(%rip)", ""),
    "bytes of a distance": ("top: andb $1f - top, %al\ncmpb $. - 1f, %cl\n.p2align 5\n1: nop", ""),
    "numbers that are cut": ("addw $0x10000, %bx\nandb $256, (%rdi)\nor $-1048576, %r13w", ""),
    "an immediate beside another": ("top: cmpb $5, 1f - top(%rax)\n1: addl $0, top - 1b(,%rcx,4)", ""),
    "fills": ("nop\n.p2align 3, 0x90\nnop\n.p2align 4, 0xcc\nnop\n.balign 8, 0\nnop", ""),
    "NOPs that have no size at first": (".nops 29, 8\njns end - 128\n.p2align 1\nend: nop", ""),
    "a jump over NOPs before they have their size": (
        "je end - 255\n.nops 35, 6\n.skip 97\nend: nop",
        "",
    ),
    "NOPs of limited length": (".nops 38, 5\n.nops 87\n.nops 88\n.nops 88, 3", ""),
    "a fill of 80 bytes": (".p2align 7\nnop\n.skip 47\n.p2align 7\nnop", ""),
    "a place of its own on the way back": ("jmp top\n.org . + 13\njmp end\ntop: .skip 127\nend: nop", ""),
    "bytes that shrink": (
        "top: jmp end\n.skip (end - top) & 31\n.skip 100\njne end\n.skip 40\nend: nop",
        "",
    ),
    "another name of a place that moves": ("a = end + 129\njmp a\nend: jbe a", ""),
    "a symbol that is set further down less itself": (
        "add $x - x, %eax\nmov x + 4 - x(%rax), %ecx",
        "x = 300\n",
    ),
    "a distance that is no number yet less itself": (
        "d = end - .\nadd $d - d + 5, %eax\nje end\nend: nop",
        "",
    ),
    "an unknown distance between numbers": (
        "top: add $-32768 | (end - top) - -0xffffffff | 0x3e8, %edx\nend: nop",
        "",
    ),
    "distances over many statements": (
        "l0: jmp l99\n"
        + "".join(
            f"l{n}: nop\n.long l{n} - l0, l{n // 2} - l{n}\n.skip (l{n} - l{n // 2 + 1}) & 3, 0x90\n"
            f".subsection 1\nm{n}: .byte {n}\n.skip (m{n} - m1) & 1\n.previous\n"
            for n in range(1, 100)
        ),
        "",
    ),
    "a subsection within": ("jmp end\n.subsection 1\nud2\njmp end\n.previous\nend: nop", ""),
    "another section within": ("jmp end\n.pushsection .text, 2\nud2\n.popsection\nend: nop", ""),
    "long forms that there are not": ("top: {disp32} loop top\n{disp32} jrcxz top\n{disp32} jmp top", ""),
    "endings that choose the encoding": (
        "movl.s %eax, %ebx\nMOVAPS.S %xmm0, %xmm1\nvmovaps.s %ymm9, %ymm1\naddq.s $1, %rax\n"
        "mov.d8 (%rax), %rbx\nmov.d32 4(%rax, %rcx), %rbx\nmovaps.s (%rax), %xmm0\nxchg.s %eax, %eax\n"
        "lock add.s %eax, (%rbx)\nint.s $3\nmovsb.s\nstosb.d8\nfstsw.s %ax\nnop.s",
        "",
    ),
    "jumps with endings": (
        "top: nop\njne.d32 top\njns.d8 top\nloop.d32 top\njmp.s outside\njecxz.s top\n"
        "call.s top\njmp.d32 top",
        "",
    ),
    "a distance over a jump that is always long": (
        "top: {disp32} jns outside\nend: adc $top - end, %bx\n.byte end - top",
        "",
    ),
    "names in quotes": (
        '"a b": jmp "a b"\nlea "a b"+4(%rip), %rax\nmov $"a b", %eax\nmov "x"(,%rax,4), %ecx\njne "a;b"\n'
        'call "-[f g:]"@PLT\ncall *"f g"@GOTPCREL(%rip)\nlea "f@g"(%rip), %rax\n"a,b": jmp "a,b"\n'
        '"a#b": loop "a#b"\ncmpb $\'"\', "a(b"(%rip)\nmov $("a,b"-"a b"), %rax\njmp ".L1"\n.L1: nop',
        "",
    ),
    "names in quotes in directives": (
        '.set "c d", 5\nmov $"c d", %eax\n.skip "c d"\n.set d, "e f"+1\n"e f": nop\njmp d\njmp "g h"\n'
        '"g h": jmp "g h" + 1\n.long "e f"-d\n.quad "e f"-4, d\n.if "c d" == 5\nnop\n.endif',
        '.weak "g h", ".x"\n',
    ),
    "a pattern of two bytes": (".p2align 1\n.p2alignw 4, 0x1234, 12\n.balignl 4, 0x66906690", ""),
    "a local symbol": (
        ".local here\nhere: sub %r9d, here(%rip)\n.hidden there\nthere: mov there(%rip), %eax",
        "",
    ),
}


INTEL = {
    "a constant further down": ("add eax, x\nmov eax, [rcx + x]\npush x\n", "x = 5\n"),
    "distances are numbers": (
        "top: nop\nmov r9, 1f - top\nadd r13d, top - 1f\n.p2align 4\n1: push (1b - top)",
        "",
    ),
    "sums of what further down tells": ("or rsi, x << x\nand eax, -x\nmov ebx, x", "x = 3\n"),
    "breakpoints": ("int 3\nint 4", ""),
    "signs within addresses": (
        "lea r13, [rsp + rax*4 + 32767 + -0x100000 ^ -255]\nmov eax, [-8 + rsi - -8]",
        "",
    ),
    "another name of a weak symbol": (".weak w\na = w\ntop: jns a\nw: jns a\nb = w\njns b", ""),
    "another name of a label further down": (
        "a = end\njpo end + 256\njc a\n.p2align 5\n.skip 97\n.p2align 4, 0xcc\nend: nop",
        "",
    ),
    "the same where sizes shrink": (
        "a = end\ntop: .skip 101\n.fill (top - 1f) & 7, 6\n1: nop\njns a\njne top\n.skip 98\nend: nop",
        "",
    ),
    "endings that choose the encoding": (
        "movaps.s xmm1, xmm0\nmov.d32 rax, [rbx]\nadd.s eax, ebx\ntop: jne.d32 top",
        "",
    ),
    "names in quotes": (
        '"a b": jmp "a b"\nlea rax, "a b"[rip]\nlea rax, ["a b"+rip+2]\nmov eax, dword ptr "x"[rip]\n'
        'mov rax, "rax"\nmov rax, offset "a b"\nmov eax, [rbx+"a-b"+4]\nmov eax, "a*b"[rbx]\njmp "a[b"\n'
        'call ["a b"]\nmov eax, dword ptr ["q r"]\ncall QWORD PTR "f g"@GOTPCREL[rip]\nmov "x", eax',
        "",
    ),
    "what is added to a weak symbol and known at the jump": (
        ".weak out\nc = b\nb = a\na = -1\njmp out + c\njne out - c * 2\njmp out + c - b\n",
        "out: nop\na = 5\n",
    ),
    "what is added to a weak symbol and set again": (
        ".weak out\nb = a\na = 1\na = 3\njmp out + b\nb = 7\njmp out + b\nout: nop\nnop\nnop\nnop",
        "",
    ),
    "what is added to a weak symbol and known later": (
        ".weak out\nb = a\njmp out + b\nout: nop\nnop",
        "a = 1\n",
    ),
    "a known distance that is added to a weak symbol": (
        ".weak out\nb = a\ntop: nop\n.equ a, top - .\njmp out + b\nout: nop",
        "",
    ),
    "a distance in parentheses": ("top: mov eax, [r12 + (top - .)]\nmov eax, [r12 + top - 1f]\n1: nop", ""),
}


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., list[Difference]]:
    if shutil.which("as") is None:
        pytest.skip("GNU as is not installed")

    def run(body: str, rest: str, syntax: Syntax) -> list[Difference]:
        head = [".intel_syntax noprefix"] if syntax is Syntax.INTEL else []
        text = "\n".join([*head, *marked(body.split("\n")), rest])
        return differences(text, "gas", tmp_path, syntax=syntax, programs=True)

    return run


@pytest.mark.parametrize("name", ATT)
def test_att_code_is_that_of_gnu_as(compare: Callable[..., list[Difference]], name: str) -> None:
    assert compare(*ATT[name], Syntax.ATT) == []


@pytest.mark.parametrize("name", INTEL)
def test_intel_code_is_that_of_gnu_as(compare: Callable[..., list[Difference]], name: str) -> None:
    assert compare(*INTEL[name], Syntax.INTEL) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("bnd add %rax, %rbx", "not accept 'bnd' before 'add'"),
        ("rep jmp 1f\n1: nop", "not accept 'rep' before 'jmp'"),
        ("lock nop", "not accept 'lock' before 'nop'"),
        ("notrack ret", "not accept 'notrack' before 'ret'"),
        ("notrack jmp 1f\n1: nop", "before a direct 'jmp'"),
        ("cs ds nop", "two prefixes of the same kind"),
        (".arch haswell", "does not know the architecture 'haswell'"),
        (".balign 4\nnop\n.balignw 4, 0x1234", "a multiple of 2 bytes"),
        ("top: nop\n.long top ^ 5", "not an address plus a number"),
        ("top: nop\n.long top + top", "not an address plus a number"),
        ("add $x, %rax", "does not fit into 4 bytes"),
        (".byte y, 1", "is too long for 1 bytes"),
        ("mov 7b, %eax", "There is no label '7b'."),
        ("mov x(%rax), %ecx", "does not fit into 4 bytes"),
        ("mov 0x80000000(%rax), %ecx", "out of the range of a displacement"),
        ("mov 0x80000000(%rip), %ecx", "out of the range of a displacement"),
        ("add 0x100000000, %eax", "more than 32 bits"),
        ("mov 0x80000000, %ecx", "more than 32 bits"),
        ("push $0x80000000", "number does not fit"),
        ("top: jmp top + there\nthere: nop", "not an address plus a number"),
        ("jmp . + 0x100000000", "out of its reach"),
        (".byte 5, -y", "is too long for 1 bytes"),
        (".value y % 0", "divides by zero"),
        ("lea 0x80000000, %rcx", "more than 32 bits"),
    ],
)
def test_what_gnu_as_refuses_has_no_figure(
    region: Callable[..., AssembledFile], compare: Callable[..., list[Difference]], body: str, message: str
) -> None:
    rest = "x = 0x80000000\ny = 256\n"
    (problem,) = region(f"{body}\n{rest}").problems
    assert message in problem.message
    assert compare(body, rest, Syntax.ATT) == []


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("mov eax, [rbx + (far - .)]", "a distance to another section"),
        ("mov eax, [far - .]", "a distance to another section"),
        ("mov eax, far - here[rbx]", "a distance to another section"),
        ("imul ecx, r8d, c - b", "its alias as an address"),
        ("lea rcx, qword ptr [(0x80000000)]", "more than 32 bits"),
    ],
)
def test_what_gnu_as_refuses_in_intel_syntax_has_no_figure(
    region: Callable[..., AssembledFile], instruction: str, message: str
) -> None:
    body, rest = f"b = c\nhere: {instruction}", 'c = 5\n.section .text.other, "ax"\nfar: nop\n'
    (problem,) = region(f"{body}\n{rest}", "intel").problems
    assert message in problem.message


def test_a_distance_to_another_section_is_a_number_in_intel_syntax(
    compare: Callable[..., list[Difference]],
) -> None:
    assert (
        compare(
            "mov eax, far - .\nmov ecx, offset far - .",
            '.section .text.other, "ax"\nfar: nop\n',
            Syntax.INTEL,
        )
        == []
    )


def test_a_number_that_gnu_as_cuts_is_pointed_out(region: Callable[..., AssembledFile]) -> None:
    if shutil.which("as") is None:
        pytest.skip("GNU as is not installed")
    found = region("addw $0x10005, %bx", external=True)
    assert [problem.code for problem in found.problems] == ["number-shortened"]
    assert "it is truncated to 5" in found.problems[0].message
    assert not found.regions[0].incomplete


@pytest.mark.parametrize(
    ("body", "rest", "message"),
    [
        # In each, what GNU as makes depends on where else the symbol is used or set.
        ("x = 1\nd = end - .\njc top + d\n.equiv e, d\nend: top: nop", "", "set the symbols of 'd'"),
        (".set d, . - end\nadd $d, %eax\nend: nop", "d = 65535\n", "Which value of 'd'"),
        ("x = 1\nx = 7 ? 3\nadd $x, %eax", "", "is not understood"),
        ("a = end + c\njbe a\nend: nop", "c = 300\n", "The value of 'c' is unclear"),
    ],
)
def test_what_gnu_as_may_take_otherwise_has_no_figure(
    region: Callable[..., AssembledFile], body: str, rest: str, message: str
) -> None:
    found = region(f"nop\n{body}\n.p2align 4\n{rest}")
    assert found.regions[0].incomplete
    assert message in found.problems[0].message


def test_a_division_by_zero_is_pointed_out(region: Callable[..., AssembledFile]) -> None:
    found = region(".long 7/0, 7%0\nadd $5/0, %eax\nadd $5/0, %eax")
    assert [(each.code, each.line) for each in found.problems] == [
        ("division-by-zero", line) for line in (1, 2, 3)
    ]
    assert b"".join(line.code for line in found.regions[0].lines)[:8] == bytes.fromhex("0700000000000000")
    assert not found.regions[0].incomplete


def test_a_region_is_the_code_in_its_subsection(region: Callable[..., AssembledFile]) -> None:
    found = region("inc %eax\n.subsection 1\nud2\n.previous\ndec %ecx")
    assert [line.text for line in found.regions[0].lines] == ["inc %eax", "dec %ecx"]


def test_a_name_that_a_later_edit_makes_a_register_is_one(region: Callable[..., AssembledFile]) -> None:
    before = region("nop\ncall n", "intel")
    assert before.regions[0].lines[1].code[0] == 0xE8
    after = region("n = rdi\nnop\ncall n", "intel")
    assert after.regions[0].lines[1].code == b"\xff\xd7"


def test_a_jump_over_code_that_a_later_edit_leaves_open_is_encoded_again(
    region: Callable[..., AssembledFile],
) -> None:
    text = "a = end + c\njmp a\nend: nop\n.p2align 5, 0, 16\n"
    assert not region("c = 5\n" + text).regions[0].incomplete
    assert region(text + "c = 128\n").regions[0].incomplete


def test_a_register_within_an_expression_is_refused(region: Callable[..., AssembledFile]) -> None:
    found = region("mov eax, [rbx + (rcx - x)]", "intel")
    assert "The register 'rcx' cannot be part of" in found.problems[0].message


def test_a_size_that_another_section_leaves_open_is_refused(region: Callable[..., AssembledFile]) -> None:
    above = ["top: not_an_instruction", "end: nop", '.section .text.other, "ax"']
    text = "\n".join([*above, *marked([".space (end - top) & 15"]), ""])
    found = assemble(text, SourceOptions(syntax=Syntax.ATT, allow_external_programs=False))
    assert found.regions[0].incomplete
    assert "depends on a statement in '.text'" in found.problems[0].message


def test_what_the_unknown_does_not_matter_for_is_refused(region: Callable[..., AssembledFile]) -> None:
    for text in (
        "test dword ptr [r9 + rdi*2 + 0x0 << (x)], ebx",
        "add eax, x * 0",
        "mov eax, [rcx + (x & 0)]",
    ):
        found = region(f"{text}\nx = 3", "intel")
        assert "is unclear" in found.problems[0].message


def test_a_distance_that_is_set_again_further_down_is_refused(region: Callable[..., AssembledFile]) -> None:
    # GNU as takes 128 here, and without the second symbol the distance.
    text = ".long a\na = end - top\nend: nop\n.equ b, a\ntop: nop\na = 128"
    assert "is unclear" in region(text).problems[0].message
    assert region(".long a\na = 4\n.equ b, a\na = 128").regions[0].code.hex() == "04000000"


def test_a_distance_that_another_symbol_is_set_to_is_refused(region: Callable[..., AssembledFile]) -> None:
    # GNU as takes both as they are without the jump: -1.
    text = "top: jns elsewhere\nnop\na = top - .\n.2byte a"
    assert region(text).regions[0].code.hex().endswith("90f9ff")
    assert "is unclear" in region(f"{text}\n.set b, a").problems[-1].message
    assert region("top: nop\na = top - .\n.set b, a\n.2byte a").regions[0].code.hex() == "90ffff"


@pytest.mark.parametrize("other", ["b = a", ".set b, a + 1"])
def test_a_symbol_set_to_a_distance_does_not_say_whether_it_is_defined(other: str) -> None:
    # GNU as says no behind the other symbol, as long as the labels have no place, and yes without it.
    above, below = "a = end - top", "\n".join([*marked([".ifdef a", "nop", ".endif"]), "end: nop", "top:\n"])
    found = assemble(f"{above}\n{below}", SourceOptions(syntax=Syntax.ATT, allow_external_programs=False))
    assert (found.problems, found.regions[0].code.hex()) == ((), "9090")
    refused = assemble(
        f"{above}\n{other}\n{below}", SourceOptions(syntax=Syntax.ATT, allow_external_programs=False)
    )
    assert [problem.message[:34] for problem in refused.problems] == ["This condition cannot be evaluated"]
    assert refused.regions[0].incomplete
    again = assemble(
        f"{above}\n{other}\na = 5\n{below}", SourceOptions(syntax=Syntax.ATT, allow_external_programs=False)
    )
    assert again.regions[0].code.hex() == "9090"


@pytest.mark.parametrize("use", ["mov $end - top, %eax", "setg end-top(%rcx)", ".long end - top"])
def test_a_distance_over_what_is_not_understood_is_refused(use: str) -> None:
    text = "\n".join(["top: not_an_instruction", "end: nop", *marked([use]), ""])
    found = assemble(text, SourceOptions(syntax=Syntax.ATT, allow_external_programs=False))
    assert found.regions[0].incomplete
    assert "depends on a statement that is not understood" in found.problems[0].message


def test_a_symbol_of_a_symbol_behind_a_register_is_refused(region: Callable[..., AssembledFile]) -> None:
    # GNU as looks through both behind a register in Intel syntax, and nowhere else.
    text = ".set a, b\n.set b, 7\n"
    assert "is unclear" in region(f"{text}mov [rdx+a], eax", "intel").problems[0].message
    assert region(f"{text}mov %eax, a(%rdx)").regions[0].code.hex() == "898207000000"


def test_a_distance_that_gnu_as_forgets_is_refused(region: Callable[..., AssembledFile]) -> None:
    found = region("top: mov eax, [r12 + top - .]", "intel")
    assert "in parentheses" in found.problems[0].message


def test_a_jump_in_another_subsection_grows_when_gnu_as_lets_it_grow(tmp_path: Path) -> None:
    """Each subsection ends with an alignment to one byte. Over that GNU as does not move what another name of
    a label stands for: so the jump to it grows in the second pass. Until then a third one is out of reach."""
    text = """\
.set a0, f3
# cyclelens-begin r0
begin_r0: nop
f3:
movups %xmm2, 0x3e8(%r15,%rdi,4)
.zero 125
movups %xmm15, -1048576-129(%rcx,%rsi,8)
jmp loop2
jns 1f
jpo f3
movdqa %xmm0, %xmm0
end_r0:
# cyclelens-end
.subsection 1
# cyclelens-begin r1
begin_r1: nop
jbe a0
.balign 4,,19
jc .-62
vpxor %ymm9, %ymm11, %ymm2
movdqu %xmm6, (%rsi,%rbx,1)
1:
lea a0(%rbp,%rbp,1), %r12
je loop5
jbe loop1
loop2:
xchg %r13b, %bl
.iflt 4294967295
.endif
.space 6
imul $0x1, %r12, %r15
.p2align 4,,18
.skip 100
jpo loop2
end_r1:
# cyclelens-end
"""
    assert differences(text, "gas", tmp_path) == []


def test_random_programs_are_those_of_gnu_as(tmp_path: Path) -> None:
    if shutil.which("as") is None:
        pytest.skip("GNU as is not installed")
    seed = 13
    print(f"seed {seed}")
    for number in range(PROGRAMS):
        made = random_program(random.Random(f"{seed}-{number}"))
        if made.language == "nasm" and shutil.which("nasm") is None:
            continue
        found = differences(made.text, made.language, tmp_path, syntax=Syntax(made.syntax), programs=True)
        assert [each for each in found if each.kind == "bytes"] == [], made.text
