"""Infers the types of attributes, variables and expressions in the simulator from its annotated Python.

Also decides which methods become C functions. A type is a name of ``C_TYPES`` or ``CONTAINERS``, the full
name of a class, ``None``, or ``object`` for everything without a C type.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "cyclelens."
KNOWN = ("cyclelens.analyzer.simulator.", "cyclelens.analyzer.model.")
"""Packages in which types and numbers are looked up."""

C_TYPES = {
    "int": "int",
    "bool": "bint",
    "float": "double",
    "Long": "long long",
    "Column": "int[::1]",
    "Strided": "int[:]",
    "LongColumn": "long long[::1]",
}
CONTAINERS = ("list", "dict", "tuple", "bytes")
ITEMS = {"Column": "int", "Strided": "int", "LongColumn": "Long"}
OPERATIONS: dict[type[ast.operator], Callable[..., int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
}
CLOSURES = (ast.Yield, ast.YieldFrom, ast.Lambda, ast.FunctionDef, ast.GeneratorExp)
INT_BITS = 31


class Undeclared(Exception):
    """A type cannot be inferred; the message says where."""


class Class:
    """A class of the project, with its attributes and methods."""

    def __init__(self, home: Module, node: ast.ClassDef) -> None:
        self.home = home
        self.node = node
        self.name = node.name
        self.full_name = f"{home.name}.{node.name}"
        self.methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        self.raising: set[str] = set()
        """Methods that may raise."""
        self._types: dict[str, str | None] = {}

    @cached_property
    def base(self) -> Class | None:
        """The compiled base class, if any."""
        names = [self.home.class_named(base.id) for base in self.node.bases if isinstance(base, ast.Name)]
        found = [CLASSES[name] for name in names if name is not None]
        return next((each for each in found if each.home.compiled), None)

    def lines(self) -> Iterator[Class]:
        """The class and its base classes."""
        line: Class | None = self
        while line is not None:
            yield line
            line = line.base

    @cached_property
    def first(self) -> dict[str, tuple[Scope | None, ast.expr | None, ast.expr | None, int]]:
        """First assignment of every own attribute: scope, value, annotation, line."""
        found: dict[str, tuple[Scope | None, ast.expr | None, ast.expr | None, int]] = {}
        for item in self.node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                found[item.target.id] = (None, None, item.annotation, item.lineno)
        inherited = {name for line in list(self.lines())[1:] for name in line.first}
        for method in self.methods.values() if self.home.compiled else ():
            scope = Scope(self, method)
            for node in ast.walk(method):
                for target, value, annotation in assignments(node):
                    if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
                        new = target.attr not in inherited and target.attr not in found
                        if new or annotation is not None:
                            found[target.attr] = (scope, value, annotation, target.lineno)
        return found

    def attribute(self, name: str) -> str | None:
        """The type of an attribute or property; None if it cannot be inferred."""
        for line in self.lines():
            if name in line.first:
                if name not in line._types:
                    line._types[name] = None  # breaks cycles
                    scope, value, annotation, _ = line.first[name]
                    if annotation is not None:
                        line._types[name] = line.home.type_of(annotation)
                    elif scope is not None and value is not None:
                        line._types[name] = scope.infer(value)
                return line._types[name]
            if name in line.methods:
                return line.home.type_of(line.methods[name].returns)
        return None

    def attributes(self) -> dict[str, str]:
        """Types of its own attributes. Raises ``Undeclared``."""
        types = {}
        for name, (*_, line) in self.first.items():
            found = self.attribute(name)
            if found is None:
                raise Undeclared(f"{self.home.path.relative_to(ROOT)}:{line}: annotate self.{name}")
            types[name] = found
        return types

    def method(self, name: str) -> tuple[Class, ast.FunctionDef] | None:
        """A method and the class that defines it; None if there is none."""
        return next(((line, line.methods[name]) for line in self.lines() if name in line.methods), None)


CLASSES: dict[str, Class] = {}
"""Classes of all files read so far, by full name."""


class Module:
    """A file of the project."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = path_of(name)
        self.tree = ast.parse(self.path.read_text("utf-8"))
        self.compiled = self.path.with_suffix(".pxd").exists()
        self.classes = [Class(self, node) for node in self.tree.body if isinstance(node, ast.ClassDef)]
        CLASSES.update({item.full_name: item for item in self.classes})
        self.functions = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        self.raising: set[str] = set()
        """Functions that may raise."""
        self.imports: dict[str, str] = {}
        """Modules by imported name."""
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(KNOWN):
                for alias in node.names:
                    self.imports[alias.name] = str(node.module)
                module(str(node.module))

    def class_named(self, name: str) -> str | None:
        """The full name of a class that the module defines or imports."""
        full_name = f"{self.imports.get(name, self.name)}.{name}"
        return full_name if full_name in CLASSES else None

    def find_function(self, name: str) -> tuple[Module, ast.FunctionDef] | None:
        if name in self.functions:
            return self, self.functions[name]
        if name in self.imports:
            return module(self.imports[name]).find_function(name)
        return None

    def type_of(self, annotation: ast.expr | None) -> str:
        """The type of an annotation; ``object`` without a C type."""
        if annotation is None or (isinstance(annotation, ast.Constant) and annotation.value is None):
            return "None"
        match annotation:
            case ast.Name(id=name) if name in C_TYPES or name == "bytes":
                return name
            case ast.Name(id=name) | ast.BinOp(left=ast.Name(id=name), right=ast.Constant(value=None)):
                return self.class_named(name) or "object"
            case ast.Subscript(value=ast.Name(id="list" | "dict" | "tuple" as name)):
                return name
        return "object"

    @cached_property
    def numbers(self) -> dict[str, int | None]:
        """Integer constants, own and imported; None where the value is known only at run time."""
        found: dict[str, int | None] = {}
        for name, source in self.imports.items():
            if name.isupper() and name in module(source).numbers:
                found[name] = module(source).numbers[name]
        for node in self.tree.body:
            for target, value, _ in assignments(node):
                if isinstance(target, ast.Name) and target.id.isupper() and value is not None:
                    number = self._number(value, found)
                    if number is not False:
                        found[target.id] = number
        return found

    def _number(self, value: ast.expr, found: Mapping[str, int | None]) -> int | bool | None:
        """The value; None for a number known only at run time, False for anything else."""
        match value:
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                return number
            case ast.Name(id=name) if name in found:
                return found[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                negated = self._number(operand, found)
                return negated if negated is None or negated is False else -negated
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in OPERATIONS:
                numbers = (self._number(left, found), self._number(right, found))
                if False in numbers or None in numbers:
                    return False if any(number is False for number in numbers) else None
                return OPERATIONS[type(operation)](*numbers)
            case ast.Call(func=ast.Name(id="int" | "len")) | ast.Call(func=ast.Attribute(attr="index")):
                return None
        return False


@cache
def module(name: str) -> Module:
    return Module(name)


def path_of(name: str) -> Path:
    path = ROOT.joinpath(*name.removeprefix(PACKAGE).split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def name_of(path: Path) -> str:
    return PACKAGE + ".".join(path.relative_to(ROOT).with_suffix("").parts)


def assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None, ast.expr | None]]:
    """Assignment targets with their values, if separable, and annotations."""
    if isinstance(node, ast.AnnAssign):
        yield node.target, node.value, node.annotation
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Tuple):
                yield target, node.value, None
                continue
            values: list[ast.expr | None] = [None] * len(target.elts)
            if isinstance(node.value, ast.Tuple):
                values = list(node.value.elts)
            elif isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "range":
                given = [part.value for part in node.value.args if isinstance(part, ast.Constant)]
                bounds = [value for value in given if isinstance(value, int)]
                if len(bounds) == len(node.value.args):
                    values = [ast.Constant(value) for value in range(*bounds)]
            for part, value in zip(target.elts, values, strict=True):
                yield part, value, None


