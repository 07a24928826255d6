/* Measures one basic block per child process, or compares what two leave behind; docs/measuring.md has the method.
 *
 * main.c reads requests and judges numbers, block.c is a child's life, check.c that of one which compares, code.c
 * writes the functions that are run, clock.c knows counters and the time-stamp counter, sandbox.c confines a child. */
#ifndef CYCLELENS_HARNESS_H
#define CYCLELENS_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#define CONTEXT_ADDRESS 0x0FFFFF0000UL /* one page that timed code reads and writes, below the code */
#define CODE_ADDRESS 0x1000000000UL
#define CODE_BYTES (2UL << 20)
#define LARGEST_BLOCK 16384
#define MOST_SAMPLES 64
#define MOST_NUMBERS 64 /* of which there is a median */
#define CHAIN 2000      /* cycles that the time-stamp counter is compared with */
#define CHAINS_AGREE 0.005 /* of the two beside a pair, but for what readings differ by anyway */
#define MOST_EVENTS 4 /* beside cycles: processors were seen that open a sixth counter and never count it */
#define MOST_PAGES 4096
#define MOST_WORDS 64
#define DATA_PATTERN 0x2324000UL /* what every word of memory holds unless a request says otherwise */

/* What timed code knows by offset (code.c). */
struct context {
    uint64_t stack;           /* 0: of the caller */
    uint64_t registers[16];   /* 8: RAX RCX RDX RBX RSP RBP RSI RDI R8 .. R15 at the start */
    uint32_t mxcsr, old_mxcsr; /* 136, 140 */
    uint64_t segment, old_fs, old_gs; /* 144, 152, 160 */
    uint64_t masks;           /* 168 */
    uint8_t vector[64];       /* 176 */
    uint32_t counter[5];      /* 240: hardware counter numbers for rdpmc */
    uint32_t delay;           /* 260: rounds of a loop before the first reading */
    uint64_t begin[5], end[5]; /* 264, 304 */
    uint64_t left[16];        /* 344: registers behind the code that is compared */
    uint64_t left_flags;      /* 472: of LAHF in the second byte, overflow in the first */
    uint64_t left_mxcsr;      /* 480 */
    uint64_t opmask[8];       /* 488: before and behind it */
    uint8_t vectors[32][64];  /* 552 */
};

enum mode { UNROLL, LOOP, CHECK };
enum clock_source { COUNTERS, TIME_STAMPS, NO_CLOCK };
enum data { WORDS = 'w', SINGLES = 's', DOUBLES = 'd' };

struct word {
    uint64_t address, value;
};

/* One line of input. */
struct request {
    enum mode mode;
    int cached;     /* straight-line code out of the uop cache instead of decoded anew */
    int copies;     /* of the block in the loop */
    int closed;     /* the block ends in its own jump to its start */
    int offset;     /* of the block's first byte within a line of 64 */
    int counter;    /* number of the register that ends the loop ... */
    int64_t base, factor; /* ... if it begins as base + factor x rounds */
    int instructions;
    int vector_bits; /* 128, 256 or 512: how much of the vector registers is set */
    uint64_t registers[16];
    struct word words[MOST_WORDS];
    int word_count;
    uint8_t code[LARGEST_BLOCK];
    int length;
    /* To be compared: */
    uint8_t other[LARGEST_BLOCK];
    int other_length;
    int inputs;
    uint64_t seed;  /* of memory, vector registers, and the others that are named here ... */
    uint64_t random_registers;
    enum data data; /* ... in all of which there are numbers of this kind */
    int compared_bits; /* of vector registers */
};

struct options {
    enum clock_source source;
    int event_count;
    uint64_t cycle_event, events[MOST_EVENTS];
    int private_pages;
    int samples, milliseconds, cpu;
    double canary; /* cycles of a round of the canary's loop on a core that no other thread shares, 0 if not known */
    unsigned step; /* of a time-stamp counter that advances in steps, for tests */
};

/* Written by the child, read by the parent, which believes none of it without a look. */
struct result {
    volatile int stage;
    volatile int reason, signal;
    volatile uint64_t address;
    volatile int pages, late_pages, samples, attempts;
    double cycles[MOST_SAMPLES], events[MOST_EVENTS][MOST_SAMPLES];
    /* Of codes that are compared, what differed in any input: */
    volatile uint64_t registers, vectors, opmasks, flags, memory;
    volatile int compared, rounded;
};

/* Of codes that are compared, the second is being MEASURED. */
enum stage { STARTED, TRIED, MEASURING, DONE };
enum reason {
    FINE,
    RAISED,        /* a signal that is not about memory */
    GENERAL,       /* non-canonical address or privileged instruction */
    PROTECTED,     /* write to code */
    LEFT,          /* jumped out of the block */
    NULL_PAGE,
    HIGH_PAGE,     /* where libraries and stack are */
    TOO_MANY_PAGES,
    NOT_MAPPED,
};

typedef void (*timed)(void);

/* A pair of runs, and the chain beside it, in ticks. */
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
double clock_grain(void);             /* ticks by which two readings of the same thing may differ */
int clock_agrees(double before, double after, double share); /* the chains before and after a pair */
double clock_difference(const struct timing *pairs, int count); /* cycles by which the second is longer */
double clock_median(const double *numbers, int count);
double clock_canary(double ticks_per_cycle); /* cycles of a round of a loop that a busy sibling thread slows down */
int clock_is_quiet(double *chain);    /* what stands between two pairs: the chain, and whether the canary is quiet */
double clock_quiet_canary(void);      /* of a thread that has the core for itself */
int clock_canary_is_quiet(double canary, double ticks_per_cycle);
double clock_learn(void);             /* what the canary is without a busy sibling; the share of quiet canaries */

/* code.c */
struct processor {
    int amd, avx, avx512, fsgsbase;
};
void processor_find(struct processor *found);
void code_begin(const struct request *request, const struct processor *processor);
timed code_straight(int copies);
timed code_second_half(int copies); /* of the straight code written last */
timed code_loop(int copies);
timed code_once(const uint8_t *code, int length); /* and what it leaves in registers */
timed code_sled(void);
long code_straight_bytes(void);       /* that stay in the instruction cache beside the sled and the harness */
int code_overflow(void);

/* sandbox.c */
int sandbox_memory(void);             /* the file behind the data pages */
void sandbox_handlers(void);
void sandbox_close(int memory);
void sandbox_reset(const struct request *request);
void sandbox_measuring(int yes);
uint64_t sandbox_number(uint64_t where);            /* that a comparison begins with, by address or register */
int sandbox_pages(uint64_t sums[MOST_PAGES]);       /* a sum of what each page holds, in the order of their use */
uint64_t sandbox_sum_at_start(int page);
_Noreturn void sandbox_exit(int code);

/* block.c */
void block_prepare(const struct request *request);
_Noreturn void block_measure(const struct request *request, const struct processor *processor, int memory);

/* check.c */
_Noreturn void check(const struct request *request, const struct processor *processor, int memory);

#endif
