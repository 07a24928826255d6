"""The invariants of ARCHITECTURE.md, as far as the source text shows them."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import get_type_hints

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.units import MOST_UNITS, UopKind
from cyclelens.analyzer.model.uops import Trait
from cyclelens.server.documents.session import Session, Snapshots
from cyclelens.server.language_server import CyclelensServer, EditedServer
from testkit.parsed_sources import nodes, parsed
from testkit.simulator_kinds import classes_extended, classes_used, kinds_of_simulator_files

ROOT = Path(__file__).parents[2]
ANALYZER = ROOT / "analyzer"

PURE = ("model", "facts", "microarchitectures", "uops", "simulator", "bounds", "insight", "hints", "reports")
"""Layers whose output depends on their input alone."""
PARAMETERIZED = ("uops", "simulator", "bounds", "insight", "hints", "reports")
"""Layers that ask a microarchitecture for parameters and never for its name."""


def modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for file in sorted((ANALYZER / folder).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), parsed(file)


@cache
def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


IMPORTS = re.compile(r"^(?:from \S+ import (?:\([^)]*\)|.*)|import .*)", re.MULTILINE)
"""Statements of Cython that import at run time."""


def packages(name: str) -> set[str]:
    """The packages that a module lies in: Python runs them before the module."""
    parts = name.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts))}


def test_no_module_needs_itself() -> None:
    """The graph of imports has no cycle, those for types alone and those inside functions included. So each
    module can be imported first: every module that it names has been run to its end."""
    trees = {name: parsed(file) for name, file in all_modules()}
    core = IMPORTS.findall((ANALYZER / "simulator" / "core.pyx").read_text())
    trees["cyclelens.analyzer.simulator.core"] = ast.parse("\n".join(core))
    graph = {}
    for name, tree in trees.items():
        named = imported(tree) & trees.keys() - {name}
        # Its own packages have begun already.
        around = {package for each in named for package in packages(each)} - packages(name) - {name}
        graph[name] = named | around & trees.keys()
    assert any(graph.values())
    assert list(TopologicalSorter(graph).static_order())  # it names a cycle if there is one


def all_modules() -> Iterator[tuple[str, Path]]:
    for top in ("analyzer", "server"):
        for file in sorted((ROOT / top).rglob("*.py")):
            name = ".".join(["cyclelens", *file.relative_to(ROOT).with_suffix("").parts])
            yield name.removesuffix(".__init__"), file


def test_every_file_of_the_core_has_a_kind_and_is_included() -> None:
    files = classes_used().keys()
    assert set(kinds_of_simulator_files()) == files
    included = re.findall(r'^include "(.*)\.pxi"$', (ANALYZER / "simulator" / "core.pyx").read_text(), re.M)
    assert sorted(included) == sorted(file.replace(".", "/") for file in files)


@pytest.mark.parametrize(
    "kind, may_import",
    [
        ("stage", {"interface", "helper", "shared"}),
        ("policy", {"interface", "stage", "helper", "shared"}),
        ("interface", {"shared"}),
        ("helper", {"interface", "helper", "shared"}),
        ("shared", {"shared"}),
        ("registry", {"interface", "policy", "shared"}),
        ("clock", {"clock", "registry", "interface", "stage", "helper", "shared"}),
    ],
)
def test_stages_meet_only_in_the_pipeline(kind: str, may_import: set[str]) -> None:
    """A policy may extend another one of its interface."""
    kinds, extended = kinds_of_simulator_files(), classes_extended()
    wrong = [
        f"{name} uses {other}"
        for name, others in classes_used().items()
        for other in others
        if kinds[name] == kind
        and kinds[other] not in may_import
        and not (kind == kinds[other] == "policy" and other in extended[name])
    ]
    assert wrong == []


def test_a_helper_belongs_to_one_stage_policy_or_helper() -> None:
    kinds = kinds_of_simulator_files()
    for helper in (name for name, kind in kinds.items() if kind == "helper"):
        users = [user for user, others in classes_used().items() if helper in others]
        owners = [user for user in users if kinds[user] in ("stage", "policy", "helper")]
        assert len(owners) == 1, f"{helper} is used by {users}"


def test_the_core_imports_only_what_stands_below_it() -> None:
    text = (ANALYZER / "simulator" / "core.pyx").read_text()
    rooms = set(re.findall(r"^from cyclelens\.analyzer\.(\w+)", text, re.M))
    assert rooms == {"common", "model", "simulator", "uops"}


@pytest.mark.parametrize("kinds", [UopKind, Trait])
def test_the_core_numbers_kinds_and_traits_as_the_model_does(kinds: type[IntEnum]) -> None:
    text = (ANALYZER / "simulator" / "tables" / "constants.pxi").read_text()
    numbers = dict(re.findall(r"^    (\w+) = (\d+)\b", text, re.M))
    suffix = "_TRAIT" if kinds is Trait else ""
    named = {item.name: item.value for item in kinds if item.name != "NONE"}
    own = {name: int(numbers[name + suffix]) for name in named if name + suffix in numbers}
    assert own == named
    assert int(numbers["MOST_UNITS"]) == MOST_UNITS


def test_nothing_below_the_command_line_prints() -> None:
    wrong = []
    for file, tree in modules(*PURE, "frontend", "isa"):
        for node in nodes(tree):
            match node:
                case ast.Call(func=ast.Name(id="print")):
                    wrong.append(f"{file}:{node.lineno}")
                case ast.Call(func=ast.Attribute(attr="write") as func) if ast.unparse(func) in {
                    "sys.stdout.write",
                    "sys.stderr.write",
                    "sys.stdout.buffer.write",
                }:
                    wrong.append(f"{file}:{node.lineno}")
    assert wrong == []


def test_no_code_asks_for_a_microarchitecture_by_name() -> None:
    names = set(registry.names())
    wrong = [
        f"{file}:{node.lineno} {node.value!r}"
        for file, tree in modules(*PARAMETERIZED)
        for node in nodes(tree)
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert wrong == []


@cache
def names_of_units() -> set[str]:
    """Names of units of any core, as people or tables read them: ``p0``, ``10``, ``ALU1``, ``FP45``."""
    found: set[str] = set()
    for name in registry.names():
        units = registry.get(name).units
        found |= {units.prefix + each for each in units.names} | set(units.names) | set(units.sets)
        digits = sorted(each for each in units.names if len(each) == 1)
        for size in range(1, len(digits) + 1):
            for those in combinations(digits, size):
                found |= {"".join(those), units.prefix + "".join(those)}
    return {name for name in found if len(name) > 1 and any(map(str.isdigit, name))}


def text_of(node: ast.AST) -> str | None:
    """The string of a node that is a literal or a concatenation of literals."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = text_of(left), text_of(right)
            return None if first is None or second is None else first + second
        case ast.JoinedStr(values=values):
            texts = [text_of(value) for value in values]
            return None if None in texts else "".join(text for text in texts if text is not None)
        case ast.FormattedValue(value=value):
            return text_of(value)
    return None


