"""Updates the tables of docs/accuracy.md and zen5.md: ``python benchmarks/accuracy_tables.py FOLDER``.

FOLDER holds ``reference/throughput-dev.csv``, ``reference/throughput-tgl.csv``, ``reference/kernels.csv``,
``reference/alignment.csv``, ``measured/bhive-dev.csv``, ``measured/redwood-cove-dev.csv``,
``measured/redwood-cove-cases.csv`` and the files ``measured/zen5-*.csv``. They are not part of the project.
It takes some minutes; ``--limit`` takes fewer blocks of each file, ``--only`` makes some of the tables, and
``--output`` writes to another folder.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import zen5_sets
from accuracy_rules import (
    ABLATIONS,
    CASE_RULES,
    MODELS,
    OTHER_TOOLS,
    REDWOOD_COVE,
    REDWOOD_COVE_OPTIONS,
    REDWOOD_COVE_RULES,
    ZEN_3,
    ZEN_3_CORES,
    ZEN_3_OTHERS,
    ZEN_3_RULES,
    ZEN_4,
    ZEN_4_CORES,
    ZEN_4_RULES,
    ZEN_5,
    ZEN_5_CORES,
    ZEN_5_ONE_PAGE,
    ZEN_5_OPTIONS,
    ZEN_5_OTHERS,
    ZEN_5_RULES,
)
from cyclelens.analyzer.evaluation.blocks import BlockBuilder, Unpredictable
from cyclelens.analyzer.evaluation.datasets import Sample, Selection, read_kernels, read_samples
from cyclelens.analyzer.evaluation.metrics import kendall_tau, mean_error, share_equal, share_within
from cyclelens.analyzer.evaluation.predictions import Cache, default_jobs, predict_all
from cyclelens.analyzer.model.choices import Pointers, Repetition
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED, ModelOptions
from msgspec.structs import replace

DOCUMENTS = Path(__file__).parents[1] / "docs"
TABLES_ELSEWHERE = {"zen5_errors": "zen5.md"}
"""Documents of the tables that are not in ``accuracy.md``."""


STRAIGHT_AND_LOOP = (Repetition.UNROLL, Repetition.LOOP)
ZEN_5_MODES = (Repetition.UNROLL, Repetition.COPIES, Repetition.LOOP)


ZEN_5_SHARE = 20
"""One figure in this many is predicted for each row of the table of rules; each block has three figures."""


CASE_MODES = {"M": Repetition.UNROLL, "L": Repetition.LOOP, "D": Repetition.COPIES}


ABLATED_SHARE = 5
"""One block in this many of the reference set is predicted for each ablation."""


Pairs = list[tuple[float, float]]


class Study:
    """Predictions of one set of blocks under various model options."""

    def __init__(self, samples: Sequence[Sample], jobs: int) -> None:
        self.samples = samples
        self._jobs = jobs
        self._known: dict[ModelOptions, Cache] = {}

    def pairs(self, options: ModelOptions, wanted: Callable[[Sample], bool] = lambda _: True) -> Pairs:
        """Predicted and true cycles of the selected samples."""
        cache = self._known.get(options)
        if cache is None:
            cache = self._known[options] = Cache(None, "", options)
            predict_all(self.samples, cache, jobs=self._jobs, progress=sys.stderr.isatty(), options=options)
        found = (
            (cache.results[sample.key].cycles, sample.cycles) for sample in self.samples if wanted(sample)
        )
        return [(cycles, truth) for cycles, truth in found if cycles is not None]

    def microarchitectures(self) -> tuple[str, ...]:
        """Microarchitectures of the samples, in order of appearance."""
        return tuple(dict.fromkeys(sample.microarchitecture for sample in self.samples))


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def tau(pairs: Pairs) -> str:
    value = kendall_tau(pairs)
    return "-" if value is None else f"{value:.3f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def of(name: str | None = None, mode: str | None = None) -> Callable[[Sample], bool]:
    """A filter for samples of a microarchitecture and a mode; None matches any."""
    return lambda sample: name in (None, sample.microarchitecture) and mode in (None, sample.mode)


def agreement(*sets: Study) -> str:
    """Agreement with the reference sets, by microarchitecture and mode."""
    rows = []
    for study in sets:
        for name in study.microarchitectures():
            for mode in STRAIGHT_AND_LOOP:
                pairs = study.pairs(PUBLISHED, of(name, mode))
                shares = (percent(share_equal(pairs)), percent(share_within(pairs, 0.01)))
                rows.append((name, mode, str(len(pairs)), *shares))
    return table(("microarchitecture", "mode", "blocks", "equal %", "within 1 %"), rows)


def small_sets(sets: dict[str, Study]) -> str:
    """Agreement with the other reference files."""
    rows = []
    for name, study in sets.items():
        pairs = study.pairs(PUBLISHED)
        rows.append((name, str(len(pairs)), percent(share_equal(pairs))))
    return table(("file", "figures", "equal %"), rows)


def both_models(sets: dict[str, tuple[Study, Pointers]]) -> str:
    """Error of the default and the published model against all measured sets."""
    rows = []
    for title, (study, assume) in sets.items():
        for name in study.microarchitectures():
            modes = {sample.mode for sample in study.samples}
            for mode in (each for each in ZEN_5_MODES if each in modes):
                cells = []
                for options in (DEFAULT, PUBLISHED):
                    pairs = study.pairs(replace(options, assume=assume), of(name, mode))
                    cells.append(f"{percent(mean_error(pairs))} / {tau(pairs)}")
                rows.append((title, name, mode, str(len(pairs)), *cells))
    return table(("measured blocks", "core", "mode", "figures", "`hardware`", "`uica`"), rows)


def measured(study: Study) -> str:
    """Error and rank correlation of every model against hardware."""
    names = study.microarchitectures()
    rows = []
    references = [(s.microarchitecture, s.reference, s.cycles) for s in study.samples if s.reference]
    by_name: list[Pairs] = [[(r, c) for m, r, c in references if m == name] for name in names]
    rows.append(("reference figures", by_name, [(r, c) for _, r, c in references]))
    for title, options in MODELS.items():
        split = [study.pairs(options, of(name)) for name in names]
        rows.append((title, split, study.pairs(options)))
    return table(
        ("model", *(f"{name} error % / tau" for name in names), "all"),
        (
            (title, *(f"{percent(mean_error(pairs))} / {tau(pairs)}" for pairs in (*split, whole)))
            for title, split, whole in rows
        ),
    )


def ablations(bhive: Study, reference: Study) -> str:
    """Effect of every part of the model: error against hardware, deviation from the reference."""
    names = bhive.microarchitectures()
    rows = []
    for title, options in ABLATIONS.items():
        cells = []
        for name in names:
            pairs = bhive.pairs(options, of(name))
            cells.append(f"{percent(mean_error(pairs))} / {tau(pairs)}")
        for mode in STRAIGHT_AND_LOOP:
            pairs = reference.pairs(options, of(mode=mode))
            cells.append(f"{percent(mean_error(pairs))} / {tau(pairs)}")
        rows.append((title, *cells))
    header = (
        "model",
        *(f"measured {name}" for name in names),
        *(f"reference, {mode}" for mode in STRAIGHT_AND_LOOP),
    )
    return table(header, rows)


def redwood_cove(samples: Sequence[Sample]) -> str:
    """Effect of every Redwood Cove rule, and the errors of other tools."""
    rows = []
    for title, changes in REDWOOD_COVE_RULES.items():
        core = replace(REDWOOD_COVE, **changes)
        builder = BlockBuilder(REDWOOD_COVE_OPTIONS)
        cells = []
        for mode in STRAIGHT_AND_LOOP:
            pairs = pairs_of(builder, (sample for sample in samples if sample.mode == mode), core)
            cells.append(f"{percent(mean_error(pairs))} / {percent(share_within(pairs, 0.05))}")
        rows.append((title, *cells))
    rows += [(title, *(f"{error} / -" for error in errors)) for title, errors in OTHER_TOOLS.items()]
    return table(("model", *(f"{mode}: error %, within 5 %" for mode in STRAIGHT_AND_LOOP)), rows)


def zen_rules(
    core: Microarchitecture,
    rules: dict[str, dict[str, Any]],
    cores: dict[str, Microarchitecture],
    others: Mapping[str, tuple[str, ...]],
    general: Sequence[Sample],
    vectors: Sequence[Sample],
) -> str:
    """Effect of the rules of a core of macro-ops on a sample of the blocks, and errors of other tools."""
    own = core.macro_ops
    assert own is not None
    changed = {title: replace(core, macro_ops=replace(own, **changes)) for title, changes in rules.items()}
    builder = BlockBuilder(ZEN_5_OPTIONS)
    rows = []
    for title, model in (changed | cores).items():
        cells = []
        for samples in (general, vectors):
            for mode in ZEN_5_MODES:
                pairs = pairs_of(builder, (sample for sample in samples if sample.mode == mode), model)
                cells.append(f"{percent(mean_error(pairs))} / {percent(share_within(pairs, 0.05))}")
        rows.append((title, *cells))
    rows += [(title, *errors) for title, errors in others.items()]
    header = (f"{kind}, {mode}" for kind in ("general", "vector code") for mode in ZEN_5_MODES)
    return table(("model (error %, within 5 %)", *header), rows)


def predicted(builder: BlockBuilder, sample: Sample, core: Microarchitecture | None = None) -> float:
    """Predicted cycles per copy of a sample's code."""
    return builder.simulate(sample, core)[1].cycles_per_iteration / builder.copies(sample)


