"""Unsupported texts get one sentence that names their kind, and no x86-64 text is taken for one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.files import explained, to_text
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.files import whole_file
from cyclelens.analyzer.frontend.passes import external
from cyclelens.analyzer.frontend.source import other_languages
from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Assembler
from cyclelens.analyzer.model.source import Origin, Severity
from testkit.whole_files import needs_nasm

ROOT = Path(__file__).parents[2]
OTHERS = {
    "go": ('#include "textflag.h"\n\n// sum\nTEXT ·sum(SB), NOSPLIT, $0-32\n\tMOVQ x+0(FP), SI\n', 3, "Go's"),
    "go, a piece": ("\tMOVQ x_base+0(FP), SI\nloop:\n\tADDQ (SI), AX\n\tDECQ CX\n\tJNE loop\n", 0, "Go's"),
    "go for arm": ("TEXT runtime·add<>(SB),NOSPLIT,$0\n\tMOVD\tR0, R1\n", 0, "Go's"),
    "aarch64": (".text\nsum:\n\tldr\tx3, [x0], #8\n\tsubs\tx1, x1, #1\n\tb.ne\tsum\n\tret\n", 2, "AArch64"),
    "neon": ("1: ld1 {v0.4s}, [x1], #16\n fmla v2.4s, v0.4s, v1.4s\n cbnz x3, 1b\n", 0, "AArch64"),
    "arm": (".syntax unified\nsum:\n ldr r3, [r0], #4\n subs r1, r1, #1\n bne sum\n bx lr\n", 0, "ARM"),
    "risc-v": ("sum:\n  lw a5, 0(a0)\n  addi a0, a0, 4\n  bne a0, a1, sum\n  ret\n", 1, "RISC-V"),
    "risc-v vectors": ("vsetvli t0, a0, e32, m1, ta, ma\nvfadd.vv v0, v0, v1\n", 0, "RISC-V"),
    "power": ("\tmtctr 5\n.L3:\n\tlwz 9,0(3)\n\taddi 3,3,4\n\tbdnz .L3\n\tblr\n", 0, "POWER"),
    "mips": ("sum:\n\tlw $t0, 0($a0)\n\taddiu $a0, $a0, 4\n\tbnez $a1, sum\n", 1, "MIPS"),
    "z": ("sum:\n\tlg %r1,0(%r2)\n\tla %r2,8(%r2)\n\tbrctg %r3,sum\n\tbr %r14\n", 1, "IBM Z"),
    "loongarch": ("sum:\n ld.d $t0, $a0, 0\n addi.d $a0, $a0, 8\n bnez $a1, sum\n", 1, "LoongArch"),
    "sparc": ("sum:\n ld [%o0], %g1\n add %o0, 4, %o0\n retl\n nop\n", 1, "SPARC"),
    "llvm": ("; f\ndefine i32 @f(i32 %0) {\n  ret i32 %0\n}\n", 1, "LLVM"),
    "ptx": (".version 7.0\n.target sm_80\n.visible .entry f(.param .u64 a)\n{\n ret;\n}\n", 1, "PTX"),
    "fasm": ("format ELF64\npublic f\nsection '.text' executable\n@@: dec rsi\n jnz @b\n ret\n", 0, "FASM"),
    "fasm sections": ("section '.text' code readable executable\nf: dec rsi\n jnz f\n", 0, "FASM"),
    "dynasm": ("|.arch x64\n|->sum:\n|1:\n|  add eax, [rdi]\n|  dec rsi\n|  jnz <1\n", 0, "DynASM"),
    "nasm, 32 bits": ("f:\nBITS 32\n.l: mov eax, [esi]\n dec ecx\n jnz .l\n", 1, "16-bit code"),
    "nasm, [bits]": ("[bits 16]\n.l: mov ax, [si]\n dec cx\n jnz .l\n", 0, "16-bit code"),
    "masm, 32 bits": (".686\n.model flat\n.code\nf PROC\nL: dec ecx\n jnz L\nf ENDP\n", 0, "x86-64"),
    "gas, 32 bits": ("# boot\n.code32\n1: movl (%esi), %eax\n decl %ecx\n jnz 1b\n", 1, "16-bit code"),
    "gas, i386": ("f:\n\tpushl\t%ebp\n1: addl (%esi), %eax\n decl %ecx\n jnz 1b\n", 1, "16-bit code"),
    "intel, i386": ("f:\n push ebp\n mov ebp, esp\nl: add eax, [esi]\n dec ecx\n jnz l\n", 1, "16-bit code"),
    "i386 without a name": ("\taddl (%esi), %eax\n\taddl $4, %esi\n\tdecl %ecx\n\tjne f\n", 0, ".code64"),
    "i386 on the stack": ("f:\n movl 4(%esp), %edx\n1: decl %ecx\n jne 1b\n ret\n", 1, "16-bit code"),
    "intel, an address": ("f:\n mov ecx, [esp+4]\n.l: add eax, [ecx]\n dec edx\n jnz .l\n", 1, "BITS 64"),
    "inline assembly of 32 bits": ("__asm {\nL1: add eax, [esi]\n dec ecx\n jnz L1\n}\n", 1, "16-bit code"),
    "dos": ("org 100h\n mov cx, 10\nl1: add ax, bx\n dec cx\n jnz l1\n int 20h\n", 0, "16-bit code"),
    "16 bits, an address": ("l1: add ax, [si]\n add si, 2\n dec cx\n jnz l1\n", 0, "16-bit code"),
    "tasm": ("IDEAL\nP386\nPROC sum\n@@l: add eax, [esi]\n jnz @@l\nENDP\n", 0, "TASM's Ideal mode"),
    "fasm macro": ("macro sum a,b {\n add a,b\n}\nl: sum rax,[rsi]\n dec rcx\n jnz l\n", 0, "FASM"),
    "fasm repeat": ("repeat 4\n add rax, rbx\nend repeat\nl: dec rcx\n jnz l\n", 2, "FASM"),
    "lto": ('\t.file "t.c"\n\t.section .gnu.lto_.profile.1,"e",@progbits\n\t.string "x"\n', 1, "-flto"),
    "mir": ("---\nname: sum\nbody: |\n  bb.0:\n    $eax = MOV32r0\n    RET64 $eax\n", 3, "llc -filetype"),
    "cargo asm --rust": (
        "f:\n\t// /t/src/lib.rs : 4\n\tfor x in p { s += x }\n\tdec rsi\n\tjne f\n",
        1,
        "--rust",
    ),
    "pascal": ("function Sum(N: Int64): Int64;\nasm\n@l: dec rcx\n jnz @l\nend;\n", 0, "Pascal"),
    "go source": ("package main\n\nfunc sum(n int) int {\n\treturn n\n}\n", 0, "go build -o"),
    "nim": ("proc sum(n: int): int =\n  result = n\n", 0, "Compile it to an object"),
    "amd's gpus": ("s_load_dwordx2 s[0:1], s[4:5], 0x0\nv_add_f32_e32 v0, v0, v1\ns_endpgm\n", 0, "AMD's"),
    "sass": (" /*0010*/  IADD3 R4, R4, 0x1, RZ ;  /* 0x0000000104047810 */\n", 0, "SASS"),
    "ebpf": ("sum:\n r0 = 0\n r3 = *(u64 *)(r1 + 0)\n if r2 != 0 goto sum\n exit\n", 1, "eBPF"),
    "avr": ("sum:\n ldi r24, 0\nl: ld r25, X+\n add r24, r25\n brne l\n ret\n", 1, "such as 'ldi'"),
    "z80": ("sum:\n ld b, 10\nl: add a, (hl)\n inc hl\n djnz l\n ret\n", 1, "such as 'ld'"),
    "68000": ("sum: moveq #0, d0\nl: add.l (a0)+, d0\n dbra d1, l\n rts\n", 0, "such as 'moveq'"),
    "6502": ("sum: lda #0\nl: adc $10, x\n dex\n bne l\n rts\n", 0, "such as 'lda'"),
    "gdb's bytes": ("0x1129 <f>:\t0x48\t0x85\t0xf6\n0x112c <f+3>:\t0x48\t0xff\t0xc9\n", 0, "--hex"),
    "xxd": ("00000000: 31c0 4803 0748 83c7 0848 ffce 75f4 c390  1.H..H...H..u...\n", 0, "--hex"),
    "hexdump": (
        "00000000  31 c0 48 03 07 48 83 c7  08 48 ff ce 75 f4 c3 90  |1.H..H|\n00000010\n",
        0,
        "--hex",
    ),
    "hotspot's code": (
        "[MachCode]\n  0x00007f5ee111c0a0: 31c0 4803 | 0748 83c7 | 0848 ffce | 75f4 c390\n",
        1,
        "--hex",
    ),
    "strings of c": (' "1:\\n\\t"\n "decq %2\\n\\t"\n "jnz 1b\\n\\t"\n', 0, "cyclelens cc --"),
    "extended inline assembly": ("1: addq (%%rsi), %%rax\n decq %%rcx\n jnz 1b\n", 0, "s/%%/%/g"),
    "colours": ("\x1b[32mf\x1b[0m:\n\x1b[1m dec\x1b[0m %rcx\n jnz f\n", 0, "colours"),
    "line numbers": ("1  f:\n2      dec %rcx\n3      jnz f\n", 0, "Remove the numbers"),
    "llvm-mca": ("Iterations:        100\nInstructions:      400\n", 0, "report"),
    "asmjit": ("L0:\nadd rax, qword ptr [rdi] ; 480307\ndec rsi\nshort jne L0\n", 3, "--raw"),
    "sbcl": ("; Size: 24 bytes\n; 4A0:  480307   ADD RAX, [RDI]\n; 4A3:  48FFCE   DEC RSI\n", 1, "s/^; //"),
    "perf in a terminal": (
        " 50.00 │2:   add    (%rdi),%rax\n 50.00 │    ↑ jne    2\n",
        1,
        "without addresses",
    ),
    "llvm-objdump --symbolize-operands": (
        "<L0>:\n    10a7:\tdecq\t%rsi\n    10c2:\tje\t<L0>\n",
        2,
        "without addresses",
    ),
    "dump of aarch64": (
        "0 <f>:\n   0:\tf8408402 \tldr\tx2, [x0], #8\n   4:\tf1000421 \tsubs\tx1, x1, #1\n",
        1,
        "AArch64",
    ),
    "gdb on aarch64": (
        "   0x400580 <+0>:\tldr\tx2, [x0], #8\n   0x400584 <+4>:\tsubs\tx1, x1, #1\n",
        0,
        "AArch64",
    ),
    "dump of arm": (
        "    8000:\te4902004 \tldr\tr2, [r0], #4\n    8004:\te2511001 \tsubs\tr1, r1, #1\n",
        0,
        "ARM",
    ),
    "dump of power": (
        "   0:\te9 23 00 00 \tld      r9,0(r3)\n   4:\t42 00 ff fc \tbdnz    0 <f>\n",
        0,
        "POWER",
    ),
    "dump of ebpf": (
        "  0:\tb7 00 00 00 00 00 00 00\tr0 = 0\n  1:\t0f 30 00 00 00 00 00 00\tr0 += r3\n",
        0,
        "eBPF",
    ),
    "dump of 32 bits": (
        "   0:\t03 06                \tadd    (%esi),%eax\n   2:\t49                   \tdec    %ecx\n",
        0,
        "16-bit code",
    ),
    "x32dbg": (
        "00401132 | 0307     | add eax,dword ptr ds:[edi] |\n00401134 | 83C7 04  | add edi,4 |\n",
        0,
        "16-bit code",
    ),
    "dump of what is no x86": (
        "   0:\t11 22 33 44 \tzap\tr1\n   4:\t55 66 77 88 \tquux\tr2\n",
        0,
        "Most instructions",
    ),
    "other objdump": ("\nt.o:     file format elf32-i386\n\n   0:\t49     \tdec    %ecx\n", 1, "32-bit"),
    "bare objdump": ("<dot>:\n\txor    %eax,%eax\n\tjne    <dot+0x2>\n", 2, "without addresses"),
    "bare binary": ("dot:\n xor eax,eax\n dec rdx\n jne 401142 <dot+0x2>\n", 3, "without addresses"),
    "perf": ("  0.04        test   %rdx,%rdx\n            ↓ jle    30\n", 1, "perf annotate"),
    "report": ("Intel(R) Architecture Code Analyzer Version - v3.0\nAnalyzed File - t.o\n", 0, "report"),
    "vtune": ('Address,Line,Assembly,CPU Time\n0x11,12,"add rax, 0x8",0.01s\n', 0, "profiler"),
    "mail": ("Hi,\n> .L3:\n>  addq $32, %rax\n>  jne .L3\n> and it is slow.\n", 1, "quoted in a mail"),
    "patch": ("--- a/t.s\n+++ b/t.s\n@@ -1,3 +1,3 @@\n .L3:\n-\tdec %rax\n+\tdec %rcx\n", 2, "git apply"),
    "c": ('#include <x.h>\nlong f(long *p) {\n  __asm__ volatile("1: dec %0\\n");\n}\n', 1, "gcc -O2"),
    "c, a piece": ('asm("1: dec %0\\n"\n    "jnz 1b\\n" : "+r"(n));\n', 0, "gcc -O2"),
    "c++": ("// dot\ntemplate <class T>\nT dot(const T* a) {\n  return *a;\n}\n", 1, "C++"),
    "rust": ('use std::arch::asm;\nfn f() {\n  asm!("2:", "dec {n}", "jnz 2b");\n}\n', 1, "rustc"),
    "zig": ("fn f(n: usize) void {\n  asm volatile (\n    \\\\1: dec %[n]\n  );\n}\n", 0, "zig build-obj"),
    "xbyak": ('struct Code : Xbyak::CodeGenerator {\n  Code() { L("a"); jnz("a"); }\n};\n', 0, "--raw"),
    "a class": ("class Sum {\n public:\n  long of(long* p);\n};\n", 0, "C++"),
    "python": ("from unicorn import *\nCODE = b'\\x48\\xff\\xc9'\n", 0, "--hex"),
    "luajit": ("---- TRACE 1 mcode 61\n0bcaffe0  add ebp, +0x01\n0bcafff6  addsd xmm0, xmm6\n", 0, "gdb"),
    "bochs": ("00007c08: (                    ): dec ecx                   ; 6649\n", 0, "Bochs"),
    "perf script": (" bench 12 [001]  12.345678:    1 cycles:u:   401130 dot+0x0 (/x)\n", 0, "brstacksym"),
    "perf script insn": ("\t\t401130 insn: 48 ff ca\n", 0, "brstacksym"),
    "explorer": ('{"asm":[{"text":".L3:"},{"text":"  add rax, 1"}],"code":0}\n', 0, "jq -r"),
    "hexadecimal": ("f2 0f 10 04 c7 f2 0f 59 04 c6\n48 83 c0 01 75 e9\n", 0, "--hex"),
    "dynasm in c": ("static void f(Dst) {\n  | mov rax, 1\n  |->loop:\n  | jnz ->loop\n}\n", 2, "DynASM"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "name"), OTHERS.values(), ids=OTHERS)
def test_a_text_in_another_language_gets_one_message_at_its_first_telling_line(
    text: str, line: int, name: str
) -> None:
    assembled = assemble(text)
    (problem,) = assembled.problems
    assert (problem.line, problem.code, problem.severity) == (line, "other-language", Severity.WARNING)
    assert name in problem.message
    assert assembled.regions == ()


def test_a_command_gives_the_way_out_as_its_error() -> None:
    options = AnalysisOptions(target=Target(microarchitectures=("SKL",)))
    analysis = explained(Analyzer().analyze(OTHERS["fasm"][0], options), options.source)
    (problem,) = analysis.problems
    assert problem.severity is Severity.ERROR
    assert "cyclelens analyze FILE.o" in problem.message


X86 = [
    ".code64\n1: addl (%esi), %eax\n decl %ecx\n jnz 1b\n",
    "addr32 mov (%eax), %ebx\n dec %ecx\n",
    "BITS 64\nl: add eax, [esi]\n dec ecx\n jnz l\n",
    "f: lea eax, [edi+esi]\n dec eax\n jnz f\n",
    "f: add (%esi), %eax\n dec %r9d\n jnz f\n",
    "1: mova m0, (%rdi)\n mova m0, m1\n dec %rcx\n jnz 1b\n",
    "1: add r0, r1\n dec r2\n jnz 1b\n",
    ".intel_syntax noprefix\nstr ax\nldr: dec rcx\n jnz ldr\n",
    "# ldr x0, [x1]\n# str x0, [x1]\n1: dec %rcx\n jnz 1b\n",
    "%define x0 xmm0\n mova x0, [r1]\n movdqa x0, [rsp]\n lea rax, [rsp]\n",
    "#ifdef __aarch64__\n ldr x0, [x1]\n add x0, x0, x1\n#else\n1: dec %rcx\n jnz 1b\n#endif\n",
    "push {r}\nmov %eax, %ebx\n",
    ".code32\n ljmp $8, $f\n.code64\nf: dec %rcx\n jnz f\n",
    "%ifidn __OUTPUT_FORMAT__, elf32\nBITS 32\n%endif\nf: dec rcx\n jnz f\n",
    "#ifdef __i386__\n pushl %ebp\n#endif\nf: dec %rcx\n jnz f\n",
    "BITS 64\nf: dec rcx\n jnz f\n",
    "sub $8, %rsp\nld: st: lea 8(%rsp), %rsp\n",
    'a = b | c\n.ascii "format ELF64"\n',
    '# import the table: asm ("x") of C\n.data\nint: .long 5 # int f(int)\n',
    "extern memcpy\nstruct: dec rcx\n jnz struct\n",
    "shuffle:\n db 43,42,12,12,46,13\n db 54,21,55,54,24,24\n dd 10, 11, 12, 13\n dd 20, 21, 22, 23\n",
]


@pytest.mark.parametrize("text", X86)
def test_texts_for_x86_are_not_taken_for_others(text: str) -> None:
    assert other_languages.find(SourceText(text)) is None
    assert not [each for each in assemble(text).problems if each.code == "other-language"]


def test_no_text_of_the_project_is_taken_for_another_language() -> None:
    found = [path for folder in ("examples", "tests", "docs") for path in (ROOT / folder).rglob("*")]
    texts = [path for path in found if path.suffix in (".s", ".S", ".asm", ".inc")]
    assert texts
    for path in texts:
        other = other_languages.find(SourceText(path.read_text("utf-8", "replace")))
        assert other is None, path


def test_a_disassembly_may_say_that_it_is_64_bit_code() -> None:
    rows = "  10:\t67 03 06             \tadd    (%esi),%eax\n  13:\tff c9                \tdec    %ecx\n"
    text = f"{rows}  15:\t75 f9                \tjne    10 <f>\n"
    (problem,) = assemble(text).problems
    assert problem.code == "other-language"
    assert ".code64" in problem.message
    found = assemble(f".code64\n{text}")
    assert found.problems == ()
    assert [region.code.hex() for region in found.regions] == ["670306ffc975f9"]


NARROW = "%ifdef A\n%endif\nf: mov ecx, [esp+4]\n.l: add eax, [ecx]\n dec edx\n jnz .l\n"


def test_a_region_of_32_bits_in_a_text_for_several_modes_is_named() -> None:
    (problem,) = assemble(NARROW).problems
    assert (problem.line, problem.severity) == (3, Severity.WARNING)
    assert "looks like 32-bit code" in problem.message
    for said in (f"BITS 64\n{NARROW}", NARROW.replace("[ecx]", "[rcx]"), NARROW.replace("edx", "rdx")):
        assert not assemble(said).problems


LEFT_OUT = [
    ("#if defined(__AVX2__)\nf: dec %rcx\n jnz f\n#endif", "'#if defined(__AVX2__)' at line 1; -D __AVX2__"),
    ("\n#ifdef FAST\n1: dec %rcx\n jnz 1b\n#endif\n", "'#ifdef FAST' at line 2; -D FAST ("),
    ("#if HAVE_SIMD(AVX2)\n1: dec %rcx\n jnz 1b\n#endif\n", "at line 1; -D 'HAVE_SIMD(a)=1' ("),
    ("#if LEVEL >= 3\n1: dec %rcx\n jnz 1b\n#endif\n", "at line 1; -D LEVEL=3 ("),
    ("#if A && B == 2\n1: dec %rcx\n jnz 1b\n#endif\n", "at line 1; -D A -D B=2 ("),
    ("#if !defined(__x86_64__)\n1: dec %rcx\n jnz 1b\n#endif\n", "at line 1; define what it tests."),
    ("#ifdef __x86_64__\n#else\n1: dec %rcx\n jnz 1b\n#endif\n", "'#ifdef __x86_64__' at line 1; define"),
    ("#ifdef A\n#ifdef __x86_64__\n1: dec %rcx\n jnz 1b\n#endif\n#endif\n", "'#ifdef A' at line 1; -D A ("),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), LEFT_OUT)
def test_the_condition_that_leaves_out_everything_is_named(tmp_path: Path, text: str, message: str) -> None:
    found = _of_file(tmp_path, text)
    (problem,) = [each for each in found.problems if each.code == "left-out"]
    assert message in problem.message
    assert problem.line == int(problem.message.partition(" at line ")[2].partition(";")[0]) - 1


@pytest.mark.parametrize(
    ("text", "defines"),
    [
        ("#if HAVE_SIMD(AVX2)\n1: dec %rcx\n jnz 1b\n#endif\n", ("HAVE_SIMD(a)=1",)),
        ("#if BOTH(A, B)\n1: dec %rcx\n jnz 1b\n#endif\n", ("BOTH(x,y)=1",)),
        ("#if LEVEL >= 3\n1: dec %rcx\n jnz 1b\n#endif\n", ("LEVEL=3",)),
        ("1: STEP(rcx)\n jnz 1b\n", ("STEP(r)=dec %r",)),
    ],
)
def test_definitions_are_those_of_c_compilers(tmp_path: Path, text: str, defines: tuple[str, ...]) -> None:
    found = _of_file(tmp_path, text, defines)
    assert [region.code.hex()[-4:] for region in found.regions] == ["75fb"]
    assert not found.problems


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (".ifdef FAST\n1: dec %rcx\n jnz 1b\n.endif\n", "'.ifdef FAST' at line 1; define"),
        pytest.param(
            "%ifdef FAST\nf: dec rcx\n jnz f\n%endif\n",
            "'%ifdef FAST' at line 1; -D FAST (",
            marks=needs_nasm,
        ),
        pytest.param(
            "%define N 3\n%if 0\nf: dec rcx\n jnz f\n%endif\n",
            "'%if 0' at line 2; define",
            marks=needs_nasm,
        ),
        ("IFDEF FAST\nf PROC\n dec rcx\n jnz f\nf ENDP\nENDIF\n", "'IFDEF FAST' at line 1; define"),
    ],
)
def test_what_an_assembler_leaves_out_is_named_too(text: str, condition: str) -> None:
    (problem,) = [each for each in assemble(text).problems if each.severity is not Severity.INFORMATION]
    assert problem.code == "left-out"
    assert condition in problem.message


@pytest.mark.parametrize("text", ["", "# a comment\n", ".data\n.long 1\n", "#ifdef A\n#define B 1\n#endif\n"])
def test_a_text_without_code_has_nothing_left_out(tmp_path: Path, text: str) -> None:
    assert _of_file(tmp_path, text).problems == ()


def _of_file(tmp_path: Path, text: str, defines: tuple[str, ...] = ()):  # type: ignore[no-untyped-def]
    origin = Origin(str(tmp_path / "x.S"), (str(tmp_path),), defines=defines)
    return assemble(text, SourceOptions(origin=origin))


SILENT = "; taken for NASM\nx\n    jnc @B\nf:\nc equ (R*5)\nt equ (8+c)\nx\nx\n    jz f\n"


@pytest.mark.parametrize("has_nasm", [False, True])
def test_statements_that_cannot_be_encoded_are_named_for_any_nasm_message(
    monkeypatch: pytest.MonkeyPatch, has_nasm: bool
) -> None:
    """NASM that gives a file up leaves what was found without it."""

    def gives_up(*_: object) -> whole_file.Assembled:
        return whole_file.Assembled("nasm", failure="It does not say why.", gave_up=True)

    monkeypatch.setattr(external, "has_nasm", lambda: has_nasm)
    monkeypatch.setattr(external, "assemble_file", gives_up)
    assembled = assemble(SILENT, SourceOptions(assembler=Assembler.AUTO))
    (region,) = assembled.regions
    assert region.incomplete
    named = {problem.line for problem in assembled.problems}
    assert {6, 7} <= named


def test_a_file_in_utf_16_is_read() -> None:
    text = "1:\tdec %rcx\n\tjnz 1b\n"
    for order in ("utf-16-le", "utf-16-be"):
        assert to_text(("\ufeff" + text).encode(order)) == text
    assert to_text(text.encode("utf-8-sig")) == text
