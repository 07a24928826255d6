"""What a start imports, as far as a user feels it; ``benchmarks/startup.py`` measures the time."""

import ast
import subprocess
import sys
from pathlib import Path

from testkit.parsed_sources import nodes, parsed

ROOT = Path(__file__).parents[2]


def loaded_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in run.stdout.split()}


def test_starting_the_command_line_loads_no_heavy_library() -> None:
    """The libraries of the server and of the importer cost more than a prediction."""
    loaded = loaded_after("import cyclelens.analyzer.cli.main")
    assert "cyclelens" in loaded
    assert loaded & {"pygls", "lsprotocol", "lxml", "keystone", "iced_x86", "tqdm", "msgspec"} == set()


MAY_BE_ABSENT = {"matplotlib", "pyarrow", "sklearn", "keystone", "resource"}
"""Packages without a wheel for every platform, and of extras; modules that not every system has."""
BOUNDARY = {"analyzer/api/__init__.py", "server/workers/worker.py"}
"""The names of the library, and the entry of a child program. ``analyzer/cli`` belongs to it, too."""
BY_PARAMETER = {"analyzer/engine/prediction.py", "analyzer/uops/block.py"}
"""They choose a whole model by a parameter: the analytic bounds, and AMD's macro-ops. ``test_cold_start.py``
holds that a prediction does not load the other one."""
FOR_OBJECTS = {"analyzer/frontend/objects/elf.py"}
"""Loading pyelftools takes a tenth of the instructions of a short text's analysis, which does not need it."""


def test_imports_are_delayed_only_at_the_boundary() -> None:
    """A subcommand imports what it needs; below, an import stands at the top, where readers look for it."""
    root = Path(__file__).parents[2]
    found = set()
    for file in (*(root / "analyzer").rglob("*.py"), *(root / "server").rglob("*.py")):
        name = file.relative_to(root).as_posix()
        if name in BOUNDARY | BY_PARAMETER | FOR_OBJECTS or name.startswith("analyzer/cli/"):
            continue
        for function in nodes(parsed(file)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Import):
                        found |= {(name, each.name.split(".")[0]) for each in node.names}
                    elif isinstance(node, ast.ImportFrom):
                        found.add((name, (node.module or "").split(".")[0]))
    assert {package for _, package in found} <= MAY_BE_ABSENT, found


def test_the_analysis_of_a_text_loads_no_library_of_the_server_or_for_objects() -> None:
    loaded = loaded_after(
        "from cyclelens.analyzer.engine.analysis import Analyzer;"
        "from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions;"
        "Analyzer().analyze('add %rax, %rbx', AnalysisOptions(SourceOptions(allow_external_programs=False)))"
    )
    assert "cyclelens" in loaded
    assert loaded & {"pygls", "lsprotocol", "lxml", "keystone", "elftools"} == set()


def test_programs_that_use_what_tests_share_find_it() -> None:
    """A benchmark is started from a shell, where pytest has not put ``tests`` on the path."""
    for file in (ROOT / "benchmarks").glob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "from testkit" in text:
            assert "sys.path" in text.partition("from testkit")[0], file.name
