/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process whose first words were good, and whose next readers have none: forked children that draw, and new contexts
 * of the seed source. Each finds the fault in its first seed.
 */

#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/late_faults.h"
#include "tests/unit/unit.h"

enum { SEED_LEN = 48 };

static OSSL_LIB_CTX *libctx;

/* The instruction as a process finds it that has seen nothing. */
static void forget(void)
{
    scripted_reset(scripted_good, scripted_good);
    drng_process.machine.instructions[DRNG_RDSEED] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDSEED]};
}

static void begin(void)
{
    unsigned char out[SEED_LEN];
    forget();
    libctx = evp_context("source = rdseed\nfallback = no\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
}

/* What is judged of a reader that was refused or served: it has found the fault, and put out nothing. */
static bool found(int served, const unsigned char out[SEED_LEN])
{
    return served != 1 && bytes_are(out, SEED_LEN, 0) && evp_counter(libctx, "health-failures") == 2 &&
           atomic_load(&drng_process.machine.instructions[DRNG_RDSEED].disabled) == 1;
}

struct trial {
    size_t fault;
    unsigned number;
};

static int draw_in_child(void *vtrial)
{
    const struct trial *trial = vtrial;
    unsigned char out[SEED_LEN];
    memset(out, 0xaa, sizeof(out));
    late_fault_begin(trial->fault, trial->number);
    return found(RAND_bytes_ex(libctx, out, sizeof(out), 0), out) ? 0 : 1;
}

static int draw_well(void *unused)
{
    unsigned char out[SEED_LEN];
    return RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1 ? 0 : 1;
}

static unsigned children_that_find(size_t fault, unsigned all)
{
    unsigned finding = 0;
    begin();
    CU_ASSERT_EQUAL(child_forked(draw_well, NULL), 0);
    for (unsigned i = 0; i < all; i++) {
        struct trial trial = {fault, i};
        finding += child_forked(draw_in_child, &trial) == 0;
    }
    OSSL_LIB_CTX_free(libctx);
    return finding;
}

static bool context_draws(unsigned char out[SEED_LEN])
{
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "DRNG-SEED", "provider=drng", NULL);
    const bool served = EVP_RAND_generate(rand, out, SEED_LEN, 0, 0, NULL, 0) == 1;
    EVP_RAND_CTX_free(rand);
    return served;
}

static unsigned contexts_that_find(size_t fault, unsigned all)
{
    unsigned finding = 0;
    for (unsigned i = 0; i < all; i++) {
        unsigned char out[SEED_LEN];
        begin();
        CU_ASSERT_TRUE(context_draws(out));
        memset(out, 0xaa, sizeof(out));
        late_fault_begin(fault, i);
        finding += found(context_draws(out), out);
        OSSL_LIB_CTX_free(libctx);
    }
    return finding;
}

UNIT_TEST("each forked child, and each new context, finds the fault in its first seed")
{
    const unsigned all = late_fault_readers();
    for (size_t fault = 0; fault < late_fault_count(); fault++) {
        CU_ASSERT_EQUAL(children_that_find(fault, all), all);
        CU_ASSERT_EQUAL(contexts_that_find(fault, all), all);
    }
}

int main(void)
{
    if (!unmask_instructions()) {
        return EXIT_FAILURE;
    }
    evp_be_quiet();
    return unit_run("fault readers");
}
