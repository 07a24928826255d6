/* Reads requests, runs a child for each, and writes one line of figures for each.
 *
 * The first line names the clock. Then each request gets a line of key=value pairs, with figures per copy of the block.
 * Exit codes: 0 success, 2 wrong usage, 3 this machine cannot measure (the first line says why). */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_LINE (1 << 17)
#define GRACE_MILLISECONDS 500
#define MOST_PROCESSORS 8 /* most that are tried in search of a quiet one */
#define LOOKS 5
#define FEWEST_SAMPLES 3
#define MOST_PER_MILLISECOND 1e7 /* cycles at 10 GHz, more than any clock */

struct options options = {.source = COUNTERS, .samples = 29, .milliseconds = 3000, .cpu = -1, .private_pages = 1};
struct result *result;

static const char *const reasons[] = {"fine", "signal", "privileged-or-wild-address", "wrote-to-code",
                                      "jumped-out", "null-page", "high-page", "too-many-pages", "not-mapped"};

static int hexadecimal(const char *text, uint8_t *bytes, int most) {
    int count = 0;
    for (unsigned value; *text && *text != '\n' && count < most; text += 2) {
        if (sscanf(text, "%2x", &value) != 1 || !text[1])
            return -1;
        bytes[count++] = value;
    }
    return *text && *text != '\n' ? -1 : count;
}

/* RAX, ... or ADDRESS:VALUE pairs, comma-separated. */
static int read_words(char *text, struct word *words, int most) {
    int count = 0;
    char *rest;
    for (char *each = strtok_r(text, ",", &rest); each; each = strtok_r(NULL, ",", &rest)) {
        if (count == most || sscanf(each, "%lx:%lx", &words[count].address, &words[count].value) != 2)
            return -1;
        count++;
    }
    return count;
}

static enum mode mode_named(const char *name) {
    return !strcmp(name, "loop") ? LOOP : !strcmp(name, "check") ? CHECK : !strcmp(name, "walk") ? WALK : UNROLL;
}

/* Whether the working set has a size, and the chain, if any, lies within it. */
static int is_walk(const struct request *request) {
    uint64_t begin = request->chain - WALKED_ADDRESS, bytes = request->node_bytes;
    int fits = !request->nodes ||
               (bytes >= sizeof(uint64_t) && begin < request->walked && request->nodes <= (request->walked - begin) / bytes);
    return request->walked > 0 && request->walked <= MOST_WALKED && request->rounds > 0 && fits;
}

static const char *parse(char *line, struct request *request) {
    memset(request, 0, sizeof *request);
    request->copies = 1;
    request->counter = 15;
    request->factor = 1;
    request->vector_bits = 128;
    request->fill = DATA_PATTERN;
    for (int i = 0; i < 16; i++)
        request->registers[i] = DATA_PATTERN;
    char *rest;
    for (char *each = strtok_r(line, " \n", &rest); each; each = strtok_r(NULL, " \n", &rest)) {
        char *value = strchr(each, '=');
        if (!value)
            return "not key=value";
        *value++ = 0;
        struct word registers[16];
        int count;
        if (!strcmp(each, "mode"))
            request->mode = mode_named(value);
        else if (!strcmp(each, "cached"))
            request->cached = atoi(value);
        else if (!strcmp(each, "copies"))
            request->copies = atoi(value);
        else if (!strcmp(each, "counter"))
            request->counter = atoi(value) & 15;
        else if (!strcmp(each, "base"))
            request->base = strtoll(value, NULL, 0);
        else if (!strcmp(each, "factor"))
            request->factor = strtoll(value, NULL, 0);
        else if (!strcmp(each, "closed"))
            request->closed = atoi(value);
        else if (!strcmp(each, "offset"))
            request->offset = atoi(value) & 63;
        else if (!strcmp(each, "instructions"))
            request->instructions = atoi(value);
        else if (!strcmp(each, "fill"))
            request->fill = strtoull(value, NULL, 16);
        else if (!strcmp(each, "vectors"))
            request->vector_bits = atoi(value);
        else if (!strcmp(each, "inputs"))
            request->inputs = atoi(value);
        else if (!strcmp(each, "seed"))
            request->seed = strtoull(value, NULL, 0);
        else if (!strcmp(each, "random"))
            request->random_registers = strtoull(value, NULL, 16);
        else if (!strcmp(each, "data"))
            request->data = *value;
        else if (!strcmp(each, "compared"))
            request->compared_bits = atoi(value);
        else if (!strcmp(each, "walked"))
            request->walked = strtoull(value, NULL, 0);
        else if (!strcmp(each, "rounds"))
            request->rounds = strtol(value, NULL, 0);
        else if (!strcmp(each, "chain")) {
            if (sscanf(value, "%lx:%lu:%lu:%ld", &request->chain, &request->nodes, &request->node_bytes,
                       &request->link) != 4)
                return "unreadable chain";
        } else if (!strcmp(each, "registers")) {
            if ((count = read_words(value, registers, 16)) < 0)
                return "unreadable registers";
            for (int i = 0; i < count; i++)
                request->registers[registers[i].address & 15] = registers[i].value;
        } else if (!strcmp(each, "words")) {
            if ((request->word_count = read_words(value, request->words, MOST_WORDS)) < 0)
                return "unreadable words";
        } else if (!strcmp(each, "code")) {
            if ((request->length = hexadecimal(value, request->code, LARGEST_BLOCK)) < 1)
                return "unreadable code";
        } else if (!strcmp(each, "other")) {
            if ((request->other_length = hexadecimal(value, request->other, LARGEST_BLOCK)) < 1)
                return "unreadable code";
        } else
            return "unknown key";
    }
    if (request->length < 1 || request->instructions < 1 || request->copies < 1)
        return "no code";
    if ((long)request->copies * request->length > LARGEST_BLOCK)
        return "too long";
    if (request->mode == CHECK && (request->other_length < 1 || request->inputs < 1))
        return "nothing to compare";
    if (request->mode == WALK && !is_walk(request))
        return "no working set";
    return NULL;
}

