/*
 * A signal handler forks at an instruction of a call; its child returns into that call, and there other handlers come,
 * which make such calls themselves. Locks, and libdrng.
 */

#define _GNU_SOURCE

#include <drng.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mixing/aes/aes.h"
#include "mixing/drbg/ctr_drbg.h"
#include "mixing/library/machine.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/secmem.h"
#include "tests/process/kernel.h"
#include "tests/process/step.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum {
    WATCHDOG = 10,
    FORKS = 64,
    STARTS = 3,
    DRAWS = 8,
    LEN = 32,
    AFTER_LOOK = 64,
    LONG = 3 * (int)DRNG_DRBG_MAX_REQUEST
};

/* ---- One fork, and handlers in its child ---- */

static struct {
    size_t fork_at; /* instructions of the call; 0: none */
    size_t first;   /* the instruction of the child's at which a handler comes first */
    size_t every;   /* and from then on, another one after so many */
    void (*handler)(void);
    bool in_child;
    size_t steps; /* of the call that is under way, or was the last */
    int status;   /* of the child */
    bool failed;
} nested;

static void visit(const struct step *step)
{
    if (!step->inside) {
        return;
    }
    nested.steps++;
    if (nested.in_child) {
        if (nested.steps >= nested.first && (nested.steps - nested.first) % nested.every == 0) {
            nested.handler();
        }
        return;
    }
    if (nested.steps == nested.fork_at) {
        const pid_t child = fork();
        if (child != 0) {
            nested.failed = child < 0 || waitpid(child, &nested.status, 0) != child;
            return;
        }
        (void)alarm(WATCHDOG);
        nested.in_child = true;
        nested.steps = 0;
    }
}

/* How many instructions the work has. */
static size_t count_steps(void (*work)(void))
{
    nested.fork_at = 0;
    nested.steps = 0;
    step_run(work, visit);
    return nested.steps;
}

/* In the child `verify` becomes the exit status. False: the work had fewer instructions this time, and did not fork. */
static bool play(void (*work)(void), int (*verify)(void))
{
    nested.steps = 0;
    nested.status = -1;
    nested.failed = false;
    step_run(work, visit);
    if (nested.in_child) {
        _exit(verify());
    }
    CU_ASSERT_FALSE_FATAL(nested.failed);
    if (nested.status == -1) {
        return false;
    }
    if (nested.status != 0) {
        (void)printf("fork at %zu, handlers from %zu on: status %#x ", nested.fork_at, nested.first,
                     (unsigned)nested.status);
    }
    CU_ASSERT_EQUAL_FATAL(nested.status, 0);
    return true;
}

/* ---- Locks ---- */

static struct drng_lock *first;
static struct drng_lock *second;
static bool refused; /* the call under the handlers */

static void lock_and_unlock(void)
{
    if (!drng_lock(first) || !drng_lock(second)) {
        refused = true;
    }
    drng_unlock(first);
    drng_unlock(second);
}

static void lock_and_unlock_in_handler(void)
{
    if (drng_lock(second)) {
        drng_unlock(second);
    }
    if (drng_lock_or_share(first)) {
        drng_unlock(first);
    }
}

/* Everything is free, and nothing is owed. */
static int verify_locks(void)
{
    int state = PTHREAD_CANCEL_DISABLE;
    if (refused || pthread_mutex_trylock(&first->mutex) != 0 || pthread_mutex_trylock(&second->mutex) != 0) {
        return 1;
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    return state == PTHREAD_CANCEL_ENABLE ? 0 : 2;
}

static void handlers_in_a_child_wait_for_no_lock_of_their_own_thread(void)
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    first = drng_secmem_alloc();
    second = drng_secmem_alloc();
    CU_ASSERT_TRUE_FATAL(first != NULL && second != NULL);
    lock_and_unlock();
    const size_t steps = count_steps(lock_and_unlock);
    CU_ASSERT_TRUE_FATAL(steps > 100);
    nested.handler = lock_and_unlock_in_handler;
    nested.every = 1;
    for (nested.fork_at = 1; nested.fork_at <= steps; nested.fork_at++) {
        /* A sample takes one of the starts, another one for each fork. */
        for (size_t i = unit_samples() ? nested.fork_at % STARTS : 0; i < STARTS; i += unit_samples() ? STARTS : 1) {
            nested.first = 1 + i * steps / STARTS + nested.fork_at % (steps / STARTS);
            CU_ASSERT_TRUE(play(lock_and_unlock, verify_locks));
        }
    }
    drng_secmem_free(second);
    drng_secmem_free(first);
    drng_secmem_close();
}

/* ---- libdrng ---- */

