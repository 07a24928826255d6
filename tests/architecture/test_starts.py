"""What a start loads, as far as a user feels it: ``benchmarks/startup.py`` measures how long it takes."""

import subprocess
import sys
from pathlib import Path

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


def test_the_analyzer_as_a_library_loads_no_server_library() -> None:
    loaded = loaded_after(
        "from cyclelens.analyzer.engine.analysis import Analyzer;"
        "from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions;"
        "Analyzer().analyze('add %rax, %rbx', AnalysisOptions(SourceOptions(allow_external_programs=False)))"
    )
    assert "cyclelens" in loaded
    assert loaded & {"pygls", "lsprotocol", "lxml", "keystone"} == set()
