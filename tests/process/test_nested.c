/*
 * A signal handler forks at an instruction of a call; its child returns into that call, and there other handlers come,
 * which make such calls themselves. The guard alone, and libdrng.
 */

#define _GNU_SOURCE

#include <drng.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library/machine.h"
#include "mixing/aes/aes.h"
#include "mixing/drbg/ctr_drbg.h"
#include "mixing/state/guard.h"
#include "tests/process/kernel.h"
#include "tests/process/pool.h"
#include "tests/process/step.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum {
    WATCHDOG = 60,  /* seconds */
    MOST_PLANS = 2, /* children that are forked after one instruction */
    SPARSE = 4,     /* with a parent: after one instruction in so many */
    FORKS = 32,     /* of a read */
    DRAWS = 8,      /* of the handlers in a child */
    LEN = POOL_DRAW,
    AFTER_LOOK = 64, /* instructions of a read from its last look at the epoch on, at most */
    LONG = 3 * (int)DRNG_DRBG_MAX_REQUEST
};

/* ---- Forks, and handlers in the children ---- */

struct plan {
    size_t first; /* the instruction of the child's after which a handler comes first */
    size_t every; /* and from then on, another one after so many */
};

/* Which children are forked after this instruction of the work, counted from 1; how many. */
typedef unsigned planner(size_t step, struct plan plans[MOST_PLANS]);

static struct {
    planner *plan;
    void (*handler)(void);
    int (*verify)(void); /* its result is the child's exit status */
    size_t steps;        /* instructions of the work; in a child, since it was forked */
    unsigned forks;
    bool in_child;
    bool enough; /* in a child: no more handlers come */
    struct plan planned;
    size_t forked_at;
} nested;

static void fork_with(const struct plan *plan)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(WATCHDOG);
        nested.in_child = true;
        nested.forked_at = nested.steps;
        nested.steps = 0;
        nested.planned = *plan;
        return;
    }
    nested.forks++;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        (void)printf("fork after %zu, handlers after %zu: status %#x ", nested.steps, plan->first, (unsigned)status);
        CU_FAIL("a child has not ended well");
        step_stop();
    }
}

static void visit(const struct step *step)
{
    struct plan plans[MOST_PLANS];
    if (!step->inside) {
        return;
    }
    nested.steps++;
    if (nested.in_child) {
        const size_t first = nested.planned.first;
        if (nested.steps >= first && (nested.steps - first) % nested.planned.every == 0) {
            nested.handler();
        }
        if (nested.enough) {
            step_stop();
        }
        return;
    }
    const unsigned count = nested.plan(nested.steps, plans);
    for (unsigned i = 0; i < count && !nested.in_child; i++) {
        fork_with(&plans[i]);
    }
}

/* Does the work once, with all these forks. */
static void play(void (*work)(void), planner *plan)
{
    nested.plan = plan;
    nested.steps = 0;
    nested.forks = 0;
    step_run(work, visit);
    if (nested.in_child) {
        _exit(nested.verify());
    }
}

static unsigned no_plan(size_t step, struct plan plans[MOST_PLANS])
{
    (void)step;
    (void)plans;
    return 0;
}

/* How many instructions the work has. */
static size_t count_steps(void (*work)(void))
{
    play(work, no_plan);
    return nested.steps;
}

/* ---- A guarded call ---- */

/* A slot's first bytes behind its head: who has written there last. */
struct stamped {
    struct drng_guarded guarded;
    uint64_t generation; /* in which the writer's attempt began; 0: nobody has written */
    uint64_t writer;
};

static struct drng_place places[2]; /* a generator and its parent */
static bool with_parent;
static uint64_t writers;
static bool wrong;
static bool call_done; /* the call under the handlers */

static struct stamped *take(const struct drng_guard *guard, unsigned i, uint64_t writer)
{
    struct stamped *slot = (struct stamped *)(void *)drng_guard_take(guard, &places[i], true);
    if (slot != NULL) {
        /* Of this process: a call of the parent's does not write to the slots of handlers in the child. */
        wrong = wrong || (slot->generation != 0 && slot->generation != guard->generation);
        slot->generation = guard->generation;
        slot->writer = writer;
    }
    return slot;
}

static void give_back(const struct drng_guard *guard, unsigned i, struct stamped *slot, uint64_t writer)
{
    if (slot != NULL) {
        /* A handler has no part in a slot while a call below it uses that. In a child it has been wiped. */
        wrong = wrong || (slot->writer != 0 && slot->writer != writer);
        drng_guard_give_back(guard, &places[i], &slot->guarded, true);
    }
}

