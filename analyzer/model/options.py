"""Which variant of the model answers: the one nearest to hardware, the published one, or an ablation."""

from __future__ import annotations

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.model.choices import MeasuredIn, Model, MoveElimination, Pointers

_CHOICES = {"model": Model, "assume": Pointers, "harness": MeasuredIn, "move_elimination": MoveElimination}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What can be switched; by default nothing is. Values are compared and hashed by content.

    Raises ValueError for the pointers of BHive without the hardware model, whose rules they need, and
    TypeError for a word in the place of a choice, which no rule would know.
    """

    model: Model = Model.HARDWARE
    assume: Pointers = Pointers.DIFFERENT
    harness: MeasuredIn = MeasuredIn.ANY
    simple_front_end: bool = False
    """No front-end limits: the renamer never waits, and nothing is micro-fused."""
    micro_fusion: bool = True
    macro_fusion: bool = True
    lsd_unrolling: bool = True
    move_elimination: MoveElimination = MoveElimination.MODEL
    port_seed: int | None = None
    """Bind uops to ports at random, beginning with this seed."""
    resources: bool | None = None
    """Whether load, store and branch buffers and register files are limited too (docs/pipeline.md 7). None:
    as it suits the model; the published one knows no such limits, hardware has them."""

    def __post_init__(self) -> None:
        for name, kind in _CHOICES.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"'{name}' is one of {kind.__name__}, not {getattr(self, name)!r}")
        if self.assume is Pointers.BHIVE and not self.hardware:
            raise ValueError("the assumption 'bhive' needs the hardware model")

    @property
    def hardware(self) -> bool:
        """Whether the rules beyond the published model apply."""
        return self.model is Model.HARDWARE

    @property
    def limited(self) -> bool:
        """Whether the resources are limited."""
        return self.hardware if self.resources is None else self.resources

    def changed(self) -> dict[str, object]:
        """The options that differ from the default, by name."""
        default = ModelOptions()
        return {
            name: getattr(self, name)
            for name in self.__slots__
            if getattr(self, name) != getattr(default, name)
        }


DEFAULT = ModelOptions()
"""What real cores do, as far as it is known."""
PUBLISHED = ModelOptions(model=Model.UICA)
"""The published uiCA model with nothing switched."""
