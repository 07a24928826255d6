"""Adds the dependency of a result on the old value of its target, where a core has one that the tables do not
state (V12 of docs/pipeline.md).

vpcompressd %zmm1, %zmm0{%k1}{z}    waits for zmm0 on Zen 4 and Zen 5
"""

from __future__ import annotations

import re

from cyclelens.analyzer.model.microarchitecture import Microarchitecture, TargetDependency
from cyclelens.analyzer.uops.operands import Prepared
from msgspec.structs import replace


def target_dependency(name: str, microarchitecture: Microarchitecture) -> TargetDependency | None:
    """The core's rule for the records of this name; None for most."""
    rules = microarchitecture.target_dependencies
    return next((rule for rule in rules if re.fullmatch(rule.records, name)), None)


def with_target_dependency(prepared: Prepared, microarchitecture: Microarchitecture) -> Prepared:
    """The instruction with its target among its inputs, if its result waits for it."""
    rule = target_dependency(prepared.facts.name, microarchitecture)
    if rule is None:
        return prepared
    inputs, latencies = list(prepared.register_inputs), dict(prepared.latencies)
    read = {operand.canonical for operand in inputs}
    results = {(kind, number) for _, _, kind, number in latencies}
    for target, operand in enumerate(prepared.register_outputs):
        if operand.canonical not in read:
            for kind, number in results:
                own = (kind, number) == ("reg", target)
                latencies["reg", len(inputs), kind, number] = rule.cycles if own else 0
            inputs.append(operand)
    return replace(prepared, register_inputs=tuple(inputs), latencies=latencies)
