"""Renders, as text, what every core gives for lists of instruction forms, kernels, mixtures and blocks.

``dev/tables`` writes it to ``tests/tables/NAME/``, and ``tests/tables`` compares: a change of a rule shows
as a difference of a few lines, which a reviewer can judge.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Account, Area
from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED, ModelOptions
from cyclelens.analyzer.model.simulation import Simulation
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.operands import TooManyUopsError
from msgspec.structs import replace

from testkit import alike, variant_runs
from testkit.blocks import block_of, in_a_loop, template_of
from testkit.simulated import simulated

FOLDER = Path(__file__).parents[1] / "tables"
FORMS_HEAD = """\
# instruction | units of every uop, + joins those of a fused uop, - is no unit | latencies | the rest
"""
KERNELS_HEAD = """\
# kernel | cycles per iteration | bottlenecks | uops per iteration by unit | shares of issue slots: used, lost
"""
MIXTURES_HEAD = """\
# mode and bytes | cycles per iteration, period in cycles/iterations, cycles of the run, cycles visited
# | the same of the published model, if it differs
"""
SAME = ":same"
"""The end of a mixture's mode in which all pointers are equal."""
LISTS = {"forms": 2, "kernels": 4, "mixtures": 3, "runs": 4, "alike": 3}
"""The lists, and the fields of their lines: the last two are an encoding and its text. Each of ``runs`` is of
one core."""
UICA = "uica"
"""The kernels of which the published model says something else than the default."""
FILES = (*LISTS, UICA)
"""What there is of every core; a file that would be empty is not there."""


def text_of(name: str, file: str) -> str:
    """The whole text of one of ``FILES`` for a core."""
    if file == "forms":
        return FORMS_HEAD + "".join(f"{form(code, name)}\n" for code, _ in listed(file))
    if file == "mixtures":
        return MIXTURES_HEAD + "".join(f"{mixture(mode, code, name)}\n" for mode, code, _ in listed(file))
    if file == "runs":
        its = [variant_runs.row(mode, code, name) for core, mode, code, _ in listed(file) if core == name]
        return variant_runs.HEAD + "\n".join([*its, ""]) if its else ""
    if file == "alike":
        blocks = [(mode, code) for mode, code, _ in listed(file)]
        return alike.HEAD + "".join(f"{row}\n" for row in alike.rows(name, blocks))
    usual = kernels(name, DEFAULT)
    if file == UICA:
        lines = [line for line, other in zip(kernels(name, PUBLISHED), usual, strict=True) if line != other]
        return KERNELS_HEAD + "\n".join([*lines, ""]) if lines else ""
    return KERNELS_HEAD + "\n".join([*usual, ""])


@cache
def listed(file: str) -> list[list[str]]:
    """The fields of every line of a list."""
    lines = (FOLDER / f"{file}.txt").read_text("utf-8").splitlines()
    return [line.split(" ", LISTS[file] - 1) for line in lines if not line.startswith("#")]


# -- forms ---------------------------------------------------------------------------------------------------


def form(code: str, name: str) -> str:
    """One instruction on one core."""
    text = f"{decode(bytes.fromhex(code))[0].text:<44}"
    try:
        template = template_of(code, name)
    except TooManyUopsError:
        return f"{text}| too many uops"
    if template.facts is None:
        return f"{text}| no figures"
    return f"{text}| {units(template)} | {latencies(template)} | {rest(template)}".rstrip(" |")


def units(template: InstructionTemplate) -> str:
    uops = iter(template.uops)
    groups = ("+".join(next(uops).units.text or "-" for _ in range(fused)) for fused in template.fused_uops)
    return " ".join(f"{count}*{group}" if count > 1 else group for group, count in Counter(groups).items())