static drng *handle;
static uint8_t out[LONG];
static size_t len;
static int error;
static int reseed_error;
static uint8_t draws[DRAWS][LEN];
static size_t drawn;
static bool handler_failed;
static uint8_t of_zeros[LEN]; /* what a seed of zeros gives first */
static uint8_t *childs;       /* what the child has read, shared with it */

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

static void read_in_handler(void)
{
    if (drawn < DRAWS) {
        handler_failed = handler_failed || drng_read(handle, draws[drawn], LEN) != DRNG_SUCCESS;
        drawn++;
    }
}

static bool is_bad(const uint8_t draw[LEN])
{
    return memcmp(draw, of_zeros, LEN) == 0 || bytes_are(draw, LEN, 0);
}

static int verify_reads(void)
{
    bool bad = error != DRNG_SUCCESS || reseed_error != DRNG_SUCCESS || handler_failed || is_bad(out);
    for (size_t i = 0; i < drawn; i++) {
        bad = bad || is_bad(draws[i]) || memcmp(draws[i], out, LEN) == 0;
        for (size_t j = 0; j < i; j++) {
            bad = bad || memcmp(draws[i], draws[j], LEN) == 0;
        }
    }
    /* The next one finds everything as it should be. */
    uint8_t next[LEN];
    memcpy(childs, out, LEN);
    memcpy(childs + LEN, draws, sizeof(draws));
    bad = bad || drng_reseed(handle) != DRNG_SUCCESS || drng_read(handle, next, LEN) != DRNG_SUCCESS || is_bad(next);
    return bad ? 1 : 0;
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

static void handlers_in_a_child_do_not_share_the_generator(void)
{
    open_handle();
    childs = mmap(NULL, (1 + DRAWS) * LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(childs, MAP_FAILED);
    const size_t steps = count_steps(read_out);
    const size_t more = count_steps(read_after_reseed);
    CU_ASSERT_TRUE_FATAL(steps > 100 && more > steps);
    nested.handler = read_in_handler;
    unsigned forks = 0;
    for (unsigned i = 0; i < FORKS; i++) {
        const bool reseeds = i % 2 == 0;
        const size_t of = reseeds ? more : steps;
        nested.fork_at = 1 + i * (of - 1) / FORKS;
        nested.first = 1 + i % 5;
        nested.every = i % 4 < 2 ? 10 + i : more / DRAWS; /* soon after the fork, or all over the call */
        if (!play(reseeds ? read_after_reseed : read_out, verify_reads)) {
            continue; /* the instruction needed fewer tries */
        }
        forks++;
        CU_ASSERT_PTR_NULL(memmem(childs + LEN, (size_t)DRAWS * LEN, out, LEN));
        /* A read that has looked at the epoch for the last time has been served, in both. */
        CU_ASSERT_TRUE(memcmp(childs, out, LEN) != 0 || nested.fork_at + AFTER_LOOK > nested.steps);
        read_out();
        CU_ASSERT_PTR_NULL(memmem(childs, (1 + (size_t)DRAWS) * LEN, out, LEN));
    }
    CU_ASSERT_TRUE(forks > FORKS / 2);
    (void)munmap(childs, (1 + DRAWS) * LEN);
    drng_close(handle);
}

/* ---- A long read ---- */

static uint8_t before_fork[LEN]; /* the first bytes */

static void note_first_and_fork(const struct step *step)
{
    (void)step;
    if (!nested.in_child && nested.fork_at != 0 && !bytes_are(out + DRNG_DRBG_MAX_REQUEST, LEN, 0)) {
        memcpy(before_fork, out, LEN);
        nested.fork_at = 0;
        const pid_t child = fork();
        nested.in_child = child == 0;
        nested.failed = child < 0 || (child > 0 && waitpid(child, &nested.status, 0) != child);
        step_stop();
    }
}

static void a_child_shares_no_part_of_a_long_read(void)
{
    open_handle();
    memset(out, 0, sizeof(out));
    len = LONG;
    nested.fork_at = 1;
    step_run(read_out, note_first_and_fork);
    if (nested.in_child) {
        _exit(error == DRNG_SUCCESS && memcmp(out, before_fork, LEN) != 0 ? 0 : 1);
    }
    CU_ASSERT_EQUAL(nested.fork_at, 0);
    CU_ASSERT_FALSE(nested.failed);
    CU_ASSERT_EQUAL(nested.status, 0);
    CU_ASSERT_EQUAL(memcmp(out, before_fork, LEN), 0);
    drng_close(handle);
}

static const struct unit_test tests[] = {
    {"handlers in a child wait for no lock of their own thread",
     handlers_in_a_child_wait_for_no_lock_of_their_own_thread},
    {"handlers in a child do not share the generator", handlers_in_a_child_do_not_share_the_generator},
    {"a child shares no part of a long read", a_child_shares_no_part_of_a_long_read},
};

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
    return unit_run("nested", tests, sizeof(tests) / sizeof(*tests));
}