def is_about_units(*expressions: ast.AST | None) -> bool:
    """Whether a name in the expression denotes a port or a unit: ``port``, ``unit_mask``,
    ``columns.port``."""
    parts = [part for expression in expressions if expression for part in ast.walk(expression)]
    words = [part.id for part in parts if isinstance(part, ast.Name)]
    words += [part.attr for part in parts if isinstance(part, ast.Attribute)]
    return any({"port", "ports", "unit", "units"} & set(word.lower().split("_")) for word in words)


def is_number_of_unit(node: ast.AST) -> bool:
    """A number that can only be that of a port, or of how many there are; a single character as well."""
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int(number)):
            return number > 1
        case ast.Constant(value=str(text)):
            return len(text) == 1
        case ast.BinOp(left=left, right=right):
            return is_number_of_unit(left) or is_number_of_unit(right)
    return False


def literals_for_units(tree: ast.Module) -> Iterator[ast.AST]:
    """Literals that name units, alone, put together or listed digit by digit; and single characters and
    numbers where a port or a unit is compared, looked up, matched or given a value."""
    formats = {
        part
        for node in nodes(tree)
        if isinstance(node, ast.FormattedValue) and node.format_spec
        for part in ast.walk(node.format_spec)
    }
    for node in nodes(tree):
        if node in formats:
            continue
        if isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr) and text_of(node) in names_of_units():
            yield node
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            listed = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = [text_of(each) for each in listed if each is not None]
            if texts and all(text is not None and len(text) == 1 and text.isdigit() for text in texts):
                yield node
        match node:
            case ast.Compare(left=left, comparators=others):
                asked = [left, *others]
                found = any(map(is_number_of_unit, asked)) and is_about_units(*asked)
            case ast.Call(func=func, args=args):
                characters = [each for each in args if isinstance(text_of(each), str)]
                found = any(map(is_number_of_unit, characters)) and is_about_units(func, *args)
            case ast.Subscript(value=value, slice=place):
                found = is_number_of_unit(place) and is_about_units(value)
            case ast.Assign(targets=targets, value=value):
                found = is_number_of_unit(value) and is_about_units(*targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                found = is_number_of_unit(value) and is_about_units(target)
            case ast.Match(subject=subject, cases=cases):
                patterns = [
                    part.value
                    for case in cases
                    for part in ast.walk(case.pattern)
                    if isinstance(part, ast.MatchValue)
                ]
                found = any(map(is_number_of_unit, patterns)) and is_about_units(subject)
            case _:
                found = False
        if found:
            yield node


NO_UNITS = {
    "frontend/statements/directives.py": ("'p2'",),  # of .p2align
    "frontend/objects/line_tables.py": ("MAXIMUM_UNITS = 20000",),  # of a compiler
    "frontend/statements/expressions.py": ("'89'",),  # digits that are not octal
    "characterizing/ports.py": ("'0123456789'",),
    "cli/characterize.py": ("_NUMBER.sub('N', row.ports_problem)",),  # of a message
    "cli/serve.py": ("PORT = 8640",),  # of a server
    "engine/settings.py": ("'48'", "'16'"),  # positions, as a user writes them
    "model/units.py": ("MOST_UNITS = 30",),  # bits of a mask
    "reports/html.py": ("2 <= position < 2 + ports", "1 <= position < 2 + ports"),  # columns of a table
    "reports/interactive.py": ("_ALL_PORTS = 8",),  # lines that the page has room for
    "reports/timeline.py": ("_PORTS_WIDTH = 10",),  # characters
}
"""What looks like a port or a unit and is none."""


def test_code_asks_units_for_their_roles() -> None:
    """Port digits and names of units stand with the cores and their tables alone."""
    folders = sorted(each.name for each in ANALYZER.iterdir() if each.is_dir())
    found = [
        (file.removeprefix("analyzer/"), ast.unparse(node))
        for file, tree in modules(*(name for name in folders if name not in ("microarchitectures", "facts")))
        for node in literals_for_units(tree)
    ]
    known = {(file, text) for file, texts in NO_UNITS.items() for text in texts}
    assert set(found) - known == set()
    assert known - set(found) == set(), "no longer there"


@pytest.mark.parametrize(
    "line",
    [
        "if use.units == '0156': pass",
        "name = 'p23'",
        "name = '10'",
        "'FP45'",
        "name = 'p' + '0'",
        "name = f'p{2}3' + f'{\"p4\"}'",
        "loads = ('2', '3')",
        "kinds = {'4': 'store data'}",
        "port == '4'",
        "units.named('5')",
        "columns.port[uop] == 4",
        "newer = len(core.units) > 9",
        "units.names[4]",
        "store_unit = 4",
        "unit_mask: int = 1 << 4",
        "if unit_mask & 0b1100 == 0b1100: pass",
        "match port:\n  case '4': pass",
        "match use.unit:\n  case 4 | 9: pass",
    ],
)
def test_a_literal_for_units_is_found(line: str) -> None:
    assert list(literals_for_units(ast.parse(line)))


@pytest.mark.parametrize(
    "line", ["port >= 0", "units.names[0]", "unit = 1 << number", "x = 23", "text = f'{port}: {cycles:4}'"]
)
def test_what_names_no_unit_passes(line: str) -> None:
    assert not list(literals_for_units(ast.parse(line)))


def test_there_is_one_kind_of_value_class() -> None:
    """``msgspec.Struct`` alone: two kinds differ in comparison, copying and unpacking, and readers would have
    to know which one they hold (decision 0018)."""
    banned = {"dataclasses", "typing.NamedTuple", "collections.namedtuple"}
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for folder in ("analyzer", "server", "tests", "benchmarks", "dev", "data", "editors")
        for file in (ROOT / folder).rglob("*.py")
        if "node_modules" not in file.parts
        # Most files do not even have the word.
        if re.search("dataclasses|namedtuple", file.read_text(), re.IGNORECASE)
        for name in imported(parsed(file)) & banned
    ]
    assert wrong == []


