/* Confines a measured block. It may compute, and use data pages that are mapped wherever it touches memory. It cannot
 * make system calls: a filter allows four, each only from one place in this file and with fixed arguments. */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096UL
#define LOWEST 0x10000UL
#define HIGHEST 0x7e0000000000UL /* libraries, stack and kernel are above */
#define NOBODY 65534
#define RESTORER 0x04000000UL    /* SA_RESTORER */

static int data = -1;
static volatile int measuring;
static int page_count;
static uint64_t page_address[MOST_PAGES];
static const struct request *block;

/* The handler runs on a stack of its own and uses no thread-local storage: the block owns FS. */
__attribute__((noinline)) static long map_page(unsigned long address, unsigned long length, long protection,
                                               long flags, long file, long offset) {
    register long r10 asm("r10") = flags;
    register long r8 asm("r8") = file;
    register long r9 asm("r9") = offset;
    long answer;
    asm volatile("syscall\n.globl sandbox_mapped\nsandbox_mapped:"
                 : "=a"(answer)
                 : "a"(SYS_mmap), "D"(address), "S"(length), "d"(protection), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return answer;
}

__attribute__((noinline)) _Noreturn void sandbox_exit(int code) {
    asm volatile("syscall\n.globl sandbox_left\nsandbox_left:" ::"a"(SYS_exit_group), "D"(code)
                 : "rcx", "r11", "memory");
    __builtin_unreachable();
}

asm(".text\nsandbox_return:\n mov $15, %eax\n syscall\n.globl sandbox_returned\nsandbox_returned:\n hlt\n");
extern void sandbox_return(void);
extern const char sandbox_mapped[], sandbox_left[], sandbox_returned[], sandbox_counted[];

static struct rusage usage;

__attribute__((noinline)) struct disturbances sandbox_disturbances(void) {
    long answer;
    asm volatile("syscall\n.globl sandbox_counted\nsandbox_counted:"
                 : "=a"(answer)
                 : "a"(SYS_getrusage), "D"(RUSAGE_SELF), "S"(&usage)
                 : "rcx", "r11", "memory");
    return (struct disturbances){usage.ru_nvcsw + usage.ru_nivcsw, usage.ru_minflt + usage.ru_majflt};
}

/* A number of the requested kind, derived from seed and place by the finaliser of MurmurHash3. */
uint64_t sandbox_number(uint64_t where) {
    uint64_t word = where + block->seed * 0x9e3779b97f4a7c15;
    word = (word ^ word >> 33) * 0xff51afd7ed558ccd;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53;
    word ^= word >> 33;
    if (block->data == WORDS)
        return word;
    /* Small whole numbers, whose sums and products are exact in any order. */
    float singles[2] = {(float)(int)((word >> 16 & 15) - 8), (float)(int)((word >> 32 & 15) - 8)};
    double number = (double)((long)(word & 255) - 128);
    memcpy(&word, block->data == SINGLES ? (void *)singles : (void *)&number, 8);
    return word;
}

static uint64_t word_at_start(uint64_t address) {
    return block->mode == CHECK ? sandbox_number(address) : block->fill;
}

static int fill(uint64_t page) {
    uint64_t *words = (uint64_t *)page;
    for (unsigned i = 0; i < PAGE / 8; i++)
        words[i] = word_at_start(page + 8 * i);
    for (int i = 0; i < block->word_count; i++)
        if ((block->words[i].address & ~(PAGE - 1)) == page)
            memcpy((void *)block->words[i].address, &block->words[i].value, 8);
    return 0;
}

__attribute__((no_stack_protector)) static void on_signal(int signal, siginfo_t *about, void *state) {
    ucontext_t *context = state;
    unsigned long address = (unsigned long)about->si_addr;
    enum reason reason = FINE;
    if (signal != SIGSEGV)
        reason = RAISED;
    else if (about->si_code != SEGV_MAPERR)
        reason = about->si_code == SEGV_ACCERR ? PROTECTED : GENERAL;
    else if (context->uc_mcontext.gregs[REG_ERR] & 16)
        reason = LEFT;
    else if (address < LOWEST)
        reason = NULL_PAGE;
    else if (address >= HIGHEST)
        reason = HIGH_PAGE;
    else if (page_count >= MOST_PAGES)
        reason = TOO_MANY_PAGES;
    if (reason == FINE) {
        uint64_t page = address & ~(PAGE - 1);
        long offset = options.private_pages ? (long)PAGE * page_count : 0;
        if (map_page(page, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, data, offset) >= 0) {
            if (options.private_pages || page_count == 0)
                fill(page);
            page_address[page_count++] = page;
            result->pages = page_count;
            if (measuring)
                result->late_pages++;
            return;
        }
        reason = NOT_MAPPED;
    }
    result->signal = signal;
    result->address = address;
    result->reason = reason;
    sandbox_exit(0);
}

int sandbox_memory(void) {
    int file = memfd_create("data", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, options.private_pages ? (long)PAGE * MOST_PAGES : (long)PAGE)) {
        close(file);
        file = -1;
    }
    return file;
}