/* Writes the result of a comparison. If one code failed, the stage tells which. */
static void report_check(const struct result *found, int status, int late) {
    if (late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
        printf("status=time-limit");
    else if (WIFSIGNALED(status))
        printf("status=killed");
    else if (found->reason > FINE && found->reason <= NOT_MAPPED)
        printf("status=%s", reasons[found->reason]);
    else if (status || found->stage != DONE)
        printf("status=failed");
    else
        printf("status=ok");
    printf(" second=%d compared=%d rounded=%d registers=%lx vectors=%lx opmasks=%lx flags=%lx memory=%lx\n",
           found->stage == MEASURING, found->compared, found->rounded, found->registers, found->vectors,
           found->opmasks, found->flags, found->memory);
    fflush(stdout);
}

/* The block runs, but time or attempts ran out before there were samples. */
static int is_busy(const struct result *found, int status, int late) {
    int ended = late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    return found->reason == FINE && found->samples < FEWEST_SAMPLES &&
           (ended ? found->stage == MEASURING : !status && found->stage == DONE);
}

static void print_numbers(const char *name, const double *numbers, int count) {
    printf("%s=", name);
    for (int i = 0; i < count; i++)
        printf("%s%.7g", i ? "," : "", numbers[i]);
}

/* Whether the time limit allows these figures: measured code that has found the results can write anything there. */
static int is_possible(const struct result *found, int count) {
    double most = options.milliseconds * MOST_PER_MILLISECOND;
    for (int i = 0; i < count; i++) {
        int possible = fabs(found->cycles[i]) <= most; /* false for what is no number, too */
        for (int event = 0; event < options.event_count; event++)
            possible &= fabs(found->events[event][i]) <= most;
        if (!possible)
            return 0;
    }
    return 1;
}

static void report(const struct result *found, int status, int late) {
    int count = found->samples < 0 || found->samples > MOST_SAMPLES ? 0 : found->samples;
    int ended = late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    if (is_busy(found, status, late))
        printf("status=busy attempts=%d switched=%d faulted=%d", found->attempts, found->switched, found->faulted);
    else if (ended && found->stage != MEASURING)
        printf("status=time-limit stage=%d", found->stage);
    else if (!ended && WIFSIGNALED(status))
        printf("status=killed signal=%d stage=%d", WTERMSIG(status), found->stage);
    else if (found->reason > FINE && found->reason <= NOT_MAPPED)
        printf("status=%s signal=%d address=%lx", reasons[found->reason], found->signal, found->address);
    else if (!ended && (status || found->stage != DONE))
        printf("status=failed code=%d stage=%d", WEXITSTATUS(status), found->stage);
    else if (!is_possible(found, count))
        printf("status=impossible");
    else {
        printf("status=ok attempts=%d switched=%d faulted=%d pages=%d late_pages=%d passes=%d huge=%lu",
               found->attempts, found->switched, found->faulted, found->pages, found->late_pages, found->passes,
               found->huge);
        print_numbers(" cycles", found->cycles, count);
        for (int i = 0; i < options.event_count; i++)
            print_numbers(" event", found->events[i], count);
    }
    printf("\n");
    fflush(stdout);
}

/* Runs a child, which stores its findings in ``result``. Returns 0 if the child cannot be started. */
static int run(const struct request *request, const struct processor *processor, int *status, int *late) {
    memset(result, 0, sizeof *result);
    int memory = sandbox_memory();
    pid_t child = memory < 0 ? -1 : fork();
    if (child == 0) {
        if (request->mode == CHECK)
            check(request, processor, memory);
        if (request->mode == WALK)
            walk_measure(request, processor, memory);
        block_measure(request, processor, memory);
    }
    if (child < 0)
        return 0;
    int handle = syscall(SYS_pidfd_open, child, 0);
    struct pollfd waiting = {handle, POLLIN, 0};
    *late = poll(&waiting, 1, options.milliseconds + GRACE_MILLISECONDS) <= 0;
    if (*late)
        kill(child, SIGKILL); /* not yet waited for, so the process id is still this child's */
    waitpid(child, status, 0);
    close(handle);
    close(memory);
    return 1;
}

static void move_to(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Moves to the logical processor on which the canary is quiet most often, unless the options name one. */
static void choose_processor(void) {
    static cpu_set_t allowed;
    static int known;
    if (!known)
        known = !sched_getaffinity(0, sizeof allowed, &allowed);
    int cpus[MOST_PROCESSORS] = {options.cpu}, count = 1;
    if (options.cpu < 0) {
        count = 0;
        for (int cpu = 0; cpu < CPU_SETSIZE && count < MOST_PROCESSORS; cpu++)
            if (CPU_ISSET(cpu, &allowed))
                cpus[count++] = cpu;
    }
    double quiet[MOST_PROCESSORS] = {0};
    for (int look = 0; look < LOOKS; look++)
        for (int i = 0; i < count; i++) {
            move_to(cpus[i]);
            double share = clock_learn();
            quiet[i] += look ? share : 0; /* the first look finds the limit */
        }
    int best = 0;
    for (int i = 1; i < count; i++)
        best = quiet[i] > quiet[best] ? i : best;
    move_to(cpus[best]);
}

static void answer(const struct request *request, const struct processor *processor) {
    struct result found;
    for (int try = 0;; try++) {
        int status = 0, late = 0;
        if (!run(request, processor, &status, &late)) {
            printf("status=failed code=%d stage=0\n", errno);
            fflush(stdout);
            return;
        }
        memcpy(&found, result, sizeof found);
        if (request->mode == CHECK) {
            report_check(&found, status, late);
            return;
        }
        if (try == 1 || !is_busy(&found, status, late)) {
            report(&found, status, late);
            return;
        }
        if (!clock_open())
            choose_processor();
        clock_close();
    }
}

static int try_clock(void) {
    if (options.source == NO_CLOCK) {
        printf("source=none imul=0\n");
        fflush(stdout);
        return 0;
    }
    const char *problem = clock_open();
    if (!problem)
        choose_processor();
    double product = problem ? 0 : clock_verify();
    if (!problem && !(product > 2.5 && product < 4.5))
        problem = "the clock does not count core cycles: a chain of IMUL reads wrong";
    if (problem) {
        printf("refused=%s\n", problem);
        return 3;
    }
    double ticks = clock_ticks_per_cycle();
    printf("source=%s imul=%.3f ticks_per_cycle=%.4f canary=%.3f grain=%.0f\n",
           options.source == COUNTERS ? "counters" : "time-stamps", product, ticks, clock_quiet_canary(), clock_grain());
    fflush(stdout);
    clock_close();
    return 0;
}

static int usage(void) {
    fprintf(stderr, "usage: harness [--time-stamps | --no-clock] [--event HEX]... [--cycle-event HEX] [--shared-pages] [--samples N]"
                    " [--milliseconds N] [--cpu N] [--step N] [--canary CYCLES] < requests\n");
    return 2;
}

static int read_options(int count, char **words) {
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(words[i], "--time-stamps")) {
            options.source = TIME_STAMPS;
            continue;
        }
        if (!strcmp(words[i], "--no-clock")) {
            options.source = NO_CLOCK;
            continue;
        }
        if (!strcmp(words[i], "--shared-pages")) {
            options.private_pages = 0;
            continue;
        }
        if (i + 1 == count)
            return 0;
        i++;
        if (!strcmp(words[i - 1], "--event") && options.event_count < MOST_EVENTS)
            options.events[options.event_count++] = strtoul(value, NULL, 16);
        else if (!strcmp(words[i - 1], "--cycle-event"))
            options.cycle_event = strtoul(value, NULL, 16);
        else if (!strcmp(words[i - 1], "--samples"))
            options.samples = atoi(value);
        else if (!strcmp(words[i - 1], "--milliseconds"))
            options.milliseconds = atoi(value);
        else if (!strcmp(words[i - 1], "--step"))
            options.step = atoi(value);
        else if (!strcmp(words[i - 1], "--canary"))
            options.canary = atof(value);
        else if (!strcmp(words[i - 1], "--cpu"))
            options.cpu = atoi(value);
        else
            return 0;
    }
    return options.samples >= FEWEST_SAMPLES && options.samples <= MOST_SAMPLES && options.milliseconds > 0;
}

int main(int count, char **words) {
    static char line[LONGEST_LINE];
    static struct request request;
    if (!read_options(count, words))
        return usage();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Without address randomisation every child has the same memory layout. */
    personality(ADDR_NO_RANDOMIZE | personality(0xffffffff));
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED)
        return 3;
    int problem = try_clock();
    if (problem)
        return problem;
    struct processor processor;
    processor_find(&processor);
    while (fgets(line, sizeof line, stdin)) {
        const char *wrong = parse(line, &request);
        if (wrong) {
            printf("status=unreadable why=%s\n", wrong);
            fflush(stdout);
            continue;
        }
        answer(&request, &processor);
    }
    return 0;
}