def test_no_clock_and_no_randomness() -> None:
    banned = {"time", "random", "secrets", "uuid", "datetime"}
    wrong = [f"{file} imports {name}" for file, tree in modules(*PURE) for name in imported(tree) & banned]
    assert wrong == []


def test_no_module_changes_its_own_globals() -> None:
    """No global counters: what one analysis does cannot show in the next."""
    wrong = [
        f"{file}:{node.lineno}"
        for file, tree in modules(*PURE)
        for node in nodes(tree)
        if isinstance(node, ast.Global)
    ]
    assert wrong == []


def test_the_types_of_handlers_say_who_changes_documents() -> None:
    """Features get a ``CyclelensServer``, whose documents they read; mypy holds that these have no method to
    change one. Who opens, changes and closes documents gets an ``EditedServer``."""
    changing = {"open", "put", "close"}
    assert not changing & set(dir(Snapshots))
    assert changing <= set(dir(Session))
    taken = {
        file.stem: get_type_hints(import_module(f"cyclelens.server.features.{file.stem}").register)["server"]
        for file in sorted((ROOT / "server" / "features").glob("[a-z]*.py"))
    }
    assert {name for name, kind in taken.items() if kind is EditedServer} == {"document_sync"}
    assert set(taken.values()) == {CyclelensServer, EditedServer}


