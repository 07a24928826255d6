/* Generates the timed functions. Each saves the caller's registers, sets all registers as requested, reads the clock,
 * runs the block, reads the clock again and restores everything. The code after the block uses only RAX, RCX and RDX
 * and no stack, because the block may have changed all other registers. */
#include "harness.h"

#include <cpuid.h>
#include <string.h>
#include <unistd.h>

#define SLED_SHARE 4  /* of the instruction cache, so that the block stays in it */
#define SLED_SHARE_AMD 2 /* its op caches hold more */
#define USUAL_CACHE (32 << 10)
#define OTHER_CODE (8 << 10) /* executed between two runs: the chains, and the code that sets registers and memory */
#define NOP_BYTES 2   /* length that fills a line with as many NOPs as a uop cache holds of it */
#define TEXT(x) #x
#define VALUE(x) TEXT(x)

struct context *const context = (struct context *)CONTEXT_ADDRESS;

_Static_assert(offsetof(struct context, registers) == 8, "known to the templates");
_Static_assert(offsetof(struct context, mxcsr) == 136, "known to the templates");
_Static_assert(offsetof(struct context, segment) == 144, "known to the templates");
_Static_assert(offsetof(struct context, masks) == 168, "known to the templates");
_Static_assert(offsetof(struct context, vector) == 176, "known to the templates");
_Static_assert(offsetof(struct context, counter) == 240, "known to the emitter");
_Static_assert(offsetof(struct context, delay) == 260, "known to the templates");
_Static_assert(offsetof(struct context, begin) == 264, "known to the emitter");
_Static_assert(offsetof(struct context, end) == 304, "known to the emitter");
_Static_assert(offsetof(struct context, left) == 344, "known to the templates");
_Static_assert(offsetof(struct context, left_flags) == 472, "known to the templates");
_Static_assert(offsetof(struct context, left_mxcsr) == 480, "known to the templates");
_Static_assert(offsetof(struct context, opmask) == 488, "known to the templates");
_Static_assert(offsetof(struct context, vectors) == 552, "known to the templates");
_Static_assert(offsetof(struct context, passes) == 2600, "known to the emitter");

#define EACH8(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define EACH16(f) EACH8(f) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define EACH32(f) EACH16(f) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) \
    f(29) f(30) f(31)
#define XMM(n) " movups 176(%r15), %xmm" #n "\n"
#define YMM(n) " vmovups 176(%r15), %ymm" #n "\n"
#define ZMM(n) " vmovups 176(%r15), %zmm" #n "\n"
#define MASK(n) " kmovq 168(%r15), %k" #n "\n"
#define SET_XMM(n) " movups 552+64*" #n "(%r15), %xmm" #n "\n"
#define SET_YMM(n) " vmovups 552+64*" #n "(%r15), %ymm" #n "\n"
#define SET_ZMM(n) " vmovups 552+64*" #n "(%r15), %zmm" #n "\n"
#define SET_MASK(n) " kmovq 488+8*" #n "(%r15), %k" #n "\n"
#define GET_XMM(n) " movups %xmm" #n ", 552+64*" #n "(%r15)\n"
#define GET_YMM(n) " vmovups %ymm" #n ", 552+64*" #n "(%r15)\n"
#define GET_ZMM(n) " vmovups %zmm" #n ", 552+64*" #n "(%r15)\n"
#define GET_MASK(n) " kmovq %k" #n ", 488+8*" #n "(%r15)\n"
#define INITIAL_REGISTERS \
    " mov 8(%r15), %rax\n mov 16(%r15), %rcx\n mov 24(%r15), %rdx\n mov 32(%r15), %rbx\n" \
    " mov 40(%r15), %rsp\n mov 48(%r15), %rbp\n mov 56(%r15), %rsi\n mov 64(%r15), %rdi\n" \
    " mov 72(%r15), %r8\n mov 80(%r15), %r9\n mov 88(%r15), %r10\n mov 96(%r15), %r11\n" \
    " mov 104(%r15), %r12\n mov 112(%r15), %r13\n mov 120(%r15), %r14\n mov 128(%r15), %r15\n"
