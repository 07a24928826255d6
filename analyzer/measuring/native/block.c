/* A child process: it writes the code, enters the sandbox, tries the block once, and measures. */
#define _GNU_SOURCE
#include "harness.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MOST_ATTEMPTS 40      /* per sample */
#define ENOUGH_SAMPLES 9      /* to stop early, if they agree */
#define SMALL_SPREAD 0.002
#define PAIRS_PER_SAMPLE 16   /* with time stamps, whose unit is coarse */
#define SLOW_PAIRS 2          /* of runs so long that the unit does not matter and few are undisturbed ... */
#define SLOW_CHAINS_AGREE 0.05 /* ... and the clock changes meanwhile */
#define TRIES_PER_PAIR 4      /* until its canary is quiet */
#define STRAIGHT_BYTES 12288  /* of the longer run, at most */
#define STRAIGHT_INSTRUCTIONS 5000
#define CACHED_INSTRUCTIONS 1200
#define LOOP_CYCLES 10000.0   /* of the shorter run, at most */
#define MOST_ROUNDS 10000L
#define FEWEST_ROUNDS 16L
#define SLOW_ROUND 1e5        /* cycles, as in an exit of a virtual machine: one round, so some are undisturbed */
#define CACHED_SHARE (2.0 / 3) /* of the first-level cache that a walk's data may fill */
#define USUAL_CACHE (32 << 10)

static const struct request *block;
static timed sled;
static int cached_pages;

/* Two runs whose difference is one measurement. */
struct pair {
    timed one, two;
    long rounds_one, rounds_two; /* of a loop */
    double copies;               /* by which the second is longer */
    int evict;
    int slow;                    /* a single round takes longer than a whole run of other code */
};

static void reset(long rounds) {
    sandbox_reset(block);
    if (block->mode == LOOP)
        context->registers[block->counter] = block->base + block->factor * rounds;
}

static int timed_run(timed function, long rounds, const struct pair *pair, uint64_t found[]) {
    reset(rounds);
    if (pair->evict)
        sled();
    if (block->cached && block->mode == UNROLL) { /* the code between pairs evicted it from the uop cache */
        clock_run(function, found);
        reset(rounds);
    }
    return clock_run(function, found);
}

/* Runs both and counts ticks and events; 0 if a counter moved. The predictor state that a run leaves affects the start
 * of the next one, so each of the two comes first in turn. */
