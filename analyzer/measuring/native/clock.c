/* Core cycles: from a hardware counter read by RDPMC, or from the time-stamp counter and a chain of known length
 * that is timed beside every pair of runs. */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHAINS 16
#define COARSE_TIMES 4     /* factor for chains and canaries with a clock that is not fine */
#define FINE_GRAIN 8       /* ticks */
#define GRAINS 2000        /* readings, without the shortest and longest twentieth */
#define NEAR 0.02          /* chains further from their median were disturbed, apart from the clock's grain */
#define RUNS_AGREE 0.01    /* of the averaged pairs, with the same exception */
#define CANARIES 1000
#define CANARIES_ALIKE 50
#define CANARY_SLACK 0.06
#define CANARY_ROUNDS 100  /* of the shorter one; the longer one makes five times as many */
#define MODEL_ERROR 1.25   /* a sibling thread that never stops slows the canary by more than any model's error */
#define PRODUCTS 100       /* rounds of ten */
#define VERIFICATIONS 40
#define TRIES 8            /* for each of them; the last ones count even on a busy core */
#define SHORTEST_DELAY 256 /* rounds: no earlier branch is in the history */
#define DELAYS 256
#define WIDTH_MASK ((1UL << 48) - 1)

static struct perf_event_mmap_page *pages[1 + MOST_EVENTS];
static double learned_canary, grain;

static int counters(void) { return options.source == COUNTERS ? 1 + options.event_count : 0; }

static const char *open_counters(void) {
    for (int i = 0; i < counters(); i++) {
        struct perf_event_attr attributes;
        memset(&attributes, 0, sizeof attributes);
        attributes.size = sizeof attributes;
        attributes.type = i == 0 && options.cycle_event == 0 ? PERF_TYPE_HARDWARE : PERF_TYPE_RAW;
        attributes.config = i == 0 ? options.cycle_event : options.events[i - 1];
        if (i == 0 && options.cycle_event == 0)
            attributes.config = PERF_COUNT_HW_CPU_CYCLES;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        attributes.pinned = 1;
        int file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (file < 0)
            return errno == ENOENT || errno == EOPNOTSUPP ? "the processor's counters are not there (a virtual machine?)"
                   : errno == EACCES || errno == EPERM    ? "the system does not let this user count (perf_event_paranoid)"
                                                          : "the counters cannot be opened";
        pages[i] = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (pages[i] == MAP_FAILED)
            return "the counters cannot be mapped";
        if (!pages[i]->cap_user_rdpmc || !pages[i]->index)
            return "programs may not read the counters (rdpmc)";
    }
    return NULL;
}

const char *clock_open(void) {
    return options.source == COUNTERS ? open_counters() : NULL;
}

void clock_close(void) {
    for (int i = 0; i < counters(); i++)
        if (pages[i] && pages[i] != MAP_FAILED)
            munmap(pages[i], 4096);
}

static uint64_t now(void) {
    uint32_t low, high;
    if (options.source == COUNTERS)
        asm volatile("lfence\n rdpmc\n lfence" : "=a"(low), "=d"(high) : "c"(pages[0]->index - 1) : "memory");
    else
        asm volatile("lfence\n rdtsc\n lfence" : "=a"(low), "=d"(high)::"memory");
    return clock_stepped((uint64_t)high << 32 | low);
}

/* Simulates, for tests, a time-stamp counter that advances in steps. */
uint64_t clock_stepped(uint64_t stamp) { return stamp - (options.step ? stamp % options.step : 0); }

/* Randomises where a reading falls between two steps of the counter. Steps are up to tens of ticks, so a reading is
 * exact only on average, and the processor's clock is often locked to the counter's. */
static uint32_t delay(void) {
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return SHORTEST_DELAY + state % DELAYS;
}

static void wait(void) {
    uint32_t rounds = delay();
    asm volatile("1: dec %0\n jnz 1b\n" : "+r"(rounds)::"cc");
}

int clock_run(timed function, uint64_t differences[1 + MOST_EVENTS]) {
    for (int i = 0; i < counters(); i++)
        context->counter[i] = pages[i]->index - 1;
    context->delay = delay();
    function();
    if (options.source == TIME_STAMPS) {
        differences[0] = clock_stepped(context->end[0]) - clock_stepped(context->begin[0]);
        return differences[0] < 1UL << 40;
    }
    int sound = 1;
    for (int i = 0; i < counters(); i++) {
        differences[i] = (context->end[i] - context->begin[i]) & WIDTH_MASK;
        /* The counter moved to another register of the processor, or the thread was descheduled. */
        if (context->counter[i] != pages[i]->index - 1 || differences[i] > 1UL << 40)
            sound = 0;
    }
    return sound;
}

