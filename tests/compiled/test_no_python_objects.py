"""What runs in every cycle makes no Python objects in its compiled form: to make one for a uop would take
longer than to simulate it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SIMULATOR = Path("analyzer", "simulator")
MADE = ROOT / "build" / "cython" / "build" / "stages" / "cyclelens"
OBJECTS = re.compile(
    r"\b(PyLong_From|PyNumber_|PyObject_|PyTuple_|PyList_|PyDict_|__Pyx_PyLong_(?!As)|__Pyx_PyObject_)"
)
DECLARATIONS = sorted(path.relative_to(ROOT) for path in (ROOT / SIMULATOR).rglob("*.pxd"))


def methods(declarations: str) -> Iterator[tuple[str, str]]:
    """The C methods that cannot raise, with their classes: those that no Python is needed for."""
    owner = ""
    for line in declarations.splitlines():
        if found := re.match(r"cdef class (\w+)", line):
            owner = found[1]
        elif found := re.match(r"    cp?def (?:inline )?\w[\w ]* (\w+)\(.*noexcept", line):
            yield owner, found[1]


def body(text: str, owner: str, method: str) -> str:
    """The C of a method. A name has its length in front of it, where it does not begin with an underscore."""
    name = rf"__pyx_f_\w*{len(owner)}{owner}_(?:{len(method)})?{method}"
    found = re.search(rf"^static [^\n]*\b{name}\([^;]*?\) {{\n(.*?)^}}\n", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def makes_objects(code: str) -> list[str]:
    """The lines of Python whose C makes or uses objects."""
    lines, line = [], ""
    for each in code.splitlines():
        if "# <<<<" in each:
            line = each.strip(" *").split("# <<<<")[0].strip()
        if line and OBJECTS.search(each):
            lines.append(line)
    return list(dict.fromkeys(lines))


@pytest.mark.parametrize("path", DECLARATIONS, ids=lambda path: path.stem)
def test_a_method_that_cannot_raise_makes_no_objects(path: Path) -> None:
    made = MADE / path.with_suffix(".c")
    if not made.exists():
        pytest.skip("the C that was compiled is not here")
    text = made.read_text("utf-8")
    found = {
        f"{owner}.{method}": lines
        for owner, method in methods((ROOT / path).read_text("utf-8"))
        if (lines := makes_objects(body(text, owner, method)))
    }
    assert found == {}


def test_a_line_that_makes_an_object_is_found() -> None:
    code = """
 *         room = 0             # <<<<<<<<<<<<<<
 */
  __pyx_v_room = 0;
 *             room += mask != 0             # <<<<<<<<<<<<<<
 */
    __pyx_t_9 = PyNumber_InPlaceAdd(__pyx_v_room, __pyx_t_8);
"""
    assert makes_objects(code) == ["room += mask != 0"]