static int run_pair(const struct pair *pair, uint64_t one[], uint64_t two[]) {
    static int two_first;
    two_first = !two_first;
    if (two_first)
        return timed_run(pair->two, pair->rounds_two, pair, two) && timed_run(pair->one, pair->rounds_one, pair, one);
    return timed_run(pair->one, pair->rounds_one, pair, one) && timed_run(pair->two, pair->rounds_two, pair, two);
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static int by_counters(const struct pair *pair, int number) {
    uint64_t one[1 + MOST_EVENTS], two[1 + MOST_EVENTS];
    if (!clock_canary_is_quiet(clock_canary(1), 1) || !run_pair(pair, one, two) ||
        !clock_canary_is_quiet(clock_canary(1), 1))
        return 0;
    result->cycles[number] = (double)(int64_t)(two[0] - one[0]) / pair->copies;
    for (int i = 0; i < options.event_count; i++)
        result->events[i][number] = (double)(int64_t)(two[i + 1] - one[i + 1]) / pair->copies;
    return 1;
}

/* Cycles by which the second is longer, from the fastest run of each: any disturbance makes a run longer. */
static double fastest(const struct timing *pairs, int count) {
    double one = INFINITY, two = INFINITY;
    for (int i = 0; i < count; i++) {
        one = fmin(one, pairs[i].one / pairs[i].chain);
        two = fmin(two, pairs[i].two / pairs[i].chain);
    }
    return CHAIN * (two - one);
}

/* Measures pairs whose neighbouring chains agree, and converts each by its neighbours. */
static int by_time_stamps(const struct pair *pair, int number) {
    struct timing timings[PAIRS_PER_SAMPLE];
    double before, after, share = pair->slow ? SLOW_CHAINS_AGREE : CHAINS_AGREE;
    int quiet = clock_is_quiet(&before), count = 0, wanted = pair->slow ? SLOW_PAIRS : PAIRS_PER_SAMPLE;
    for (int tries = 0; count < wanted; tries++) {
        if (tries == wanted * TRIES_PER_PAIR)
            return 0;
        uint64_t one, two;
        int sound = run_pair(pair, &one, &two), was_quiet = quiet;
        if (pair->slow)
            clock_chain(); /* other programs ran meanwhile, and its code is no longer in the caches */
        quiet = clock_is_quiet(&after);
        if (sound && quiet && was_quiet && clock_agrees(before, after, share))
            timings[count++] = (struct timing){one, two, (before + after) / 2};
        before = after;
    }
    result->cycles[number] = (pair->slow ? fastest : clock_difference)(timings, count) / pair->copies;
    return 1;
}

/* As in BHive's profiler, a sample counts only if the system neither switched to another program nor served a page
 * fault meanwhile. The kernel counts both, with or without hardware counters. In the runs of slow code a switch may always
 * happen: the fastest run counts instead. */
static int sample(const struct pair *pair, int number) {
    struct disturbances before = sandbox_disturbances();
    int sound = options.source == TIME_STAMPS ? by_time_stamps(pair, number) : by_counters(pair, number);
    struct disturbances after = sandbox_disturbances();
    int switched = !pair->slow && after.switches != before.switches, faulted = after.faults != before.faults;
    result->switched += switched;
    result->faulted += faulted;
    return sound && !switched && !faulted;
}

int block_agree(int count) {
    double sorted[MOST_SAMPLES];
    memcpy(sorted, result->cycles, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    return sorted[count * 3 / 4] - sorted[count / 4] <= SMALL_SPREAD * fabs(sorted[count / 2]);
}

static void measure(const struct pair *pair) {
    uint64_t ignored[1 + MOST_EVENTS];
    for (int i = 0; i < 3; i++)
        run_pair(pair, ignored, ignored);
    sample(pair, 0); /* with page faults of this program itself */
    result->switched = result->faulted = 0;
    sandbox_measuring(1);
    int count = 0;
    for (int attempt = 0; count < options.samples && attempt < options.samples * MOST_ATTEMPTS; attempt++) {
        result->attempts = attempt + 1;
        count += sample(pair, count);
        result->samples = count;
        if (count >= ENOUGH_SAMPLES && block_agree(count))
            break;
    }
    sandbox_measuring(0);
}

/* Copies of straight-line code in the shorter run. */
static int straight_copies(void) {
    int wanted = block->cached ? CACHED_INSTRUCTIONS : STRAIGHT_INSTRUCTIONS;
    int copies = wanted / block->instructions;
    long room = code_straight_bytes(), bytes = room < STRAIGHT_BYTES ? room : STRAIGHT_BYTES;
    while (copies > 2 && 2 * copies * block->length > bytes)
        copies--;
    return copies < 2 ? 2 : copies;
}

/* Rounds of the shorter run of a loop: enough to be timed, but few enough that its data stay in the cache if it walks
 * through memory. They are doubled step by step, so that few pages are mapped that are not used later. */
static long loop_rounds(timed loop) {
    struct pair pair = {loop, loop, 0, 0, 1, 0, 0};
    long most = MOST_ROUNDS / block->copies, rounds = FEWEST_ROUNDS;
    int first_pages = 0;
    uint64_t one[1 + MOST_EVENTS], two[1 + MOST_EVENTS];
    pair.rounds_one = 1;
    pair.rounds_two = 2;
    run_pair(&pair, one, two); /* with page faults */
    run_pair(&pair, one, two);
    if ((double)(int64_t)(two[0] - one[0]) / clock_ticks_per_cycle() > SLOW_ROUND)
        return 1;
    for (;;) {
        pair.rounds_one = rounds;
        pair.rounds_two = 2 * rounds;
        run_pair(&pair, one, two); /* with page faults */
        run_pair(&pair, one, two);
        int pages = result->pages;
        if (options.private_pages && first_pages && pages > first_pages && pages > cached_pages)
            return rounds / 2;
        first_pages = first_pages ? first_pages : pages;
        double each = (double)(int64_t)(two[0] - one[0]) / clock_ticks_per_cycle() / rounds;
        double wanted = LOOP_CYCLES / (each > 0.3 ? each : 0.3);
        if (2 * rounds > most || 2 * rounds > wanted)
            return rounds;
        rounds *= 2;
    }
}

static void map(unsigned long address, unsigned long bytes) {
    void *found = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (found != (void *)address)
        _exit(3);
}

/* Maps the pages that code addresses, and sets every register to its default value. */
void block_prepare(const struct request *request) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    block = request;
    map(CONTEXT_ADDRESS, 4096);
    map(CODE_ADDRESS, CODE_BYTES);
    madvise((void *)CODE_ADDRESS, CODE_BYTES, MADV_HUGEPAGE);
    memset(context, 0, sizeof *context);
    context->mxcsr = 0x9fc0; /* all exceptions masked, denormals are zeros */
    context->delay = 1;
    context->segment = request->fill;
    context->masks = ~0UL;
    for (int i = 0; i < 8; i++)
        memcpy(context->vector + 8 * i, &request->fill, 8);
}

_Noreturn void block_measure(const struct request *request, const struct processor *processor, int memory) {
    block_prepare(request);
    if (clock_open())
        _exit(3);
    long cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    cached_pages = CACHED_SHARE * (cache > 0 ? cache : USUAL_CACHE) / 4096;

    struct pair pair = {0};
    code_begin(request, processor);
    if (request->mode == LOOP) {
        pair.one = pair.two = code_loop(request->copies);
    } else {
        int copies = straight_copies();
        pair.two = code_straight(2 * copies);
        pair.one = code_second_half(copies);
        pair.copies = copies;
        pair.evict = !request->cached;
    }
    sled = code_sled();
    if (code_overflow() || mprotect((void *)CODE_ADDRESS, CODE_BYTES, PROT_READ | PROT_EXEC))
        _exit(3);
    sandbox_handlers();
    sandbox_close(memory);

    reset(FEWEST_ROUNDS);
    pair.two();
    result->stage = TRIED;
    if (request->mode == LOOP) {
        long rounds = loop_rounds(pair.one);
        pair.rounds_one = rounds;
        pair.rounds_two = 2 * rounds;
        pair.copies = (double)rounds * request->copies;
        pair.slow = rounds == 1;
    }
    result->stage = MEASURING;
    measure(&pair);
    result->stage = DONE;
    sandbox_exit(0);
}
