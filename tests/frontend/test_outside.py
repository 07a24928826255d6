"""Whatever a text tries, no file outside the workspace is read or shown.

Each text is analysed as the kernel confines the programs, where the kernel has reported every opening of the
secret; and once more as on a machine that cannot do that, where nothing of it may show.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import re
import shutil
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.assemblers import confinement
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Regions
from cyclelens.analyzer.model.source import AssembledFile, Origin

REFUSED = """\
topsecret_line_one mov
#define topsecret 0x5ec2e7
%define topsecret 0x5ec2e7
%error topsecret
.err "topsecret"
"""
ACCEPTED = {
    "nasm": "topsecret: mov eax, 0x5ec2e7\n jmp topsecret\n",
    "gas": "topsecret: mov $0x5ec2e7, %eax\n jmp topsecret\n",
    "c": "topsecret: mov $0x5ec2e7, %eax\n jmp topsecret\n",
}
"""What is secret, as assemblers take it and do not take it."""
TOKENS = ("topsecret_line", "5ec2e7", "e7c25e", "6210279", "topsecret:", "topsecret mov")
"""What only who has read the secret can know."""
LOOP = {
    "nasm": "bits 64\n%macro q 0\n nop\n%endmacro\n q\n.L1: addps xmm0,xmm1\n dec ecx\n jnz .L1\n",
    "gas": ".L1: addps %xmm0,%xmm1\n dec %ecx\n jnz .L1\n",
    "c": "#define ADD addps\n.L1: ADD %xmm0,%xmm1\n dec %ecx\n jnz .L1\n",
}
NAMES = {"nasm": "k.asm", "gas": "k.s", "c": "k.S"}
PROGRAMS = {"nasm": "nasm", "gas": "as", "c": "cc"}

REPRODUCERS = Path(__file__).resolve().parents[3] / "shared" / "findings" / "repro"
OUTSIDE = re.compile(r"/somewhere/outside/[\w.]+")

Watch = Callable[[], int]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A workspace beside a file that is none of its files; links and an own file lead there."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    place = tmp_path / "secret"
    place.write_text(REFUSED)
    os.symlink(place, folder / "link")
    (folder / "inner").write_text(f'%include "{place}"\n')
    return place


@pytest.fixture
def openings(secret: Path) -> Iterator[Watch]:
    """How often any process has opened the secret so far."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells who opens a file")
    library = ctypes.CDLL(None, use_errno=True)
    number = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    opened = 0x20
    assert library.inotify_add_watch(number, os.fsencode(secret), opened) > 0
    count = 0

    def ask() -> int:
        nonlocal count
        with contextlib.suppress(BlockingIOError):
            count += len(os.read(number, 1 << 16)) // struct.calcsize("iIII")
        return count

    yield ask
    os.close(number)


def analyse(text: str, language: str, secret: Path) -> AssembledFile:
    folder = secret.parent / "workspace"
    origin = Origin(str(folder / NAMES[language]), (str(folder),))
    wanted = Assembler.AUTO if language == "c" else Assembler(language)
    return assemble(text, SourceOptions(regions=Regions.LOOPS, assembler=wanted, origin=origin))


def shown(result: AssembledFile) -> str:
    codes = [line.code.hex() for region in result.regions for line in region.lines]
    return f"{result!r} {codes}".lower()


