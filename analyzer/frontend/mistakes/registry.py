"""Lists the checks for likely mistakes. A new check is a file here and a line below."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cyclelens.analyzer.frontend.mistakes import (
    overwritten_flags,
    unbalanced_stack,
    unrestored_register,
    unwritten_register,
)
from cyclelens.analyzer.frontend.mistakes.function_flow import FunctionFlow, Mistake

CHECKS: tuple[Callable[[FunctionFlow], Iterable[Mistake]], ...] = (
    unwritten_register.find,
    overwritten_flags.find,
    unrestored_register.find,
    unbalanced_stack.find,
)