#define PART(name, text) "part_" #name ":\n" text "part_" #name "_end:\n"

asm(".text\n"
    PART(save,
        " push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        " movabs $" VALUE(0x0FFFFF0000) ", %r15\n mov %rsp, (%r15)\n"
        " stmxcsr 140(%r15)\n fninit\n ldmxcsr 136(%r15)\n")
    PART(clear, " vzeroall\n")
    PART(xmm, EACH16(XMM))
    PART(ymm, EACH16(YMM))
    PART(zmm, EACH32(ZMM) EACH8(MASK))
    PART(segments,
        " rdfsbase %rax\n mov %rax, 152(%r15)\n rdgsbase %rax\n mov %rax, 160(%r15)\n"
        " mov 144(%r15), %rax\n wrfsbase %rax\n wrgsbase %rax\n")
    PART(delay, " mov 260(%r15), %eax\n1: dec %eax\n jnz 1b\n")
    PART(settle, " push $2\n popfq\n mfence\n lfence\n")
    PART(registers, " lfence\n" INITIAL_REGISTERS " lfence\n")
    /* The fence keeps a pass from running beside the end of the pass before, which would hide latencies. */
    PART(again, " lfence\n movabs $" VALUE(0x0FFFFF0000) ", %r15\n" INITIAL_REGISTERS)
    PART(fence, " lfence\n")
    PART(restore,
        " movabs $" VALUE(0x0FFFFF0000) ", %r15\n mov (%r15), %rsp\n push $2\n popfq\n"
        " fninit\n ldmxcsr 140(%r15)\n")
    PART(old_segments,
        " mov 152(%r15), %rax\n wrfsbase %rax\n mov 160(%r15), %rax\n wrgsbase %rax\n")
    PART(set_xmm, EACH16(SET_XMM))
    PART(set_ymm, EACH16(SET_YMM))
    PART(set_zmm, EACH32(SET_ZMM) EACH8(SET_MASK))
    PART(get_xmm, EACH16(GET_XMM))
    PART(get_ymm, EACH16(GET_YMM))
    PART(get_zmm, EACH32(GET_ZMM) EACH8(GET_MASK))
    /* RAX is free once it is stored, so the flags are read only then. */
    PART(get_registers,
        " movabs %rax, " VALUE(0x0FFFFF0158) "\n"
        " lahf\n seto %al\n movabs %rax, " VALUE(0x0FFFFF01D8) "\n"
        " mov %r15, %rax\n movabs %rax, " VALUE(0x0FFFFF01D0) "\n"
        " movabs $" VALUE(0x0FFFFF0000) ", %r15\n"
        " mov %rcx, 352(%r15)\n mov %rdx, 360(%r15)\n mov %rbx, 368(%r15)\n mov %rsp, 376(%r15)\n"
        " mov %rbp, 384(%r15)\n mov %rsi, 392(%r15)\n mov %rdi, 400(%r15)\n mov %r8, 408(%r15)\n"
        " mov %r9, 416(%r15)\n mov %r10, 424(%r15)\n mov %r11, 432(%r15)\n mov %r12, 440(%r15)\n"
        " mov %r13, 448(%r15)\n mov %r14, 456(%r15)\n stmxcsr 480(%r15)\n")
    PART(clean, " vzeroupper\n")
    PART(leave, " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"));

#define DECLARE(name) extern const char part_##name[], part_##name##_end[]
DECLARE(save);
DECLARE(clear);
DECLARE(xmm);
DECLARE(ymm);
DECLARE(zmm);
DECLARE(segments);
DECLARE(delay);
DECLARE(settle);
DECLARE(registers);
DECLARE(again);
DECLARE(fence);
DECLARE(restore);
DECLARE(old_segments);
DECLARE(set_xmm);
DECLARE(set_ymm);
DECLARE(set_zmm);
DECLARE(get_xmm);
DECLARE(get_ymm);
DECLARE(get_zmm);
DECLARE(get_registers);
DECLARE(clean);
DECLARE(leave);

