/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family of processes whose parent had good words, and whose children have not: each child that is forked after the
 * fault has begun finds it with its first call, by itself.
 */

#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/late_faults.h"
#include "tests/unit/library_rig.h"
#include "tests/unit/unit.h"

enum { SEED_LEN = 48, WORDS = 32 };

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
    size_t fault;
    unsigned call;
    unsigned number;
};

enum verdict { FOUND, NOT_FOUND, PUT_OUT }; /* the exit status */

static int try(void *vtrial)
{
    const struct trial *trial = vtrial;
    uint8_t out[WORDS * sizeof(uint64_t)] = {0};
    late_fault_begin(trial->fault, trial->number);
    const int error = calls[trial->call].call(out);
    return error != DRNG_E_UNHEALTHY ? NOT_FOUND : bytes_are(out, sizeof(out), 0) ? FOUND : PUT_OUT;
}

UNIT_TEST("each forked child finds the fault with its first call")
{
    const unsigned all = late_fault_readers();
    for (size_t fault = 0; fault < late_fault_count(); fault++) {
        for (unsigned call = 0; call < CALLS; call++) {
            uint8_t before[SEED_LEN];
            unsigned found = 0;
            library_rig_set_up(scripted_good, scripted_good);
            CU_ASSERT_EQUAL(seed(before), DRNG_SUCCESS);
            for (unsigned i = 0; i < all; i++) {
                struct trial trial = {fault, call, i};
                found += child_forked(try, &trial) == 0;
            }
            CU_ASSERT_EQUAL(found, all);
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
    return unit_run("fault_forks");
}
