"""Entry point for machine code without a text, used by ``predict``, corpora and evaluations:
``Predictor.predict`` for one block, ``predict_in_order`` for a stream of blocks. ``many.py`` predicts them in
several processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cyclelens.analyzer.common.defects import internal_error
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.engine.workspace import MAX_BLOCK_BYTES, Workspace
from cyclelens.analyzer.facts.store import FactsStore, TablesUnavailable, open_store
from cyclelens.analyzer.isa.counted_loop import decoded_end, usual_copies
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import extensions, registry
from cyclelens.analyzer.microarchitectures.variants import NoSuchVariant, variant
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.instruction import Encoding, Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.result import MissingPrediction, PortBinding
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import Key, cycles_per_iteration, key_of
from cyclelens.analyzer.uops.block import build_block
from cyclelens.analyzer.uops.left_out import names, what_counts
from cyclelens.analyzer.uops.operands import TooManyUopsError
from msgspec import Struct

_MOST_ENCODINGS = 16_384
"""Encodings kept per microarchitecture."""


class PredictResult(Struct, frozen=True):
    """One block's figure; ``problem`` says why there is none."""

    cycles_per_iteration: float | None
    """None also if only a lower bound is known, so that no sum, mean or comparison uses it as a figure."""
    problem: str = ""
    least: float | None = None
    """The lower bound if some instruction has no record; ``problem`` states it, too."""
    port_binding: PortBinding | None = None
    """The range of the figure under other rules of binding uops to ports; None if it changes little, or if
    not requested."""


class Predictor:
    """Predicts blocks. For one thread only: it keeps a table file open."""

    def __init__(self, workspace: Workspace | None = None):
        """``workspace``: the tables to read, by default new ones. Raises ``TablesUnavailable``."""
        self._store = (Workspace() if workspace is None else workspace).store

    @property
    def caches(self) -> Caches:
        """The caches of the tables."""
        return self._store.caches

    def reopen(self) -> None:
        """Reopen the tables in a forked process, which must not share its parent's open file."""
        self._store.reopen()

    def predict(
        self,
        code: bytes,
        microarchitecture: str,
        mode: Mode = Mode.UNROLL,
        alignment: int = 0,
        options: ModelOptions = DEFAULT,
    ) -> PredictResult:
        """Cycles per iteration of one block: ``UNROLL`` repeats it end to end, ``LOOP`` appends a loop
        counter. ``options`` select a variant of the model.

        Unpredictable bytes give a result without a figure. Raises ``UnknownMicroarchitecture`` for an unknown
        name and ``TablesUnavailable`` if the tables cannot be read.
        """
        return self.predict_batch([code], microarchitecture, mode, alignment, options)[0]

    def cycles_of(
        self,
        code: bytes,
        microarchitecture: Microarchitecture,
        loop: bool,
        alignment: int,
        options: ModelOptions = DEFAULT,
    ) -> float | None:
        """Cycles per iteration of code as it is: a loop has its own jump back. None if there is no figure.
        Raises ``TablesUnavailable``."""
        model = variant(microarchitecture, options)
        built = self.built(decode(code, self._store.caches), 1, model, loop, alignment, options)
        return (
            built.cycles_per_iteration
            if isinstance(built, PredictResult)
            else _figure(*built, None, model, options, self._store).cycles_per_iteration
        )

    def predict_batch(
        self,
        codes: Sequence[bytes],
        microarchitecture: str,
        mode: Mode = Mode.UNROLL,
        alignment: int = 0,
        options: ModelOptions = DEFAULT,
        copies: int | None = 1,
    ) -> list[PredictResult]:
        """``predict`` for several blocks. The loop contains ``copies`` of each block, and the figure is that
        of one copy; None: ``usual_copies``.

        All blocks go through one phase before any enters the next: the code of a phase then stays in the
        processor's caches, which saves a quarter of the time of short blocks.
        """
        if not isinstance(mode, Mode):
            raise TypeError(f"'mode' is a Mode, not {mode!r}")
        try:
            model = variant(registry.get(microarchitecture), options)
        except NoSuchVariant as error:
            return [PredictResult(None, str(error))] * len(codes)
        caches = self._store.caches
        caches.next_batch()
        loop = mode is Mode.LOOP
        listings = [listing_of(code, loop, copies, model.name, caches) for code in codes]
        built = [
            each if isinstance(each, PredictResult) else self.built(*each, model, loop, alignment, options)
            for each in listings
        ]
        keyed = [
            each if isinstance(each, PredictResult) else _keyed(*each, model, options, caches)
            for each in built
        ]
        return [
            each if isinstance(each, PredictResult) else _figure(*each, model, options, self._store)
            for each in keyed
        ]

    def built(
        self,
        instructions: Sequence[Instruction],
        copies: int,
        model: Microarchitecture,
        loop: bool,
        alignment: int,
        options: ModelOptions,
    ) -> tuple[Block, int] | PredictResult:
        """The block of these instructions, which hold ``copies`` of it; or a result that says why there is no
        figure. Raises ``TablesUnavailable``."""
        try:
            block = build_block(
                instructions, model, self._store, loop=loop, alignment=alignment, options=options
            )
            return block, copies
        except TablesUnavailable:
            raise
        except TooManyUopsError as error:
            return PredictResult(None, str(error))
        except Exception as error:  # one failing block must not end a run of many thousands
            return PredictResult(None, internal_error(error))


