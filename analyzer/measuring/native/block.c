/* The life of a child: it writes the code, shuts itself in, tries the block once, and measures. */
#define _GNU_SOURCE
#include "harness.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MOST_ATTEMPTS 40      /* for each sample */
#define ENOUGH_SAMPLES 9      /* to stop early, if they agree */
#define SMALL_SPREAD 0.002
#define CALIBRATIONS_AGREE 0.005
#define PAIRS_PER_SAMPLE 16   /* by time stamps, whose unit is coarse */
#define STRAIGHT_BYTES 12288  /* of the longer run: it stays in the instruction cache beside the NOPs */
#define STRAIGHT_INSTRUCTIONS 5000
#define CACHED_INSTRUCTIONS 1200
#define LOOP_CYCLES 15000.0   /* of the shorter run */
#define MOST_ROUNDS 10000L
#define FEWEST_ROUNDS 200L
#define CACHED_PAGES 8        /* of data that stay in the first-level cache */
#define FEWEST_WALKING 16L

static const struct request *block;
static timed sled;

/* Two runs whose difference is one measurement. */
struct pair {
    timed one, two;
    long rounds_one, rounds_two; /* of a loop */
    double copies;               /* by which the second is longer */
    int evict;
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
    return clock_run(function, found);
}

/* One difference, in ticks and events; 0 if a counter moved. */
static int difference(const struct pair *pair, double found[]) {
    uint64_t one[1 + MOST_EVENTS], two[1 + MOST_EVENTS];
    if (!timed_run(pair->one, pair->rounds_one, pair, one) || !timed_run(pair->two, pair->rounds_two, pair, two))
        return 0;
    for (int i = 0; i <= options.event_count; i++)
        found[i] += (double)(int64_t)(two[i] - one[i]);
    return 1;
}

static int sample(const struct pair *pair, int number, double limit) {
    int pairs = options.source == TIME_STAMPS ? PAIRS_PER_SAMPLE : 1;
    double sum[1 + MOST_EVENTS] = {0};
    double before = clock_ticks_per_cycle();
    if (clock_canary(before) > limit)
        return 0;
    for (int i = 0; i < pairs; i++)
        if (!difference(pair, sum))
            return 0;
    double after = clock_ticks_per_cycle();
    if (fabs(after - before) > CALIBRATIONS_AGREE * before || clock_canary(after) > limit)
        return 0;
    double each = pair->copies * pairs;
    result->cycles[number] = sum[0] / each / ((before + after) / 2);
    for (int i = 0; i < options.event_count; i++)
        result->events[i][number] = sum[1 + i] / each;
    return 1;
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static int agree(int count) {
    double sorted[MOST_SAMPLES];
    memcpy(sorted, result->cycles, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    return sorted[count * 3 / 4] - sorted[count / 4] <= SMALL_SPREAD * fabs(sorted[count / 2]);
}

static void measure(const struct pair *pair) {
    double limit = clock_canary_limit();
    double ignored[1 + MOST_EVENTS] = {0};
    for (int i = 0; i < 3; i++)
        difference(pair, ignored);
    sandbox_measuring(1);
    int count = 0;
    for (int attempt = 0; count < options.samples && attempt < options.samples * MOST_ATTEMPTS; attempt++) {
        result->attempts = attempt + 1;
        count += sample(pair, count, limit);
        result->samples = count;
        if (count >= ENOUGH_SAMPLES && agree(count))
            break;
    }
    sandbox_measuring(0);
}

/* Copies of straight-line code in the shorter run. */
static int straight_copies(void) {
    int wanted = block->cached ? CACHED_INSTRUCTIONS : STRAIGHT_INSTRUCTIONS;
    int copies = wanted / block->instructions;
    while (copies > 2 && 2 * copies * block->length > STRAIGHT_BYTES)
        copies--;
    return copies < 2 ? 2 : copies;
}

/* Rounds of the shorter run of a loop, after a look at how long one takes. */
static long loop_rounds(timed loop) {
    struct pair pair = {loop, loop, FEWEST_ROUNDS / block->copies + 4, 2 * (FEWEST_ROUNDS / block->copies + 4), 1, 0};
    double found[1 + MOST_EVENTS] = {0};
    difference(&pair, found);
    memset(found, 0, sizeof found);
    difference(&pair, found);
    double each = found[0] / clock_ticks_per_cycle() / pair.rounds_one;
    double rounds = LOOP_CYCLES / (each > 0.3 ? each : 0.3);
    long most = MOST_ROUNDS / block->copies;
    return rounds > most ? most : rounds < pair.rounds_one ? pair.rounds_one : (long)rounds;
}

static void map(unsigned long address, unsigned long bytes) {
    void *found = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (found != (void *)address)
        _exit(3);
}

_Noreturn void block_measure(const struct request *request, const struct processor *processor, int memory) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    block = request;
    if (clock_open())
        _exit(3);
    map(CONTEXT_ADDRESS, 4096);
    map(CODE_ADDRESS, CODE_BYTES);
    madvise((void *)CODE_ADDRESS, CODE_BYTES, MADV_HUGEPAGE);
    memset(context, 0, sizeof *context);
    context->mxcsr = 0x9fc0; /* all exceptions masked, denormals are zeros */
    context->segment = DATA_PATTERN;
    context->masks = ~0UL;
    const uint64_t pattern = DATA_PATTERN;
    for (int i = 0; i < 8; i++)
        memcpy(context->vector + 8 * i, &pattern, 8);

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
        /* A loop that walks through memory stays within the cache if it makes fewer rounds. */
        reset(2 * rounds);
        pair.two();
        if (options.private_pages && result->pages > CACHED_PAGES) {
            rounds = rounds * CACHED_PAGES / result->pages;
            rounds = rounds < FEWEST_WALKING ? FEWEST_WALKING : rounds;
        }
        pair.rounds_one = rounds;
        pair.rounds_two = 2 * rounds;
        pair.copies = (double)rounds * request->copies;
    }
    result->stage = MEASURING;
    measure(&pair);
    result->stage = DONE;
    sandbox_exit(0);
}
