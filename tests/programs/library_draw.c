/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_draw.c - a program of libdrng's: draws by each kind of call, and prints as JSON who served, why better
 * sources did not, and which instructions may be used. Exit status 1: a call failed that may not.
 */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "library/drng.h"

static int failures;

static void demand(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "library_draw: %s\n", what);
        failures++;
    }
}

static bool is_filled(const unsigned char *bytes, size_t len)
{
    static const unsigned char zeros[64];
    return memcmp(bytes, zeros, len) != 0;
}

int main(void)
{
    drng *generator = NULL;
    struct drng_info info = {0};
    unsigned char bytes[64] = {0};
    unsigned char more[64] = {0};
    const char *text = NULL;

    demand(drng_open(&generator, DRNG_ANY) == DRNG_SUCCESS, "no generator");
    demand(drng_read(generator, bytes, sizeof(bytes)) == DRNG_SUCCESS && is_filled(bytes, sizeof(bytes)), "no bytes");
    demand(drng_info(generator, &info) == DRNG_SUCCESS, "nothing is known of the generator");
    drng_close(generator);
    demand(drng_bytes(more, sizeof(more)) == DRNG_SUCCESS && is_filled(more, sizeof(more)),
           "no bytes without a handle");
    demand(memcmp(bytes, more, sizeof(bytes)) != 0, "the same bytes twice");

    const int seeds = drng_seed_supported(&text);
    printf("{\"source\": \"%s\", \"others\": \"%s\", \"seed\": %d, \"seed-text\": \"%s\"", info.source, info.others,
           seeds, text);
    const int words = drng_random_supported(&text);
    printf(", \"random\": %d, \"random-text\": \"%s\"}\n", words, text);
    if (seeds != 0) {
        demand(drng_seed_bytes(bytes, sizeof(bytes), DRNG_SEED_RETRIES) == DRNG_SUCCESS, "no words of the seed grade");
    }
    if (words != 0) {
        demand(drng_random_bytes(bytes, sizeof(bytes), DRNG_RETRIES) == DRNG_SUCCESS, "no words of the generator");
    }
    return failures > 0 ? 1 : 0;
}