def pairs_of(
    builder: BlockBuilder, samples: Iterable[Sample], core: Microarchitecture | None = None
) -> Pairs:
    """Predicted and measured cycles of the samples that have a figure."""
    pairs = []
    for sample in samples:
        with suppress(Unpredictable):
            pairs.append((predicted(builder, sample, core), sample.cycles))
    return pairs


def zen_5_errors(general: Sequence[Sample], vectors: Sequence[Sample]) -> str:
    """Error on all figures, and the effect of the rules for the measuring harness."""
    rows = []
    for title, samples, options in (
        ("general code", general, ZEN_5_OPTIONS),
        ("the same, `--harness one-page` (M22)", general, ZEN_5_ONE_PAGE),
        ("vectorised and hand-written code", vectors, ZEN_5_OPTIONS),
    ):
        builder = BlockBuilder(options)
        cells = []
        for mode in ZEN_5_MODES:
            pairs = pairs_of(builder, (each for each in samples if each.mode == mode))
            shares = (percent(mean_error(pairs)), percent(share_within(pairs, 0.05)))
            cells.append(f"{len(pairs)}: {shares[0]} / {shares[1]}")
        rows.append((title, *cells))
    names = ("straight-line code", "copies in a loop (op cache)", "loop")
    return table(("figures: error %, within 5 %", *names), rows)


