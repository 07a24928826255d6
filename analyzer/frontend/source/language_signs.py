"""The signs of languages and instruction sets that are not supported, with what to do instead."""

from __future__ import annotations

from msgspec import Struct

_OBJECT = "Only x86-64 is simulated."
SAYS_64_BITS = r"\.code64\b|\[?[ \t]*bits[ \t]+64\b|use64\b"
_NARROW = "32-bit or 16-bit code"
_CONDITIONS = rf"(?mi)^[ \t]*(?:[#%.]?[ \t]*if|{SAYS_64_BITS})"
"""Signs of code for several modes, or of 64 bits."""
_BEGIN = r"^[ \t]*(?:[\w.$]+:[ \t]*)?(?:[0-9a-f]{8}[ \t]+)?"
"""What may stand before a statement: a label, or the address and code of a disassembly."""


class Language(Struct, frozen=True):
    """A language, a pattern that no supported text matches, and advice."""

    what: str
    telling: str
    """A regular expression, compiled when a text may be in this language."""
    way_out: str
    is_sure: bool = False
    """One matching line is enough, regardless of other lines."""
    unless: str = ""
    """A regular expression: a text that it matches is supported nevertheless."""


_HEXADECIMAL = Language(
    "machine code in hexadecimal",
    r"(?mi)^[ \t]*(?:\\x[0-9a-f]{2}){4,}|"
    # A row that begins with db or dd is data of NASM.
    r"^[ \t]*\"?(?!d[bd][ \t])(?:0x)?[0-9a-f]{2}(?:[ ,]+(?:0x)?[0-9a-f]{2}){3,}[ \t,]*$|"
    # gdb's x/xb; xxd, hexdump and HotSpot.
    r"^[ \t]*0x[0-9a-f]+(?:[ \t]+<[^>\n]*>)?:(?:[ \t]+0x[0-9a-f]{2}){2,}[ \t]*$|"
    r"^[ \t]*(?:0x)?[0-9a-f]{6,16}:?(?:[ |]{1,3}[0-9a-f]{2,4}){6,16}(?:[ ]{2}.{1,18}|[ \t]*)$",
    "Analyse it as what it is: cyclelens analyze --hex FILE.",
)
LANGUAGES = (
    _HEXADECIMAL,
    Language(
        "code in TASM's Ideal mode",
        r"(?mi)^[ \t]*ideal[ \t]*(?:;.*)?$",
        "TASM assembles no 64-bit code, and only x86-64 is simulated.",
        True,
    ),
    Language(
        _NARROW,
        r"(?mi)^[ \t]*(?:\.code(?:32|16(?:gcc)?)|\[?[ \t]*bits[ \t]+(?:32|16)|use(?:32|16)|\.[3-6]86p?|"
        r"(?:push|pop)l?[ \t]+%?e(?:[abcd]x|[sd]i|[bs]p))\b",
        _OBJECT,
        True,
        _CONDITIONS,
    ),
    Language(
        _NARROW,
        # An address in a register of 32 or 16 bits, DOS, and the BIOS.
        r"(?mi)^(?!(?:[\w.$@?]+:)?\W*(?:lea|nop|movs|cmps|stos|lods|scas)[bwld]?\b)[^\n#;\"']*?"
        r"(?:[\[(][ \t]*(?:,[ \t]*)?%?e(?:[abcd]x|[sd]i|[bs]p)\b|(?:\[|\(%)(?:b[xp]|[sd]i)\b)|"
        r"^[ \t]*(?:\.model[ \t]+(?:tiny|small|compact|medium|large|huge)|"
        r"\[?org[ \t]+(?:100h|0x100|0x7c00|7c00h)|"
        r"int[ \t]+(?:0x(?:1[0-9a]|2[01])|(?:1[0-9a]|2[01])h))\b",
        "Only x86-64 is simulated; if it is that, write .code64 above it (NASM: BITS 64).",
        True,
        _CONDITIONS + r"|\baddr32\b|(?<![\w.])%?r(?:[abcd]x|[sd]i|[bs]p|ip|(?:[89]|1[0-5])[dwb]?)\b",
    ),
    Language(
        "the disassembly of code for another processor, or of 32-bit code",
        r"(?mi)^.*:[ \t]+file format (?!.*x86[-_]64|binary\b)\S.*",
        _OBJECT,
        True,
    ),
    Language(
        "a disassembly without addresses and machine code",
        r"(?m)^[ \t]*(?:(?:bnd|notrack)[ \t]+)?(?:j\w+|callq?|loop\w*)[ \t]+"
        r"(?:[0-9a-f]+[ \t]+)?<[^>\n]+>[ \t]*$|"
        r"^[ \t]*[0-9a-f]+:[ \t]+(?:j\w+|callq?)[ \t]+<L\d+>[ \t]*$|"
        r"^[ \t]*(?:\d+\.\d+[ \t]*)?(?:│[ \t]*(?:[0-9a-f]+:)?)?[ \t]*[↓↑←→][ \t]+[a-z]",
        "Let it show one of them (objdump -d without --no-show-raw-insn, perf annotate --stdio, opcodes in "
        "Compiler Explorer), or analyse the object: cyclelens analyze FILE.o.",
        True,
    ),
    Language(
        "a report about assembly",
        r"(?m)^(?:\[1\]: #uOps|Intel\(R\) Architecture Code Analyzer|Open Source Architecture Code Analyzer|"
        r"Throughput Analysis Report|Iterations:[ \t]+\d+[ \t]*$|Throughput \(in cycles per iteration\):)",
        "Analyse the assembly or the object that it is about: cyclelens analyze FILE.",
        True,
    ),
    Language(
        "a table of a profiler",
        r"(?m)^(?![ \t]*[#;/*@])(?=[^\n]*\bAddress\b)(?=[^\n]*\bAssembly\b)[^\n,;\t]*[,;\t][^\n]*[,;\t].*",
        "Analyse the program that was profiled: cyclelens analyze PROGRAM --function NAME.",
        True,
    ),
    Language(
        "a text quoted in a mail",
        r"(?m)^>{1,3}[ \t]+[.\w].*",
        "Remove the marks before its lines: sed 's/^[> ]*//' FILE | cyclelens analyze -.",
        True,
    ),
    Language(
        "code of extended inline assembly, with two % before each register",
        r"(?m)^[^\n#\"]*%%(?:[re]?(?:[abcd]x|[sd]i|[bs]p)|r(?:[89]|1[0-5])[dwb]?|[xyz]mm\d+)\b",
        "Write one: sed 's/%%/%/g' FILE | cyclelens analyze -.",
        True,
    ),
    Language(
        "a patch",
        r"(?m)^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*",
        "Apply it and analyse the file that it changes: git apply PATCH, cyclelens analyze FILE.",
        True,
    ),
    Language(
        "Go's assembly (Plan 9)",
        r"(?m)^.*\b(?:TEXT|GLOBL|DATA)[ \t]+[^\s,()]*(?:\+\d+)?\(SB\)",
        "Build the program (go build -o PROGRAM) and analyse its function: cyclelens analyze PROGRAM "
        "--function PACKAGE.NAME.",
        True,
        # What go tool objdump prints has the machine code.
        r"(?m)^[ \t]*\S+:\d+[ \t]+0x[0-9a-f]+[ \t]+(?:[0-9a-f]{2})+[ \t]",
    ),
    Language(
        "Go's assembly (Plan 9)",
        r"(?m)^[ \t]*[A-Z][A-Z0-9]+[ \t]+.*\b\w+[+-]\d+\((?:FP|SP)\)",
        "Build the program (go build -o PROGRAM) and analyse its function: cyclelens analyze PROGRAM "
        "--function PACKAGE.NAME.",
        True,
    ),
    Language(
        "FASM",
        r"(?mi)^[ \t]*(?:format[ \t]+(?:ELF(?:64)?|PE(?:64)?|MS64|COFF|MZ|binary|Mach-?O(?:64)?)\b|"
        r"section[ \t]+'[^'\n]*'(?:[ \t]+(?:executable|readable|writeable|code|data|align)\b)+|"
        r"segment(?:[ \t]+(?:readable|executable|writeable))+|"
        r"(?:macro|struc|rept)[ \t]+[\w.@?]+[^\n;{}\"']*\n?[ \t]*\{|end[ \t]+(?:repeat|virtual)\b)",
        "Assemble it to an object (format ELF64; fasm FILE.asm FILE.o) and analyse that: "
        "cyclelens analyze FILE.o.",
        True,
    ),
    Language(
        "assembly with lines of Rust between the instructions (cargo asm --rust)",
        r"(?m)^[ \t]*// \S.*\.rs : \d+[ \t]*$",
        "Leave out --rust.",
        True,
    ),
    Language(
        "Pascal",
        r"(?mi)^[ \t]*(?:function|procedure)[ \t]+\w[^\n]*;[^\n]*\n(?:[^\n]*\n)?[ \t]*asm\b",
        "Compile it and analyse the object or the program: cyclelens analyze FILE.",
        True,
    ),
    Language(
        "DynASM",
        r"(?m)^[ \t]*\|[ \t]*(?:\.(?:arch|section|code|actionlist|globals|externnames|type|macro)\b|"
        r"->\w+:|=>[^\n]*:|\d+:|\w+[ \t]+.*[<>]\d+\b)",
        "Build the project and analyse the object that holds the code (cyclelens analyze FILE.o), or the "
        "bytes that it emits (cyclelens analyze --raw FILE).",
        True,
    ),
    Language(
        "LLVM's intermediate language",
        r"(?m)^(?:define[ \t].*@[\w.$\"-]+\(|target triple[ \t]*=)",
        "Compile it and analyse the object: clang -O2 -c FILE.ll, cyclelens analyze FILE.o.",
        True,
    ),
    Language(
        "PTX, the assembly of NVIDIA's processors",
        r"(?m)^[ \t]*\.(?:target[ \t]+sm_|visible[ \t]+\.(?:entry|func))",
        _OBJECT,
        True,
    ),
    Language(
        "assembly for AMD's graphics processors",
        r"(?m)^[ \t]*(?:\.amdgcn_target\b|\.amdhsa_\w+|s_endpgm\b|[sv]_[a-z]+_[a-z]\w*[ \t]+[sv](?:\d|\[))",
        _OBJECT,
    ),
    Language(
        "SASS, the machine code of NVIDIA's processors",
        r"(?m)^[ \t]*/\*[0-9a-f]{4,}\*/[ \t][^\n;]*;[ \t]*/\*[ \t]*0x[0-9a-f]{16}[ \t]*\*/",
        _OBJECT,
        True,
    ),
    Language(
        "eBPF, code for a virtual machine",
        r"(?m)^[ \t]*(?:[rw]\d[ \t]*[-+*/|&^]?=[ \t]*(?:-?\d|[rw]\d|\*\()|"
        r"\*\([us]\d+[ \t]*\*\)\(|if[ \t]+[rw]\d[ \t].*\bgoto\b)",
        _OBJECT,
    ),
    Language("WebAssembly", r"(?m)^[ \t]*(?:\(module|\.functype)\b", _OBJECT, True),
    Language(
        "assembly for AArch64",
        rf"(?mi){_BEGIN}(?:\.arch[ \t]+armv8|[a-z][\w.]*[ \t]+\{{?[ \t]*(?:[xw](?:[12]?\d|30|zr)|"
        r"[vz](?:[12]?\d|3[01])\.\d*[bhsdq])\b|"
        r"b\.(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)[ \t])",
        _OBJECT,
    ),
    Language(
        "assembly for ARM",
        rf"(?mi){_BEGIN}(?:\.(?:syntax[ \t]+unified|arm|thumb(?:_func)?|fpu|cpu)\b|"
        r"(?:ldr|str|ldm|stm|vld|vst|vpush|vpop|push|pop)[\w.]*[ \t]+(?:r\d+|sp|\{)|bx[ \t]+(?:lr|r\d+)|"
        r"(?:adds?|subs?|rsb|mov|cmp|and|orr|eor|bic|lsls?|lsrs?)[a-z]*[ \t]+r\d+,.*#\d)",
        _OBJECT,
    ),
    Language(
        "assembly for RISC-V",
        rf"(?m){_BEGIN}(?:\.(?:attribute[ \t]+(?:arch|unaligned|stack)|option[ \t]+\w*(?:pic|rvc|relax)\b)|"
        r"(?:l[bhwd]u?|s[bhwd]|fl[wd]|fs[wd])[ \t]+(?:[astx]\d+|ra|sp|f[ats]?\d+),[^\n]*\(\w+\)|"
        r"(?:bnez|beqz|blez|bgez|bltz|bgtz|bne|beq|bltu?|bgeu?|addiw?|li|la|mv)[ \t]+"
        r"(?:[astx]\d+|sp|ra),|"
        r"vset(?:i?vli|vl)[ \t]|v[a-z0-9]+\.v[vxfi]+[ \t]+v\d)",
        _OBJECT,
    ),
    Language(
        "assembly for POWER",
        rf"(?m){_BEGIN}(?:\.(?:machine|abiversion)[ \t]|(?:bdnz|mtctr|mflr|mtlr|lwzx?u?|stwu?|stdu?|ldu?|"
        r"lfdu?|stfdu?|lxv\w*|stxv\w*|lvx|stvx|addis?|rldic[lr]|xv\w+[ds]p)[ \t]+"
        r"(?:%?(?:r|f|vs?)?\d+,|[.\w]+[ \t]*$|\d)|"
        r"blr[ \t]*$)",
        _OBJECT,
    ),
    Language(
        "assembly for MIPS",
        rf"(?m){_BEGIN}(?:\.(?:set[ \t]+no(?:reorder|macro|at|mips16|micromips)|abicalls|frame)\b|"
        r"(?:d?addiu|d?addu|d?subu|l[bhw]u?|s[bhwd]|ld|lui|li|la|move|ori|bne|beq|bnez|beqz|jr|jalr?)"
        r"[ \t]+"
        r"\$(?:\d+|[astvk]\d|sp|ra|fp|gp|zero)\b)",
        _OBJECT,
    ),
    Language(
        "assembly for IBM Z",
        rf"(?m){_BEGIN}(?:\.machine[ \t]|(?:lg[frh]?[ir]?|lgr|stg|larl|lay?|brctg?|brasl|[ls]tm?g|lmg|stmg|"
        r"vlm?|vstm?|"
        r"a?g?hi|sgr|agr|clg\w*|mvc)[ \t]+%[rvfa]\d|br[ \t]+%r14)",
        _OBJECT,
    ),
    Language(
        "assembly for SPARC",
        rf"(?m){_BEGIN}(?:\.register\b|[a-z][\w,]*[ \t]+[^\n]*%[goli][0-7]\b|retl\b)",
        _OBJECT,
    ),
    Language(
        "assembly for LoongArch",
        rf"(?m){_BEGIN}(?:(?:ld|st|addi?|sub|fld|fst|fmadd|mul)\.[bhwds]u?|jirl|pcalau12i|x?v(?:ld|st))[ \t]+"
        r"\$(?:r\d+|f?[ats]\d+|sp|ra|fp|zero|x?vr\d+)\b",
        _OBJECT,
    ),
)
WITHOUT_REGIONS = (
    _HEXADECIMAL,
    Language(
        "what gcc -flto -S writes: code that only the compiler reads, and no instructions",
        r"(?m)^[ \t]*\.section[ \t]+\.gnu\.lto_.*",
        "Compile it without -flto, or analyse the linked program: cyclelens analyze PROGRAM --function NAME.",
    ),
    Language(
        "the intermediate language of LLVM's code generator (MIR)",
        r"(?m)^[ \t]*(?:tracksRegLiveness|machineFunctionInfo|bb\.\d+[.\w ]*(?:\([^)\n]*\))?):.*",
        "Compile it and analyse the object: llc -filetype=obj FILE.mir, cyclelens analyze FILE.o.",
    ),
    Language(
        "inline assembly in strings of C",
        r"(?m)^[ \t]*\"[^\"\n]*\\n(?:\\t)?[ \t]*\"[ \t]*$",
        "Compile the file and see the cycles at its lines: cyclelens cc -- gcc -O2 -c FILE.c.",
    ),
    Language(
        "a text in a terminal's colours",
        r"(?m)^.*\x1b\[[0-9;]*m.*",
        "Write it without colours: sed 's/\\x1b\\[[0-9;]*m//g' FILE | cyclelens analyze -.",
    ),
    Language(
        "a text with line numbers",
        r"(?m)^[ \t]*1[ \t|]+.*\n[ \t]*2[ \t|]+.*\n[ \t]*3[ \t|]+.*",
        "Remove the numbers: sed 's/^ *[0-9]* *//' FILE | cyclelens analyze -.",
    ),
    Language(
        "a log of AsmJit",
        r"(?m)^[ \t]*short[ \t]+j[a-z]+[ \t].*",
        "Analyse the bytes that it emits: cyclelens analyze --raw FILE.",
    ),
    Language(
        "a disassembly in comments, as SBCL prints it",
        r"(?m)^;[ \t]+[0-9A-F]{2,16}:[ \t]+[0-9A-F]{2,30}[ \t]+[A-Z].*",
        "Remove the semicolons: sed 's/^; //' FILE | cyclelens analyze -.",
    ),
    Language(
        "the output of LuaJIT (-jdump)",
        r"(?m)^---- TRACE \d+ .*",
        "Let gdb print the machine code of a trace (x/40i ADDRESS) and analyse that.",
    ),
    Language(
        "the output of Bochs's debugger",
        r"(?m)^(?:<bochs:\d+>.*|[0-9a-f]{8,16}: \([^)\n]*\): .*; [0-9a-f]{2,30}[ \t]*$)",
        "Analyse the object that holds the code (cyclelens analyze FILE.o), or 64-bit machine code by "
        "itself: cyclelens analyze --hex FILE.",
    ),
    Language(
        "the output of perf script",
        r"(?m)^[ \t]*\S.*?[ \t]\d+[ \t]+(?:\[\d+\][ \t]+)?\d+\.\d{3,9}:[ \t].*|"
        r"^.*\binsn: [0-9a-f]{2}\b.*",
        "Analyse the program, with the counts of perf script -F brstacksym if you have them: "
        "cyclelens analyze PROGRAM --function NAME --profile FILE.",
    ),
    Language(
        "an answer of Compiler Explorer in JSON",
        r"\A\s*\{(?=[^\n]*\"asm\"[ \t]*:).*",
        "Analyse the text in it: jq -r '.asm[].text' FILE | cyclelens analyze -.",
    ),
    Language(
        "a program that generates code (Xbyak, AsmJit)",
        r"(?m)^.*(?:\b(?:Xbyak|asmjit)::|#[ \t]*include[ \t]*[<\"](?:xbyak|asmjit)/).*",
        "Analyse the bytes that it emits: cyclelens analyze --raw FILE.",
    ),
    Language(
        "Go",
        r"(?m)^package[ \t]+\w+[ \t]*$",
        "Build the program (go build -o PROGRAM) and analyse its function: cyclelens analyze PROGRAM "
        "--function PACKAGE.NAME.",
    ),
    Language(
        "a program in a language that is compiled",
        r"(?mi)^(?:(?:proc|func)[ \t]+\w+\*?[(<\[].*|(?:public|import|private)[ \t][\w. *]*[{;][ \t]*$|"
        r"(?:subroutine|program|module)[ \t]+\w+.*|import[ \t]+[\w.]+;[ \t]*$)",
        "Compile it to an object or a program and analyse that: cyclelens analyze FILE.",
    ),
    Language(
        "Zig",
        r"(?m)^.*@import\(\".*|"
        r"^[ \t]*(?:pub[ \t]+)?(?:export[ \t]+)?fn[ \t]+\w+\([^\n]*\)[ \t]*!?\w[\w.]*[ \t]*\{.*",
        "Compile it and analyse the object: zig build-obj -O ReleaseFast FILE.zig, cyclelens analyze FILE.o.",
    ),
    Language(
        "Rust",
        r"(?m)^.*\b(?:global_|naked_)?asm![ \t]*\(.*|"
        r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:unsafe[ \t]+)?fn[ \t]+\w+.*",
        "Compile it and see the cycles at its lines: cyclelens cc -- rustc -O --crate-type lib FILE.rs.",
    ),
    Language(
        "Python",
        r"(?m)^(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+\w|def[ \t]+\w+\(|class[ \t]+\w+[(:]).*",
        "Analyse the machine code that it holds: cyclelens analyze --hex FILE.",
    ),
    Language(
        "C or C++",
        r"(?m)^(?![ \t]*[#;/*@]).*\b(?:asm|__asm|__asm__)[ \t]*"
        r"(?:volatile|__volatile__|goto|inline)?[ \t]*[({].*|^template[ \t]*<.*|"
        r"^(?:class|struct|namespace|typedef|using)\b[^\n;]*[{;][ \t]*$|"
        r"^(?:static|inline|extern|const|unsigned|signed|struct|void|int|char|long|short|float|double|bool|"
        r"size_t|u?int\d+_t|__m\d+[di]?)\b[^\n;{}\"#]*\(.*",
        "Compile it and see the cycles at its lines: cyclelens cc -- gcc -O2 -c FILE.c.",
    ),
)
"""Texts that hold no assembly by themselves. A text with a region is none of them."""