/* False: refused. */
static bool make_call(void)
{
    struct drng_guard guard;
    const uint64_t writer = ++writers;
    if (!drng_guard_enter(&guard)) {
        return false;
    }
    bool taken = false;
    do {
        struct stamped *own = take(&guard, 0, writer);
        struct stamped *parents = with_parent ? take(&guard, 1, writer) : NULL;
        taken = own != NULL && (parents != NULL || !with_parent);
        give_back(&guard, 1, parents, writer);
        give_back(&guard, 0, own, writer);
    } while (!drng_guard_leave(&guard));
    return taken;
}

static void call(void)
{
    call_done = make_call();
}

static unsigned handlers_served;
static unsigned handlers_refused;

static void call_in_handler(void)
{
    const bool served = make_call();
    handlers_served += served;
    handlers_refused += !served;
}

/* Everything is free, and no call is noted. Handlers are refused where the call has begun again, not right after a
 * fork. */
static int verify_call(void)
{
    if (wrong || !call_done || drng_inside.generation != 0) {
        return 1;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (pthread_mutex_trylock(&places[i].slot->lock.mutex) != 0) {
            return 2;
        }
        (void)pthread_mutex_unlock(&places[i].slot->lock.mutex);
    }
    const bool served = handlers_served > 0 || nested.planned.first > 1 || handlers_refused == 0;
    return served && make_call() && !wrong ? 0 : 3;
}

/* Two children: handlers come at once, and from some later instruction on. A sample has one of them. */
static unsigned after_every_instruction(size_t step, struct plan plans[MOST_PLANS])
{
    enum { LATER = 150 };
    plans[0] = (struct plan){.first = 1, .every = 1};
    plans[1] = (struct plan){.first = 2 + step * 7 % LATER, .every = 1};
    if (unit_samples()) {
        plans[0] = plans[step % MOST_PLANS];
        return 1;
    }
    return MOST_PLANS;
}

static unsigned after_some_instructions(size_t step, struct plan plans[MOST_PLANS])
{
    return step % SPARSE == 0 && after_every_instruction(step / SPARSE, plans) > 0 ? 1 : 0;
}

UNIT_TEST("handlers in a child have slots of their own")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(drng_place_make(&places[0], DRNG_SLOT_SIZE) && drng_place_make(&places[1], DRNG_SLOT_SIZE));
    nested.handler = call_in_handler;
    nested.verify = verify_call;
    with_parent = false;
    call();
    CU_ASSERT_TRUE(count_steps(call) > 100);
    play(call, after_every_instruction);
    CU_ASSERT_TRUE(call_done && nested.forks > 100);
    with_parent = true;
    play(call, after_some_instructions);
    CU_ASSERT_TRUE(call_done && !wrong && nested.forks > 50);
    drng_place_free(&places[0]);
    drng_place_free(&places[1]);
    drng_secmem_close();
}

/* ---- libdrng ---- */

static drng *handle;
static uint8_t out[LONG];
static size_t len;
static int error;
static int reseed_error;
static unsigned handlers; /* that have come */
static unsigned drawn;    /* by them */
static bool failed;
static uint8_t of_zeros[LEN]; /* what a seed of zeros gives first */

/* Of the children, shared with them: what the interrupted read gave. */
static struct {
    size_t forked_at;
    uint8_t out[LEN];
} * reads;

static void compute_of_zeros(void)
{
    static const uint8_t zeros[48];
    static const uint8_t personalization[] = "libdrng";
    const struct drng_bytes nothing = {NULL, 0};
    struct drng_ctr_drbg drbg;
    CU_ASSERT_EQUAL_FATAL(drng_ctr_drbg_instantiate(&drbg, drng_library.aes, DRNG_AES_MAX_KEY, true,
                                                    (struct drng_bytes){zeros, sizeof(zeros)}, nothing,
                                                    (struct drng_bytes){personalization, sizeof(personalization)}, 0),
                          DRNG_OK);
    CU_ASSERT_EQUAL_FATAL(drng_ctr_drbg_generate(&drbg, of_zeros, LEN, nothing, NULL), DRNG_OK);
}

static void read_out(void)
{
    error = drng_read(handle, out, len);
}

static bool is_bad(const uint8_t draw[LEN])
{
    return memcmp(draw, of_zeros, LEN) == 0 || bytes_are(draw, LEN, 0);
}

/* Refused where the call below has begun again in this process: with zeros, and not the first. */
static void read_in_handler(void)
{
    uint8_t draw[LEN];
    memset(draw, 0xaa, sizeof(draw));
    const int result = drng_read(handle, draw, LEN);
    if (result == DRNG_SUCCESS) {
        failed = failed || is_bad(draw) || !pool_add(draw);
        drawn++;
    } else {
        failed = failed || result != DRNG_E_BUSY || !bytes_are(draw, LEN, 0) || drawn == 0;
    }
    nested.enough = ++handlers == DRAWS;
}

