"""Which variant of the model answers: the published one, the one nearer to hardware, or an ablation."""

from __future__ import annotations

from cyclelens.analyzer.model.frozen import dataclass

MODELS = ("reference", "hardware", "bounds")
"""The published uiCA model; the same with better rules for memory and limited buffers; the analytic bounds
alone."""

ASSUMPTIONS = ("diff", "same", "stack", "bhive")
"""Where the registers point at the start: all to different memory, all to the same, all but RSP and RBP to
the same, or as in the BHive profiler: so, all memory words hold the same pointer, and all pages are one."""

HARNESSES = ("none", "one-page")
"""What the figures to compare with owe to the way they were measured: nothing; or all pages of memory are one
physical page, and the stack walks on through them. It matters on cores with rules for it (Zen 5)."""

MOVE_ELIMINATIONS = ("model", "none", "full")
"""As the microarchitecture does it; never; always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What can be switched; the defaults are the published model. Values are compared and hashed by content.

    Raises ValueError for an unknown name, and for the assumption ``bhive`` without the hardware model, whose
    rules it needs.
    """

    model: str = "reference"
    assume: str = "diff"
    harness: str = "none"
    simple_front_end: bool = False
    """No front-end limits: the renamer never waits, and nothing is micro-fused."""
    micro_fusion: bool = True
    macro_fusion: bool = True
    lsd_unrolling: bool = True
    move_elimination: str = "model"
    port_seed: int | None = None
    """Bind uops to ports at random, beginning with this seed."""
    resources: bool | None = None
    """Whether load, store and branch buffers and register files are limited too (docs/pipeline.md 7). None:
    as it suits the model; the published one knows no such limits, hardware has them."""

    def __post_init__(self) -> None:
        for value, known in (
            (self.model, MODELS),
            (self.assume, ASSUMPTIONS),
            (self.harness, HARNESSES),
            (self.move_elimination, MOVE_ELIMINATIONS),
        ):
            if value not in known:
                raise ValueError(f"unknown choice '{value}'; known are {', '.join(known)}")
        if self.assume == "bhive" and self.model != "hardware":
            raise ValueError("the assumption 'bhive' needs the hardware model")

    @property
    def hardware(self) -> bool:
        """Whether the rules beyond the published model apply."""
        return self.model == "hardware"

    @property
    def limited(self) -> bool:
        """Whether the resources are limited."""
        return self.hardware if self.resources is None else self.resources

    def changed(self) -> dict[str, object]:
        """The options that differ from the published model, by name."""
        default = ModelOptions()
        return {
            name: getattr(self, name)
            for name in self.__slots__
            if getattr(self, name) != getattr(default, name)
        }


PUBLISHED = ModelOptions()
"""The default: the published model with nothing switched."""
