"""Makes the tables of docs/accuracy.md and zen5.md again: ``python benchmarks/accuracy_tables.py FOLDER``.

FOLDER holds ``reference/throughput-dev.csv``, ``reference/kernels.csv``, ``reference/alignment.csv``,
``measured/bhive-dev.csv``, ``measured/redwood-cove-dev.csv``, ``measured/redwood-cove-cases.csv`` and the
files ``measured/zen5-*.csv``. They are not part of the project. It takes some minutes; ``--limit`` takes
fewer blocks of each file, ``--only`` makes some of the tables, and ``--output`` writes to another folder.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import zen5_sets
from cyclelens.analyzer.evaluation.blocks import BlockBuilder
from cyclelens.analyzer.evaluation.datasets import Sample, Selection, read_kernels, read_samples
from cyclelens.analyzer.evaluation.metrics import kendall_tau, mean_error, share_equal, share_within
from cyclelens.analyzer.evaluation.predictions import Cache, default_jobs, predict_all
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import MeasuredIn, Model, MoveElimination, Pointers
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions

DOCUMENTS = Path(__file__).parents[1] / "docs"
TABLES_ELSEWHERE = {"zen5_errors": "zen5.md"}
"""Where a table stands that is not in ``accuracy.md``."""

MODELS = {
    "the published model (default)": ModelOptions(),
    "the same, `--assume stack`": ModelOptions(assume=Pointers.STACK),
    "the same, `--resources on`": ModelOptions(resources=True),
    "`--model hardware`": ModelOptions(model=Model.HARDWARE),
    "`--model hardware --resources off`": ModelOptions(model=Model.HARDWARE, resources=False),
    "`--model hardware --assume stack`": ModelOptions(model=Model.HARDWARE, assume=Pointers.STACK),
    "`--model hardware --assume bhive`": ModelOptions(model=Model.HARDWARE, assume=Pointers.BHIVE),
    "`--model bounds`": ModelOptions(model=Model.BOUNDS),
}
ABLATIONS = {
    "complete": ModelOptions(),
    "simple front end": ModelOptions(simple_front_end=True),
    "no micro-fusion": ModelOptions(micro_fusion=False),
    "no macro-fusion": ModelOptions(macro_fusion=False),
    "no LSD unrolling": ModelOptions(lsd_unrolling=False),
    "no move elimination": ModelOptions(move_elimination=MoveElimination.NONE),
    "full move elimination": ModelOptions(move_elimination=MoveElimination.FULL),
    "random ports": ModelOptions(port_seed=1),
    "random ports, no move elimination": ModelOptions(port_seed=1, move_elimination=MoveElimination.NONE),
}

ICE_LAKE = registry.get("ICL")
REDWOOD_COVE = registry.get("GNR")
REDWOOD_COVE_RULES: dict[str, dict[str, Any]] = {
    "complete": {},
    "five issue slots": {"issue_width": 5},
    "four decoders": {"decoders": 4},
    "predecoding of 16 bytes and 5 instructions": {"predecode_block_bytes": 16, "predecode_width": 5},
    "an instruction queue of 25": {"instruction_queue_size": 25},
    "six uops per cycle from the DSB, lines of six": {"dsb_width": 6, "dsb_slots_per_line": 6},
    "a fusible instruction on the last decoder (C4)": {"fusible_on_last_decoder": True},
    "three loads of one word together (Z6)": {"policies": replace(REDWOOD_COVE.policies, dispatch_rule="")},
    "stores of any lines together (Z5)": {"policies": replace(REDWOOD_COVE.policies, store_commit="")},
    "no addition at rename (V9)": {
        "add_offset_limit": 0,
        "policies": replace(REDWOOD_COVE.policies, addition=""),
    },
    "no memory renaming (W6)": {"policies": replace(REDWOOD_COVE.policies, memory_renaming="")},
    "plain stores that do not wait for their data (O6d)": {"stores_wait_for_data": False},
    "forwarding in five cycles always (W6)": {"late_forwarding_cycles": 0},
    "addresses by base and index alone (4.6)": {"tracks_values": False},
    "shifts by CL that wait for the flags (U5b)": {"shift_result_without_flags": False},
    "a slot for every move (A4)": {"fuses_moves": False},
    "the port to which the fewest uops are bound (P1, P2)": {
        "policies": replace(REDWOOD_COVE.policies, binding="fewest_waiting")
    },
    "one scheduler for all uops (P3)": {"schedulers": (), "schedulers_take_whole_groups": False},
    "no move elimination": {"move_elimination_gpr_slots": 0, "move_elimination_simd_slots": 0},
    "buffers as on Ice Lake": {
        name: getattr(ICE_LAKE, name)
        for name in ("reorder_buffer_size", "reservation_station_size", "idq_size")
    },
    "records of ADL-P (Golden Cove)": {"facts_name": "Golden Cove"},
}
OTHER_TOOLS = {
    "llvm-mca 22, `graniterapids`": ("61", "20"),
    "llvm-mca 22, its best model for these blocks (`znver4`)": ("32", "9"),
    "OSACA, `SPR`": ("45", "16"),
}
"""Errors of other tools on the Redwood Cove blocks, by those who measured the blocks."""
REDWOOD_COVE_OPTIONS = ModelOptions(assume=Pointers.SAME)
"""As the blocks were measured: all registers hold one value."""
CASE_RULES = {
    r"nop": "R4",
    r"add cx|cmp cx": "3.3, no Q3",
    r"add r64,r64 x|shl r,cl|cmp \+|cmov": "P1",
    r"mov r64|movaps|vmovups": "Y2",
    r"movzx": "V4",
    r"xor|v?pxor|vpcmpeqd": "W1",
    r"add rax,1|inc|lea rax,\[rax\+8\]|add rax,0x": "V9",
    r"cmp\+jne|test\+jz|dec/jnz": "D8",
    r"jmp|4 taken": "3.6, D8",
    r"3 loads r64, same|3 loads|6 loads|2 loads|cmp rax,\[m\]|vgather": "Z6",
    r"2 stores|1 store": "Z5",
    r"store-forward|add .*\[|mov \[rsi\]|movups|push rax": "W6",
    r"lock": "D3",
    r"push x2": "E2, W6",
    r"addps": "U12",
    r"mulps|vfmadd.*chain|pmulld|aesenc|pclmul|movd|haddps|.* chain|pointer": "D5",
    r".*div|.*sqrt": "D2, Z3",
    r".*zmm": "V6",
}
"""The rule of docs/pipeline.md that decides a known case, by the beginning of its name; the first counts.
Where none stands here, it is the ports of the tables (U1)."""
STRAIGHT_AND_LOOP = ("unroll", "loop")

ZEN_5 = registry.get("ZEN5")
assert ZEN_5.macro_ops is not None and ZEN_5.macro_ops.wasted is not None
ZEN_5_WASTED = ZEN_5.macro_ops.wasted
ZEN_4 = registry.get("ZEN4")
ZEN_5_MODES = ("unroll", "copies", "loop")
ZEN_5_OPTIONS = ModelOptions(assume=Pointers.SAME)
ZEN_5_ONE_PAGE = ModelOptions(assume=Pointers.SAME, harness=MeasuredIn.ONE_PAGE)
ZEN_5_SHARE = 20
"""Every so many figures are predicted for each row of the table of rules; three are about one block."""
ZEN_5_RULES: dict[str, dict[str, Any]] = {
    "complete": {},
    "32 bytes per cycle to the decoders (M1)": {"decode_bytes": 32},
    "long instructions decoded as others (M1)": {"long_instruction_bytes": 15},
    "every window of the op cache at eight entries per cycle (M2)": {"line_pairs": False},
    "lines of the op cache without a limit of fields (M2)": {"line_fields": 99},
    "one taken branch per cycle (M2)": {"jump_eighths": 8},
    "small loops as long ones (M3, M18)": {"small_loop_entries": 0},
    "eight vector macro-ops per cycle (M4)": {"vector_dispatch_width": 8},
    "no pair of move and ALU operation (M6)": {"fuses_moves": False},
    "stack adjustments of one macro-op (M8)": {"stack_adjustment_is_two_ops": False},
    "units by the tables alone (M9)": {"units_by_mnemonic": False},
    "multiplications of one slot (M14)": {"wasted": replace(ZEN_5_WASTED, multiplication=0)},
    "three loads per cycle (M16)": {"loads_per_cycle": 3, "memory_ops_per_cycle": 3},
    "four accesses per cycle beside a vector load (M16)": {"mixed_memory_ops_per_cycle": 4},
    "one store per cycle (M16)": {"stores_per_cycle": 1, "stores_committed_per_cycle": 1},
    "no load learnt (M18)": {"learnt_loads": 0, "unlearnt_loads": 1},
    "failed forwarding as forwarding (M19)": {"failed_forwarding": 0, "failed_vector_forwarding": 0},
    "512 bits forwarded as 256 (M19)": {"wide_forwarding": (0, 0, 0)},
    "vectors stored and loaded in ten cycles (M19)": {"vector_forwarding": 10},
    "no false renaming (M26)": {"false_renaming_bytes": 0},
    "additions in three cycles always (M20)": {"fast_fp_adds": False},
    "one mask operation more per cycle (M20)": {"mask_operations_per_cycle": 3},
}
"""Changes of ``MacroOpRules``; some more rows change the core."""
ZEN_5_CORES: dict[str, Microarchitecture] = {
    "no wasted slots (M14, M15)": replace(
        ZEN_5,
        macro_ops=replace(ZEN_5.macro_ops, wasted=None),
        policies=replace(ZEN_5.policies, late_operands=""),
    ),
    "no memory renaming (M18)": replace(ZEN_5, policies=replace(ZEN_5.policies, memory_renaming="")),
    "dispatch of six": replace(ZEN_5, issue_width=6),
    "the model of Zen 4": ZEN_4,
}
ZEN_5_OTHERS = {
    "llvm-mca 19.1.7, `znver5` (the figures of `znver4`)": (
        "35.3 / 16.5",
        "44.2 / 18.9",
        "18.4 / 70.9",
        "49.0 / 14.9",
        "48.6 / 25.0",
        "33.5 / 40.4",
    ),
    "llvm-mca 22.1.8, `znver5` (the figures of `znver4`)": (
        "28.6 / 16.6",
        "36.7 / 19.1",
        "12.4 / 71.4",
        "37.5 / 14.8",
        "46.8 / 25.0",
        "31.7 / 40.4",
    ),
}
"""Errors of other tools on all blocks: ``peer_errors.py``, with ``--max-spread 5 --max-pages 12`` for vector
code."""
CASE_MODES = {"M": "unroll", "L": "loop", "D": "copies"}

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


def of(name: str | None = None, mode: str | None = None) -> Callable[[Sample], bool]:
    """Whether a sample is of a microarchitecture and a mode; None: of any."""
    return lambda sample: name in (None, sample.microarchitecture) and mode in (None, sample.mode)


def agreement(study: Study) -> str:
    """Blocks of the reference set, by microarchitecture and mode."""
    rows = []
    for name in study.microarchitectures():
        for mode in STRAIGHT_AND_LOOP:
            pairs = study.pairs(ModelOptions(), of(name, mode))
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
    """What every part of the model is worth: error against hardware, deviation from the reference."""
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
    """What every rule of Redwood Cove is worth, and how other tools do."""
    rows = []
    for title, changes in REDWOOD_COVE_RULES.items():
        core = replace(REDWOOD_COVE, **changes)
        builder = BlockBuilder(REDWOOD_COVE_OPTIONS)
        cells = []
        for mode in STRAIGHT_AND_LOOP:
            chosen = [sample for sample in samples if sample.mode == mode]
            found = (
                (builder.simulate(sample, core)[1].cycles_per_iteration, sample.cycles) for sample in chosen
            )
            pairs = list(found)
            cells.append(f"{percent(mean_error(pairs))} / {percent(share_within(pairs, 0.05))}")
        rows.append((title, *cells))
    rows += [(title, *(f"{error} / -" for error in errors)) for title, errors in OTHER_TOOLS.items()]
    return table(("model", *(f"{mode}: error %, within 5 %" for mode in STRAIGHT_AND_LOOP)), rows)


def zen_5_rules(general: Sequence[Sample], vectors: Sequence[Sample]) -> str:
    """What the rules of Zen 5 are worth, on every few blocks, and how other tools do on the general ones."""
    rules = ZEN_5.macro_ops
    assert rules is not None
    cores = {
        title: replace(ZEN_5, macro_ops=replace(rules, **changes)) for title, changes in ZEN_5_RULES.items()
    }
    builder = BlockBuilder(ZEN_5_OPTIONS)
    rows = []
    for title, core in (cores | ZEN_5_CORES).items():
        cells = []
        for samples in (general, vectors):
            for mode in ZEN_5_MODES:
                pairs = [
                    (predicted(builder, sample, core), sample.cycles)
                    for sample in samples
                    if sample.mode == mode
                ]
                cells.append(f"{percent(mean_error(pairs))} / {percent(share_within(pairs, 0.05))}")
        rows.append((title, *cells))
    rows += [(title, *errors) for title, errors in ZEN_5_OTHERS.items()]
    header = (f"{kind}, {mode}" for kind in ("general", "vector code") for mode in ZEN_5_MODES)
    return table(("model (error %, within 5 %)", *header), rows)


def predicted(builder: BlockBuilder, sample: Sample, core: Microarchitecture | None = None) -> float:
    """Cycles of one copy of a sample's code."""
    return builder.simulate(sample, core)[1].cycles_per_iteration / builder.copies(sample)


