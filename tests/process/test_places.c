/*
 * A thread's generators are those of the library context that it draws under, also if a signal handler draws under
 * another one at any instruction: the two contexts share the place where the thread remembers its generators.
 */

#include <stdio.h>

#include "provider/rand/drbg.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/init.h"
#include "tests/process/kernel.h"
#include "tests/process/step.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/unit.h"

/* The first and the last share a place: a thread remembers two. */
enum { CONTEXTS = 3, OWN = 0, OTHERS = CONTEXTS - 1, LEN = 16 };

static struct drng_provctx *provctx[CONTEXTS];
static const struct drng_provctx *drawn_from; /* whose generator has to serve now */
static unsigned wrong;
static size_t steps;

OSSL_FUNC_rand_generate_fn __real_drng_drbg_generate;
OSSL_FUNC_rand_generate_fn __wrap_drng_drbg_generate;

int __wrap_drng_drbg_generate(void *vdrbg, unsigned char *out, size_t out_len, unsigned strength,
                              int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    const struct drng_drbg *drbg = vdrbg;
    wrong += drbg->provctx != drawn_from;
    return __real_drng_drbg_generate(vdrbg, out, out_len, strength, prediction_resistance, additional, additional_len);
}

static void draw(size_t context)
{
    unsigned char out[LEN];
    drawn_from = provctx[context];
    CU_ASSERT_EQUAL(drng_random_bytes(provctx[context], OSSL_PROV_RANDOM_PUBLIC, out, sizeof(out), 256), 1);
}

static void draw_own(void)
{
    draw(OWN);
}

static void draw_others(const struct step *step)
{
    if (step->inside) {
        const struct drng_provctx *before = drawn_from;
        draw(OTHERS);
        drawn_from = before;
        steps++;
    }
}

static int thread_start(const OSSL_CORE_HANDLE *handle, OSSL_thread_stop_handler_fn stop, void *arg)
{
    (void)handle;
    (void)stop;
    (void)arg;
    return 1;
}

/* fake_core, where the end of a thread is reported to one instance alone. */
static const OSSL_DISPATCH *core_for_many(void)
{
    static OSSL_DISPATCH core[32];
    for (size_t i = 0; fake_core[i].function_id != 0; i++) {
        core[i] = fake_core[i];
        if (core[i].function_id == OSSL_FUNC_CORE_THREAD_START) {
            core[i].function = (void (*)(void))thread_start;
        }
    }
    return core;
}

static void load_all(void)
{
    const OSSL_DISPATCH *functions = NULL;
    fake_core_set("request_mixing", "no");
    for (size_t i = 0; i < CONTEXTS; i++) {
        void *loaded = NULL;
        CU_ASSERT_EQUAL_FATAL(init_function()(fake_handle, core_for_many(), &functions, &loaded), 1);
        provctx[i] = loaded;
        draw(i);
    }
    CU_ASSERT_TRUE_FATAL(step_open((const void *)(uintptr_t)drng_random_bytes));
}

/* With its own place remembered before, and with the other's there. */
static void a_handler_under_another_context_changes_nothing(void)
{
    load_all();
    draw(OWN);
    step_run(draw_own, draw_others);
    draw(OWN);
    draw(OTHERS);
    step_run(draw_own, draw_others);
    draw(OTHERS);
    draw(OWN);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(steps > 100);
}

static const struct unit_test tests[] = {
    {"a handler under another context changes nothing", a_handler_under_another_context_changes_nothing},
};

int main(void)
{
    if (kernel_is_instrumented()) {
        (void)printf("skipped: not every instruction is the provider's under sanitizers and valgrind\n");
        return UNIT_SKIPPED;
    }
    return unit_run("places", tests, sizeof(tests) / sizeof(*tests));
}
