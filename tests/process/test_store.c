/*
 * The store of a generator, looked at after every instruction of a request: no byte is ever both there and with the
 * caller, and what counts as waiting has not been erased. So whatever stops a request for good, a longjmp() or a crash,
 * no byte goes out twice, and none that has gone out is left.
 */

#define _GNU_SOURCE

#include <stdio.h>
#include <string.h>

#include "mixing/memory/wipe.h"
#include "provider/rand/drbg.h"
#include "provider/rand/store.h"
#include "tests/process/init.h"
#include "tests/process/kernel.h"
#include "tests/process/step.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/unit.h"

enum { BLOCK = DRNG_AES_BLOCK };

static struct drng_provctx *provctx;
static struct drng_drbg *drbg;
static unsigned char out[DRNG_STORE_LONGEST];
static size_t out_len;
static bool done;

static size_t looks;
static size_t in_both;
static size_t erased_and_waiting;

static void work(void)
{
    done = drng_drbg_generate(drbg, out, out_len, 0, 0, NULL, 0) == 1;
}

/* Whole blocks only: a few bytes may be the same by chance. */
static void look(const struct step *step)
{
    const size_t stored = drbg->secrets->stored;
    if (!step->inside) {
        return;
    }
    looks++;
    for (size_t i = 0; i + BLOCK <= out_len; i += BLOCK) {
        in_both += !drng_is_wiped(out + i, BLOCK) && memmem(drbg->store, DRNG_STORE_SIZE, out + i, BLOCK) != NULL;
    }
    erased_and_waiting += stored >= BLOCK && drng_is_wiped(drbg->store + DRNG_STORE_SIZE - stored, BLOCK);
}

static void step_through(size_t len)
{
    memset(out, 0, sizeof(out));
    out_len = len;
    done = false;
    step_run(work, look);
    CU_ASSERT_TRUE(done);
    CU_ASSERT_FALSE(drng_is_wiped(out, len));
}

/* Long enough for blocks and for what is less than one. */
static void no_byte_is_in_two_places(void)
{
    static const size_t lengths[] = {16, 64, 31, 48, 17};
    drbg = drng_drbg_newctx(provctx, NULL, NULL);
    CU_ASSERT_TRUE_FATAL(drbg != NULL && drbg->store != NULL);
    CU_ASSERT_EQUAL_FATAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    size_t drawn = 0;
    for (size_t i = 0; drawn <= 2 * DRNG_STORE_SIZE; i++) {
        const size_t len = lengths[i % (sizeof(lengths) / sizeof(*lengths))];
        step_through(len);
        drawn += len;
    }
    CU_ASSERT_TRUE(looks > 1000);
    CU_ASSERT_EQUAL(in_both, 0);
    CU_ASSERT_EQUAL(erased_and_waiting, 0);
    drng_drbg_freectx(drbg);
}

static const struct unit_test tests[] = {
    {"no byte is in two places", no_byte_is_in_two_places},
};

int main(void)
{
    if (kernel_is_instrumented()) {
        (void)printf("skipped: not every instruction is the provider's under sanitizers and valgrind\n");
        return UNIT_SKIPPED;
    }
    fake_core_set_batch();
    provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL || !step_open((const void *)(uintptr_t)init_function())) {
        return 1;
    }
    const int result = unit_run("store", tests, sizeof(tests) / sizeof(*tests));
    drng_provctx_free(provctx);
    return result;
}
