/* A child process that runs two pieces of code on the same random registers and memory, and compares their results. */
#define _GNU_SOURCE
#include "harness.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INEXACT 0x3f /* any floating-point exception: the order of operations may show in the result */
#define AVX512_VECTORS 32

/* Results of one piece of code. */
struct left {
    uint64_t registers[16], flags, opmask[8];
    uint8_t vectors[AVX512_VECTORS][64];
    uint64_t pages[MOST_PAGES];
    int page_count, inexact;
};

static struct left first, second;

static void start(const struct request *request) {
    sandbox_reset(request);
    for (int i = 0; i < 16; i++)
        if (request->random_registers >> i & 1)
            context->registers[i] = sandbox_number(i);
    for (int i = 0; i < AVX512_VECTORS; i++)
        for (int part = 0; part < 8; part++) {
            uint64_t number = sandbox_number(64 * (i + 1) + part);
            memcpy(context->vectors[i] + 8 * part, &number, 8);
        }
    for (int i = 0; i < 8; i++)
        context->opmask[i] = sandbox_number(~(uint64_t)i);
}

static void run(timed function, const struct request *request, struct left *found) {
    start(request);
    function();
    memcpy(found->registers, context->left, sizeof found->registers);
    memcpy(found->opmask, context->opmask, sizeof found->opmask);
    memcpy(found->vectors, context->vectors, sizeof found->vectors);
    found->flags = context->left_flags & 0xffff;
    found->inexact = (context->left_mxcsr & INEXACT) != 0;
    found->page_count = sandbox_pages(found->pages);
}

/* Adds differences to the result; where numbers were rounded, adds only that there is one. */
static void compare(const struct request *request) {
    uint64_t registers = 0, vectors = 0, opmasks = 0, memory = 0;
    for (int i = 0; i < 16; i++)
        registers |= (uint64_t)(first.registers[i] != second.registers[i]) << i;
    for (int i = 0; i < AVX512_VECTORS; i++)
        vectors |= (uint64_t)(memcmp(first.vectors[i], second.vectors[i], request->compared_bits / 8) != 0) << i;
    for (int i = 0; i < 8; i++)
        opmasks |= (uint64_t)(first.opmask[i] != second.opmask[i]) << i;
    for (int page = 0; page < second.page_count; page++) {
        /* A page that the first code did not use still has its initial contents. */
        uint64_t before = page < first.page_count ? first.pages[page] : sandbox_sum_at_start(page);
        memory |= before != second.pages[page];
    }
    uint64_t flags = first.flags ^ second.flags;
    if ((first.inexact || second.inexact) && (vectors || memory)) {
        result->rounded++;
        return;
    }
    result->registers |= registers;
    result->vectors |= vectors;
    result->opmasks |= opmasks;
    result->flags |= flags;
    result->memory |= memory;
    result->compared++;
}

_Noreturn void check(const struct request *request, const struct processor *processor, int memory) {
    static struct request input;
    input = *request;
    block_prepare(&input);
    context->mxcsr = 0x1f80; /* all exceptions masked, and none yet */
    code_begin(&input, processor);
    timed one = code_once(input.code, input.length);
    timed other = code_once(input.other, input.other_length);
    if (code_overflow() || mprotect((void *)CODE_ADDRESS, CODE_BYTES, PROT_READ | PROT_EXEC))
        _exit(3);
    sandbox_handlers();
    sandbox_close(memory);
    for (int i = 0; i < request->inputs; i++, input.seed++) {
        result->stage = TRIED;
        run(one, &input, &first);
        result->stage = MEASURING;
        run(other, &input, &second);
        compare(&input);
    }
    result->stage = DONE;
    sandbox_exit(0);
}
