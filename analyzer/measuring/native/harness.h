/* Measures one basic block per child process, or compares the results of two; docs/measuring.md has the method.
 *
 * main.c reads requests and judges figures, block.c is the measuring child, walk.c the one that measures a loop on a
 * working set, check.c the comparing child, code.c
 * generates the timed functions, clock.c reads counters and the time-stamp counter, sandbox.c confines a child. */
#ifndef CYCLELENS_HARNESS_H
#define CYCLELENS_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#define CONTEXT_ADDRESS 0x0FFFFF0000UL /* one page that timed code reads and writes, below the code */
#define CODE_ADDRESS 0x1000000000UL
#define CODE_BYTES (2UL << 20)
#define LARGEST_BLOCK 16384
#define MOST_SAMPLES 64
#define MOST_NUMBERS 64 /* most values for a median */
#define CHAIN 2000      /* cycles of the chain that calibrates the time-stamp counter */
#define CHAINS_AGREE 0.005 /* relative difference of the two chains around a pair, apart from the grain of readings */
#define MOST_EVENTS 4 /* besides cycles: some processors open a sixth counter and never count it */
#define MOST_PAGES 4096
#define MOST_WORDS 64
#define WALKED_ADDRESS 0x200000000000UL /* of the working set */
#define MOST_WALKED (16UL << 30)
#define DATA_PATTERN 0x2324000UL /* default value of every word of memory */

/* Fields that timed code addresses by offset (code.c). */
struct context {
    uint64_t stack;           /* 0: the caller's */
    uint64_t registers[16];   /* 8: RAX RCX RDX RBX RSP RBP RSI RDI R8 .. R15 at the start */
    uint32_t mxcsr, old_mxcsr; /* 136, 140 */
    uint64_t segment, old_fs, old_gs; /* 144, 152, 160 */
    uint64_t masks;           /* 168 */
    uint8_t vector[64];       /* 176 */
    uint32_t counter[5];      /* 240: hardware counter numbers for rdpmc */
    uint32_t delay;           /* 260: rounds of a loop before the first reading */
    uint64_t begin[5], end[5]; /* 264, 304 */
    uint64_t left[16];        /* 344: registers after the compared code */
    uint64_t left_flags;      /* 472: of LAHF in the second byte, overflow in the first */
    uint64_t left_mxcsr;      /* 480 */
    uint64_t opmask[8];       /* 488: before and after it */
    uint8_t vectors[32][64];  /* 552 */
    uint32_t passes;          /* 2600: over a working set, still to be made */
};

enum mode { UNROLL, LOOP, CHECK, WALK };
enum clock_source { COUNTERS, TIME_STAMPS, NO_CLOCK };
enum data { WORDS = 'w', SINGLES = 's', DOUBLES = 'd' };

struct word {
    uint64_t address, value;
};

/* One line of input. */
struct request {
    enum mode mode;
    int cached;     /* straight-line code from the uop cache instead of the decoders */
    int copies;     /* of the block in the loop */
    int closed;     /* the block ends in its own jump to its start */
    int offset;     /* of the block's first byte within a line of 64 */
    int counter;    /* number of the register that ends the loop ... */
    int64_t base, factor; /* ... if it begins as base + factor x rounds */
    int instructions;
    int vector_bits; /* 128, 256 or 512: width of vector registers that is set */
    uint64_t fill; /* value of every word of memory that is not named, and of vector registers */
    uint64_t registers[16];
    struct word words[MOST_WORDS];
    int word_count;
    uint8_t code[LARGEST_BLOCK];
    int length;
    /* For comparisons: */
    uint8_t other[LARGEST_BLOCK];
    int other_length;
    int inputs;
    uint64_t seed;  /* for memory, vector registers, and the registers named here ... */
    uint64_t random_registers;
    enum data data; /* ... which all hold numbers of this kind */
    int compared_bits; /* of vector registers */
    /* For walks: */
    uint64_t walked; /* bytes of the working set, which begins at WALKED_ADDRESS */
    long rounds;     /* of one pass over it */
    uint64_t chain, nodes, node_bytes; /* where the first link of a cyclic chain in it is, and the chain's shape */
    int64_t link; /* what a link holds is less than the address of the next one by this */
};

struct options {
    enum clock_source source;
    int event_count;
    uint64_t cycle_event, events[MOST_EVENTS];
    int private_pages;
    int samples, milliseconds, cpu;
    double canary; /* cycles of a round of the canary's loop on a core that no other thread shares, 0 if unknown */
    unsigned step; /* of a time-stamp counter that advances in steps, for tests */
};