# -- types of expressions ------------------------------------------------------------------------------------


class Scope:
    """The variables of a method or function."""

    def __init__(self, owner: Class | Module, function: ast.FunctionDef, *, as_c: bool = False) -> None:
        """``as_c``: infer only what the C compiler can, which ignores annotations."""
        self.owner = owner
        self.home = owner.home if isinstance(owner, Class) else owner
        self._as_c = as_c
        typed = not as_c or is_c(owner, function)
        self.annotated: dict[str, str] = {}
        """Types of annotated local variables."""
        self._types: dict[str, str | None] = {
            argument.arg: self.home.type_of(argument.annotation) if typed else None
            for argument in function.args.args
        }
        if isinstance(owner, Class):
            self._types["self"] = owner.full_name
        self._values: dict[str, ast.expr] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and self._counts(node.iter):
                self._types.setdefault(node.target.id, "int")
            for target, value, annotation in assignments(node):
                if isinstance(target, ast.Name):
                    if annotation is not None:
                        self.annotated[target.id] = self._types[target.id] = self.home.type_of(annotation)
                    elif value is not None:
                        self._values.setdefault(target.id, value)

    @staticmethod
    def _counts(iterated: ast.expr) -> bool:
        return isinstance(iterated, ast.Call) and getattr(iterated.func, "id", "") == "range"

    def infer(self, value: ast.expr) -> str | None:
        """The type of an expression; None if unknown."""
        match value:
            case ast.Constant(value=bool()):
                return "bool"
            case ast.Constant(value=int()):
                return "int"
            case ast.Constant(value=float()):
                return "float"
            case ast.Name(id=name):
                return self._variable(name)
            case ast.Attribute(value=inner, attr=name):
                owner = CLASSES.get(self.infer(inner) or "")
                return owner.attribute(name) if owner is not None else None
            case ast.Call():
                return self._called(value)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return "bool"
            case ast.UnaryOp(operand=operand):
                return self.infer(operand)
            case ast.BoolOp(values=values):
                return self._common([self.infer(part) for part in values])
            case ast.IfExp(body=body, orelse=other):
                return self._common([self.infer(body), self.infer(other)])
            case ast.BinOp(left=left, op=operator, right=right):
                both = self._common([self.infer(left), self.infer(right)])
                return "float" if isinstance(operator, ast.Div) else both
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self.infer(inner)
            case ast.Subscript(value=inner):
                return ITEMS.get(self.infer(inner) or "")
        return None

    @staticmethod
    def _common(types: list[str | None]) -> str | None:
        if len(set(types)) == 1:
            return types[0]
        return "Long" if set(types) == {"int", "Long"} else None

    def _variable(self, name: str) -> str | None:
        if name not in self._types and name in self._values:
            self._types[name] = None  # breaks cycles
            self._types[name] = self.infer(self._values[name])
        if name in self._types:
            return self._types[name]
        if name in self.home.numbers:
            return number_type(self.home.numbers[name])
        # A class stands for its objects where a method is called through the class.
        return self.home.class_named(name)

    def _called(self, call: ast.Call) -> str | None:
        match call.func:
            case ast.Name(id="len" | "int"):
                return "int"
            case ast.Name(id="float" | "bool" as name):
                return name
            case ast.Name(id="abs" | "memoryview" | "grown"):
                return self.infer(call.args[0])
            case ast.Name(id="min" | "max") if len(call.args) > 1:
                return self._common([self.infer(argument) for argument in call.args])
            case ast.Name(id=name):
                if self.home.class_named(name):
                    return self.home.class_named(name)
                function = self.home.find_function(name)
                return self._returned(*function) if function else None
            case ast.Attribute(value=inner, attr=name):
                owner = CLASSES.get(self.infer(inner) or "")
                found = owner.method(name) if owner is not None else None
                return self._returned(*found) if found else None
        return None

    def _returned(self, owner: Class | Module, function: ast.FunctionDef) -> str | None:
        if self._as_c and not is_c(owner, function):
            return None
        home = owner.home if isinstance(owner, Class) else owner
        return home.type_of(function.returns)