def zen_5_errors(general: Sequence[Sample], vectors: Sequence[Sample]) -> str:
    """Error on all figures, and what the rules of the measuring harness change."""
    rows = []
    for title, samples, options in (
        ("general code", general, ZEN_5_OPTIONS),
        ("the same, `--harness one-page` (M22)", general, ZEN_5_ONE_PAGE),
        ("vectorised and hand-written code", vectors, ZEN_5_OPTIONS),
    ):
        builder = BlockBuilder(options)
        cells = []
        for mode in ZEN_5_MODES:
            pairs = [(predicted(builder, each), each.cycles) for each in samples if each.mode == mode]
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
        pairs.setdefault((sample.width, sample.mode), []).append((predicted(builder, sample), sample.cycles))
    rows = []
    for width in dict.fromkeys(width for width, _ in pairs):
        own = [pairs.get((width, mode), []) for mode in ZEN_5_MODES]
        cells = (
            f"{len(each)}: {percent(mean_error(each))} / {percent(share_within(each, 0.05))}" for each in own
        )
        rows.append((width or "none", *cells))
    return table(("width", *(f"{mode}: figures, error %, within 5 %" for mode in ZEN_5_MODES)), rows)


def zen_5_sets(folder: Path) -> str:
    """Small cases and loops that are named by their code."""
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
    """Cases whose figure follows from published facts, measured and predicted."""
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
    """The document with what stands between its markers replaced."""
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
    small = {f"`{name}`": study(reference / name) for name in ("kernels.csv", "alignment.csv")}
    measured_there = arguments.folder / "measured"
    redwood = read_samples(
        measured_there / "redwood-cove-dev.csv", Selection(microarchitectures=(REDWOOD_COVE.name,))
    )
    step = 1 if arguments.limit is None else max(1, len(redwood) // arguments.limit)
    general = read_samples(measured_there / "zen5-dev.csv", Selection(microarchitectures=(ZEN_5.name,)))
    vectors = read_samples(
        measured_there / "zen5-kernels-dev.csv",
        Selection(microarchitectures=(ZEN_5.name,), max_spread=0.05, max_pages=12),
    )
    few = step * ZEN_5_SHARE
    makers: dict[str, Callable[[], str]] = {
        "zen5_rules": lambda: zen_5_rules(general[::few], vectors[::few]),
        "zen5_errors": lambda: zen_5_errors(general[::step], vectors[::step]),
        "zen5_widths": lambda: zen_5_widths(vectors[::step]),
        "zen5_sets": lambda: zen_5_sets(measured_there),
        "redwood_cove": lambda: redwood_cove(redwood[::step]),
        "redwood_cove_cases": lambda: known_cases(measured_there / "redwood-cove-cases.csv"),
        "agreement": lambda: agreement(blocks),
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
