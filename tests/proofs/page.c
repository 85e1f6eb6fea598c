/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of counters: its texts, whatever they are made of, and who counts where.
 */

#include "proof.h"
#include "provider/observe/stats.c"

/* ---- The C library ---- */

size_t strnlen(const char *s, size_t most)
{
    size_t len = 0;
    while (len < most && s[len] != '\0') {
        len++;
    }
    return len;
}

/* ---- Texts ---- */

void prove_copied_text(void)
{
    enum { MOST_SIZE = 12, MOST_TEXT = 15 };
    char out[MOST_SIZE + 1];
    char text[MOST_TEXT + 1];
    const size_t size = at_most(MOST_SIZE);
    ASSUME(size > 0);
    ANY(text);
    ANY(out);
    text[at_most(MOST_TEXT)] = '\0';
    const char behind = out[size];

    drng_stats_text(out, size, text);

    bool ended = false;
    bool right = true;
    for (size_t i = 0; i < MOST_SIZE; i++) {
        if (i + 1 < size) {
            ended = ended || text[i] == '\0';
            right = right && out[i] == (ended ? '\0' : text[i]);
        }
    }
    CLAIM(right && out[size - 1] == '\0',
          "a text is cut where there is no room, ends with NUL, and is zeros behind that");
    CLAIM(out[size] == behind, "nothing is written behind it");
    REACHED("a text");
}

/* ---- Who counts where ---- */

static struct drng_stats_live live;

static void any_counts(uint64_t before[WORDS])
{
    drng_stats.live = &live;
    for (size_t i = 0; i < WORDS; i++) {
        before[i] = nondet_u64() | (i == 0 ? 1 : 0); /* the first are everybody's */
        taken[i] = before[i];
    }
}

static bool is_same_but(const uint64_t before[WORDS], size_t index, bool is_set)
{
    bool same = true;
    for (size_t i = 0; i < WORDS; i++) {
        const uint64_t bit = i == index / WORD_BITS ? UINT64_C(1) << index % WORD_BITS : 0;
        same = same && taken[i] == (is_set ? before[i] | bit : before[i] & ~bit);
    }
    return same;
}

static bool is_taken(const uint64_t before[WORDS], size_t index)
{
    return (before[index / WORD_BITS] >> index % WORD_BITS & 1) != 0;
}

void prove_counts(void)
{
    uint64_t before[WORDS];
    any_counts(before);

    const struct drng_request_counts *counts = drng_request_counts_acquire();

    const size_t index = (size_t)(counts - live.request_counts);
    CLAIM(index < DRNG_REQUEST_COUNTS, "counts lie on the page");
    if (index == 0) {
        bool full = true;
        for (size_t i = 0; i < WORDS; i++) {
            full = full && before[i] == UINT64_MAX;
        }
        CLAIM(full && is_same_but(before, 0, true), "the shared counts where all others are taken");
        REACHED("shared counts");
    } else {
        CLAIM(!is_taken(before, index) && is_same_but(before, index, true), "nobody else has them, and they are taken");
        REACHED("counts of its own");
    }
    drng_request_counts_release(counts);
    CLAIM(is_same_but(before, 0, true), "they are free again, and no other");
}