#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))

/* Dependent ADDs take a cycle each on every processor. They are straight-line code: a loop's last jump is predicted
 * after few rounds and not after many, a difference of some 20 cycles. */
#define ADD_TWICE "add %%eax, %%eax\n add %%eax, %%eax\n"
#define FIVE_HUNDRED HUNDRED(ADD_TWICE ADD_TWICE "add %%eax, %%eax\n")

__attribute__((noinline)) static uint64_t short_chain(void) {
    wait();
    uint64_t begin = now();
    asm volatile(FIVE_HUNDRED:::"rax", "cc");
    return now() - begin;
}

__attribute__((noinline)) static uint64_t long_chain(void) {
    wait();
    uint64_t begin = now();
    asm volatile(FIVE_HUNDRED FIVE_HUNDRED FIVE_HUNDRED FIVE_HUNDRED FIVE_HUNDRED:::"rax", "cc");
    return now() - begin;
}

static int times(void) { return grain > FINE_GRAIN ? COARSE_TIMES : 1; }

double clock_chain(void) {
    if (options.source == COUNTERS)
        return CHAIN;
    double sum = 0;
    for (int i = 0; i < times(); i++) {
        double one = short_chain();
        sum += (double)long_chain() - one;
    }
    return sum / times();
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

double clock_median(const double *numbers, int count) {
    double sorted[MOST_NUMBERS];
    memcpy(sorted, numbers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Mean of the values near the median: a quantile of stepped readings would be one of the steps. */
static double mean(const double *numbers, int count) {
    double middle = clock_median(numbers, count), sum = 0;
    int near = 0;
    for (int i = 0; i < count; i++)
        if (fabs(numbers[i] - middle) <= NEAR * middle + 2 * grain) {
            sum += numbers[i];
            near++;
        }
    return near ? sum / near : middle;
}

double clock_ticks_per_cycle(void) {
    double found[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        found[i] = clock_chain();
    return mean(found, CHAINS) / CHAIN;
}

/* Largest step between readings of waits that differ by about a cycle. */
static double find_grain(void) {
    static double readings[GRAINS];
    for (int i = 0; i < GRAINS; i++) {
        uint64_t begin = now();
        wait();
        readings[i] = now() - begin;
    }
    qsort(readings, GRAINS, sizeof *readings, ascending);
    double largest = 0;
    for (int i = GRAINS / 20; i < GRAINS - GRAINS / 20; i++)
        largest = fmax(largest, readings[i] - readings[i - 1]);
    return largest;
}

double clock_grain(void) { return grain; }

__attribute__((noinline)) static uint64_t products(long rounds) {
    wait();
    uint64_t begin = now();
    asm volatile(".p2align 6\n1:\n" TEN("imul %%rax, %%rax\n") "dec %0\n jnz 1b\n" : "+r"(rounds)::"rax", "cc");
    return now() - begin;
}

__attribute__((noinline)) static uint64_t idle(long rounds) {
    uint64_t begin = now();
    asm volatile(".p2align 6\n1:\n" TEN("nop\n") TEN("nop\n") "dec %0\n jnz 1b\n" : "+r"(rounds)::"cc");
    return now() - begin;
}

static long canary_rounds(void) { return CANARY_ROUNDS * times(); }

double clock_canary(double ticks_per_cycle) {
    uint64_t one = idle(canary_rounds());
    return (double)(int64_t)(idle(5 * canary_rounds()) - one) / ticks_per_cycle / (4 * canary_rounds());
}

/* Canary of a thread that has the core to itself. It is learned; a core that was always shared never shows it, so the
 * prediction of the core's model counts then. */
double clock_quiet_canary(void) {
    double known = options.canary;
    int is_learned = learned_canary > 0 && learned_canary <= known * MODEL_ERROR;
    return known > 0 && !is_learned ? known : learned_canary;
}

/* A disturbance of the canary's shorter loop makes the canary seem fast. */
int clock_canary_is_quiet(double canary, double ticks_per_cycle) {
    double quiet = clock_quiet_canary();
    double steps = 2 * grain / ticks_per_cycle / (4 * canary_rounds());
    return fabs(canary - quiet) <= CANARY_SLACK * quiet + steps;
}

int clock_is_quiet(double *chain) {
    *chain = clock_chain();
    double ticks = *chain / CHAIN;
    return clock_canary_is_quiet(clock_canary(ticks), ticks);
}

int clock_agrees(double before, double after, double share) {
    return fabs(after - before) <= share * before + 2 * grain / sqrt(times()); /* each is a mean */
}

/* Largest distance of a chain's shares from their median: a hundredth of it or, if half of them differ by more, twice
 * that difference. */
static double width(const double *shares, int count, double middle) {
    double away[MOST_NUMBERS];
    for (int i = 0; i < count; i++)
        away[i] = fabs(shares[i] - middle);
    return fmax(RUNS_AGREE * middle, 2 * clock_median(away, count));
}

/* Both sums use the same pairs, so the processor's clock may change from one pair to the next. */
double clock_difference(const struct timing *pairs, int count) {
    double ones[MOST_NUMBERS] = {0}, twos[MOST_NUMBERS] = {0}, ticks = 0, chains = 0;
    for (int i = 0; i < count; i++) {
        ones[i] = pairs[i].one / pairs[i].chain;
        twos[i] = pairs[i].two / pairs[i].chain;
    }
    double one = clock_median(ones, count), two = clock_median(twos, count);
    double wide_one = width(ones, count, one), wide_two = width(twos, count, two);
    for (int i = 0; i < count; i++) {
        double steps = 2 * grain / pairs[i].chain;
        if (fabs(ones[i] - one) > wide_one + steps || fabs(twos[i] - two) > wide_two + steps)
            continue;
        ticks += pairs[i].two - pairs[i].one;
        chains += pairs[i].chain;
    }
    return chains > 0 ? CHAIN * ticks / chains : CHAIN * (two - one);
}

double clock_verify(void) {
    struct timing pairs[VERIFICATIONS];
    double before, after;
    int quiet = clock_is_quiet(&before), count = 0;
    for (int tries = 0; count < VERIFICATIONS && tries < VERIFICATIONS * TRIES; tries++) {
        struct timing *pair = &pairs[count];
        pair->one = products(PRODUCTS);
        pair->two = products(3 * PRODUCTS);
        int was_quiet = quiet;
        quiet = clock_is_quiet(&after);
        pair->chain = (before + after) / 2;
        int sound = quiet && was_quiet && clock_agrees(before, after, CHAINS_AGREE);
        count += sound || tries >= VERIFICATIONS * (TRIES - 1);
        before = after;
    }
    return clock_difference(pairs, count) / (2 * 10 * PRODUCTS);
}

/* The first of the sorted canaries with several others nearby, 0 if there is none: a disturbance of the shorter loop
 * makes a canary seem fast by a different amount each time. */
static double fastest_of_several(const double *sorted, int count) {
    for (int i = 0; i + CANARIES_ALIKE < count; i++)
        if (sorted[i] > 0 && sorted[i + CANARIES_ALIKE] <= sorted[i] * (1 + CHAINS_AGREE))
            return sorted[i];
    return 0;
}

/* Finds the fastest time of the canary's loop, and returns the share of canaries that are as fast. An earlier result is
 * only ever lowered: a sibling thread makes the loop slower, never faster. */
double clock_learn(void) {
    static double found[CANARIES];
    if (options.source == TIME_STAMPS)
        grain = find_grain();
    double before = clock_chain(), ticks = before / CHAIN;
    int count = 0;
    for (int tries = 0; tries < CANARIES; tries++) {
        double canary = clock_canary(ticks), after = clock_chain();
        /* A chain that was disturbed, or ran at a slower clock, makes the canary seem fast. */
        if (clock_agrees(before, after, CHAINS_AGREE))
            found[count++] = canary;
        before = after;
        ticks = before / CHAIN;
    }
    qsort(found, count, sizeof *found, ascending);
    double low = fastest_of_several(found, count);
    if (low > 0 && (learned_canary == 0 || low < learned_canary))
        learned_canary = low;
    int quiet = 0;
    for (int i = 0; i < count; i++)
        quiet += clock_canary_is_quiet(found[i], ticks);
    return (double)quiet / CANARIES;
}
