/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clones of a virtual machine: two processes with every byte in common, and nothing to tell them so but, in some
 * machines, the clock device.
 *
 * A clone() with the protection of the pages taken off, of which the C library learns nothing, is such a pair. With
 * request mixing they part at the first request, and so they do if the device tells; with neither they do not, which is
 * the control.
 */

#include <pthread.h>

#include <openssl/rand.h>

#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "tests/process/device.h"
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

/* What happens to a copy before its first instruction; NULL: nothing. */
typedef void tell_copy(void);

static OSSL_LIB_CTX *libctx;

static void open_ways(const char *keys)
{
    libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    CU_ASSERT_TRUE_FATAL(ways_open(libctx));
    CU_ASSERT_TRUE_FATAL(kernel_keep_on_fork());
}

/* How many draws of the original and of its copies are the same. */
static size_t close_and_compare(unsigned copies)
{
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    CU_ASSERT_EQUAL(pool_size(), (size_t)(copies + 1) * DRAWS * ways_count());
    ways_close();
    OSSL_LIB_CTX_free(libctx);
    return pool_duplicates();
}

static int draw_in_copy(void *vtell)
{
    tell_copy **tell = vtell;
    if (*tell != NULL) {
        (*tell)();
    }
    return ways_draw(DRAWS) ? 0 : 1;
}

static size_t draws_in_common(const char *keys, tell_copy *tell)
{
    open_ways(keys);
    CU_ASSERT_EQUAL(child_cloned(draw_in_copy, (void *)&tell), 0);
    CU_ASSERT_EQUAL(child_cloned(draw_in_copy, (void *)&tell), 0);
    return close_and_compare(2);
}

static int load_in_child(void *unused)
{
    unsigned char draw[16];
    OSSL_LIB_CTX *own = evp_context("request_mixing = no\n");
    return own != NULL && RAND_bytes_ex(own, draw, sizeof(draw), 0) == 1 && evp_counter(own, "requests") > 0 ? 0 : 1;
}

static int status_of_child;

static void *fork_in_thread(void *unused)
{
    status_of_child = child_forked(load_in_child, NULL);
    return unused;
}

static void fork_beside(void)
{
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fork_in_thread, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
}

/* The first test: the first load of all. */
UNIT_TEST("a child loads what another thread was loading")
{
    status_of_child = -1;
    device_looked_for = fork_beside;
    open_ways("request_mixing = no\n");
    CU_ASSERT_EQUAL(status_of_child, 0);
    CU_ASSERT_EQUAL(close_and_compare(0), 0);
}

UNIT_TEST("with request mixing clones part at once")
{
    CU_ASSERT_EQUAL(draws_in_common("request_mixing = yes\n", NULL), 0);
}

UNIT_TEST("without it they do not")
{
    CU_ASSERT_EQUAL(draws_in_common("request_mixing = no\n", NULL), 2 * DRAWS * DRBGS);
}

/* Every copy gets the same marker. */
UNIT_TEST("if the device tells they part at once")
{
    static const char *const mixing[] = {"", "request_mixing = no\n", "request_mixing = yes\n"};
    CU_ASSERT_TRUE_FATAL(device_plug_in());
    for (size_t i = 0; i < sizeof(mixing) / sizeof(*mixing); i++) {
        CU_ASSERT_EQUAL(draws_in_common(mixing[i], device_tell), 0);
    }
    device_unplug();
}

/* The device is there, and says nothing: requests are not mixed, and the marker is what parts them above. */
UNIT_TEST("if it does not tell they do not")
{
    CU_ASSERT_TRUE_FATAL(device_plug_in());
    CU_ASSERT_EQUAL(draws_in_common("", NULL), 2 * DRAWS * DRBGS);
    device_unplug();
}

static int draw_in_copy_of_copy(void *unused)
{
    tell_copy *tell = device_tell;
    device_tell();
    const int deeper = child_cloned(draw_in_copy, (void *)&tell);
    const int beside = child_cloned(draw_in_copy, (void *)&tell);
    return deeper == 0 && beside == 0 && ways_draw(DRAWS) ? 0 : 1;
}

UNIT_TEST("copies of a copy part, too")
{
    CU_ASSERT_TRUE_FATAL(device_plug_in());
    open_ways("request_mixing = no\n");
    CU_ASSERT_EQUAL(child_cloned(draw_in_copy_of_copy, NULL), 0);
    CU_ASSERT_EQUAL(close_and_compare(3), 0);
    device_unplug();
}

static int draw_in_child(void *unused)
{
    return ways_draw(DRAWS) && evp_counter(libctx, "fork-reseeds") > 0 ? 0 : 1;
}

/* As after a checkpoint by a CRIU that forgets what it was told of the pages. */
UNIT_TEST("a fork is noticed where the kernel has forgotten to wipe")
{
    open_ways("request_mixing = no\n");
    CU_ASSERT_EQUAL(child_forked(draw_in_child, NULL), 0);
    CU_ASSERT_EQUAL(child_forked(draw_in_child, NULL), 0);
    CU_ASSERT_EQUAL(close_and_compare(2), 0);
}

static unsigned looked_for;

static void look_for_it(void)
{
    looked_for++;
}

/* A thread may end then, and looks at the device; and who loads drng again may not be allowed to open it any more. */
UNIT_TEST("the device stays when the last instance goes")
{
    size_t size = 0;
    CU_ASSERT_TRUE_FATAL(device_plug_in());
    for (unsigned time = 0; time < 2; time++) {
        device_looked_for = look_for_it;
        open_ways("");
        CU_ASSERT_EQUAL(looked_for, 1);
        CU_ASSERT_EQUAL(close_and_compare(0), 0);
        CU_ASSERT_TRUE(drng_clone_is_watched());
        CU_ASSERT_PTR_EQUAL(atomic_load(&drng_clone_watch.device), device_page(&size));
    }
    device_looked_for = NULL;
    device_unplug();
}

UNIT_TEST("what the copies do is counted")
{
    unsigned char draw[16];
    CU_ASSERT_TRUE_FATAL(device_plug_in());
    open_ways("request_mixing = no\n");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "clone-protection"), "counter");
    CU_ASSERT_EQUAL(evp_counter(libctx, "clone-reseeds"), 0);
    device_tell();
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, draw, sizeof(draw), 0), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "clone-reseeds"), 2); /* public, and the primary that seeds it */
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, draw, sizeof(draw), 0), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "clone-reseeds"), 2);
    CU_ASSERT_EQUAL(evp_counter(libctx, "fork-reseeds"), 0);
    CU_ASSERT_EQUAL(close_and_compare(0), 0);
    device_unplug();
}

int main(void)
{
    if (!drng_secmem_open()) {
        return 1;
    }
    if (!drng_fork_kernel_wipes) {
        return unit_skipped("this kernel wipes nothing, so requests are always mixed");
    }
    const int result = pool_open() ? unit_run("clones") : 1;
    pool_close();
    drng_secmem_close();
    return result;
}
