/*
 * A signal handler forks in the middle of a read; in the child it draws, and forks once more. The grandchild returns
 * into the read, which goes on with the parent's state in its registers. Whatever it makes of that must be gone from
 * the grandchild's memory when it ends: it is the parent's next Key and V.
 *
 * After every instruction of the read and of a reseed, by single steps.
 */

#define _GNU_SOURCE

#include <drng.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library/machine.h"
#include "mixing/drbg/generator.h"
#include "tests/process/kernel.h"
#include "tests/process/step.h"
#include "tests/unit/unit.h"

enum {
    WATCHDOG = 60, /* seconds */
    LEN = 32,
    SLOTS = 64 * DRNG_SLOT_SIZE, /* bytes of the first chunk */
    MOST = 1024,                 /* grandchildren */
    KEY_AND_V = DRNG_AES_MAX_KEY + DRNG_AES_BLOCK,
};

static drng *handle;
static uint8_t out[LEN];
static int error;
static size_t steps;
static size_t every; /* a fork after one instruction in so many */
static bool is_grandchild;

/* Of the grandchildren, shared with them. */
static struct {
    size_t after; /* this instruction */
    bool served, refused;
    uint8_t slots[SLOTS];
} * left;
static size_t count;

/* A handle begins with its generator. */
static uint8_t *slot_of_handle(void)
{
    return (uint8_t *)((struct drng_generator *)(void *)handle)->place.slot;
}

/* The slots of the first chunk: the handle's is one of the first. */
static const uint8_t *slots(void)
{
    return slot_of_handle() - (uintptr_t)slot_of_handle() % (uintptr_t)drng_page_size();
}

static void fork_twice(const struct step *step)
{
    int status = -1;
    if (!step->inside || steps++ % every != 0 || count == MOST) {
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        uint8_t drawn[LEN];
        (void)alarm(WATCHDOG);
        left[count].refused = drng_read(handle, drawn, LEN) == DRNG_E_BUSY && drawn[0] == 0;
        const pid_t grandchild = fork();
        if (grandchild != 0) {
            _exit(grandchild > 0 && waitpid(grandchild, &status, 0) == grandchild && status == 0 ? 0 : 1);
        }
        (void)alarm(WATCHDOG);
        is_grandchild = true;
        step_stop();
        return;
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        (void)printf("after instruction %zu: status %#x ", steps, (unsigned)status);
        CU_FAIL("a grandchild has not ended well");
        step_stop();
    }
    left[count++].after = steps;
}

static void read_out(void)
{
    error = drng_read(handle, out, LEN);
}

static void reseed(void)
{
    error = drng_reseed(handle);
}

/* Returns how many instructions the work has. */
static size_t play(void (*work)(void), size_t one_in)
{
    steps = count = 0;
    every = one_in;
    step_run(work, fork_twice);
    if (is_grandchild) {
        left[count].served = error == DRNG_SUCCESS;
        memcpy(left[count].slots, slots(), SLOTS);
        _exit(0);
    }
    return steps;
}

static void no_key_stays(void (*work)(void))
{
    size_t kept = 0;
    size_t served = 0;
    size_t refused = 0;
    const size_t all = play(work, SIZE_MAX);
    (void)play(work, 1 + all / MOST);
    CU_ASSERT_EQUAL(error, DRNG_SUCCESS);
    const uint8_t *key_and_v = slot_of_handle() + (sizeof(struct drng_guarded) + 15) / 16 * 16;
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t at = 0; at < KEY_AND_V; at += DRNG_AES_BLOCK) {
            found = found || memmem(left[i].slots, SLOTS, key_and_v + at, DRNG_AES_BLOCK) != NULL;
        }
        if (found && kept++ == 0) {
            (void)printf("forked after instruction %zu of %zu: the parent's next Key is there ", left[i].after, all);
        }
        served += left[i].served;
        refused += left[i].refused;
    }
    (void)printf("(%zu forks, of which %zu keep the parent's Key) ", count, kept);
    CU_ASSERT_TRUE(count > 100);
    CU_ASSERT_EQUAL(kept, 0);
    CU_ASSERT_EQUAL(served, count);
}

static void no_key_of_the_parent_stays_after_a_read(void)
{
    no_key_stays(read_out);
}

static void no_key_of_the_parent_stays_after_a_reseed(void)
{
    no_key_stays(reseed);
}

static const struct unit_test tests[] = {
    {"no key of the parent stays after a read", no_key_of_the_parent_stays_after_a_read},
    {"no key of the parent stays after a reseed", no_key_of_the_parent_stays_after_a_reseed},
};

int main(void)
{
    if (kernel_is_instrumented() || !step_open((const void *)(uintptr_t)drng_read)) {
        (void)printf("skipped: no single steps here, or not every instruction is drng's\n");
        return UNIT_SKIPPED;
    }
    left = mmap(NULL, MOST * sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    /* As on bare metal: with a fresh word in each request the grandchild's Key would be another. */
    drng_library.evidence.cpu.hypervisor = false;
    if (left == MAP_FAILED || drng_open(&handle, DRNG_ANY) != DRNG_SUCCESS) {
        return 1;
    }
    read_out();
    const int result = unit_run("two forks", tests, sizeof(tests) / sizeof(*tests));
    drng_close(handle);
    return result;
}