static uint8_t *here;
static const struct request *block;
static const struct processor *cpu;
static const uint8_t *middle; /* where the second half of the straight code begins */

#define ADD(name) add(part_##name, part_##name##_end - part_##name)

static void add(const void *bytes, long count) {
    memcpy(here, bytes, count);
    here += count;
}

static void align(int offset) {
    while (((uintptr_t)here & 63) != (unsigned)offset)
        *here++ = 0x90;
}

static void number32(uint32_t value) { add(&value, 4); }

static void number64(uint64_t value) { add(&value, 8); }

/* Reads the clock into context->begin; R15 points to the context. Cycles are read last. */
static void read_begin(void) {
    int last = options.source == COUNTERS ? options.event_count : 0;
    for (int i = last; i >= 0; i--) {
        if (options.source == COUNTERS) {
            add("\x41\x8b\x8f", 3), number32(240 + 4 * i); /* mov ecx, [r15 + ...] */
            add("\x0f\x33", 2);                            /* rdpmc */
        } else {
            add("\x0f\x31", 2); /* rdtsc */
        }
        add("\x41\x89\x87", 3), number32(264 + 8 * i); /* mov [r15 + ...], eax */
        add("\x41\x89\x97", 3), number32(268 + 8 * i); /* mov [r15 + ...], edx */
    }
}

/* Reads the clock into context->end, cycles first, with absolute addresses. */
static void read_end(void) {
    int last = options.source == COUNTERS ? options.event_count : 0;
    for (int i = 0; i <= last; i++) {
        if (options.source == COUNTERS) {
            add("\xa1", 1), number64(CONTEXT_ADDRESS + 240 + 4 * i); /* mov eax, [...] */
            add("\x89\xc1\x0f\x33", 4);                              /* mov ecx, eax; rdpmc */
        } else {
            add("\x0f\x31", 2);
        }
        add("\xa3", 1), number64(CONTEXT_ADDRESS + 304 + 8 * i); /* mov [...], eax */
        add("\x89\xd0\xa3", 3), number64(CONTEXT_ADDRESS + 308 + 8 * i);
    }
}

static timed enter(void) {
    align(0);
    timed function = (timed)here;
    ADD(save);
    if (cpu->avx)
        ADD(clear);
    if (block->vector_bits >= 512 && cpu->avx512)
        ADD(zmm);
    else if (block->vector_bits >= 256 && cpu->avx)
        ADD(ymm);
    else
        ADD(xmm);
    if (cpu->fsgsbase)
        ADD(segments);
    ADD(delay);
    ADD(settle);
    read_begin();
    ADD(registers);
    return function;
}

static void restore(void) {
    ADD(restore);
    if (cpu->fsgsbase)
        ADD(old_segments);
    if (cpu->avx)
        ADD(clean);
    ADD(leave);
}

static void leave(void) {
    ADD(fence);
    read_end();
    restore();
}

void processor_find(struct processor *found) {
    unsigned a, b, c, d;
    memset(found, 0, sizeof *found);
    __cpuid(0, a, b, c, d);
    found->amd = c == signature_AMD_ecx;
    __cpuid(1, a, b, c, d);
    if (c >> 27 & 1) { /* OSXSAVE */
        unsigned low, high;
        asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        found->avx = (c >> 28 & 1) && (low & 6) == 6;
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
            found->avx512 = found->avx && (b >> 16 & 1) && (b >> 30 & 1) && (low & 0xe6) == 0xe6;
    }
    /* The second word tells whether the kernel lets programs use FSGSBASE. */
    extern unsigned long getauxval(unsigned long);
    found->fsgsbase = getauxval(26) >> 1 & 1;
}

