"""Branches that a loop passes without jumping use the second branch unit of Haswell to Cascade Lake (D6).

Agner Fog's instruction tables have 0.5 cycles on ports 0 and 6 for a conditional branch that is not taken,
and port 6 for a taken one and for JMP.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED, ModelOptions
from cyclelens.analyzer.uops.courses import passed_branches

HASWELL_TO_CASCADE_LAKE = ["HSW", "BDW", "SKL", "SKX", "KBL", "CFL", "CLX"]
TEXT = """.intel_syntax noprefix
# cyclelens-begin k{}
.p2align 6
1: {}
 dec r15
 jnz 1b
# cyclelens-end
9: ret
"""
SEARCH = "mov eax, [rdi]\n cmp eax, 5\n je 9f\n add ebx, 1\n add rdi, 4"
SKIP = "mov eax, [rdi]\n cmp eax, 5\n je 2f\n add ebx, 1\n2: add rdi, 4"


def cycles(body: str, core: str, settings: str = "", model: ModelOptions = DEFAULT) -> float:
    options = AnalysisOptions(target=Target(microarchitectures=(core,), model=model))
    (region, *_) = Analyzer().analyze(TEXT.format(settings, body), options).regions
    return region.predictions[0].cycles_per_iteration


@pytest.mark.parametrize("core", HASWELL_TO_CASCADE_LAKE)
def test_a_branch_that_is_not_taken_runs_beside_the_branch_back(core: str) -> None:
    """Five fused uops, four of which issue in a cycle; a loop buffer adds up to a tenth."""
    assert cycles(SEARCH, core) == pytest.approx(1.25, abs=0.1)
    assert cycles("cmp dword ptr [rdi], 5\n je 9f", core) == pytest.approx(1.0, abs=0.05)


def test_the_published_model_has_one_unit() -> None:
    assert cycles(SEARCH, "SKL", model=PUBLISHED) == pytest.approx(2.0, abs=0.05)


def test_a_branch_that_jumps_within_the_loop_has_the_unit_of_the_branch_back() -> None:
    assert cycles(SKIP, "SKL", " taken=1") == pytest.approx(2.0, abs=0.05)
    assert cycles(SKIP, "SKL", " taken=0") == pytest.approx(1.25, abs=0.05)


@pytest.mark.parametrize("core", HASWELL_TO_CASCADE_LAKE)
def test_each_jump_takes_a_cycle(core: str) -> None:
    """At most one branch per cycle is taken: with the branch back, four jumps take five cycles."""
    assert cycles("jmp 2f\n2: " * 4, core) == pytest.approx(5.0, abs=0.05)


def passed(code: str, *branches: int) -> frozenset[int]:
    return passed_branches(decode(bytes.fromhex(code)), branches)


def test_distances_tell_which_branches_jump() -> None:
    whole = "74034883c00149ffcf75f5"  # je +3; add rax, 1; dec r15; jnz -11
    assert passed(whole, 0, 3) == {0}
    # The four bytes of the addition are skipped.
    skipping = "740449ffcf75f5"
    assert passed(skipping, 0, 2) == frozenset()
    # Of two branches, the second one jumps over four bytes, and the first one leaves the loop.
    assert passed("7440740449ffcf75f3", 0, 1, 3) == {0}
    # Either of the two may have jumped.
    assert passed("7404740449ffcf75f3", 0, 1, 3) == frozenset()
    # A branch to the next instruction may jump or not.
    assert passed("740049ffcf75f9", 0, 2) == frozenset()
    # A jump always does.
    assert passed("7440eb0449ffcf75f3", 0, 1, 3) == {0}


def test_calls_and_computed_jumps_have_no_distance() -> None:
    assert passed("7403e80000000049ffcf75f4", 0, 1, 3) == frozenset()
    assert passed("7403ffe049ffcf75f7", 0, 1, 3) == frozenset()
    # The last instruction is no branch.
    assert passed("740375f549ffcf", 0, 1) == frozenset()
