/* Core cycles: from a hardware counter read by RDPMC, or from the time-stamp counter and a chain of known
 * length that is timed beside every sample. */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHAIN 2000 /* dependent ADDs, one cycle each on every processor */
#define CHAINS 4
#define CANARIES 2000
#define CANARIES_PER_CHAIN 20
#define CANARY_SLACK 1.06
#define WIDTH_MASK ((1UL << 48) - 1)

static struct perf_event_mmap_page *pages[1 + MOST_EVENTS];
static double canary_base;

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
    return ((uint64_t)high << 32 | low);
}

int clock_run(timed function, uint64_t differences[1 + MOST_EVENTS]) {
    for (int i = 0; i < counters(); i++)
        context->counter[i] = pages[i]->index - 1;
    function();
    if (options.source == TIME_STAMPS) {
        differences[0] = context->end[0] - context->begin[0];
        return differences[0] < 1UL << 40;
    }
    int sound = 1;
    for (int i = 0; i < counters(); i++) {
        differences[i] = (context->end[i] - context->begin[i]) & WIDTH_MASK;
        /* The counter moved to another register of the processor, or the thread was away. */
        if (context->counter[i] != pages[i]->index - 1 || differences[i] > 1UL << 40)
            sound = 0;
    }
    return sound;
}

#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))

__attribute__((noinline)) static uint64_t chain(long hundreds) {
    uint64_t begin = now();
    asm volatile(".p2align 6\n1:\n" HUNDRED("add %%rax, %%rax\n") "dec %0\n jnz 1b\n" : "+r"(hundreds)::"rax", "cc");
    return now() - begin;
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

/* Whatever disturbs a chain makes it longer. */
double clock_ticks_per_cycle(void) {
    if (options.source == COUNTERS)
        return 1;
    uint64_t one = ~0UL, two = ~0UL;
    for (int i = 0; i < CHAINS; i++) {
        one = least(one, chain(CHAIN / 100));
        two = least(two, chain(2 * CHAIN / 100));
    }
    return (double)(two - one) / CHAIN;
}

__attribute__((noinline)) static uint64_t products(long hundreds) {
    uint64_t begin = now();
    asm volatile(".p2align 6\n1:\n" HUNDRED("imul %%rax, %%rax\n") "dec %0\n jnz 1b\n" : "+r"(hundreds)::"rax", "cc");
    return now() - begin;
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

double clock_verify(void) {
    double found[21];
    for (int i = 0; i < 21; i++) {
        double ticks = clock_ticks_per_cycle();
        uint64_t one = products(20);
        found[i] = (double)(products(40) - one) / 2000 / ticks;
    }
    qsort(found, 21, sizeof *found, ascending);
    return found[10];
}

__attribute__((noinline)) static uint64_t idle(long rounds) {
    uint64_t begin = now();
    asm volatile(".p2align 6\n1:\n" TEN("nop\n") TEN("nop\n") "dec %0\n jnz 1b\n" : "+r"(rounds)::"cc");
    return now() - begin;
}

double clock_canary(double ticks_per_cycle) {
    uint64_t one = idle(50);
    return (double)(idle(250) - one) / ticks_per_cycle;
}

/* The upper limit of a canary on a thread that has the core for itself. */
double clock_canary_limit(void) { return canary_base * CANARY_SLACK; }

/* Looks for the fastest that the canary's loop gets, and returns the share of canaries that are as fast. What was
 * found before is only ever lowered: a sibling thread makes the loop slower, never faster. */
double clock_learn(void) {
    static double found[CANARIES];
    double ticks_per_cycle = 1;
    for (int i = 0; i < CANARIES; i++) {
        if (i % CANARIES_PER_CHAIN == 0)
            ticks_per_cycle = clock_ticks_per_cycle();
        found[i] = clock_canary(ticks_per_cycle);
    }
    qsort(found, CANARIES, sizeof *found, ascending);
    double low = found[CANARIES / 20]; /* interrupts make single readings too low */
    if (canary_base == 0 || low < canary_base)
        canary_base = low;
    int quiet = 0;
    while (quiet < CANARIES && found[quiet] <= clock_canary_limit())
        quiet++;
    return (double)quiet / CANARIES;
}