void sandbox_measuring(int yes) { measuring = yes; }

/* Resets registers and memory, through the addresses that the block uses, so that nothing else changes in the caches.
 * The pages that a block touches first are filled last, so that the beginning of a walk is in the first-level cache. */
void sandbox_reset(const struct request *request) {
    block = request;
    memcpy(context->registers, request->registers, sizeof context->registers);
    int last = options.private_pages ? page_count : page_count < 1 ? page_count : 1;
    for (int i = last - 1; i >= 0; i--)
        fill(page_address[i]);
}

static uint64_t with_word(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0xff51afd7ed558ccd;
    return sum ^ sum >> 32;
}

int sandbox_pages(uint64_t sums[MOST_PAGES]) {
    for (int page = 0; page < page_count; page++) {
        const uint64_t *words = (const uint64_t *)page_address[page];
        sums[page] = 0;
        for (unsigned i = 0; i < PAGE / 8; i++)
            sums[page] = with_word(sums[page], words[i]);
    }
    return page_count;
}

uint64_t sandbox_sum_at_start(int page) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < PAGE / 8; i++)
        sum = with_word(sum, word_at_start(page_address[page] + 8 * i));
    return sum;
}

struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

void sandbox_handlers(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    stack_t stack = {.ss_size = 1 << 17};
    stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
        _exit(3);
    struct kernel_action action = {on_signal, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | RESTORER, sandbox_return, 0};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        if (syscall(SYS_rt_sigaction, signals[i], &action, NULL, 8))
            _exit(3);
}

static struct sock_filter filter[96];
static int filter_length;

static void statement(uint16_t code, uint32_t value) {
    filter[filter_length++] = (struct sock_filter)BPF_STMT(code, value);
}

/* Ends the process unless the word at this offset of ``struct seccomp_data`` has the value. */
static void require(uint32_t place, uint32_t value) {
    statement(BPF_LD | BPF_W | BPF_ABS, place);
    filter[filter_length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
}

static void require_long(uint32_t place, uint64_t value) {
    require(place, (uint32_t)value);
    require(place + 4, value >> 32);
}

/* Allows a system call from one place, with ``count`` arguments, from ``first`` on, fixed. */
static void allow(uint32_t number, const char *place, int first, int count, const uint64_t *arguments) {
    statement(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    int jump = filter_length++;
    require_long(offsetof(struct seccomp_data, instruction_pointer), (uintptr_t)place);
    for (int i = 0; i < count; i++)
        require_long(offsetof(struct seccomp_data, args) + 8 * (first + i), arguments[i]);
    statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[jump] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, filter_length - jump - 1);
}

static void limit(int what, rlim_t most) {
    struct rlimit both = {most, most};
    setrlimit(what, &both);
}

/* Bytes of address space in use by this process; 0 if unknown. */
static rlim_t mapped(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%lu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return (rlim_t)pages * 4096;
}

void sandbox_close(int memory) {
    data = memory;
    struct itimerval timer = {{0, 0}, {options.milliseconds / 1000, options.milliseconds % 1000 * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, options.milliseconds / 1000 + 1);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_STACK, 1 << 20);
    /* Every isolated page costs a page or two of page tables: allow for as many as the code may touch, no more. */
    rlim_t now = mapped();
    if (now)
        limit(RLIMIT_AS, now + (MOST_PAGES + 64) * 4096UL);
    limit(RLIMIT_NOFILE, memory + 1);
    if (geteuid() == 0 && (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
        _exit(3);
    limit(RLIMIT_NPROC, 0);
    /* A change of user resets this setting. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    for (int file = 0; file < memory; file++)
        close(file);
    syscall(SYS_close_range, memory + 1, ~0U, 0);

    const uint64_t mapping[] = {PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, (uint64_t)memory, 0};
    require(offsetof(struct seccomp_data, arch), AUDIT_ARCH_X86_64);
    /* With private pages the offset varies; the file has the size of all pages together. */
    allow(SYS_mmap, sandbox_mapped, 1, options.private_pages ? 4 : 5, mapping);
    allow(SYS_rt_sigreturn, sandbox_returned, 0, 0, NULL);
    allow(SYS_exit_group, sandbox_left, 0, 0, NULL);
    const uint64_t counting[] = {RUSAGE_SELF, (uintptr_t)&usage};
    allow(SYS_getrusage, sandbox_counted, 0, 2, counting);
    statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {filter_length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
        _exit(3);
}
