"""Selects the variant of the model: closest to hardware, as published, or an ablation."""

from __future__ import annotations

from cyclelens.analyzer.model.choices import Binding, MeasuredIn, Model, MoveElimination, Pointers
from msgspec import Struct

_CHOICES = {
    "model": Model,
    "assume": Pointers,
    "harness": MeasuredIn,
    "move_elimination": MoveElimination,
    "binding": Binding,
}

MIN_ITERATIONS, MAX_ITERATIONS, MAX_CYCLES = 2, 10_000, 100_000
"""Limits of the least length of a run: one iteration has no steady state, and memory grows with the
length."""


class ModelOptions(Struct, frozen=True, kw_only=True):
    """Options of the model, compared and hashed by content.

    Raises ValueError for a run that is too short or too long, and for BHive's pointers without the hardware
    model, whose rules they need; TypeError for a plain string in place of a choice.
    """

    model: Model = Model.HARDWARE
    assume: Pointers = Pointers.DIFFERENT
    harness: MeasuredIn = MeasuredIn.ANY
    simple_front_end: bool = False
    """No front-end limits: the renamer never waits, and nothing is micro-fused."""
    micro_fusion: bool = True
    macro_fusion: bool = True
    unfused_reorder_buffer: bool = False
    """Each uop of a micro-fused one takes an entry of the reorder buffer (docs/pipeline.md 7, B7)."""
    lsd_unrolling: bool = True
    move_elimination: MoveElimination = MoveElimination.MODEL
    port_seed: int | None = None
    """Seed for binding uops to ports at random; None: by the model's rule."""
    binding: Binding = Binding.OWN
    """The model's rule for binding uops to ports."""
    resources: bool | None = None
    """Limit load, store and branch buffers and register files too (docs/pipeline.md 7).

    None: as the model does; hardware has these limits, the published model does not.
    """

    min_iterations: int = 10
    min_cycles: int = 500
    """Least iterations and cycles of a run; the defaults are those of uiCA (docs/pipeline.md 5.1)."""

    def __post_init__(self) -> None:
        for name, kind in _CHOICES.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"'{name}' is one of {kind.__name__}, not {getattr(self, name)!r}")
        if not (MIN_ITERATIONS <= self.min_iterations <= MAX_ITERATIONS):
            raise ValueError(
                f"a run of at least {self.min_iterations:,} iterations was asked for; {MIN_ITERATIONS} to "
                f"{MAX_ITERATIONS:,} are possible"
            )
        if not (0 <= self.min_cycles <= MAX_CYCLES):
            raise ValueError(
                f"a run of at least {self.min_cycles:,} cycles was asked for; 0 to {MAX_CYCLES:,} are "
                "possible"
            )
        if self.assume is Pointers.BHIVE and not self.hardware:
            raise ValueError("the assumption 'bhive' needs the hardware model")

    @property
    def hardware(self) -> bool:
        """True if the rules beyond the published model apply."""
        return self.model is Model.HARDWARE

    @property
    def limited(self) -> bool:
        """True if the resources are limited."""
        return self.hardware if self.resources is None else self.resources

    def changed(self) -> dict[str, object]:
        """Options that differ from the default, by name."""
        default = ModelOptions()
        return {
            name: getattr(self, name)
            for name in self.__struct_fields__
            if getattr(self, name) != getattr(default, name)
        }


DEFAULT = ModelOptions()
"""Real cores, as far as they are known."""
PUBLISHED = ModelOptions(model=Model.UICA)
"""The published uiCA model with default options."""