def latencies(template: InstructionTemplate) -> str:
    """Cycles from every input to every output; inputs and outputs with equal latencies are written once."""
    names = {
        "reg": [operand.name for operand in template.register_inputs],
        "addr": [f"[{operand.name}]" for operand in template.address_inputs],
        "flag": template.flag_inputs,
        "mem": ["mem"] * len(template.memory_operands),
    }
    results = {
        "reg": [operand.name for operand in template.register_outputs],
        "flag": template.flag_outputs,
        "mem": ["mem"] * len(template.memory_operands),
    }
    by_input: defaultdict[str, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (start, start_place, target, target_place), cycles in template.latencies.items():
        by_input[names[start][start_place]][cycles].append(results[target][target_place])
    by_results: defaultdict[str, list[str]] = defaultdict(list)
    for start, targets in by_input.items():
        text = ", ".join(f"{' '.join(dict.fromkeys(to))} {cycles}" for cycles, to in sorted(targets.items()))
        by_results[text].append(start)
    return "; ".join(f"{' '.join(starts)}: {text}" for text, starts in by_results.items())


def rest(template: InstructionTemplate) -> str:
    """Unusual properties in the decoders, renamer, divider and scheduler."""
    idq = len(template.idq_uops)
    parts = {
        "unlaminated": idq != len(template.fused_uops),
        f"decoded {template.mite_uops}": template.mite_uops != 1,
        f"microcode {template.ms_uops}": template.ms_uops,
        f"complex {template.available_simple_decoders}": template.complex_decoder,
        f"divider {template.divider_cycles}": template.divider_cycles,
        f"every {template.tp}": template.tp,
        f"every {template.tp_after_wait} after a wait": template.tp_after_wait,
        "fusible": template.macro_fusible,
        "eliminable": template.eliminable_move,
        "serializing": template.serializing,
        "load fence": template.load_serializing,
        "store fence": template.store_serializing,
        f"rsp {template.rsp_change:+d}": template.rsp_change,
    }
    return ", ".join(text for text, wanted in parts.items() if wanted)


# -- kernels -------------------------------------------------------------------------------------------------


@cache
def kernels(name: str, options: ModelOptions) -> list[str]:
    """A line for each kernel on one core."""
    return [kernel(title, mode, code, name, options) for title, mode, code, _ in listed("kernels")]


def kernel(name: str, mode: str, code: str, microarchitecture: str, options: ModelOptions) -> str:
    """One kernel on one core."""
    model = registry.get(microarchitecture)
    loop = mode == "loop"
    if loop:
        code += (loop_end(decode(bytes.fromhex(code))) or b"").hex()
    block = block_of(code, microarchitecture, loop=loop, options=options)
    simulation = simulate(block, model, request=RunRequest(account=True), options=options)
    prediction = explain(block, model, simulation, options)
    uops: Counter[str] = Counter()
    for usage in prediction.simulation.usage:
        uops.update(usage.ports)
    busy = " ".join(f"{unit}:{uops[unit]:.2f}" for unit in sorted(uops))
    limits = " ".join(prediction.bottlenecks)
    assert prediction.account is not None
    shares = ", ".join(slots(prediction.account))
    return f"{name:<20}| {prediction.cycles_per_iteration:.2f} | {limits} | {busy} | {shares}"


def slots(account: Account) -> Iterator[str]:
    """Lost slots in percent; causes below half a percent are left out."""
    yield f"used {100 * account.used_share:.0f}"
    for cause, share in account.causes():
        if share >= 0.005:
            what = f"{cause.what} full {cause.why}" if cause.area is Area.BACK_END else cause.what
            yield f"{cause.area} {what} {100 * share:.0f}"


# -- mixtures ------------------------------------------------------------------------------------------------


def mixture(mode: str, code: str, name: str) -> str:
    """A mixture on one core, in both models; with equal pointers only in the usual one."""
    usual = run_of(mode, code, name, DEFAULT)
    published = usual if mode.endswith(SAME) else run_of(mode, code, name, PUBLISHED)
    return f"{mode} {code} | {usual}" + (f" | {published}" if published != usual else "")


def run_of(mode: str, code: str, name: str, options: ModelOptions) -> str:
    """A run that ends once its state repeats."""
    run = mixed(mode, code, name, options, details=False)
    period = "-" if run.period is None else "{}/{}".format(*run.period)
    return f"{run.cycles_per_iteration:.3f} {period} {run.simulated_cycles} {run.visited_cycles}"


def mixed(mode: str, code: str, name: str, options: ModelOptions, *, details: bool) -> Simulation:
    """The simulation of a mixture in its mode."""
    loop = mode.startswith("loop")
    if mode.endswith(SAME):
        options = replace(options, assume=Pointers.SAME)
    whole = in_a_loop(code) if loop else code
    return simulated(whole, name, loop=loop, options=options, details=details)


def main() -> None:
    """Write the texts of the named cores, or of all."""
    for name in sys.argv[1:] or registry.names():
        (FOLDER / name).mkdir(exist_ok=True)
        for file in FILES:
            path, text = FOLDER / name / f"{file}.txt", text_of(name, file)
            path.unlink(missing_ok=True)
            if text:
                path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
