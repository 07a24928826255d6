"""The kind of each file of the core, which decides whose classes it may use.

ARCHITECTURE.md explains the kinds. A new file of the simulator needs an entry here.
"""

from __future__ import annotations

import re
from pathlib import Path

SIMULATOR = Path(__file__).parents[2] / "analyzer" / "simulator"

KINDS = {
    # runs the stages cycle by cycle, and decides when to stop
    "clock": """
        address_replay canonical_keys clock iterations macro_pipeline pipeline pipeline_pool results.summary
        steady_state uop_pipeline
    """,
    # lists the policies
    "registry": """
        policies
    """,
    # declares what a policy has to offer
    "interface": """
        back_end.addition back_end.binding back_end.commit_rule back_end.dispatch_rule
        back_end.elimination back_end.late_operands back_end.load_renaming back_end.memory_renaming
        back_end.picker back_end.scheduler_choice
        front_end.front_end
    """,
    # is one choice where cores differ in kind
    "policy": """
        back_end.bound_unit back_end.chance_pipe back_end.eight_ports back_end.emptiest_scheduler
        back_end.every_move
        back_end.fewest_waiting back_end.learnt_pairs back_end.least_loaded
        back_end.line_commit back_end.load_words
        back_end.move_elimination back_end.oldest_ready back_end.owed_constants
        back_end.random_ports back_end.same_names back_end.same_registers back_end.shared_results
        back_end.six_ports back_end.store_pairs
        back_end.stack_or_learnt back_end.store_gathering
        back_end.ten_ports back_end.twelve_ports back_end.two_stores back_end.wasted_slots
        back_end.wide_memory
        front_end.intel front_end.op_cache front_end.simple_front_end
    """,
    # is a unit of the pipeline
    "stage": """
        back_end.macro_renamer back_end.macro_scheduler back_end.renamer back_end.reorder_buffer
        back_end.scheduler back_end.store_buffer back_end.store_queue
        front_end.code_fetch front_end.decoder front_end.dsb front_end.lsd
        front_end.microcode_sequencer front_end.predecoder front_end.stack_engine
    """,
    # is a part of one stage, of one policy, or of one helper of them
    "helper": """
        back_end.alu_group back_end.emulator back_end.fences back_end.issue_group back_end.load_queue
        back_end.macro_memory back_end.memory back_end.memory_group
        back_end.one_page back_end.resources back_end.third_sources
    """,
    # is used by several stages and knows none
    "shared": """
        back_end.alternation back_end.chance back_end.turns
        results.accounting results.tally
        tables.arrays tables.constants tables.entries tables.flat tables.flat_siblings tables.in_flight
        tables.layout
        tables.macro_tables tables.operations tables.program tables.queues tables.ranges tables.rows
        tables.tables
    """,
}


def kinds_of_simulator_files() -> dict[str, str]:
    """File below the simulator, such as ``back_end.scheduler`` -> its kind.

    Raises:
        ValueError: A file has two kinds.
    """
    found: dict[str, str] = {}
    for kind, names in KINDS.items():
        for name in names.split():
            if name in found:
                raise ValueError(f"{name} is listed as {found[name]} and as {kind}")
            found[name] = kind
    return found


def classes_used() -> dict[str, set[str]]:
    """File of the core -> the other files whose classes it names."""
    texts = _texts()
    owners = _owners(texts)
    return {
        file: {owners[word] for word in set(re.findall(r"\w+", _code(text))) & owners.keys()} - {file}
        for file, text in texts.items()
    }


def classes_extended() -> dict[str, set[str]]:
    """File of the core -> the other files whose classes its classes extend."""
    texts = _texts()
    owners = _owners(texts)
    return {
        file: {owners[base] for base in re.findall(r"^cdef class \w+\((\w+)\)", text, re.MULTILINE)} - {file}
        for file, text in texts.items()
    }


def _texts() -> dict[str, str]:
    return {
        ".".join(file.relative_to(SIMULATOR).with_suffix("").parts): file.read_text("utf-8")
        for file in SIMULATOR.rglob("*.pxi")
    }


def _owners(texts: dict[str, str]) -> dict[str, str]:
    """Class of the core -> its file."""
    return {
        name: file
        for file, text in texts.items()
        for name in re.findall(r"^cdef class (\w+)", text, re.MULTILINE)
    }


def _code(text: str) -> str:
    """The text without docstrings and comments."""
    return re.sub(r'"""(?:.|\n)*?"""|#.*', "", text)