def zen_5_widths(vectors: Sequence[Sample]) -> str:
    """Error on vector code by the widest vectors in it."""
    builder = BlockBuilder(ZEN_5_OPTIONS)
    pairs: dict[tuple[str, str], Pairs] = {}
    for sample in vectors:
        pairs.setdefault((sample.width, sample.mode), []).extend(pairs_of(builder, [sample]))
    rows = []
    for width in dict.fromkeys(width for width, _ in pairs):
        own = [pairs.get((width, mode), []) for mode in ZEN_5_MODES]
        cells = (
            f"{len(each)}: {percent(mean_error(each))} / {percent(share_within(each, 0.05))}" for each in own
        )
        rows.append((width or "none", *cells))
    return table(("width", *(f"{mode}: figures, error %, within 5 %" for mode in ZEN_5_MODES)), rows)


def zen_5_sets(folder: Path) -> str:
    """Error on small cases and on loops that are named by their code."""
    builder = BlockBuilder(ModelOptions())
    sets = {
        "windows of the op cache, two": zen5_sets.grid(folder / "zen5-opcache-grid.csv"),
        "windows of the op cache, three": zen5_sets.grid(folder / "zen5-opcache-grid3.csv"),
        "loops at 64 offsets": zen5_sets.alignments(folder / "zen5-alignment.csv"),
        "small cases": zen5_sets.cases(folder / "zen5-cases.csv", BlockBuilder()),
    }
    rows = []
    for title, cases in sets.items():
        groups: dict[str, Pairs] = {}
        for case in cases:
            groups.setdefault(case.group, []).append((predicted(builder, case.sample), case.sample.cycles))
        for group, pairs in groups.items():
            shares = (percent(mean_error(pairs)), percent(share_within(pairs, 0.05)))
            rows.append((title, group, str(len(pairs)), *shares))
    return table(("set", "of these", "figures", "error %", "within 5 %"), rows)


def known_cases(path: Path) -> str:
    """Measured and predicted cases whose figure follows from published facts."""
    builder = BlockBuilder(REDWOOD_COVE_OPTIONS)
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for case in csv.DictReader(file):
            mode = CASE_MODES[case["mode"]]
            sample = Sample(case["hex"], REDWOOD_COVE.name, mode, float(case["measured"]))
            cycles = builder.simulate(sample)[1].cycles_per_iteration / builder.copies(sample)
            far = abs(cycles - sample.cycles) > 0.05 * sample.cycles
            name = case["case"].replace("|", "\\|")
            figures = (case["expected"], case["measured"], f"{cycles:.4f}")
            shown = (f"{float(figure):.2f}" for figure in figures)
            rule = next((rule for begin, rule in CASE_RULES.items() if re.match(begin, name)), "U1")
            rows.append((name, mode, *shown, rule, "differs" if far else ""))
    return table(("case", "mode", "expected", "measured", "GNR", "rule", ""), rows)


def _filled(content: str, found: re.Match[str]) -> str:
    return f"{found[1]}{content}\n{found[2]}"


