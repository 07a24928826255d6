"""A region keeps its decoded instructions; its bytes are decoded only once."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.isa import decoder
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, SourceOptions, Target
from cyclelens.analyzer.model.choices import Regions

TEXT = """\
# cyclelens-begin first
.Lfirst:
    vmulps %ymm0, %ymm1, %ymm2
    add $32, %rax
    cmp %rax, %rbx
    jne .Lfirst
# cyclelens-end
# cyclelens-begin second
.Lsecond:
    imul %rcx, %rdx
    dec %rsi
    jnz .Lsecond
# cyclelens-end
"""


@pytest.fixture
def decodings(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often each code of more than one instruction was decoded."""
    counts: Counter[bytes] = Counter()
    real = decoder.decode

    def counted(code: bytes, caches: Caches | None = None) -> object:
        found = real(code, caches)
        if len(found) > 1:
            counts[code] += 1
        return found

    for name, module in list(sys.modules.items()):
        ours = name.startswith("cyclelens.") and isinstance(module, ModuleType)
        if ours and getattr(module, "decode", None) is real:
            monkeypatch.setattr(module, "decode", counted)
    return counts


def test_the_bytes_of_a_region_are_decoded_once(decodings: Counter[bytes]) -> None:
    text = TEXT.replace("32", "96")
    options = AnalysisOptions(
        target=Target(microarchitectures=("SKL", "HSW", "ZEN4")), detail=Detail(alternatives=False)
    )
    codes = [each.region.code for each in Analyzer().analyze(text, options).regions]
    assert [decodings[code] for code in codes] == [1, 1]


def test_an_edit_decodes_the_region_that_it_changes(decodings: Counter[bytes]) -> None:
    analyzer, options = Analyzer(), AnalysisOptions(target=Target(microarchitectures=("SKL", "ZEN4")))
    analyzer.analyze(TEXT.replace("32", "40"), options)
    decodings.clear()
    changed = TEXT.replace("32", "48")
    codes = [each.region.code for each in analyzer.analyze(changed, options).regions]
    assert [decodings[code] for code in codes] == [1, 0]


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parents[2] / "examples").glob("*.[sS]")), ids=lambda f: f.name
)
def test_what_a_region_carries_is_what_its_bytes_are(file: Path) -> None:
    regions = assemble(file.read_text(encoding="utf-8"), SourceOptions(regions=Regions.BOTH)).regions
    assert regions
    for region in regions:
        assert region.instructions == decoder.decode(region.code)


def test_who_checks_an_assemblers_bytes_leaves_what_they_are_decoded_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: Counter[bytes] = Counter()
    real = decoder._instruction

    def counted(code: bytes, *others: Any) -> object:
        counts[code] += 1
        return real(code, *others)

    monkeypatch.setattr(decoder, "_instruction", counted)
    assemble(TEXT)
    assert set(counts.values()) == {1}