def number_type(number: int | None) -> str:
    return "Long" if number is not None and number.bit_length() > INT_BITS else "int"


# -- which are C functions -----------------------------------------------------------------------------------


def is_plain(function: ast.FunctionDef) -> bool:
    """Whether the function uses only features of C functions."""
    arguments = function.args
    if arguments.kwonlyargs or arguments.vararg or arguments.kwarg or arguments.defaults:
        return False
    if function.decorator_list or function.name.startswith("__"):
        return False
    return not any(isinstance(node, CLOSURES) for node in ast.walk(function) if node is not function)


def needs_objects(home: Module, function: ast.FunctionDef) -> bool:
    types = [home.type_of(argument.annotation) for argument in function.args.args if argument.arg != "self"]
    return any(c_type(kind) in ("object", *CONTAINERS) for kind in [*types, home.type_of(function.returns)])


def is_c(owner: Class | Module, function: ast.FunctionDef) -> bool:
    """Whether a method or function is compiled to a C function."""
    private = function.name.startswith("_")
    if isinstance(owner, Class):
        return (
            owner.home.compiled
            and is_plain(function)
            and (private or not needs_objects(owner.home, function))
        )
    return owner.compiled and is_plain(function) and private and not needs_objects(owner, function)


def c_type(kind: str) -> str:
    if kind in C_TYPES:
        return C_TYPES[kind]
    if kind == "None":
        return "void"
    if kind in CONTAINERS:
        return kind
    found = CLASSES.get(kind)
    return found.name if found is not None and found.home.compiled else "object"
