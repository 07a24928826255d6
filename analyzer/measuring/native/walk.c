/* A child process that measures a loop on a working set: passes over the same memory, one after the other.
 *
 * The working set is mapped and touched before the sandbox closes, so the measured code needs no further system call.
 * Between runs only registers are reset: memory stays as the code left it, and so do the caches. */
#define _GNU_SOURCE
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENOUGH_SAMPLES 9
#define MOST_ATTEMPTS 40      /* per sample */
#define WALK_CYCLES 5e5       /* of a run, at least, so that readings and their steps do not matter */
#define MOST_PASSES (1 << 20)
#define WARM_PASSES 2
#define START_ROUNDS 128L     /* of a pass that shows what its start costs: more than predictors foresee the end of */
#define START_PASSES 64
#define START_TRIES 7
#define MOST_START 120.0      /* cycles: a mispredicted jump, and what the pipeline takes to empty and to fill */
#define WALK_CHAINS_AGREE 0.02 /* the clock may change during a pass of many milliseconds */
#define HUGE_PAGE (2UL << 20)

static const struct request *block;

/* Bytes of the working set that the kernel keeps in huge pages; 0 if it does not say. */
static uint64_t huge_bytes(void) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    if (!maps)
        return 0;
    char line[256];
    int within = 0;
    uint64_t kilobytes = 0, begin, end;
    while (fgets(line, sizeof line, maps)) {
        unsigned long found;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            within = begin >= WALKED_ADDRESS && begin < WALKED_ADDRESS + block->walked;
        else if (within && sscanf(line, "AnonHugePages: %lu kB", &found) == 1)
            kilobytes += found;
    }
    fclose(maps);
    return kilobytes << 10;
}

static uint64_t *link_of(uint64_t node) { return (uint64_t *)(block->chain + node * block->node_bytes); }

/* Links the nodes to one random cycle, by Sattolo's algorithm. */
static void link_chain(void) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (uint64_t node = 0; node < block->nodes; node++)
        *link_of(node) = (uint64_t)link_of(node) - block->link;
    for (uint64_t node = block->nodes; node-- > 1;) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t *one = link_of(node), *other = link_of(state % node), link = *one;
        *one = *other;
        *other = link;
    }
}

static void map_working_set(void) {
    uint64_t bytes = (block->walked + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    void *found = mmap((void *)WALKED_ADDRESS, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (found != (void *)WALKED_ADDRESS)
        _exit(3);
    madvise(found, bytes, MADV_HUGEPAGE);
    uint64_t *words = found;
    for (uint64_t i = 0; i < bytes / 8; i++)
        words[i] = block->fill;
    link_chain();
    result->huge = huge_bytes();
}

static int run(timed walk, int passes, long rounds, uint64_t found[]) {
    memcpy(context->registers, block->registers, sizeof context->registers);
    context->registers[block->counter] = block->base + block->factor * rounds;
    context->passes = passes;
    return clock_run(walk, found);
}

/* Cycles that a pass takes besides its rounds, so that a short pass says what a round of a long one takes. Found by
 * passes over so few rounds that their data are in the first-level cache; 0 where there is no such pass. */
static double start_cycles(timed walk) {
    long few = block->rounds / 2 < START_ROUNDS ? block->rounds / 2 : START_ROUNDS;
    double one = INFINITY, two = INFINITY;
    uint64_t found[1 + MOST_EVENTS];
    for (int i = 0; i < START_TRIES; i++) {
        run(walk, START_PASSES, few, found);
        one = fmin(one, found[0]);
        run(walk, START_PASSES, 2 * few, found);
        two = fmin(two, found[0]);
    }
    return fmin(fmax(0, (2 * one - two) / START_PASSES / clock_ticks_per_cycle()), MOST_START);
}

/* Passes of a run that is long enough to be timed. */
static int enough_passes(timed walk) {
    uint64_t found[1 + MOST_EVENTS];
    int passes = 1;
    for (;; passes *= 2) {
        run(walk, passes, block->rounds, found);
        if (found[0] / clock_ticks_per_cycle() >= WALK_CYCLES || passes >= MOST_PASSES)
            return passes;
    }
}

/* Measures one run, and tells whether nothing disturbed it. */
static int sample(timed walk, int passes, double start, int number) {
    uint64_t found[1 + MOST_EVENTS];
    double before, after;
    clock_chain(); /* the pass before took its code from the caches */
    int quiet = clock_is_quiet(&before), sound = run(walk, passes, block->rounds, found);
    clock_chain();
    quiet &= clock_is_quiet(&after);
    if (!sound || !quiet || !clock_agrees(before, after, WALK_CHAINS_AGREE))
        return 0;
    double rounds = (double)passes * block->rounds;
    result->cycles[number] = (CHAIN * found[0] / ((before + after) / 2) - passes * start) / rounds;
    for (int i = 0; i < options.event_count; i++)
        result->events[i][number] = found[i + 1] / rounds;
    return 1;
}

static void measure(timed walk, int passes, double start) {
    int count = 0;
    for (int attempt = 0; count < options.samples && attempt < options.samples * MOST_ATTEMPTS; attempt++) {
        result->attempts = attempt + 1;
        count += sample(walk, passes, start, count);
        result->samples = count;
        if (count >= ENOUGH_SAMPLES && block_agree(count))
            break;
    }
}

_Noreturn void walk_measure(const struct request *request, const struct processor *processor, int memory) {
    block_prepare(request);
    block = request;
    if (clock_open())
        _exit(3);
    map_working_set();
    code_begin(request, processor);
    timed walk = code_walk();
    if (code_overflow() || mprotect((void *)CODE_ADDRESS, CODE_BYTES, PROT_READ | PROT_EXEC))
        _exit(3);
    sandbox_handlers();
    sandbox_close(memory);
    sandbox_reset(request);

    uint64_t ignored[1 + MOST_EVENTS];
    run(walk, WARM_PASSES, block->rounds, ignored);
    result->stage = TRIED;
    double start = start_cycles(walk);
    int passes = enough_passes(walk);
    result->passes = passes;
    result->stage = MEASURING;
    sandbox_measuring(1);
    measure(walk, passes, start);
    sandbox_measuring(0);
    result->stage = DONE;
    sandbox_exit(0);
}
