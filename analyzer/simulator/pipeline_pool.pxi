# Reuses the pipelines of finished runs: creating stages and tables takes longer than a short run.

cdef enum:
    _MOST_SPARE = 16


@cython.final
cdef class PipelinePool:
    """PipelinePool of finished runs."""

    cdef Clock _last  # The pipeline of the last run, which is faster to find.
    cdef dict _spare  # Others, by core and options.

    def __init__(self, _caches):
        self._spare = {}

    cdef Clock started(
        self, object block, object microarchitecture, object options, bint watched, bint followed
    ):
        """A pipeline ready to run over the block, reused from an earlier run if possible. ``watched``: its
        stages record why they refuse, for an account or a trace; ``followed``: they record where uops come
        from, for figures per instruction."""
        cdef Clock pipeline, oldest
        if not block.entries:
            raise ValueError("a block needs at least one instruction")
        if not 0 <= block.alignment < CODE_LINE:
            raise ValueError(f"a block's alignment is 0 to {CODE_LINE - 1}, not {block.alignment}")
        pipeline, self._last = self._last, None
        if pipeline is not None and (
            pipeline.microarchitecture is not microarchitecture or pipeline.options is not options
        ):
            if pipeline.tables.short():
                self._spare[pipeline.microarchitecture, pipeline.options] = pipeline
            pipeline = None
        if pipeline is None:
            pipeline = self._spare.pop((microarchitecture, options), None)
        if pipeline is None:
            # If every run has its own microarchitecture (a sweep), at least the tables are reused.
            full = len(self._spare) >= _MOST_SPARE
            oldest = self._spare.pop(next(iter(self._spare)), None) if full else None
            tables = Tables(Program()) if oldest is None else oldest.tables
            pipeline = _made(microarchitecture, options, tables)
        pipeline.begin(block, watched, followed)
        return pipeline

    cdef int release(self, Clock pipeline) except -1:
        """The run is over; keep the pipeline for the next one."""
        if pipeline.tables.fits_next():
            self._last = pipeline


cdef Clock _made(object microarchitecture, object options, Tables tables):
    check_kinds(microarchitecture)
    check_core(microarchitecture)
    if microarchitecture.macro_ops is None:
        return UopPipeline(microarchitecture, options, tables)
    return MacroPipeline(microarchitecture, options, tables)
