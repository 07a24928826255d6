"""Generates declarations from the simulator's Python: ``python dev/declarations.py``.

The other commands in dev/ run it before they compile. It writes:

1. The C declarations: a ``.pxd`` for every compiled file, from its annotated Python. A file is compiled if a
   ``.pxd`` lies beside it; for a new file, create an empty one.

   - An attribute has the type of its annotation, else of its first assignment. If that cannot be inferred, a
     message names the line to annotate.
   - ``Column`` and ``LongColumn`` are views of 32- and 64-bit integers, ``Long`` is such an integer, and
     ``Strided`` a strided view of 32-bit integers. ``int``, ``bool``, ``float`` and compiled classes keep
     their meaning; everything else is a Python object.
   - Methods become C functions, callable from Python too if some Python code calls a method of that name.
     Methods with keywords, defaults, decorators, closures or, if public, Python objects stay Python methods.
   - A method may raise if it, or one that it calls, raises or creates Python objects. The others cannot, and
     are cheaper to call.
   - A local variable that is annotated as a number or a compiled class has that C type.
   - Whole numbers in capitals, own (``_NAME``) and imported, are C numbers.
   - A short public method of a class without subclasses is copied into the ``.pxd``, so that other files can
     inline it. ``setup.py`` omits it from its own file.

2. The classes that hold the columns of ``tables/declared.py``: code to create, grow and fill these, and the
   rows for compiled files.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

from column_classes import column_classes, with_rows
from stage_types import (
    C_TYPES,
    CLASSES,
    ROOT,
    Class,
    Module,
    Scope,
    Undeclared,
    c_type,
    is_c,
    module,
    name_of,
    number_type,
)

SIMULATOR = ROOT / "analyzer" / "simulator"
NOTE = "Made by dev/declarations.py; do not edit."
CYTHON_TYPES = {"int": "cython.int", "bool": "cython.bint", "Long": "cython.longlong"}
BUILT_IN = {name for kind in (list, dict, set, str) for name in dir(kind)}
HARMLESS = {"len", "min", "max", "abs", "range", "int", "bool", "float"}
MOST_IN_LINE = 110
"""Most syntax nodes of an inlined method."""
MAKERS = (ast.Raise, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.JoinedStr)
"""Expressions that create Python objects."""


def may_raise(scope: Scope, body: ast.FunctionDef) -> bool:
    """Whether the function may raise, by the current knowledge of the functions that it calls."""
    return any(
        isinstance(node, MAKERS)
        or (isinstance(node, ast.Call) and call_may_raise(scope, node.func))
        or (isinstance(node, ast.Subscript) and scope.infer(node.value) == "bytes")
        for node in ast.walk(body)
    )


def call_may_raise(scope: Scope, called: ast.expr) -> bool:
    match called:
        case ast.Name(id=name):
            if name in HARMLESS:
                return False
            function = scope.home.functions.get(name)
            return function is None or not is_c(scope.home, function) or name in scope.home.raising
        case ast.Attribute(value=inner, attr=name):
            owner = CLASSES.get(scope.infer(inner) or "")
            found = owner.method(name) if owner is not None else None
            return not found or not is_c(*found) or name in found[0].raising
    return True


def called_by_name(modules: list[Module]) -> set[str]:
    """Methods called on objects whose class the compiler does not know."""
    names: set[str] = set()
    for home in modules:
        functions: list[tuple[Class | Module, ast.FunctionDef]] = [
            (item, method) for item in home.classes for method in item.methods.values()
        ]
        functions += [(home, function) for function in home.functions.values()]
        for owner, function in functions:
            scope = Scope(owner, function, as_c=True)
            for node in ast.walk(function):
                match node:
                    case ast.Call(func=ast.Attribute(value=inner, attr=name)):
                        if not home.compiled or scope.infer(inner) is None:
                            names.add(name)
    return names - BUILT_IN


def find_raising(modules: list[Module]) -> None:
    """Mark functions that may raise, until no more are found."""
    classes = [item for item in CLASSES.values() if item.home.compiled]
    owners: list[Class | Module] = [*classes, *modules]
    scopes = [
        (owner, function.name, Scope(owner, function), function)
        for owner in owners
        for function in (owner.methods if isinstance(owner, Class) else owner.functions).values()
    ]
    changed = True
    while changed:
        changed = False
        for owner, name, scope, function in scopes:
            if name not in owner.raising and may_raise(scope, function):
                owner.raising.add(name)
                changed = True
        for item in classes:
            # A caller does not know which class of a family it gets.
            for line in list(item.lines())[1:]:
                shared = (item.raising ^ line.raising) & item.methods.keys() & line.methods.keys()
                changed = changed or bool(shared)
                item.raising |= shared
                line.raising |= shared


def declarations(home: Module, families: set[str], visible: set[str]) -> str:
    """The text of a file's ``.pxd``.

    ``families``: classes with subclasses; ``visible``: methods that Python can call."""
    used: dict[str, set[str]] = {}

    def typed(kind: str) -> str:
        found = CLASSES.get(kind)
        if found is not None and found.home.compiled and found.home is not home:
            used.setdefault(found.home.name, set()).add(found.name)
        return c_type(kind)

    body: list[str] = []
    for item in home.classes:
        if item.node.bases and item.base is None:
            continue  # a plain Python class, such as an exception
        body += ["", "", *class_lines(item, typed, visible, final=is_final(item, families))]
    functions = [
        f"cdef {signature(home, function, typed, name in home.raising)}"
        for name, function in home.functions.items()
        if is_c(home, function)
    ]
    if functions:
        body += ["", "", *functions]
    numbers = [
        f"cdef {C_TYPES[number_type(home.numbers[name])]} {name}"
        for name in sorted(home.numbers)
        if name.startswith("_") or name in home.imports
    ]
    lines = [f"# {NOTE}", "cimport cython", ""]
    lines += [f"from {name} cimport {', '.join(sorted(used[name]))}" for name in sorted(used)]
    return "\n".join([*lines, *([""] if used else []), *numbers, *body]).strip("\n") + "\n"


def is_final(item: Class, families: set[str]) -> bool:
    """Whether the class can be declared final: it has no subclass and overrides no inherited method."""
    inherited = {name for line in list(item.lines())[1:] for name in line.methods} - {"__init__"}
    return item.full_name not in families and not inherited & item.methods.keys()


def class_lines(item: Class, typed: Callable[[str], str], visible: set[str], *, final: bool) -> Iterator[str]:
    if final:
        yield "@cython.final"
    base = f"({typed(item.base.full_name)})" if item.base else ""
    yield f"cdef class {item.name}{base}:"
    attributes = item.attributes()
    for name, kind in attributes.items():
        yield f"    cdef {'' if name.startswith('_') else 'public '}{typed(kind)} {name}"
    methods = [method for method in item.methods.values() if is_c(item, method)]
    for method in methods:
        annotated = Scope(item, method).annotated.items()
        local = [
            f"{name}={CYTHON_TYPES.get(kind) or typed(kind)}"
            for name, kind in annotated
            if kind in CYTHON_TYPES or (kind in CLASSES and CLASSES[kind].home.compiled)
        ]
        head = signature(item.home, method, typed, method.name in item.raising)
        shared = final and not local and method.name not in visible and not method.name.startswith("_")
        if shared and (body := body_in_line(item.home, method)):
            yield f"    cdef inline {head}:"
            yield from body
            continue
        if local:
            yield f"    @cython.locals({', '.join(local)})"
        yield f"    {'cpdef' if method.name in visible else 'cdef'} {head}"
    if not attributes and not methods:
        yield "    pass"


class Values(ast.NodeTransformer):
    """Replaces names that other files do not know by their values."""

    def __init__(self, numbers: dict[str, int | None]) -> None:
        self._numbers = numbers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        number = self._numbers.get(node.id)
        if number is None or number_type(number) != "int":
            return node
        return ast.copy_location(ast.Constant(number), node)


def body_in_line(home: Module, method: ast.FunctionDef) -> list[str]:
    """Statements of an inlined method; empty if it is too long, or calls anything but methods."""
    statements = [
        Values(home.numbers).visit(deepcopy(statement))
        for statement in method.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    nodes = [node for statement in statements for node in ast.walk(statement)]
    if not statements or len(nodes) > MOST_IN_LINE:
        return []
    known = {argument.arg for argument in method.args.args} | HARMLESS
    known |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if any(
        isinstance(node, MAKERS) or (isinstance(node, ast.Name) and node.id not in known) for node in nodes
    ):
        return []
    return [" " * 8 + line for statement in statements for line in ast.unparse(statement).splitlines()]


def signature(home: Module, function: ast.FunctionDef, typed: Callable[[str], str], raises: bool) -> str:
    parameters = [
        "self" if argument.arg == "self" else f"{typed(home.type_of(argument.annotation))} {argument.arg}"
        for argument in function.args.args
    ]
    returned = typed(home.type_of(function.returns))
    end = ""
    if returned == "void" and raises:
        # A returned number signals exceptions faster, but then every return needs a value.
        ends_early = any(isinstance(node, ast.Return) for node in ast.walk(function))
        returned, end = ("void", " except *") if ends_early else ("int", " except -1")
    elif returned == "void":
        end = " noexcept"
    elif returned == "bint":
        end = " except -1" if raises else " noexcept"
    elif returned in ("int", "long long", "double"):
        end = " except? -1" if raises else " noexcept"
    return f"{returned} {function.name}({', '.join(parameters)}){end}"


def made() -> Iterator[tuple[Path, str]]:
    """Path and text of every generated file. Raises ``Undeclared``.

    The caller must write each file before requesting the next."""
    path, text = column_classes()
    yield path, text
    modules = [module(name_of(path.with_suffix(".py"))) for path in sorted(SIMULATOR.rglob("*.pxd"))]
    find_raising(modules)
    families = {
        line.full_name for item in CLASSES.values() if item.home.compiled for line in list(item.lines())[1:]
    }
    others = [module(name_of(path)) for path in sorted(SIMULATOR.rglob("*.py")) if path.name != "__init__.py"]
    visible = called_by_name(others)
    for each in modules:
        text = declarations(each, families, visible)
        yield each.path.with_suffix(".pxd"), with_rows(text) if each.path == path else text


def main() -> None:
    """Write the files that changed."""
    try:
        for path, text in made():
            if not path.exists() or path.read_text("utf-8") != text:
                path.write_text(text, "utf-8")
                print(f"made {path.relative_to(ROOT)}", file=sys.stderr)
    except Undeclared as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
