"""What a start may load: ``benchmarks/startup.py`` measures how long each takes."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cyclelens.analyzer.common.patterns import pattern
from cyclelens.analyzer.simulator.form import compiled

ROOT = Path(__file__).parents[2]
LAZY = pattern("pattern")


def loaded_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in run.stdout.split()}


PREDICTION = (
    "from cyclelens.analyzer.engine.prediction import Predictor;"
    "Predictor().predict(bytes.fromhex('4801c0'), 'SKL')"
)


def test_starting_the_command_line_loads_no_heavy_library() -> None:
    """The libraries of the server and of the importer cost more than a prediction."""
    loaded = loaded_after("import cyclelens.analyzer.cli.main")
    assert loaded & {"pygls", "lsprotocol", "lxml", "keystone", "iced_x86", "tqdm"} == set()


def test_the_analyzer_as_a_library_loads_no_server_library() -> None:
    loaded = loaded_after("import cyclelens.analyzer.engine.analysis")
    assert loaded & {"pygls", "lsprotocol", "lxml", "keystone"} == set()


def test_a_prediction_loads_no_heavy_part_of_the_standard_library() -> None:
    """Each took about a tenth of a start: compiled stages, finders of modules and tables can do without."""
    loaded = loaded_after(PREDICTION)
    assert loaded & {"inspect", "tempfile", "dataclasses", "pathlib", "urllib", "datetime"} == set()
    assert loaded & {"typing", "csv", "contextlib"} == set()


def test_an_analysis_compiles_no_methods_of_classes() -> None:
    """The standard library's data classes took a tenth of its time, and paths, digests and folders for
    programs that are not run the same again."""
    loaded = loaded_after(
        "from cyclelens.analyzer.engine.analysis import Analyzer;"
        "from cyclelens.analyzer.model.result import AnalysisOptions;"
        "Analyzer().analyze('add %rax, %rbx', AnalysisOptions(allow_external_programs=False))"
    )
    assert "cyclelens" in loaded
    assert loaded & {"inspect", "dataclasses", "pathlib", "tempfile", "hashlib", "shutil"} == set()


def test_a_prediction_loads_no_table_of_names() -> None:
    """iced-x86's 5,000 codes by name."""
    asked = (
        "assert not {'iced_x86.Code', 'iced_x86.Mnemonic', 'iced_x86.OpCodeOperandKind'} & set(sys.modules)"
    )
    later = "from iced_x86 import Code; assert Code.ADD_RM8_R8"
    assert "iced_x86" in loaded_after(f"{PREDICTION}; {asked}; {later}")


def test_others_in_the_process_have_all_of_the_decoders_library() -> None:
    """What was left away is imported for whoever asks the package for it."""
    asked = "import iced_x86; print(iced_x86.Mnemonic.ADD, hasattr(iced_x86, 'Nothing'))"
    script = f"{PREDICTION}; {asked}"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"\d+ False\n", run.stdout)


def test_a_command_loads_no_translations() -> None:
    """The standard library's parser of arguments looks for some of its own messages, which takes longer than
    to import the parser."""
    script = (
        "import sys; sys.argv[1:] = ['arch', 'list'];"
        "from cyclelens.analyzer.cli.start import command; command()"
    )
    run = subprocess.run([sys.executable, "-X", "importtime", "-c", script], capture_output=True, text=True)
    loaded = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    assert run.returncode == 0 and "cyclelens.analyzer.cli.main" in loaded
    assert loaded & {"gettext", "locale"} == set()


@pytest.mark.skipif(not compiled(), reason="the simulator is not compiled")
def test_all_that_is_compiled_lies_in_one_file() -> None:
    """To open one for every module took longer than to run a short block."""
    declared = {
        ".".join(("cyclelens", *file.relative_to(ROOT).with_suffix("").parts))
        for file in (ROOT / "analyzer").rglob("*.pxd")
    }
    assert len({import_module(name).__file__ for name in declared}) == 1


def test_patterns_of_assembly_are_compiled_when_they_are_used() -> None:
    """Nearly 200 of them, most for what most texts have not."""
    found = [
        f"{file.relative_to(ROOT)}:{statement.lineno}"
        for file in (ROOT / "analyzer" / "frontend").rglob("*.py")
        for statement in ast.parse(file.read_text()).body
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef))
        and "re.compile(" in ast.unparse(statement)
    ]
    assert found == []
    assert LAZY.pattern == "pattern"
    assert LAZY.fullmatch("pattern") and not LAZY.fullmatch("patterns")
    assert not LAZY.flags & re.IGNORECASE
