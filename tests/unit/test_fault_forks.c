/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family of processes whose parent had good words, and whose children have not: each child that is forked after the
 * fault has begun finds it with its first call, by itself. DRNG_FAULT_FORKS names a file for the result as a table;
 * DRNG_FAULT_CHILDREN says how many children there are of each fault.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/library_rig.h"
#include "tests/unit/unit.h"

enum { CHILDREN = 20, SEED_LEN = 48, WORDS = 32 };

static const struct {
    const char *name;
    scripted_behaviour *behaviour;
    unsigned least; /* a period or a number of bits: each child has another one */
    unsigned most;
} faults[] = {
    {"counting: w, w + 1, ...", scripted_counting_on, 0, 0},
    {"a period of 26 to 100 words", scripted_period, 26, 100},
    {"a period of 2 to 64 words", scripted_period, 2, 64},
    {"1 bit stuck", scripted_bits_stuck, 1, 1},
    {"8 bits stuck", scripted_bits_stuck, 8, 8},
    {"32 bits stuck", scripted_bits_stuck, 32, 32},
    {"56 bits stuck", scripted_bits_stuck, 56, 56},
};

/* What a child does with the first call that it makes. */
static int seed(void *out)
{
    return drng_conditioned_seed(out, SEED_LEN, DRNG_SEED_GRADE_ONLY, DRNG_BY_CBC_MAC, NULL);
}

static int words(void *out)
{
    return drng_seed_words(out, WORDS, DRNG_SEED_RETRIES);
}

static int handle(void *out)
{
    drng *d = NULL;
    const int error = drng_open(&d, DRNG_SEED_GRADE_ONLY);
    memset(out, 0, SEED_LEN);
    drng_close(d);
    return error;
}

static const struct {
    const char *name;
    int (*call)(void *out);
} calls[] = {{"a seed", seed}, {"words", words}, {"a handle", handle}};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

/* One child: its fault, and where in it the child begins. */
struct trial {
    unsigned fault;
    unsigned call;
    unsigned number;
};

enum verdict { FOUND, NOT_FOUND, PUT_OUT }; /* the exit status */

static int try(void *vtrial)
{
    const struct trial *trial = vtrial;
    uint8_t out[WORDS * sizeof(uint64_t)] = {0};
    const unsigned spread = faults[trial->fault].most - faults[trial->fault].least + 1;
    scripted_rdseed.behaviour = faults[trial->fault].behaviour;
    scripted_rdseed.which = faults[trial->fault].least + trial->number % spread;
    scripted_rdseed.words += trial->number * 37;
    scripted_rdseed.state += UINT64_C(0xd1b54a32d192ed03) * (trial->number + 1);
    const int error = calls[trial->call].call(out);
    return error != DRNG_E_UNHEALTHY ? NOT_FOUND : bytes_are(out, sizeof(out), 0) ? FOUND : PUT_OUT;
}

static FILE *table;

static unsigned children(void)
{
    const char *given = getenv("DRNG_FAULT_CHILDREN");
    return given != NULL ? (unsigned)strtoul(given, NULL, 10) : unit_samples() ? 2 : CHILDREN;
}

UNIT_TEST("each forked child finds the fault with its first call")
{
    const unsigned all = children();
    for (unsigned fault = 0; fault < sizeof(faults) / sizeof(*faults); fault++) {
        unsigned found[CALLS] = {0};
        for (unsigned call = 0; call < CALLS; call++) {
            uint8_t before[SEED_LEN];
            library_rig_set_up(scripted_good, scripted_good);
            CU_ASSERT_EQUAL(seed(before), DRNG_SUCCESS);
            for (unsigned i = 0; i < all; i++) {
                struct trial trial = {fault, call, i};
                found[call] += child_forked(try, &trial) == 0;
            }
            CU_ASSERT_EQUAL(found[call], all);
        }
        if (table != NULL) {
            (void)fprintf(table, "| %s | %u | %u | %u | %u |\n", faults[fault].name, all, found[0], found[1], found[2]);
        }
    }
}

/* The twin: good words, in as many children. */
UNIT_TEST("children with good words are served")
{
    uint8_t out[SEED_LEN];
    library_rig_set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(seed(out), DRNG_SUCCESS);
    for (unsigned call = 0; call < CALLS; call++) {
        CU_ASSERT_EQUAL(child_forked(calls[call].call, (uint8_t[WORDS * sizeof(uint64_t)]){0}), DRNG_SUCCESS);
    }
}

int main(void)
{
    const char *path = getenv("DRNG_FAULT_FORKS");
    table = path != NULL ? fopen(path, "w") : NULL;
    if (path != NULL && table == NULL) {
        perror(path);
        return EXIT_FAILURE;
    }
    if (table != NULL) {
        (void)fprintf(table, "| fault, from the parent's first seed on | children | found in the first seed | in the "
                             "first words | in the first handle |\n| --- | --- | --- | --- | --- |\n");
    }
    const int result = unit_run("fault_forks");
    return table != NULL && fclose(table) != 0 ? EXIT_FAILURE : result;
}
