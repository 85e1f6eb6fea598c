/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch of a generator, looked at after every instruction of a request: no byte is ever both there and with the
 * caller, and what counts as waiting has not been erased. So whatever stops a request for good, a longjmp() or a crash,
 * no byte goes out twice, and none that has gone out is left.
 *
 * And a fork after every instruction of a request: in the child, which goes on in it, signal handlers draw at once and
 * later. Each is refused, or gets bytes of its own where the request has not begun or is over.
 */

#define _GNU_SOURCE

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mixing/machine/wipe.h"
#include "provider/provctx.h"
#include "provider/rand/drbg.h"
#include "provider/rand/instruction_rand.h"
#include "tests/process/init.h"
#include "tests/process/inside.h"
#include "tests/process/kernel.h"
#include "tests/process/pool.h"
#include "tests/process/step.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/unit.h"

enum { BLOCK = DRNG_AES_BLOCK, LONGEST = 64 };

static const struct drng_bytes nothing = {NULL, 0};

static struct drng_provctx *provctx;
static struct drng_generator generator;
static unsigned char out[LONGEST];
static size_t out_len;
static bool done;

static size_t looks;
static size_t in_both;
static size_t erased_and_waiting;

static void work(void)
{
    done = drng_generator_generate(&generator, out, out_len, 0, false, nothing) == DRNG_OK;
}

static void open_generator(void)
{
    generator = (struct drng_generator){.source = &drng_root_source, .source_arg = provctx};
    CU_ASSERT_TRUE_FATAL(drng_drbg_prepare(provctx, &generator, true));
    CU_ASSERT_PTR_NOT_NULL_FATAL(inside_batch(&generator));
    CU_ASSERT_EQUAL_FATAL(drng_generator_instantiate(&generator, 0, false, nothing), DRNG_OK);
}

/* Whole blocks only: a few bytes may be the same by chance. */
static void look(const struct step *step)
{
    const size_t waiting = inside_batched(&generator);
    const uint8_t *batch = inside_batch(&generator);
    if (!step->inside) {
        return;
    }
    looks++;
    for (size_t i = 0; i + BLOCK <= out_len; i += BLOCK) {
        in_both += !drng_is_wiped(out + i, BLOCK) && memmem(batch, inside_batch_len, out + i, BLOCK) != NULL;
    }
    erased_and_waiting += waiting >= BLOCK && drng_is_wiped(batch + inside_batch_len - waiting, BLOCK);
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
UNIT_TEST("no byte is in two places")
{
    static const size_t lengths[] = {16, 64, 31, 48, 17};
    open_generator();
    size_t drawn = 0;
    for (size_t i = 0; drawn <= 2 * inside_batch_len; i++) {
        const size_t len = lengths[i % (sizeof(lengths) / sizeof(*lengths))];
        step_through(len);
        drawn += len;
    }
    CU_ASSERT_TRUE(looks > 1000);
    CU_ASSERT_EQUAL(in_both, 0);
    CU_ASSERT_EQUAL(erased_and_waiting, 0);
    drng_drbg_discard(&generator);
}

/* ---- Signal handlers in a child ---- */

enum { LATER = 7, HANDLERS = 96, FAILED = 1 }; /* a handler in so many instructions of the child, and so many of them */

static size_t forks;
static size_t failures; /* in the parent: children that have not ended well; in a child: draws that failed */
static size_t forked_at;
static bool in_child;
static unsigned handlers; /* that came in the child */

static void draw(void)
{
    unsigned char bytes[POOL_DRAW] = {0};
    const bool served = drng_generator_generate(&generator, bytes, sizeof(bytes), 0, false, nothing) == DRNG_OK;
    failures += !served || drng_is_wiped(bytes, sizeof(bytes)) || !pool_add(bytes);
}

/* Refused as long as its thread is in the request. */
static void draw_or_be_refused(void)
{
    unsigned char bytes[POOL_DRAW];
    memset(bytes, 0xaa, sizeof(bytes));
    const enum drng_result result = drng_generator_generate(&generator, bytes, sizeof(bytes), 0, false, nothing);
    const bool wiped = drng_is_wiped(bytes, sizeof(bytes));
    failures += result == DRNG_OK ? wiped || !pool_add(bytes) : result != DRNG_BUSY || !wiped;
}

static void fork_here(size_t index)
{
    const pid_t child = fork();
    if (child == 0) {
        in_child = true;
        forked_at = index;
        failures = 0;
        draw_or_be_refused();
        return;
    }
    int status = -1;
    failures += child < 0 || waitpid(child, &status, 0) != child || status != 0;
    forks++;
}

static void fork_or_draw(const struct step *step)
{
    if (!step->inside) {
        return;
    }
    if (!in_child) {
        fork_here(step->index);
    } else if ((step->index - forked_at) % LATER == 0) {
        draw_or_be_refused();
        if (++handlers == HANDLERS) {
            step_stop(); /* the request takes a seed by now, which is thousands of instructions */
        }
    }
}

/* In a child that was forked after the request's last look, the output is its parent's, and has been served. */
static void finish_child(void)
{
    draw();
    _exit(done && failures == 0 ? 0 : FAILED);
}

UNIT_TEST("handlers in children get no bytes of another's")
{
    open_generator();
    out_len = POOL_DRAW;
    work();
    step_run(work, fork_or_draw);
    if (in_child) {
        finish_child();
    }
    CU_ASSERT_TRUE(done && pool_add(out));
    draw();
    CU_ASSERT_TRUE(forks > 50);
    CU_ASSERT_EQUAL(failures, 0);
    CU_ASSERT_TRUE(pool_size() > forks);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    drng_drbg_discard(&generator);
}

int main(void)
{
    if (kernel_is_instrumented()) {
        return unit_skipped("not every instruction is the provider's under sanitizers and valgrind");
    }
    fake_core_set_batch();
    provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL || !pool_open() || !step_open((const void *)(uintptr_t)init_function())) {
        return 1;
    }
    const int result = unit_run("batch");
    pool_close();
    drng_provctx_free(provctx);
    return result;
}
