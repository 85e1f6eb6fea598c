/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal handler forks in the middle of a read; in the child it draws, and forks once more. The grandchild returns
 * into the read, which goes on with the parent's state in its registers.
 *
 * The draw in the handler is refused. The read gives the grandchild bytes of its own. Whatever it has made of its
 * parent's state, the parent's next Key and V, is gone from the grandchild's memory when it ends.
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

#include "library/open.h"
#include "mixing/drbg/generator.h"
#include "tests/process/kernel.h"
#include "tests/process/step.h"
#include "tests/unit/bytes.h"
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

/* Of the children and grandchildren, shared with them. */
static struct {
    size_t after; /* this instruction */
    bool refused; /* the draw in the handler */
    bool served;  /* the work of the grandchild */
    uint8_t out[LEN];
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
        memset(drawn, 0xaa, LEN);
        left[count].refused = drng_read(handle, drawn, LEN) == DRNG_E_BUSY && bytes_are(drawn, LEN, 0);
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
        memcpy(left[count].out, out, LEN);
        memcpy(left[count].slots, slots(), SLOTS);
        _exit(0);
    }
    return steps;
}

/* Whether one of the parent's Key and V, as they are after its work, is among the slots of this grandchild. */
static bool keeps_a_key(size_t i)
{
    const uint8_t *key_and_v = slot_of_handle() + (sizeof(struct drng_guarded) + 15) / 16 * 16;
    bool found = false;
    for (size_t at = 0; at < KEY_AND_V; at += DRNG_AES_BLOCK) {
        found = found || memmem(left[i].slots, SLOTS, key_and_v + at, DRNG_AES_BLOCK) != NULL;
    }
    return found;
}

static void play_all(void (*work)(void))
{
    size_t kept = 0;
    size_t served = 0;
    size_t refused = 0;
    size_t turns = 0; /* from refused to not, or back */
    const size_t all = play(work, SIZE_MAX);
    (void)play(work, 1 + all / MOST);
    CU_ASSERT_EQUAL(error, DRNG_SUCCESS);
    for (size_t i = 0; i < count; i++) {
        if (keeps_a_key(i) && kept++ == 0) {
            (void)printf("forked after instruction %zu of %zu: the parent's next Key is there ", left[i].after, all);
        }
        served += left[i].served;
        refused += left[i].refused;
        turns += i > 0 && left[i].refused != left[i - 1].refused;
    }
    (void)printf("(%zu forks; %zu draws in the handler were refused; %zu keep the Key) ", count, refused, kept);
    CU_ASSERT_TRUE(count > 100);
    CU_ASSERT_EQUAL(kept, 0);
    CU_ASSERT_EQUAL(served, count);
    /* All but those that came before the call was noted, or after. */
    CU_ASSERT_TRUE(refused > count / 4 * 3 && turns <= 2);
}

UNIT_TEST("a read")
{
    size_t same = 0;
    play_all(read_out);
    /* Those that were forked after the read's last look have been served together with the parent. */
    for (size_t i = count; i > 0 && memcmp(left[i - 1].out, out, LEN) == 0; i--) {
        same++;
    }
    CU_ASSERT_TRUE(same < count / 4);
    for (size_t i = 0; i < count - same; i++) {
        CU_ASSERT_NOT_EQUAL(memcmp(left[i].out, out, LEN), 0);
    }
}

UNIT_TEST("a reseed")
{
    play_all(reseed);
}

/* ---- A long read ---- */

static uint8_t long_out[3 * DRNG_DRBG_MAX_REQUEST];
static uint8_t before_fork[LEN]; /* its first bytes */
static bool has_forked;
static int status = -1;

static void read_long(void)
{
    error = drng_read(handle, long_out, sizeof(long_out));
}

static void note_first_and_fork(const struct step *step)
{
    if (!has_forked && !bytes_are(long_out + DRNG_DRBG_MAX_REQUEST, LEN, 0)) {
        memcpy(before_fork, long_out, LEN);
        has_forked = true;
        const pid_t child = fork();
        is_grandchild = child == 0;
        CU_ASSERT_TRUE(child == 0 || (child > 0 && waitpid(child, &status, 0) == child));
        step_stop();
    }
}

UNIT_TEST("a child shares no part of a long read")
{
    step_run(read_long, note_first_and_fork);
    if (is_grandchild) {
        _exit(error == DRNG_SUCCESS && memcmp(long_out, before_fork, LEN) != 0 ? 0 : 1);
    }
    CU_ASSERT_TRUE(has_forked && status == 0);
    CU_ASSERT_EQUAL(memcmp(long_out, before_fork, LEN), 0);
}

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
    const int result = unit_run("two forks");
    drng_close(handle);
    return result;
}