NASM = {
    "braces": '%{{include}} "{0}"',
    "braces, required": '%{{require}} "{0}"',
    "braces in a repetition": '%rep 1\n%{{include "{0}"}}\n%endrep',
    "half of the word is an argument": '%macro z 1\n%1clude "{0}"\n%endmacro\n z %in',
    "a percent sign that is expanded": '%[%]include "{0}"',
    "a string as a word": "%substr s '%include' 1,8\n%deftok d s\n d \"{0}\"",
    "words put together": '%define a %inc\n%define b lude\na %+ b "{0}"',
    "only asked for": '%pathsearch f "{0}"\n%ifidn f,"{0}"\n%error topsecret: there\n%endif',
    "a dependency": '%depend "{0}"',
    "data": 'incbin "{0}"',
    "data, by the argument of a macro": '%macro z 1\ninc%1 "{0}"\n%endmacro\nz bin',
    "in an alignment": 'align 16, %include "{0}"',
    "in the assembler's passes": '%if $-$$ > 0\n%{{include}} "{0}"\n%endif',
    "in its second pass": '%assign l __LINE__\n%if __?PASS?__ == 2\n%[%]include "{0}"\n%endif',
    "in an own file": '%include "inner"',
    "a link": '%{{include}} "link"',
}
GAS = {
    "half of the word is an argument": '.macro m a b\n.\\a\\()\\b "{0}"\n.endm\nm inc lude',
    "a letter is an argument": '.irpc c,e\n.includ\\c "{0}"\n.endr',
    "the word is an argument": '.irp w,include\n.\\w "{0}"\n.endr',
    "data, by the argument of a macro": '.macro m a\n.\\a "{0}"\n.endm\nm incbin',
    "alternate macros": '.altmacro\n.macro m a\n.inc&a "{0}"\n.endm\nm lude',
    "twice": '.macro m a\n.\\a "{0}"\n.endm\n.rept 2\nm include\n.endr',
    "under the name of the text": '.file "input.s"\n.irp w,include\n.\\w "{0}"\n.endr',
    "as the place of the text": '# 1 "{0}"\n nop\n.irp w,linefile\n.\\w 1 "{0}"\n.endr\n nop',
    "a link": '.irp w,include\n.\\w "link"\n.endr',
}
C = {
    "lines joined by a form feed": '#inc\\\f\nlude "{0}"',
    "lines joined by a tab": '#inc\\\v\nlude "{0}"',
    "a trigraph": '#inc??/\nlude "{0}"',
    "put together": '#define J(a,b) a##b\n#define N "{0}"\n#include N',
    "only asked for": '#if __has_include("{0}")\n#error topsecret: there\n#endif',
    "embedded": '#embed "{0}"',
    "a dependency": '#pragma GCC dependency "{0}"',
    "a dependency, within a line": '_Pragma("GCC dependency \\"{0}\\"")',
    "as a header of the system": '# 1 "x.h" 1 3\n#include "{0}"',
    "a link": "#include <link>",
}
CASES = [
    pytest.param(language, text, id=f"{language}: {name}")
    for language, texts in (("nasm", NASM), ("gas", GAS), ("c", C))
    for name, text in texts.items()
]


