"""Makes the tables of docs/accuracy.md again: ``python benchmarks/accuracy_tables.py FOLDER``.

FOLDER holds ``reference/throughput-dev.csv``, ``reference/kernels.csv``, ``reference/alignment.csv`` and
``measured/bhive-dev.csv``, which are not part of the project. It takes some minutes; ``--limit`` takes fewer
blocks of each file and ``--output`` another file, to try it out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from cyclelens.analyzer.evaluation.datasets import MODES, Sample, Selection, read_kernels, read_samples
from cyclelens.analyzer.evaluation.metrics import kendall_tau, mean_error, share_equal, share_within
from cyclelens.analyzer.evaluation.predictions import Cache, default_jobs, predict_all
from cyclelens.analyzer.model.options import ModelOptions

DOCUMENT = Path(__file__).parents[1] / "docs" / "accuracy.md"

MODELS = {
    "the published model (default)": ModelOptions(),
    "the same, `--assume stack`": ModelOptions(assume="stack"),
    "the same, `--resources on`": ModelOptions(resources=True),
    "`--model hardware`": ModelOptions(model="hardware"),
    "`--model hardware --resources off`": ModelOptions(model="hardware", resources=False),
    "`--model hardware --assume stack`": ModelOptions(model="hardware", assume="stack"),
    "`--model hardware --assume bhive`": ModelOptions(model="hardware", assume="bhive"),
    "`--model bounds`": ModelOptions(model="bounds"),
}
ABLATIONS = {
    "complete": ModelOptions(),
    "simple front end": ModelOptions(simple_front_end=True),
    "no micro-fusion": ModelOptions(micro_fusion=False),
    "no macro-fusion": ModelOptions(macro_fusion=False),
    "no LSD unrolling": ModelOptions(lsd_unrolling=False),
    "no move elimination": ModelOptions(move_elimination="none"),
    "full move elimination": ModelOptions(move_elimination="full"),
    "random ports": ModelOptions(port_seed=1),
    "random ports, no move elimination": ModelOptions(port_seed=1, move_elimination="none"),
}

ABLATED_SHARE = 5
"""Every so many blocks of the reference set are predicted for each ablation."""

Pairs = list[tuple[float, float]]


class Study:
    """Predictions of one set of blocks under many choices of the model."""

    def __init__(self, samples: Sequence[Sample], jobs: int) -> None:
        self.samples = samples
        self._jobs = jobs
        self._known: dict[ModelOptions, Cache] = {}

    def pairs(self, options: ModelOptions, wanted: Callable[[Sample], bool] = lambda _: True) -> Pairs:
        """Predicted and true cycles of the samples wanted."""
        cache = self._known.get(options)
        if cache is None:
            cache = self._known[options] = Cache(None, "", options)
            predict_all(self.samples, cache, jobs=self._jobs, progress=sys.stderr.isatty(), options=options)
        found = (
            (cache.outcomes[sample.key].cycles, sample.cycles) for sample in self.samples if wanted(sample)
        )
        return [(cycles, truth) for cycles, truth in found if cycles is not None]

    def microarchitectures(self) -> tuple[str, ...]:
        """In order of appearance."""
        return tuple(dict.fromkeys(sample.microarchitecture for sample in self.samples))


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def tau(pairs: Pairs) -> str:
    value = kendall_tau(pairs)
    return "-" if value is None else f"{value:.3f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def agreement(study: Study) -> str:
    """Blocks of the reference set, by microarchitecture and mode."""
    rows = []
    for name in study.microarchitectures():
        for mode in MODES:
            pairs = study.pairs(
                ModelOptions(), lambda s, n=name, m=mode: (s.microarchitecture, s.mode) == (n, m)
            )
            shares = (percent(share_equal(pairs)), percent(share_within(pairs, 0.01)))
            rows.append((name, mode, str(len(pairs)), *shares))
    return table(("microarchitecture", "mode", "blocks", "equal %", "within 1 %"), rows)


def small_sets(sets: dict[str, Study]) -> str:
    """The other files of the reference, in full."""
    rows = []
    for name, study in sets.items():
        pairs = study.pairs(ModelOptions())
        rows.append((name, str(len(pairs)), percent(share_equal(pairs))))
    return table(("file", "figures", "equal %"), rows)


def measured(study: Study) -> str:
    """Error and rank correlation of every model against hardware."""
    names = study.microarchitectures()
    rows = []
    references = [(s.microarchitecture, s.reference, s.cycles) for s in study.samples if s.reference]
    by_name: list[Pairs] = [[(r, c) for m, r, c in references if m == name] for name in names]
    rows.append(("reference figures", by_name, [(r, c) for _, r, c in references]))
    for title, options in MODELS.items():
        split = [study.pairs(options, lambda s, n=name: s.microarchitecture == n) for name in names]
        rows.append((title, split, study.pairs(options)))
    return table(
        ("model", *(f"{name} error % / tau" for name in names), "all"),
        (
            (title, *(f"{percent(mean_error(pairs))} / {tau(pairs)}" for pairs in (*split, whole)))
            for title, split, whole in rows
        ),
    )


def ablations(bhive: Study, reference: Study) -> str:
    """What every part of the model is worth: error against hardware, deviation from the reference."""
    names = bhive.microarchitectures()
    rows = []
    for title, options in ABLATIONS.items():
        cells = []
        for name in names:
            pairs = bhive.pairs(options, lambda s, n=name: s.microarchitecture == n)
            cells.append(f"{percent(mean_error(pairs))} / {tau(pairs)}")
        for mode in MODES:
            pairs = reference.pairs(options, lambda s, m=mode: s.mode == m)
            cells.append(f"{percent(mean_error(pairs))} / {tau(pairs)}")
        rows.append((title, *cells))
    header = ("model", *(f"measured {name}" for name in names), *(f"reference, {mode}" for mode in MODES))
    return table(header, rows)


def fill(text: str, tables: dict[str, str]) -> str:
    """The document with what stands between its markers replaced."""
    for name, content in tables.items():
        pattern = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"the document has no place for the table '{name}'")
        text = pattern.sub(lambda found, content=content: f"{found[1]}{content}\n{found[2]}", text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--limit", type=int)
    parser.add_argument("--output", type=Path, default=DOCUMENT)
    arguments = parser.parse_args()
    reference = arguments.folder / "reference"
    kernels = {name: code for name, (code, _) in read_kernels(reference / "kernels.csv").items()}

    def study(path: Path) -> Study:
        samples = read_samples(path, Selection(kernels=kernels))
        step = 1 if arguments.limit is None else max(1, len(samples) // arguments.limit)
        return Study(samples[::step], arguments.jobs)

    bhive = study(arguments.folder / "measured" / "bhive-dev.csv")
    blocks = study(reference / "throughput-dev.csv")
    small = {f"`{name}`": study(reference / name) for name in ("kernels.csv", "alignment.csv")}
    tables = {
        "agreement": agreement(blocks),
        "small": small_sets(small),
        "measured": measured(bhive),
        "ablations": ablations(bhive, Study(blocks.samples[::ABLATED_SHARE], arguments.jobs)),
    }
    arguments.output.write_text(fill(DOCUMENT.read_text("utf-8"), tables), "utf-8")


if __name__ == "__main__":
    main()