/* Written by the child, and validated by the parent before use. */
struct result {
    volatile int stage;
    volatile int reason, signal;
    volatile uint64_t address;
    volatile int pages, late_pages, samples, attempts, passes;
    volatile int switched, faulted; /* samples left out because of a context switch, or of a page fault */
    volatile uint64_t huge; /* bytes of the working set in huge pages */
    double cycles[MOST_SAMPLES], events[MOST_EVENTS][MOST_SAMPLES];
    /* For comparisons, what differed with any input: */
    volatile uint64_t registers, vectors, opmasks, flags, memory;
    volatile int compared, rounded;
};

/* In a comparison, MEASURED means that the second code is running. */
enum stage { STARTED, TRIED, MEASURING, DONE };
enum reason {
    FINE,
    RAISED,        /* a signal not caused by memory */
    GENERAL,       /* non-canonical address or privileged instruction */
    PROTECTED,     /* write to code */
    LEFT,          /* jumped out of the block */
    NULL_PAGE,
    HIGH_PAGE,     /* in the range of libraries and stack */
    TOO_MANY_PAGES,
    NOT_MAPPED,
};

struct disturbances {
    long switches, faults; /* context switches and page faults */
};

typedef void (*timed)(void);

/* A pair of runs and its neighbouring chain, in ticks. */
struct timing {
    double one, two, chain;
};

extern struct options options;
extern struct context *const context;
extern struct result *result;

/* clock.c */
const char *clock_open(void);         /* NULL, or why this source cannot be used */
void clock_close(void);
double clock_verify(void);            /* cycles of one dependent IMUL */
int clock_run(timed function, uint64_t differences[1 + MOST_EVENTS]); /* 0: a counter moved meanwhile */
uint64_t clock_stepped(uint64_t stamp);
double clock_chain(void);             /* ticks of CHAIN cycles now */
double clock_ticks_per_cycle(void);   /* the mean of several */
double clock_grain(void);             /* ticks by which two readings of the same interval may differ */
int clock_agrees(double before, double after, double share); /* the chains before and after a pair */
double clock_difference(const struct timing *pairs, int count); /* cycles by which the second is longer */
double clock_median(const double *numbers, int count);
double clock_canary(double ticks_per_cycle); /* cycles of a round of a loop that a busy sibling thread slows down */
int clock_is_quiet(double *chain);    /* runs between two pairs: times the chain, and tells whether the canary is quiet */
double clock_quiet_canary(void);      /* of a thread that has the core to itself */
int clock_canary_is_quiet(double canary, double ticks_per_cycle);
double clock_learn(void);             /* learns the canary without a busy sibling; returns the share of quiet canaries */

/* code.c */
struct processor {
    int amd, avx, avx512, fsgsbase;
};
void processor_find(struct processor *found);
void code_begin(const struct request *request, const struct processor *processor);
timed code_straight(int copies);
timed code_second_half(int copies); /* of the straight code written last */
timed code_loop(int copies);
timed code_once(const uint8_t *code, int length); /* runs once and stores the final registers */
timed code_walk(void); /* as many passes as the context says, each with the initial registers */
timed code_sled(void);
long code_straight_bytes(void);       /* most that stay in the instruction cache beside the sled and the harness */
int code_overflow(void);

/* sandbox.c */
int sandbox_memory(void);             /* the file behind the data pages */
void sandbox_handlers(void);
void sandbox_close(int memory);
void sandbox_reset(const struct request *request);
void sandbox_measuring(int yes);
struct disturbances sandbox_disturbances(void); /* of this process so far, by the kernel's own count */
uint64_t sandbox_number(uint64_t where);            /* initial value in a comparison, by address or register */
int sandbox_pages(uint64_t sums[MOST_PAGES]);       /* checksums of the pages, in order of use */
uint64_t sandbox_sum_at_start(int page);
_Noreturn void sandbox_exit(int code);

/* block.c */
void block_prepare(const struct request *request);
_Noreturn void block_measure(const struct request *request, const struct processor *processor, int memory);
int block_agree(int count); /* whether the samples so far differ little */

/* walk.c */
_Noreturn void walk_measure(const struct request *request, const struct processor *processor, int memory);

/* check.c */
_Noreturn void check(const struct request *request, const struct processor *processor, int memory);

#endif