def test_every_module_can_be_imported() -> None:
    names = [name for name, file in all_modules() if file.name != "__main__.py"]
    script = f"import importlib\nfor name in {names!r}:\n    importlib.import_module(name)\n"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


MOST_LINES = 450
"""Of a file that a person writes: what it knows fits into one head."""


def test_a_class_name_means_one_thing() -> None:
    """The result types of the library have the names of the values that they show; no others share a name."""
    files: dict[str, set[str]] = {}
    for module, file in all_modules():
        for node in parsed(file).body:
            if isinstance(node, ast.ClassDef) and module != "cyclelens.analyzer.api.results":
                files.setdefault(node.name.lstrip("_"), set()).add(module)
    assert len(files) > 500
    assert {name: found for name, found in files.items() if len(found) > 1} == {}


def test_no_file_is_too_long() -> None:
    files = (
        file
        for folder in ("analyzer", "server", "benchmarks", "dev", "tests", "data")
        for file in (ROOT / folder).rglob("*.p*")
        if file.suffix in (".py", ".pyx", ".pxi")
    )
    assert [file.name for file in files if len(file.read_text().splitlines()) > MOST_LINES] == []


MOST_PARAMETERS = 6
"""Of a function: what belongs together is a value."""
FOR_USERS = {
    "analyzer/api/analysis.py analyze",
    "analyzer/api/measurement.py measure",
    "analyzer/api/prediction.py predict_batch",
    "analyzer/corpora/parts.py parts",
}
"""The library's functions, whose named arguments are choices that users write one by one."""


def test_no_function_has_too_many_parameters() -> None:
    found = set()
    for folder in ("analyzer", "server"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in nodes(parsed(file)):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    given = node.args
                    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                    if len(names) - (names[:1] in (["self"], ["cls"])) > MOST_PARAMETERS:
                        found.add(f"{file.relative_to(ROOT).as_posix()} {node.name}")
    assert found == FOR_USERS


def test_messages_of_the_server_stand_in_one_place() -> None:
    """What a request is refused with is no literal where that happens."""
    found = []
    for file in (ROOT / "server" / "features").rglob("*.py"):
        for node in nodes(parsed(file)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                literal = any(isinstance(each, (ast.Constant, ast.JoinedStr)) for each in node.args)
                if node.func.id.startswith("JsonRpc") and literal:
                    found.append(f"{file.name}:{node.lineno}")
    assert found == []