def listing_of(
    code: bytes, loop: bool, copies: int | None, microarchitecture: str, caches: Caches
) -> tuple[tuple[Instruction, ...], int] | PredictResult:
    """The instructions to predict, with a loop's counter, and the number of copies of the block in them; or a
    result that says why there is no figure."""
    if len(code) > MAX_BLOCK_BYTES:
        return PredictResult(None, f"the block has {len(code)} bytes; the limit is {MAX_BLOCK_BYTES}")
    instructions = decode(code, caches)
    problem = _unpredictable(instructions, microarchitecture, caches)
    if problem:
        return PredictResult(None, problem)
    if not loop:
        return instructions, 1
    count = usual_copies(instructions) if copies is None else copies
    if count * len(code) > MAX_BLOCK_BYTES:
        return PredictResult(
            None, f"{count} copies have {count * len(code)} bytes; the limit is {MAX_BLOCK_BYTES}"
        )
    end = decoded_end(instructions, count, caches)
    if end is None:
        return PredictResult(None, "the block uses every register: none is left for the loop counter")
    return instructions * count + end, count


def _keyed(
    block: Block, copies: int, model: Microarchitecture, options: ModelOptions, caches: Caches
) -> tuple[Block, int, Key | None] | PredictResult:
    """The block with the key that identifies blocks that simulate identically; None if not simulated."""
    if not options.model.simulates:
        return block, copies, None
    try:
        return block, copies, key_of(block, model, options, caches)
    except Exception as error:  # one failing block must not end a run of many thousands
        return PredictResult(None, internal_error(error))


def _figure(
    block: Block,
    copies: int,
    key: Key | None,
    model: Microarchitecture,
    options: ModelOptions,
    store: FactsStore,
) -> PredictResult:
    is_whole = True
    for entry in block.entries:
        if entry.facts is None:
            is_whole = False
            break
    try:
        if not is_whole:
            lacking = what_counts(block.instructions, store)
            if lacking is not None:
                absent = MissingPrediction(model.name, (), lacking.instructions, lacking.why, lacking.names)
                return PredictResult(None, absent.reason)
        if not options.model.simulates:
            # 18 modules that a simulation does not need.
            from cyclelens.analyzer.bounds.registry import ANALYTIC

            cycles = ANALYTIC[options.model](block, model)
        else:
            cycles = cycles_per_iteration(block, model, options, store.caches, key)
    except Exception as error:  # one failing block must not end a run of many thousands
        return PredictResult(None, internal_error(error))
    if is_whole:
        return PredictResult(cycles / copies)
    least = cycles / copies
    return PredictResult(
        None, f"at least {least:.2f}: {model.name} has no figures for {names(block.instructions)}", least
    )


