"""What modules remember by themselves: nothing but the caches that this file names.

A cache belongs to a workspace. Those below still belong to their modules. No answer depends on them: they
hold what is made of their keys alone (tests/cli/test_two_workspaces.py). Whoever moves one into the workspace
takes it out here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

STILL_OF_MODULES = {
    "decoding.decoder:_INSTRUCTIONS",
    "decoding.decoder:_address",
    "decoding.register_use:_USED",
    "simulator.tables.flat:_FLAT",
    "uops.operands:_PLACES",
}
"""Globals of modules that an analysis changes."""

SCRIPT = """
import sys
from pathlib import Path
from cyclelens.analyzer.doors.analysis import Analyzer
from cyclelens.analyzer.doors.prediction import Predictor
from cyclelens.analyzer.doors.workspace import Workspace
from cyclelens.analyzer.model.result import AnalysisOptions

def sizes():
    # Of every global of our modules that can change: what it is, or how much it holds.
    found = {}
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith("cyclelens.analyzer."):
            continue
        for name, value in list(vars(module).items()):
            if name.startswith("__") or isinstance(value, type):
                continue
            key = module_name.removeprefix("cyclelens.analyzer.") + ":" + name
            if hasattr(value, "cache_info"):
                if value.__module__ == module_name:
                    found[key] = value.cache_info().currsize
            elif hasattr(value, "size") and isinstance(value, dict):
                found[key] = value.size()
            elif isinstance(value, dict | list | set) or type(value).__name__.startswith("Weak"):
                found[key] = len(value)
            elif value is None or isinstance(value, int | float | str | tuple | frozenset):
                found[key] = value
    return found

def work(number):
    analyzer = Analyzer(Workspace())
    for file in sorted(Path("examples").glob("*.s")):
        text = file.read_text().replace("$1", f"${number}") + f"\\n add ${number}, 0x{number}(%r8, %r9, 2)\\n"
        for trace in (False, True):
            analyzer.analyze(text, AnalysisOptions(("SKL", "ZEN4"), prices=not trace, trace=trace))
    code = bytes.fromhex("4c8d8c48") + number.to_bytes(4, "little") + bytes.fromhex("49ffc0")
    for mode in ("unroll", "loop"):
        for name in ("HSW", "ZEN5"):
            Predictor().predict_batch([code, 3 * code], name, mode)

work(3)
before = sizes()
work(5)
after = sizes()
print(*sorted(key for key in before if before[key] != after[key]), sep="\\n")
"""


def test_an_analysis_changes_no_global_but_the_caches_of_this_list() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=ROOT)
    assert set(run.stdout.split()) == STILL_OF_MODULES
