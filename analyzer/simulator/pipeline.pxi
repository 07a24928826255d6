# Runs a block and returns the results: figures, trace, account.

cdef enum:
    _BUFFERS_FILLED = 4
    _DIGITS = 2  # Decimals of a figure.

_USUAL = RunRequest()
Key = tuple  # What the figure of a block depends on (``key_of``).


def simulate(block, microarchitecture, *, request=_USUAL, options=DEFAULT, cancel=None, caches=None):
    """Run the block for as long as ``request`` says.

    ``options`` selects the variant of the model (``variant`` applies its part of them to the
    microarchitecture). ``caches`` keep the pipeline for the next run. Raises Cancelled if ``cancel`` returns
    true, SimulationStuck if nothing retires any more, ValueError for an empty block.
    """
    cdef PipelinePool pool = (caches or Caches()).of(PipelinePool)
    cdef Clock pipeline = pool.started(
        block, microarchitecture, options, request.trace or request.account, True
    )
    pipeline.every_cycle = request.every_cycle
    window = _ran(pipeline, request, options, cancel)
    simulation = summarize(pipeline, window, request)
    if request.account:
        simulation = replace(simulation, account=_account(pipeline, block, microarchitecture, cancel))
    pool.release(pipeline)
    return simulation


def placement_of(block, microarchitecture, options, caches):
    """What a run depends on of the code's position: blocks of the same instructions with equal values run
    alike."""
    cdef PipelinePool pool = caches.of(PipelinePool)
    cdef Clock pipeline = pool.started(block, microarchitecture, options, False, False)
    placement = pipeline.front_end.placement()
    pool.release(pipeline)
    return placement


def key_of(block, microarchitecture, options, caches):
    """Key by which blocks that run alike are found."""
    cdef CanonicalKeys keys = caches.of(CanonicalKeys)
    return keys.key(block, microarchitecture, options)


def cycles_per_iteration(block, microarchitecture, options=DEFAULT, caches=None, key=None):
    """Only the figure that ``simulate`` finds, which takes less time: blocks that run alike are simulated
    once. ``key``: the block's key (``key_of``), if known. Raises what ``simulate`` raises."""
    cdef PipelinePool pool
    cdef Clock pipeline
    cdef CanonicalKeys keys
    if caches is None:
        caches = Caches()
    keys = caches.of(CanonicalKeys)
    if key is None:
        key = keys.key(block, microarchitecture, options)
    figure = keys.figures.get(key)
    if figure is None:
        pool = caches.of(PipelinePool)
        pipeline = pool.started(block, microarchitecture, options, False, False)
        pipeline.every_cycle = False
        placed = loop_key(key, pipeline.front_end.placement()) if key and block.loop else ()
        figure = keys.figures.get(placed)
        if figure is None:
            figure = round(pipeline.pace(options.min_iterations, options.min_cycles), _DIGITS)
        pool.release(pipeline)
        for each in filter(None, (key, placed)):
            keys.figures[each] = figure
    return figure


cdef tuple _ran(Clock pipeline, object request, object options, object cancel):
    """First and last relevant round of a run. The run ends when its state repeats, unless a full run is
    request."""
    full = request.is_full
    least = options.min_iterations if request.min_rounds is None else request.min_rounds
    cycles = options.min_cycles if request.min_cycles is None else request.min_cycles
    pipeline.run(least, cycles, not full, cancel)
    rounds = pipeline.reorder_buffer.last_round + 1
    if not full:
        rounds = pipeline.rounds_retired(least, cycles)
    return pipeline.reorder_buffer.window(rounds)


cdef object _cycles_per_iteration(Clock pipeline, tuple window):
    return round(pipeline.reorder_buffer.cycles_per_round(*window), _DIGITS)


cdef object _account(Clock pipeline, object block, object microarchitecture, object cancel):
    begin, end, iterations = pipeline.settle(rounds_to_settle(block, microarchitecture), cancel)
    return account_of(pipeline.tables, microarchitecture, begin, end, iterations)


def rounds_to_settle(block, microarchitecture):
    """Rounds after which uops issue as fast as they retire in the second half of them: enough to fill the
    reorder buffer four times."""
    uops = sum(len(template.fused_uops) for template in block.instructions)
    return max(10, ceil(_BUFFERS_FILLED * microarchitecture.reorder_buffer_size / max(1, uops)))
