/* SPDX-License-Identifier: Apache-2.0 */
/* Request mixing: a word of an instruction, or the kernel's bytes with the time. */

#include <string.h>

#include "mixing/drbg/request_entropy.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { KERNEL_BYTE = 0x5c, TAKEN_BEFORE = 0xaa };

static struct rig rig;
static struct drng_request_words words;
static uint64_t before; /* the generator's last word */
static uint64_t out[1];

static void set_up(scripted_behaviour *rdseed, scripted_behaviour *rdrand, uint64_t at)
{
    rig_set_up(&rig, rdseed, rdrand);
    scripted_rdrand.at = at;
    scripted_os_byte = KERNEL_BYTE;
    memset(out, TAKEN_BEFORE, sizeof(out));
    before = 0;
    words = (struct drng_request_words){{&rig.rdrand, &rig.rdseed, NULL}};
}

UNIT_TEST("a word of RDRAND is taken")
{
    set_up(scripted_good, scripted_good, 0);
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.words, 1);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log, sizeof(out)), 0);
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log + 1, sizeof(out)), 0);
}

/* They take longer. */
UNIT_TEST("nobody else is asked where RDRAND serves")
{
    set_up(scripted_good, scripted_good, 0);
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdseed.executions, 0);
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log, sizeof(out)), 0);
}

UNIT_TEST("retries are made and counted")
{
    set_up(scripted_dry, scripted_every, DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, DRNG_RDRAND_TRIES - 1);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log, sizeof(out)), 0);
}

/* One that sticks does not tell clones apart: from its second word on it counts as dry. It is not disabled for that. */
UNIT_TEST("a word that does not change is none")
{
    set_up(scripted_good, scripted_constant, 0);
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log, sizeof(out)), 0);
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
        CU_ASSERT_EQUAL(memcmp(out, &scripted_rdseed.log[i], sizeof(out)), 0);
    }
    CU_ASSERT_EQUAL(rig.rdrand.dry, 3);
    words = (struct drng_request_words){{&rig.rdrand, NULL}};
    CU_ASSERT_EQUAL(drng_request_entropy(&words, true, &before, &rig.counters, out), DRNG_EXHAUSTED);
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    }
    CU_ASSERT_EQUAL(scripted_os_calls, 100);
    CU_ASSERT_FALSE(drng_request_words_serve(&words));
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 0);
    CU_ASSERT_FALSE(rig.rdrand.disabled);
}

UNIT_TEST("zeros are none, from the first on")
{
    set_up(scripted_good, scripted_zeros, 0);
    before = 1; /* so that they are not the last word again */
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdseed.log, sizeof(out)), 0);
    CU_ASSERT_EQUAL(rig.rdrand.dry, 1);
    words = (struct drng_request_words){{&rig.rdrand, NULL}};
    CU_ASSERT_EQUAL(drng_request_entropy(&words, true, &before, &rig.counters, out), DRNG_EXHAUSTED);
}

UNIT_TEST("without RDRAND it is the other instruction")
{
    set_up(scripted_good, scripted_good, 0);
    words = (struct drng_request_words){{&rig.rdseed, NULL}};
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdseed.log, sizeof(out)), 0);

    set_up(scripted_good, scripted_good, 0);
    rig.rdrand.disabled = true;
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdseed.log, sizeof(out)), 0);

    set_up(scripted_good, scripted_dry, 0);
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdseed.log, sizeof(out)), 0);
}

static bool is_kernel_with(uint64_t time, uint64_t word)
{
    uint64_t expected = 0;
    memset(&expected, KERNEL_BYTE, sizeof(expected));
    expected ^= time;
    return word == expected;
}

/* Clones may have the same bytes of the kernel, and never run at the same time to the nanosecond. */
static void the_kernel_serves_together_with_the_time(void)
{
    uint64_t then[1];
    scripted_clock_ns = 7;
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, then), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_os_calls, 1);
    CU_ASSERT_TRUE(is_kernel_with(7, then[0]));

    scripted_clock_ns = 8;
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_TRUE(is_kernel_with(8, out[0]));

    scripted_os_byte ^= 1;
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, then), DRNG_OK);
    CU_ASSERT_NOT_EQUAL(memcmp(then, out, sizeof(out)), 0);

    scripted_os_ready = false;
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(out, &scripted_clock_ns, sizeof(out)), 0);
}

UNIT_TEST("without instructions it is the kernel")
{
    set_up(scripted_good, scripted_good, 0);
    words = (struct drng_request_words){{NULL}};
    the_kernel_serves_together_with_the_time();

    set_up(scripted_good, scripted_good, 0);
    rig.rdrand.disabled = true;
    rig.rdseed.disabled = true;
    the_kernel_serves_together_with_the_time();
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    CU_ASSERT_EQUAL(scripted_rdseed.executions, 0);
}

UNIT_TEST("dry instructions are given up after their tries")
{
    set_up(scripted_dry, scripted_dry, 0);
    scripted_rdseed.ns = 0;
    scripted_rdrand.ns = 0;
    the_kernel_serves_together_with_the_time();
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 4 * DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(scripted_rdseed.executions, 4 * drng_instruction_rows[DRNG_RDSEED].tries);
}

UNIT_TEST("what is disabled does not serve")
{
    set_up(scripted_good, scripted_good, 0);
    CU_ASSERT_TRUE(drng_request_words_serve(&words));
    rig.rdrand.disabled = true;
    CU_ASSERT_TRUE(drng_request_words_serve(&words));
    rig.rdseed.disabled = true;
    CU_ASSERT_FALSE(drng_request_words_serve(&words));
    words = (struct drng_request_words){{NULL}};
    CU_ASSERT_FALSE(drng_request_words_serve(&words));
}

/* The kernel is no way out there, so nothing is gained by leaving the instructions alone. */
UNIT_TEST("where the hardware alone may serve dry instructions are asked")
{
    set_up(scripted_dry, scripted_dry, 0);
    for (unsigned request = 1; request <= 200; request++) {
        CU_ASSERT_EQUAL(drng_request_entropy(&words, true, &before, &rig.counters, out), DRNG_EXHAUSTED);
        CU_ASSERT_EQUAL(scripted_rdrand.executions, (uint64_t)request * DRNG_RDRAND_TRIES);
    }
    scripted_rdrand.behaviour = scripted_good;
    CU_ASSERT_EQUAL(drng_request_entropy(&words, true, &before, &rig.counters, out), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.kernel_requests, 0);
    rig.rdrand.disabled = true;
    rig.rdseed.disabled = true;
    CU_ASSERT_EQUAL(drng_request_entropy(&words, true, &before, &rig.counters, out), DRNG_UNAVAILABLE);
}

UNIT_MAIN("fresh")
