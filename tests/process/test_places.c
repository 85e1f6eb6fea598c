/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's generators are those of the library context that it draws under, also if a signal handler draws under
 * another one at any instruction, or is refused there.
 */

#include <string.h>

#include "provider/provctx.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/init.h"
#include "tests/process/kernel.h"
#include "tests/process/step.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { CONTEXTS = 3, OWN = 0, OTHERS = CONTEXTS - 1, LEN = 16 };

static struct drng_provctx *provctx[CONTEXTS];
static const struct drng_provctx *drawn_from; /* whose generator has to serve now */
static unsigned wrong;
static size_t served; /* of the handlers' draws */
static size_t refused;

enum drng_result __real_drng_generator_generate(struct drng_generator *g, uint8_t *out, size_t len, unsigned strength,
                                                const struct drng_extras *extras);

enum drng_result __wrap_drng_generator_generate(struct drng_generator *g, uint8_t *out, size_t len, unsigned strength,
                                                const struct drng_extras *extras)
{
    wrong += g->parent == NULL || g->parent->source_arg != &drawn_from->root;
    return __real_drng_generator_generate(g, out, len, strength, extras);
}

static bool draw(size_t context)
{
    unsigned char out[LEN];
    memset(out, 0xaa, sizeof(out));
    drawn_from = provctx[context];
    const bool drew = drng_random_bytes(provctx[context], OSSL_PROV_RANDOM_PUBLIC, out, sizeof(out), 256) == 1;
    wrong += drew == bytes_are(out, sizeof(out), 0);
    return drew;
}

static void draw_own(void)
{
    CU_ASSERT_TRUE(draw(OWN));
}

static void draw_others(const struct step *step)
{
    if (step->inside) {
        const struct drng_provctx *before = drawn_from;
        const bool drew = draw(OTHERS);
        drawn_from = before;
        served += drew;
        refused += !drew;
    }
}

static void load_all(void)
{
    const OSSL_DISPATCH *functions = NULL;
    fake_core_set("request_mixing", "no");
    for (size_t i = 0; i < CONTEXTS; i++) {
        void *loaded = NULL;
        CU_ASSERT_EQUAL_FATAL(init_function()(fake_handle, fake_core, &functions, &loaded), 1);
        provctx[i] = loaded;
        CU_ASSERT_TRUE(draw(i));
    }
    CU_ASSERT_TRUE_FATAL(step_open((const void *)(uintptr_t)drng_random_bytes));
}

UNIT_TEST("a handler under another context changes nothing")
{
    load_all();
    draw_own();
    step_run(draw_own, draw_others);
    draw_own();
    CU_ASSERT_TRUE(draw(OTHERS));
    step_run(draw_own, draw_others);
    CU_ASSERT_TRUE(draw(OTHERS));
    draw_own();
    CU_ASSERT_EQUAL(wrong, 0);
    /* Before its thread's call has begun, and in it. */
    CU_ASSERT_TRUE(served > 10);
    CU_ASSERT_TRUE(refused > 100);
}

int main(void)
{
    return kernel_is_instrumented()
               ? unit_skipped("not every instruction is the provider's under sanitizers and valgrind")
               : unit_run("places");
}