@pytest.mark.parametrize(("language", "text"), CASES)
def test_no_trick_reads_or_shows_the_secret(
    language: str, text: str, secret: Path, openings: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(PROGRAMS[language]) is None:
        pytest.skip(f"{PROGRAMS[language]} is not on PATH")
    check(LOOP[language] + text.format(secret) + "\n", language, secret, openings, monkeypatch)


@pytest.mark.skipif(not REPRODUCERS.is_dir(), reason=f"{REPRODUCERS} is not here")
@pytest.mark.parametrize("name", ["m1.asm", "m2.asm", "m4.asm", "n40.asm", "g1.s"])
def test_no_reproducer_reads_or_shows_the_secret(
    name: str, secret: Path, openings: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = "gas" if name.endswith(".s") else "nasm"
    if shutil.which(PROGRAMS[language]) is None:
        pytest.skip(f"{PROGRAMS[language]} is not on PATH")
    text, count = OUTSIDE.subn(str(secret), (REPRODUCERS / name).read_text())
    assert count == 1
    check(text, language, secret, openings, monkeypatch)


def check(text: str, language: str, secret: Path, openings: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, content in enumerate((REFUSED, ACCEPTED[language])):
        secret.write_text(content)
        before = openings()
        # Never the same text twice: nothing is to be remembered.
        result = analyse(text + "\n" * number, language, secret)
        assert not [token for token in TOKENS if token in shown(result)], text
        if confinement.version():
            assert openings() == before, text
        with monkeypatch.context() as patch:
            patch.setattr(confinement, "version", lambda: 0)
            result = analyse(text + "\n" * number + " \n", language, secret)
        assert not [token for token in TOKENS if token in shown(result)], text


SPELLINGS = {
    "nasm": ["%{word}", "%{{{word}}}", "%[word]", "%[%]{word}", "% {word}", "%{word}\\\n"],
    "gas": [".{word}"],
    "c": ["#{word}", "# {word}", "%:{word}", "#/**/{word}", "#\\\n{word}", "#{word} \\\n"],
}
WORDS = {
    "nasm": ["include", "INCLUDE", "require", "incbin", "depend"],
    "gas": ["include", "INCLUDE", "incbin"],
    "c": ["include", "include_next", "import", "embed"],
}
WRAPPINGS = {
    "nasm": [
        "{0}",
        "%rep 1\n{0}\n%endrep",
        "%if 1\n{0}\n%endif",
        "%macro w 0\n{0}\n%endmacro\nw",
        "%macro w 1+\n%1\n%endmacro\nw {0}",
        "%define w {0}\nw",
        "%xdefine w {0}\n%[w]",
        "%defstr s {0}\n%deftok t s\nt",
        "[%[w]]\n{0}",
    ],
    "gas": [
        "{0}",
        ".rept 1\n{0}\n.endr",
        ".if 1\n{0}\n.endif",
        ".macro w\n{0}\n.endm\nw",
        ".irp w,1\n{0}\n.endr",
        "nop; {0}",
        ".altmacro\n{0}",
    ],
    "c": ["{0}", "#if 1\n{0}\n#endif", "/* */ {0}", "#define W nop\n{0}", "#ifdef NO\n#else\n{0}\n#endif"],
}


def cut(word: str, language: str, choose: random.Random) -> tuple[str, str]:
    """A word put together from two parts, and what must stand in front for that."""
    at = choose.randrange(1, len(word))
    first, second = word[:at], word[at:]
    if language == "nasm":
        ways = [
            (f"%define p %+ {second}\n", f"{first}%[p]"),
            (f"%define p {first}\n%define r {second}\n", "%[p]%[r]"),
            (f"%strcat s '{first}','{second}'\n%deftok p s\n", "%[p]"),
            ("", f"{first}\\\n{second}"),
        ]
    elif language == "gas":
        ways = [
            (f'.macro x a\n.{first}\\a "NAME"\n.endm\n', f"x {second} #"),
            ('.macro x a b\n.\\a\\()\\b "NAME"\n.endm\n', f"x {first} {second} #"),
            (f'.macro x a={second}\n.{first}\\()\\a "NAME"\n.endm\n', "x #"),
        ]
    else:
        ways = [("", f"{first}\\\n{second}"), ("", f"{first}\\ \n{second}"), ("", f"{first}\\\f\n{second}")]
    return choose.choice(ways)


def variant(language: str, choose: random.Random, secret: Path) -> str:
    """A text that tries to include the secret, put together at random; not all of them mean anything."""
    word = choose.choice(WORDS[language])
    name = choose.choice([str(secret), "../secret", "link", "./../secret", f"{secret.parent}/./secret"])
    before, spelled = "", word
    if choose.random() < 0.6:
        before, spelled = cut(word, language, choose)
    spelling = choose.choice(SPELLINGS[language])
    if not (word == "incbin" and language == "nasm") and not spelled.startswith("x "):
        spelled = spelling.replace("{word}", spelled).replace("{{", "{").replace("}}", "}")
    line = f'{spelled} "{name}"'
    if language == "nasm" and choose.random() < 0.3:
        before += f'%define f "{name}"\n'
        line = f"{spelled} f"
    text = choose.choice(WRAPPINGS[language]).replace("{0}", line)
    return LOOP[language] + (before + text).replace("NAME", name) + "\n"


@pytest.mark.parametrize("language", ["nasm", "gas", "c"])
def test_no_text_that_is_put_together_at_random_reads_or_shows_the_secret(
    language: str, secret: Path, openings: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(PROGRAMS[language]) is None:
        pytest.skip(f"{PROGRAMS[language]} is not on PATH")
    choose = random.Random(f"outside {language}")
    for _ in range(30):
        check(variant(language, choose, secret), language, secret, openings, monkeypatch)
