"""Renders the recipe of conda-forge for its platforms with rattler-build, which refuses unknown keys and
wrong expressions. Needs py-rattler-build (dev/locks/stores.txt).

    python dev/render_recipe.py dist/stores/conda-forge/recipe.yaml
"""

import sys
from pathlib import Path

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "win-64")
VARIANTS = """\
python: [3.11.* *_cpython]
python_min: ["3.11"]
is_abi3: [true]
is_python_min: [true]
c_compiler: [cc]
c_stdlib: [libc]
"""
"""Values that conda-forge itself supplies; the names of compilers stand for any."""


def main(recipe: Path) -> None:
    text = recipe.read_text("utf-8")
    for platform in PLATFORMS:
        config = RenderConfig(platform=PlatformConfig(target_platform=platform, host_platform=platform))
        (variant,) = Stage0Recipe.from_yaml(text).render(VariantConfig.from_yaml(VARIANTS), config)
        print(f"{platform}: {variant.recipe}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
