/* Runs two versions of a kernel on the same random data and compares all that they leave in memory. */
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 15, ROUNDS_OF_COUNTS = 3, MULTIPLE = 64 };

typedef void kernel(unsigned char *, unsigned char *, unsigned char *, long);

static unsigned long state;

static unsigned long next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void fill(unsigned char *data, char kind) {
    for (long at = 0; at < BYTES / 8; at++) {
        unsigned long word = next();
        if (kind == 's') {
            float pair[2] = {(float)(word & 7), (float)(word >> 8 & 7)};
            memcpy(&word, pair, sizeof word);
        } else if (kind == 'd') {
            double one = (double)(word & 1023);
            memcpy(&word, &one, sizeof word);
        }
        memcpy(data + 8 * at, &word, sizeof word);
    }
}

/* The round in which they differ first, or -1. */
long differs(kernel *one, kernel *other, char kind, long rounds, unsigned long seed) {
    static unsigned char a[BYTES], b[BYTES], start[BYTES], out[2][BYTES];
    state = seed;
    for (long round = 0; round < rounds; round++) {
        if (round % 16 == 0) {
            fill(a, kind);
            fill(b, kind);
            fill(start, kind);
        }
        /* Other data for each round without filling everything anew. */
        long shift = 8 * (next() % 64), count = MULTIPLE * (1 + next() % ROUNDS_OF_COUNTS);
        memcpy(out[0], start, BYTES);
        memcpy(out[1], start, BYTES);
        one(a + shift, b + shift, out[0] + 64, count);
        other(a + shift, b + shift, out[1] + 64, count);
        if (memcmp(out[0], out[1], BYTES)) {
            return round;
        }
    }
    return -1;
}