class _Runnable:
    """Encodings that each microarchitecture can run."""

    def __init__(self, _caches: Caches) -> None:
        self._by_name: dict[str, set[Encoding]] = {}

    def of(self, microarchitecture: str) -> set[Encoding]:
        """The encodings checked recently."""
        encodings = self._by_name.setdefault(microarchitecture, set())
        if len(encodings) >= _MOST_ENCODINGS:
            encodings.clear()
        return encodings


def _unpredictable(instructions: Sequence[Instruction], microarchitecture: str, caches: Caches) -> str:
    """Why a block cannot be predicted; empty if it can."""
    if not instructions:
        return "empty block"
    runnable = caches.of(_Runnable).of(microarchitecture)
    for instruction in instructions:
        if instruction.encoding not in runnable:
            break
    else:
        return ""
    new = [instruction for instruction in instructions if instruction.encoding not in runnable]
    if "" in [instruction.mnemonic for instruction in new]:
        number = [instruction.mnemonic for instruction in instructions].index("")
        before = sum(earlier.length for earlier in instructions[:number])
        return f"no valid instruction at byte {before}"
    for absent in extensions.missing(new, (microarchitecture,)):
        names = dict.fromkeys(new[index].text for index in absent.instructions)
        return f"{absent.reason}: {'; '.join(names)}"
    runnable.update([instruction.encoding for instruction in new])
    return ""


# ---------------------------------------------------------------------------------------------------------
# Many blocks


class BatchTask(Struct, frozen=True):
    """How to predict many blocks; see ``Predictor.predict_batch``."""

    microarchitecture: str
    mode: Mode = Mode.UNROLL
    alignment: int = 0
    options: ModelOptions = DEFAULT
    copies: int | None = 1
    tables: Path | None = None
    """Tables to use instead of the shipped ones."""


def predict_in_order(
    batches: Iterable[Sequence[str]], task: BatchTask, predictor: Predictor | None = None
) -> Iterator[PredictResult]:
    """Predict blocks in hexadecimal in this process; yields results in order, batch by batch
    (``predict_batch``). A good batch has some hundred blocks.

    ``predictor``: by default a new one with the task's tables. Raises ``UnknownMicroarchitecture`` and
    ``TablesUnavailable`` when the first result is requested.
    """
    registry.get(task.microarchitecture)
    predictor = predictor or Predictor(Workspace(open_store(task.tables)))
    for batch in batches:
        yield from predict_hex(predictor, batch, task)


def predict_hex(predictor: Predictor, blocks: Sequence[str], task: BatchTask) -> list[PredictResult]:
    """Predict one batch of blocks in hexadecimal. Raises like ``Predictor.predict_batch``."""
    read = [from_hex(block) for block in blocks]
    codes = [code for code in read if isinstance(code, bytes)]
    results = iter(
        predictor.predict_batch(
            codes, task.microarchitecture, task.mode, task.alignment, task.options, task.copies
        )
    )
    return [next(results) if isinstance(code, bytes) else code for code in read]


def from_hex(block: str) -> bytes | PredictResult:
    """The bytes of a block; a result that says what is wrong if it is none."""
    text = block.strip()
    if not text:
        return PredictResult(None, "empty line")
    if len(text) > 3 * MAX_BLOCK_BYTES:
        return PredictResult(None, f"the block is too long; the limit is {MAX_BLOCK_BYTES} bytes")
    try:
        return bytes.fromhex(text)
    except ValueError:
        # Rarely needed: commas, 0x before a byte, comments.
        from cyclelens.analyzer.frontend.objects.raw_code import RawCodeError, from_hexadecimal

        try:
            return from_hexadecimal(text) or PredictResult(None, "empty line")
        except RawCodeError:
            return PredictResult(None, "not hexadecimal")