def fill(text: str, tables: dict[str, str]) -> str:
    """The document with the text between its markers replaced."""
    for name, content in tables.items():
        pattern = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"the document has no place for the table '{name}'")
        text = pattern.sub(partial(_filled, content), text)
    return text


def by_document(tables: dict[str, str]) -> dict[str, dict[str, str]]:
    """The tables of each document."""
    found: dict[str, dict[str, str]] = {}
    for name, content in tables.items():
        found.setdefault(TABLES_ELSEWHERE.get(name, "accuracy.md"), {})[name] = content
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--limit", type=int)
    parser.add_argument("--only", metavar="TABLE", nargs="+", help="make these alone: zen5_rules ...")
    parser.add_argument("--output", type=Path, default=DOCUMENTS)
    arguments = parser.parse_args()
    reference = arguments.folder / "reference"
    kernels = {name: code for name, (code, _) in read_kernels(reference / "kernels.csv").items()}

    def study(path: Path) -> Study:
        samples = read_samples(path, Selection(kernels=kernels))
        step = 1 if arguments.limit is None else max(1, len(samples) // arguments.limit)
        return Study(samples[::step], arguments.jobs)

    bhive = study(arguments.folder / "measured" / "bhive-dev.csv")
    blocks = study(reference / "throughput-dev.csv")
    tiger_lake = study(reference / "throughput-tgl.csv")
    small = {f"`{name}`": study(reference / name) for name in ("kernels.csv", "alignment.csv")}
    measured_there = arguments.folder / "measured"
    redwood = read_samples(
        measured_there / "redwood-cove-dev.csv", Selection(microarchitectures=(REDWOOD_COVE.name,))
    )
    step = 1 if arguments.limit is None else max(1, len(redwood) // arguments.limit)
    general = read_samples(measured_there / "zen5-dev.csv", Selection(microarchitectures=(ZEN_5.name,)))
    exactly = Selection(microarchitectures=(ZEN_5.name,), max_spread=0.05, max_pages=12)
    exact = read_samples(measured_there / "zen5-dev.csv", exactly)
    vectors = read_samples(measured_there / "zen5-kernels-dev.csv", exactly)
    few = step * ZEN_5_SHARE
    makers: dict[str, Callable[[], str]] = {
        "both_models": lambda: both_models(
            {
                "BHive": (bhive, Pointers.DIFFERENT),
                "Redwood Cove": (Study(redwood[::step], arguments.jobs), Pointers.SAME),
                "Zen 5, general code": (Study(exact[::step], arguments.jobs), Pointers.DIFFERENT),
                "Zen 5, vector code": (Study(vectors[::step], arguments.jobs), Pointers.DIFFERENT),
            }
        ),
        "zen5_rules": lambda: zen_rules(
            ZEN_5, ZEN_5_RULES, ZEN_5_CORES, ZEN_5_OTHERS, general[::few], vectors[::few]
        ),
        "zen3_rules": lambda: zen_rules(
            ZEN_3,
            ZEN_3_RULES,
            ZEN_3_CORES,
            ZEN_3_OTHERS,
            *(
                read_samples(
                    measured_there / name,
                    Selection(microarchitectures=(ZEN_3.name,), max_spread=0.05, max_pages=12),
                )[::few]
                for name in ("zen3-dev.csv", "zen3-kernels-dev.csv")
            ),
        ),
        "zen4_rules": lambda: zen_rules(
            ZEN_4,
            ZEN_4_RULES,
            ZEN_4_CORES,
            {},
            *(
                read_samples(
                    measured_there / name,
                    Selection(microarchitectures=(ZEN_4.name,), max_spread=0.05, max_pages=12),
                )[::few]
                for name in ("zen4-dev.csv", "zen4-kernels-dev.csv")
            ),
        ),
        "zen5_errors": lambda: zen_5_errors(general[::step], vectors[::step]),
        "zen5_widths": lambda: zen_5_widths(vectors[::step]),
        "zen5_sets": lambda: zen_5_sets(measured_there),
        "redwood_cove": lambda: redwood_cove(redwood[::step]),
        "redwood_cove_cases": lambda: known_cases(measured_there / "redwood-cove-cases.csv"),
        "agreement": lambda: agreement(blocks, tiger_lake),
        "small": lambda: small_sets(small),
        "measured": lambda: measured(bhive),
        "ablations": lambda: ablations(bhive, Study(blocks.samples[::ABLATED_SHARE], arguments.jobs)),
    }
    tables = {name: make() for name, make in makers.items() if name in (arguments.only or makers)}
    for document, content in by_document(tables).items():
        text = (DOCUMENTS / document).read_text("utf-8")
        (arguments.output / document).write_text(fill(text, content), "utf-8")


if __name__ == "__main__":
    main()