static int verify_reads(void)
{
    uint8_t next[LEN];
    failed = failed || error != DRNG_SUCCESS || reseed_error != DRNG_SUCCESS || is_bad(out);
    reads[nested.forks].forked_at = nested.forked_at;
    memcpy(reads[nested.forks].out, out, LEN);
    /* The next one finds everything as it should be. */
    failed = failed || drng_reseed(handle) != DRNG_SUCCESS || drng_read(handle, next, LEN) != DRNG_SUCCESS;
    return failed || is_bad(next) || !pool_add(next) ? 1 : 0;
}

static void open_handle(void)
{
    CU_ASSERT_EQUAL_FATAL(drng_open(&handle, DRNG_ANY), DRNG_SUCCESS);
    /* As on bare metal: no word of a request's own hides what the seed is. */
    drng_library.evidence.cpu.hypervisor = false;
    compute_of_zeros();
    len = LEN;
    read_out();
}

/* About what a child does, which seeds anew. */
static void read_after_reseed(void)
{
    reseed_error = drng_reseed(handle);
    read_out();
}

static size_t steps_of_work;

/* All over the work; handlers come soon after the fork, or all over what the child does. */
static unsigned now_and_then(size_t step, struct plan plans[MOST_PLANS])
{
    const size_t i = nested.forks;
    if (i == FORKS || step < 1 + i * (steps_of_work - 1) / FORKS) {
        return 0;
    }
    plans[0] = (struct plan){.first = 1 + i % 5, .every = i % 2 == 0 ? 10 + i : steps_of_work / DRAWS};
    return 1;
}

/* No 32 bytes twice, but for a child that was forked after the read's last look: it has been served, in both. */
static void no_two_reads_are_the_same(void)
{
    unsigned forks = nested.forks;
    for (unsigned i = 0; i < forks; i++) {
        if (memcmp(reads[i].out, out, LEN) == 0) {
            CU_ASSERT_TRUE(reads[i].forked_at + AFTER_LOOK > nested.steps);
        } else {
            CU_ASSERT_TRUE(pool_add(reads[i].out));
        }
    }
    CU_ASSERT_TRUE(pool_add(out));
    read_out();
    CU_ASSERT_TRUE(pool_add(out));
    CU_ASSERT_TRUE(pool_size() > 3 * forks);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

UNIT_TEST("handlers in a child do not share the generator")
{
    static void (*const works[])(void) = {read_out, read_after_reseed};
    open_handle();
    reads = mmap(NULL, (FORKS + 1) * sizeof(*reads), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_TRUE_FATAL(pool_open() && reads != MAP_FAILED);
    nested.handler = read_in_handler;
    nested.verify = verify_reads;
    for (unsigned i = 0; i < 2; i++) {
        steps_of_work = count_steps(works[i]);
        CU_ASSERT_TRUE(steps_of_work > 100);
        play(works[i], now_and_then);
        CU_ASSERT_TRUE(nested.forks > FORKS / 2); /* the instructions may have needed fewer tries */
        CU_ASSERT_TRUE(error == DRNG_SUCCESS && reseed_error == DRNG_SUCCESS);
        no_two_reads_are_the_same();
    }
    (void)munmap(reads, (FORKS + 1) * sizeof(*reads));
    pool_close();
    drng_close(handle);
}

/* ---- A long read ---- */

static uint8_t before_fork[LEN]; /* the first bytes */
static int status = -1;

static void note_first_and_fork(const struct step *step)
{
    (void)step;
    if (nested.forks == 0 && !bytes_are(out + DRNG_DRBG_MAX_REQUEST, LEN, 0)) {
        memcpy(before_fork, out, LEN);
        nested.forks++;
        const pid_t child = fork();
        nested.in_child = child == 0;
        CU_ASSERT_TRUE(child == 0 || (child > 0 && waitpid(child, &status, 0) == child));
        step_stop();
    }
}

UNIT_TEST("a child shares no part of a long read")
{
    open_handle();
    memset(out, 0, sizeof(out));
    len = LONG;
    nested.forks = 0;
    step_run(read_out, note_first_and_fork);
    if (nested.in_child) {
        _exit(error == DRNG_SUCCESS && memcmp(out, before_fork, LEN) != 0 ? 0 : 1);
    }
    CU_ASSERT_EQUAL(nested.forks, 1);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(memcmp(out, before_fork, LEN), 0);
    drng_close(handle);
}

int main(void)
{
    if (kernel_is_instrumented()) {
        (void)printf("skipped: not every instruction is drng's under sanitizers and valgrind\n");
        return UNIT_SKIPPED;
    }
    if (!step_open((const void *)(uintptr_t)drng_read)) {
        (void)printf("skipped: no single steps here\n");
        return UNIT_SKIPPED;
    }
    return unit_run("nested");
}