void code_begin(const struct request *request, const struct processor *processor) {
    here = (uint8_t *)CODE_ADDRESS;
    block = request;
    cpu = processor;
}

timed code_straight(int copies) {
    timed function = enter();
    align(block->offset);
    for (int i = 0; i < copies; i++) {
        if (i == copies / 2)
            middle = here;
        add(block->code, block->length);
    }
    leave();
    return function;
}

timed code_second_half(int copies) {
    (void)copies;
    timed function = enter();
    align(block->offset);
    add("\xe9", 1), number32((uint32_t)(middle - (here + 4)));
    return function;
}

/* Ends a loop that began at ``top`` by counting the request's register down. */
static void count_down(const uint8_t *top) {
    uint8_t decrement[] = {block->counter >= 8 ? 0x49 : 0x48, 0xff, 0xc8 | (block->counter & 7)};
    add(decrement, 3);
    long distance = top - (here + 2);
    if (distance >= -128) {
        uint8_t jump[] = {0x75, (uint8_t)distance};
        add(jump, 2);
    } else {
        add("\x0f\x85", 2), number32((uint32_t)(top - (here + 4)));
    }
}

timed code_loop(int copies) {
    timed function = enter();
    align(block->offset);
    const uint8_t *top = here;
    for (int i = 0; i < copies; i++)
        add(block->code, block->length);
    if (!block->closed)
        count_down(top);
    leave();
    return function;
}

timed code_walk(void) {
    timed function = enter();
    align(block->offset);
    const uint8_t *top = here;
    add(block->code, block->length);
    if (!block->closed)
        count_down(top);
    add("\xa1", 1), number64(CONTEXT_ADDRESS + 2600); /* mov eax, [...] */
    add("\xff\xc8\xa3", 3), number64(CONTEXT_ADDRESS + 2600); /* dec eax; mov [...], eax */
    add("\x0f\x84", 2); /* jz, over what follows */
    uint8_t *end = here;
    number32(0);
    ADD(again);
    add("\xe9", 1), number32((uint32_t)(top - (here + 4)));
    uint32_t over = here - (end + 4);
    memcpy(end, &over, 4);
    leave();
    return function;
}

/* Gives every vector register numbers of its own, outside the timed part. */
timed code_once(const uint8_t *code, int length) {
    int wide = block->vector_bits >= 512 && cpu->avx512, middle_wide = block->vector_bits >= 256 && cpu->avx;
    align(0);
    timed function = (timed)here;
    ADD(save);
    if (cpu->avx)
        ADD(clear);
    if (wide)
        ADD(set_zmm);
    else if (middle_wide)
        ADD(set_ymm);
    else
        ADD(set_xmm);
    if (cpu->fsgsbase)
        ADD(segments);
    ADD(settle);
    ADD(registers);
    align(block->offset);
    add(code, length);
    ADD(get_registers);
    if (wide)
        ADD(get_zmm);
    else if (middle_wide)
        ADD(get_ymm);
    else
        ADD(get_xmm);
    restore();
    return function;
}

static long cache_bytes(void) {
    long cache = sysconf(_SC_LEVEL1_ICACHE_SIZE);
    return cache > 0 ? cache : USUAL_CACHE;
}

static long sled_bytes(void) { return cache_bytes() / (cpu->amd ? SLED_SHARE_AMD : SLED_SHARE); }

long code_straight_bytes(void) { return cache_bytes() - sled_bytes() - OTHER_CODE; }

/* Straight-line NOPs that fill every set of the uop cache and so evict the block. */
timed code_sled(void) {
    align(0);
    timed function = (timed)here;
    for (long done = 0; done < sled_bytes(); done += NOP_BYTES)
        add("\x66\x90", NOP_BYTES);
    add("\xc3", 1);
    return function;
}

int code_overflow(void) { return here - (uint8_t *)CODE_ADDRESS > (long)CODE_BYTES; }
