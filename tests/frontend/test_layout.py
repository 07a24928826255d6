"""Jumps, alignment and data: the bytes that need addresses or no assembler at all."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.statements.directives import Alignment, nop_fill
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.source import AssembledFile


def test_jumps_are_short_if_they_reach(code: Callable[..., str]) -> None:
    assert code("1: nop\njmp 1b") == "90" + "ebfd"
    assert code("jne 1f\n.zero 127\n1: nop")[:4] == "757f"
    assert code("jne 1f\n.zero 128\n1: nop")[:12] == "0f8580000000"
    assert code("1: .zero 126\njne 1b")[-4:] == "7580"
    assert code("1: .zero 127\njne 1b")[-12:] == "0f857bffffff"


def test_one_growing_jump_pushes_another_out_of_reach(code: Callable[..., str]) -> None:
    # The first jump reaches only while the second is short, and that one does not reach.
    assert code("je 1f\nje 2f\n.zero 124\n1: .zero 10\n2: nop").startswith("0f8482000000" + "0f8486000000")


def test_numeric_labels_mean_the_nearest(code: Callable[..., str]) -> None:
    assert code("1: nop\n1: jmp 1b\njmp 1f\n1: nop\n1: nop") == "90" + "ebfe" + "eb00" + "90" + "90"


def test_all_kinds_of_direct_jumps(code: Callable[..., str]) -> None:
    assert code("1: loop 1b\nloopne 1b\njrcxz 1b\njecxz 1b\ncall 1b\njnae 1b\njmp .") == (
        "e2fe" + "e0fc" + "e3fa" + "67e3f7" + "e8f2ffffff" + "72f0" + "ebfe"
    )
    assert code("1: jmp short 1b\njmp near ptr 1b\ncall 1b", "intel") == "ebfe" + "ebfc" + "e8f7ffffff"


def test_jumps_by_a_number_of_bytes_are_short_if_they_reach(code: Callable[..., str]) -> None:
    assert code("jmp . + 5\njmp .-100") == "eb03" + "eb9a"
    assert code("jmp . + 129\njmp . + 130\njne . + 200") == "eb7f" + "e97d000000" + "0f85c2000000"
    assert code("jmp . - 126\njmp . - 127") == "eb80" + "e97cffffff"
    assert code("1: nop\njne 1b+1\njmp 1f - 1\n1: nop") == "90" + "75fe" + "ebff" + "90"
    assert code(".set a, 1f + 2\njmp a\n1: nop") == "eb02" + "90"
    assert code("jmp $+5\njmp $ - 1\njmp short $+4\ncall $+5", "intel") == (
        "eb03" + "ebfd" + "eb02" + "e800000000"
    )


def test_jumps_by_a_number_of_bytes_are_those_of_gnu_as(
    code: Callable[..., str], gnu_code: Callable[[str], bytes]
) -> None:
    source = random.Random(20240614)
    for _ in range(20):
        lines = ["a: nop"]
        for _ in range(25):
            place = source.choice((".", "a", "b"))
            target = f"{place} {source.choice('+-')} {source.randrange(150)}"
            lines.append(source.choice(("nop", f"jmp {target}", f"jne {target}", ".zero 9", ".p2align 3")))
        text = "\n".join([*lines, "b: ret\n"])
        assert code(text) == gnu_code(text).hex(), text


@pytest.mark.parametrize(
    ("beyond", "blocks"),
    [
        (0, [("90" + "4801c3" + "48ffc9" + "75f7", True)]),
        (1, [("90", False), ("4801c3" + "48ffc9" + "75f8", True)]),
        (2, [("90" + "4801c3" + "48ffc9" + "75f9", False)]),  # into the middle of one
    ],
)
def test_a_jump_some_bytes_behind_a_label_goes_to_the_instruction_there(
    beyond: int, blocks: list[tuple[str, bool]], region: Callable[..., AssembledFile]
) -> None:
    regions = region(f"top: nop\nadd %rax, %rbx\ndec %rcx\njnz top + {beyond}").regions
    assert [(block.code.hex(), block.ends_in_jump_to_start) for block in regions] == blocks


def test_external_targets_take_the_near_form(code: Callable[..., str]) -> None:
    assert code("call memcpy@PLT\njmp exit") == "e800000000" + "e900000000"


def test_a_loop_instruction_has_no_near_form(region: Callable[..., AssembledFile]) -> None:
    result = region("1: .zero 200\nloop 1b")
    assert [(p.line, p.code) for p in result.problems] == [(2, "branch-out-of-range")]
    assert result.regions[0].incomplete


def test_exits_from_a_region_are_as_long_as_they_really_are() -> None:
    loop = "# cyclelens-begin\n1: test %eax, %eax\njz {target}\njmp 1b\n# cyclelens-end\n"
    text = loop + "nop\n{between}\nnear: ret\n"
    short = assemble(text.format(target="near", between="nop"))
    assert [line.code.hex() for line in short.regions[0].lines] == ["85c0", "7404", "ebfa"]
    far = assemble(text.format(target="near", between=".zero 200"))
    assert far.regions[0].lines[1].code.hex().startswith("0f84")
    # For any length of an unknown instruction this exit reaches over one, and not over ten.
    few = assemble(text.format(target="near", between="frobnicate"))
    assert few.regions[0].lines[1].code.hex().startswith("74")
    assert few.problems == ()
    many = assemble(text.format(target="near", between="frobnicate\n" * 10))
    assert many.regions[0].incomplete
    assert [(p.line, p.code) for p in many.problems] == [(2, "unknown-size")]


@pytest.mark.parametrize(("distance", "code"), [(60, "7f11"), (180, ""), (250, "0f8fcb000000")])
def test_a_distance_across_a_jump_may_depend_on_unknown_sizes(distance: int, code: str) -> None:
    text = f"back: frobnicate\n# cyclelens-begin\nnop\n.zero 40\njg back+{distance}\n# cyclelens-end\n"
    found = assemble(text)
    assert found.regions[0].incomplete == (not code)
    if code:
        assert found.regions[0].lines[-1].code.hex() == code


def test_a_jump_over_a_doubtful_jump_is_doubtful_where_that_decides() -> None:
    loop = "# cyclelens-begin\njz far\n.zero 100\njz back\n# cyclelens-end\n.zero 12\nfrobnicate\nfar: nop\n"
    for before, doubtful in ((20, [2]), (24, [2, 4]), (30, [2])):
        found = assemble(f"back: .zero {before}\n" + loop)
        assert [problem.line for problem in found.problems if problem.code == "unknown-size"] == doubtful


def test_code_behind_a_jump_with_an_unknown_target_has_a_doubtful_offset() -> None:
    text = "a = elsewhere + c\nje near + c\n# cyclelens-begin\nnop\n.p2align 3\nnear: nop\n# cyclelens-end\n"
    assert assemble(f"{text}c = 4\n").regions[0].code.hex() == "90" + "0f1f440000" + "90"
    refused = assemble(f"{text}c = . - near\n", SourceOptions(allow_external_programs=False))
    assert [(problem.line, problem.code) for problem in refused.problems] == [(4, "unknown-size")]


@pytest.mark.parametrize("between", [123, 124, 127, 128])
def test_a_jump_of_unknown_size_says_nothing_about_one_behind_it(
    region: Callable[..., AssembledFile], between: int
) -> None:
    """Its end and its target move alike."""
    text = f"start: je far + c\nfar: jne near\n.fill {between}, 1, 0x90\nnear: nop\nc = far - start"
    result = region(text)
    assert [problem.line for problem in result.problems] == [1]
    jump = f"75{between:02x}" if between < 128 else "0f8580000000"
    assert "".join(part.code.hex() for part in result.regions) == jump + "90" * (between + 1)


@pytest.mark.parametrize(("between", "first"), [(80, "74"), (110, ""), (140, "0f84")])
def test_unknown_sizes_may_keep_a_nasm_jump_long_through_an_alignment(between: int, first: str) -> None:
    nops = "nop\n" * between
    region = f"; cyclelens-begin\nje there\n{nops}; cyclelens-end\n"
    found = assemble(
        f"{region}align 16\nshl word [rsi+rcx*2+c], 1\nthere: nop\nc equ 7\n",
        SourceOptions(syntax=Syntax.INTEL, allow_external_programs=False),
    )
    assert found.regions[0].incomplete == (not first)
    if first:
        assert found.regions[0].lines[0].code.hex().startswith(first)


@pytest.mark.parametrize("count", [0, 1, 9, 11, 12, 22, 63, 77])
def test_fill_is_made_of_long_nops(count: int) -> None:
    fill = nop_fill(count)
    assert len(fill) == count
    assert fill[:11] in (b"\x66\x66\x2e\x0f\x1f\x84\0\0\0\0\0", fill) or count < 11


def test_much_fill_is_jumped_over() -> None:
    assert nop_fill(106)[:2] == bytes([0xEB, 104])
    assert nop_fill(255)[:5] == bytes([0xE9, 250, 0, 0, 0])


def test_alignment_inside_a_region_counts_from_its_start(code: Callable[..., str]) -> None:
    assert code("nop\n.p2align 2\nret") == "90" + "0f1f00" + "c3"
    assert code("nop\n.balign 4, 0xcc\nret") == "90" + "cccccc" + "c3"
    assert code("nop\n.p2align 4,,10\nret") == "90" + "c3"
    assert code("nop\n.align 4\nret") == "90" + "0f1f00" + "c3"
    assert Alignment(16, maximum=15).padding(1) == nop_fill(15)


def test_alignment_inside_a_region_counts_from_an_alignment_before_it() -> None:
    text = ".p2align 4\nnop\nnop\nnop\n# cyclelens-begin\nnop\n.p2align 3\nret\n# cyclelens-end\n"
    assert assemble(text).regions[0].code.hex() == "90" + "0f1f4000" + "c3"


def test_alignment_before_the_first_instruction_precedes_the_region() -> None:
    text = "nop\n# cyclelens-begin\n.p2align 4\n1: nop\njmp 1b\n# cyclelens-end\n"
    region = assemble(text).regions[0]
    assert region.code.hex() == "90ebfd"
    assert region.ends_in_jump_to_start


DATA = [
    (".byte 1, 0x66, 'a', -1", "016661ff"),
    (".word 0x1234; .short 1; .value 2", "341201000200"),
    (".long 1, 2", "0100000002000000"),
    (".quad 0x123456789abcdef0", "f0debc9a78563412"),
    ('.ascii "a\\n", "\\x41\\102"', "610a4142"),
    ('.asciz "a;b # c"', "613b622023206300"),
    ('.string "a"', "6100"),
    (".zero 3", "000000"),
    (".skip 2, 0x90", "9090"),
    (".fill 2, 2, 0x1234", "34123412"),
    (".float 1.5", "0000c03f"),
    (".double 1.0", "000000000000f03f"),
]


@pytest.mark.parametrize(("text", "expected"), DATA, ids=[case[0] for case in DATA])
def test_data(code: Callable[..., str], text: str, expected: str) -> None:
    assert code(text) == expected


def test_data_of_other_sections_is_not_part_of_the_code(code: Callable[..., str]) -> None:
    assert code("nop\n.section .rodata\n.long 1\n.text\nnop") == "9090"
    assert code("nop\n.pushsection .data\n.long 1\n.popsection\nnop") == "9090"


def test_repeated_lines_are_unrolled(code: Callable[..., str]) -> None:
    assert code(".rept 3\nnop\n.endr\nret") == "909090c3"
    assert code(".set N, 2\n.rept N\n.rept N\nnop\n.endr\nret\n.endr") == "9090c3" * 2


LOOPS = [
    ("begin\n1: nop\njnz 1b\nend", True),
    ("1:\nbegin\nnop\njnz 1b\nend", True),
    ("a: b: begin\nc: nop\njmp a\nend", True),
    ("begin\n1: nop\nloop 1b\nend", True),
    ("begin\n1: nop\njnz 1b\n.cfi_endproc\nend", True),
    ("1: nop\nbegin\nnop\njnz 1b\nend", False),
    ("begin\nnop\n1: nop\njnz 1b\nend", False),
    ("begin\n1: nop\ncall 1b\nend", False),
    ("begin\n1: nop\njnz 2f\nend\n2: ret", False),
    ("begin\nnop\njnz elsewhere\nend", False),
]


@pytest.mark.parametrize(("text", "expected"), LOOPS, ids=[case[0].replace("\n", " ") for case in LOOPS])
def test_a_region_that_jumps_to_its_start_is_a_loop(text: str, expected: bool) -> None:
    marked = text.replace("begin", "/* cyclelens-begin */").replace("end", "/* cyclelens-end */", -1)
    marked = marked.replace(".cfi_/* cyclelens-end */proc", ".cfi_endproc")
    assert assemble(marked).regions[0].ends_in_jump_to_start is expected


def test_an_alignment_in_a_loop_is_filled_as_the_whole_section_asks(
    gnu_code: Callable[[str], bytes],
) -> None:
    # Where the fill begins depends on jumps to places in front of the loop and behind it.
    text = """
    .p2align 4
    f:  test %rdi, %rdi
        jz .Lfar
        jmp .Lnear
    .Lloop:
        dec %rdi
        jz .Lnear
        .p2align 4
        add (%rsi), %rax
        jnz .Lloop
    .Lnear:
        .fill 100, 1, 0x90
    .Lfar:
        ret
    """
    (region,) = assemble(text, SourceOptions(regions=Regions.LOOPS)).regions
    assert region.code in gnu_code(text)
    assert len(region.code) > 12


def test_characters_of_strings_have_the_width_in_the_name(code: Callable[..., str]) -> None:
    for bits in (8, 16, 32, 64):
        zeros = "00" * (bits // 8 - 1)
        assert code(f'jmp 1f\n.string{bits} "ab"\n1: nop').endswith(f"61{zeros}62{zeros}00{zeros}90")


def test_repetition_has_a_prefix_for_either_state_of_the_zero_flag(code: Callable[..., str]) -> None:
    assert code("repnz scasb\nrepne cmpsb\nrepz cmpsb\nrepe scasb\nrep movsb") == "f2aef2a6f3a6f3aef3a4"


def test_short_jumps_reach_from_128_bytes_before_to_127_behind(code: Callable[..., str]) -> None:
    assert code("jmp 1f\n.zero 127\n1: nop").startswith("eb7f")
    assert code("jmp 1f\n.zero 128\n1: nop").startswith("e980000000")
    assert code("1: .zero 126\njmp 1b").endswith("eb80")
    assert code("1: .zero 127\njmp 1b").endswith("e97cffffff")


@pytest.mark.parametrize(("between", "known"), [(121, True), (123, False), (125, False), (126, True)])
def test_a_jump_of_unknown_size_has_at_least_two_bytes(
    region: Callable[..., AssembledFile], between: int, known: bool
) -> None:
    """Over a jump of two or five bytes, another one is certainly short with up to 122 others, and certainly
    long from 126."""
    text = f"jmp x\n.skip {between}, 0x90\njmp y\nx: nop\n.set y, 3 3\n"
    assert ((1, "unknown-size") not in {(each.line, each.code) for each in region(text).problems}) is known
