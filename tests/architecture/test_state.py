"""Modules keep no state: caches belong to a workspace (``analyzer/common/recent.py``)."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from testkit.parsed_sources import nodes, parsed

ROOT = Path(__file__).parents[2]
PURE = (
    "model",
    "isa",
    "frontend",
    "facts",
    "microarchitectures",
    "uops",
    "simulator",
    "bounds",
    "insight",
    "hints",
    "reports",
    "engine",
    "compiling",
    "profiles",
)

COMPLETED = {
    "isa.encodable:forms": "the encodings of each mnemonic",
    "model.uops:Trait": "the combinations of traits that uops have, as an enumeration of flags keeps them",
    "uops.vector_domains:domain_traits": "the domains of each mnemonic",
    "isa.meanings:meaning": "a sentence about each mnemonic",
    "isa.encodable:_kind": "the kinds of operands that encodings have",
    "microarchitectures.registry:_MODELS": "the cores whose files were loaded, as Python keeps modules",
    "microarchitectures.values:confidence": "a sentence about each core",
    "uops.rename_keys:KEYS": "a number for each register and group of flags",
}
"""Tables of what instruction sets and cores have, completed as it is asked for. No text and no machine code
makes them longer than that."""

PROCESSES = {
    "frontend.assemblers.external:_not_confined": "programs that this machine cannot confine",
    "frontend.assemblers.assembler_client:_shared": "the assembler's child process",
    "engine.many:_worker": "what a process of a batch works with",
    "engine.shared:_lock": "the workspace that a process shares among its threads",
    "engine.shared:_mine": "the workspace of each thread",
}
"""What a process has one of."""

_CORES = re.compile(r"microarchitectures\.[a-z0-9]+:[A-Z_0-9]+")
"""Cores and their units, which keep the sets of units that were asked for."""
_KEYS = re.compile(r"[\w.]+:KEYS")
"""The numbers of registers, wherever they are imported."""

CHANGING = re.compile(
    "add|append(left)?|clear|discard|extend|insert|pop(item|left)?|remove|setdefault|sort|update"
)
MUTABLE = re.compile("Recent|Caches|Weak.*|OrderedDict|defaultdict")


def modules() -> Iterator[tuple[str, ast.Module]]:
    for layer in PURE:
        for path in sorted((ROOT / "analyzer" / layer).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT / "analyzer").with_suffix("").parts)
            yield name, parsed(path)


def modules_of_the_server() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "server").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT / "server").with_suffix("").parts)
        yield name, parsed(path)


def own_names(function: ast.AST) -> set[str]:
    """The names that a function assigns."""
    inner = list(ast.walk(function))
    told = {name for node in inner if isinstance(node, ast.Global) for name in node.names}
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in inner
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    } - told


def remembering(tree: ast.Module) -> Iterator[str]:
    """The globals of a module that its functions change, and its functions with cached results."""
    for node in tree.body:
        value = getattr(node, "value", None)
        call = value.func if isinstance(value, ast.Call) else None
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(call, ast.Name)
            and MUTABLE.fullmatch(call.id)
        ):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield ast.unparse(target)
    for function in nodes(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        words = {ast.unparse(each).split("(")[0].split(".")[-1] for each in function.decorator_list}
        takes = function.args.args + function.args.posonlyargs + function.args.kwonlyargs
        # Without a parameter it is a constant that is made when it is needed.
        if words & {"cache", "lru_cache"} and takes:
            yield function.name
        own = own_names(function)
        for inner in ast.walk(function):
            changed: ast.AST | None = None
            if isinstance(inner, ast.Global):
                yield from inner.names
            elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                changed = inner.func.value if CHANGING.fullmatch(inner.func.attr) else None
            elif isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store | ast.Del):
                changed = inner.value
            if isinstance(changed, ast.Name) and changed.id not in own:
                outer = {
                    name
                    for other in nodes(tree)
                    if isinstance(other, ast.FunctionDef) and other is not function
                    if any(each is function for each in ast.walk(other))
                    for name in own_names(other)
                }
                if changed.id not in outer:
                    yield changed.id


def test_no_module_has_a_cache_of_its_own() -> None:
    found = {f"{module}:{name}" for module, tree in modules() for name in remembering(tree)}
    assert found <= {*COMPLETED, *PROCESSES}, sorted(found - {*COMPLETED, *PROCESSES})


def test_no_module_of_the_server_has_a_cache_of_its_own() -> None:
    found = {f"{module}:{name}" for module, tree in modules_of_the_server() for name in remembering(tree)}
    assert found == {"display.documentation:_page"}, "where the pages are that came with the program"


@pytest.mark.parametrize(
    "text",
    [
        "KNOWN = {}\ndef f(key):\n    KNOWN[key] = 1\n",
        "KNOWN = []\ndef f(key):\n    KNOWN.append(key)\n",
        "KNOWN = None\ndef f(key):\n    global KNOWN\n    KNOWN = key\n",
        "KNOWN: Recent[bytes, int] = Recent(10)\n",
        "@functools.lru_cache(maxsize=4)\ndef KNOWN(key):\n    return key\n",
        "@cache\ndef KNOWN(key):\n    return key\n",
    ],
)
def test_every_way_to_remember_something_in_a_module_is_seen(text: str) -> None:
    assert "KNOWN" in set(remembering(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "def f(key):\n    known = {}\n    known[key] = 1\n",
        "def f(known):\n    def g(key):\n        known.append(key)\n",
        "@cache\ndef table():\n    return 1\n",
        "class C:\n    def f(self):\n        self.known.append(1)\n",
    ],
)
def test_what_a_function_has_of_its_own_is_no_memory(text: str) -> None:
    assert not set(remembering(ast.parse(text)))


def test_an_analysis_changes_no_global() -> None:
    path = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-m", "testkit.module_state", *PURE],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
    )
    changed = {name for name in run.stdout.split() if not (_CORES.fullmatch(name) or _KEYS.fullmatch(name))}
    assert changed <= {*COMPLETED, *PROCESSES}
