"""The registry lists every file that describes a core."""

from importlib import import_module
from pathlib import Path

import cyclelens.analyzer.microarchitectures as families
from cyclelens.analyzer.microarchitectures import registry

FOLDER = Path(families.__path__[0])


def test_every_file_of_cores_is_listed_with_its_cores() -> None:
    found = {}
    for file in FOLDER.glob("*.py"):
        module = import_module(f"{families.__name__}.{file.stem}")
        if hasattr(module, "MODELS"):
            found[file.stem] = {model.name for model in module.MODELS}
    assert {family: set(names) for family, names in registry._FAMILIES.items()} == found


def test_every_core_has_the_name_that_it_is_listed_by() -> None:
    assert [registry.get(name).name for name in registry.names()] == list(registry.names())
