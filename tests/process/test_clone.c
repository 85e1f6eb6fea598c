/*
 * Clones of a virtual machine: two processes with every byte in common, and nothing to tell them so.
 *
 * A fork with the protection of the pages taken off is such a pair. With request mixing they part at the first
 * request; without it they do not, which is the control.
 */

#include <stdio.h>

#include "mixing/memory/fork.h"
#include "mixing/memory/secmem.h"
#include "tests/process/kernel.h"
#include "tests/process/pool.h"
#include "tests/process/ways.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum {
    DRAWS = 5,
    DRBGS = 5, /* the ways that have a state to clone: public, private, primary and two of the test's own */
};

static int draw_in_child(void *unused)
{
    (void)unused;
    return ways_draw(DRAWS) ? 0 : 1;
}

/* How many draws of a pair of clones are the same. */
static size_t draws_in_common(const char *keys)
{
    OSSL_LIB_CTX *libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    CU_ASSERT_TRUE_FATAL(ways_open(libctx));
    CU_ASSERT_TRUE_FATAL(kernel_keep_on_fork());
    CU_ASSERT_EQUAL(child_forked(draw_in_child, NULL), 0);
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    CU_ASSERT_EQUAL(pool_size(), 2 * (size_t)DRAWS * ways_count());
    ways_close();
    OSSL_LIB_CTX_free(libctx);
    return pool_duplicates();
}

static void with_request_mixing_clones_part_at_once(void)
{
    CU_ASSERT_EQUAL(draws_in_common("request_mixing = yes\n"), 0);
}

static void without_it_they_do_not(void)
{
    CU_ASSERT_EQUAL(draws_in_common("request_mixing = no\n"), DRAWS * DRBGS);
}

static const struct unit_test tests[] = {
    {"with request mixing clones part at once", with_request_mixing_clones_part_at_once},
    {"without it they do not", without_it_they_do_not},
};

int main(void)
{
    if (!drng_secmem_open()) {
        return 1;
    }
    if (!drng_fork_kernel_wipes) {
        (void)printf("skipped: this kernel wipes nothing, so requests are always mixed\n");
        return UNIT_SKIPPED;
    }
    const int result = pool_open() ? unit_run("clones", tests, sizeof(tests) / sizeof(*tests)) : 1;
    pool_close();
    drng_secmem_close();
    return result;
}
