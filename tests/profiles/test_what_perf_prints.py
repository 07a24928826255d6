"""What `perf` prints, line by line, in the forms of several versions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.profile import CodeLocation, FileMapping, Profile


def read(tmp_path: Path, *lines: str) -> Profile:
    path = tmp_path / "profile.txt"
    path.write_text("\n".join(lines) + "\n")
    return Profiles(Caches()).of(str(path))


RUN = (CodeLocation("", 0, 0x401140), CodeLocation("", 0, 0x40115A))
NAMED = (CodeLocation("dot", 0, None), CodeLocation("dot", 0x1A, None))


@pytest.mark.parametrize(
    ("line", "run"),
    [
        ("0x40115a/0x401140/P/-/-/3  0x401150/0x401140/P/-/-/12 ", RUN),
        ("0x40115a/0x401140/M/-/-/0 0x401150/0x401140/-/-/-/0", RUN),
        (
            "p 17 9.5: 1003 branches:u: 40115a 0x40115a/0x401140/P/-/-/3/COND/- 0x1/0x401140/P/X/A/9/COND/-",
            RUN,
        ),
        (
            "0x40115a(/bin/prog)/0x401140(/bin/prog)/P/-/-/3 0x401150(/bin/prog)/0x401140(/bin/prog)/P/-/-/3",
            RUN,
        ),
        ("dot+0x1a/dot+0x0/P/-/-/3 dot+0x10/dot+0x0/P/-/-/3", NAMED),
        # As perf 6.1 writes it with a position before it (-F +brstacksym), and without a kind of branch.
        (
            "9.5: dot+0x1a (/bin/prog)dot+0x1a(/bin/prog)/dot+0x0(/bin/prog)/P/-/-/3/ dot+0x10/dot/P/-/-/3/",
            NAMED,
        ),
        ("9.5: dot+0x1a (/bin/prog) dot+0x1a/dot/PN/-/-/3/COND/- dot+0x10/dot/P/-/-/3/COND/-", NAMED),
    ],
)
def test_a_straight_run_goes_from_where_one_branch_went_to_the_next_one(
    line: str, run: tuple[CodeLocation, CodeLocation], tmp_path: Path
) -> None:
    assert read(tmp_path, line).runs == {run: 1}


def test_a_place_that_is_not_known_joins_no_runs(tmp_path: Path) -> None:
    found = read(
        tmp_path, "f+0x8/f+0x0/P/-/-/1 [unknown]/[unknown]/P/-/-/1 f+0x4/f+0x0/P/-/-/1 f+0x2/f+0x1/P/-/-/1"
    )
    assert found.runs[CodeLocation("f", 1, None), CodeLocation("f", 4, None)] == 1
    assert (CodeLocation("f", 0, None), CodeLocation("f", 8, None)) not in found.runs


def test_the_places_of_files_in_memory_are_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "  p 17  2951.475973: PERF_RECORD_MMAP2 17/17: [0x5567d34ab000(0x1000) @ 0x1000 fe:00 2146553 30]: "
        "r-xp /tmp/a b/prog",
        "  p 17  2951.476012: PERF_RECORD_MMAP 17/17: [0x7f3f0e64a000(0x2000) @ 0]: x [vdso]",
        "0x8/0x1/P/-/-/1 0x2/0x1/P/-/-/1",
    )
    assert found.mapped == (
        FileMapping(0x5567D34AB000, 0x1000, 0x1000, "/tmp/a b/prog"),
        FileMapping(0x7F3F0E64A000, 0x2000, 0, "[vdso]"),
    )


ANNOTATED = """\
 Percent |\tSource code & Disassembly of prog for {event} (200 samples, percent: local period)
-----------------------------------------------------------------------------------------------
         :
         : 3    Disassembly of section .text:
         :
         : 5    0000000000401130 <dot>:
         : 6    dot():
         : 7    case 3: a: b:
    0.00 :   401130:   xor    %eax,%eax
   25.50 :   401134:   addss  (%rdi),%xmm0
         : 9    ret:
   74.50 :   401138:   jne    401134 <dot+0x4>
 Percent |\tSource code & Disassembly of prog for {event} (10 samples, percent: local period)
-----------------------------------------------------------------------------------------------
         : 5    0000000000401200 <sum>:
  100.00 :   401200:   jmp    401200 <sum>
"""


@pytest.mark.parametrize(
    ("event", "by_instructions"), [("cycles:upp", False), ("instructions:u", True), ("cpu-clock", False)]
)
def test_percentages_become_samples(event: str, by_instructions: bool, tmp_path: Path) -> None:
    found = read(tmp_path, ANNOTATED.format(event=event))
    assert found.samples == {
        CodeLocation("dot", 4, 0x401134): 51,
        CodeLocation("dot", 8, 0x401138): 149,
        CodeLocation("sum", 0, 0x401200): 10,
    }
    assert found.by_instructions is by_instructions


def test_older_forms_and_several_events_are_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        " Percent         |      Source code & Disassembly of prog for cycles (100 samples)",
        "                 :      0000000000401130 <dot>:",
        "   12.00    1.00 :        401130:       ret",
        "   88.00   99.00 :        401134:       nop",
    )
    assert found.samples == {CodeLocation("dot", 0, 0x401130): 12, CodeLocation("dot", 4, 0x401134): 88}


def test_samples_themselves_are_taken_as_they_are(tmp_path: Path) -> None:
    text = ANNOTATED.format(event="cycles").replace(" Percent |", " Samples |").replace("25.50", "   25")
    assert read(tmp_path, text).samples[CodeLocation("dot", 4, 0x401134)] == 25


def test_a_profile_is_kept_until_its_file_holds_something_else(tmp_path: Path) -> None:
    path = tmp_path / "perf.txt"
    path.write_text(ANNOTATED)
    profiles = Profiles(Caches())
    first = profiles.of(str(path))
    assert profiles.of(str(path)) is first
    os.utime(path, ns=(1, 1))
    assert profiles.of(str(path)) is first
    copy = tmp_path / "copy.txt"
    copy.write_text(ANNOTATED)
    assert profiles.of(str(copy)) is first
    path.write_text(ANNOTATED + "\n")
    assert profiles.of(str(path)) is not first
    assert Profiles(Caches()).of(str(path)) is not profiles.of(str(path))
