/* Request mixing: a word of RDRAND, or the kernel's bytes, or nothing. */

#include <string.h>

#include "mixing/drbg/request_entropy.h"
#include "tests/unit/bytes.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { KERNEL_BYTE = 0x5c, TAKEN_BEFORE = 0xaa };

static struct rig rig;
static uint8_t out[DRNG_REQUEST_ENTROPY_LEN];

static void set_up(scripted_behaviour *rdrand, uint64_t at)
{
    rig_set_up(&rig, scripted_dry, rdrand);
    scripted_rdrand.at = at;
    scripted_os_byte = KERNEL_BYTE;
    memset(out, TAKEN_BEFORE, sizeof(out));
}

static void a_word_of_rdrand_is_taken(void)
{
    set_up(scripted_good, 0);
    CU_ASSERT_TRUE(drng_request_entropy(&rig.rdrand, false, out));
    CU_ASSERT_EQUAL(scripted_rdrand.words, 1);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log, sizeof(out)), 0);
    CU_ASSERT_TRUE(drng_request_entropy(&rig.rdrand, false, out));
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log + 1, sizeof(out)), 0);
}

/* Seeds alone use RDSEED and its time. */
static void rdseed_is_never_asked(void)
{
    set_up(scripted_good, 0);
    CU_ASSERT_TRUE(drng_request_entropy(&rig.rdrand, true, out));
    CU_ASSERT_EQUAL(scripted_rdseed.executions, 0);
}

static void the_kernel_is_not_asked_where_rdrand_serves(void)
{
    set_up(scripted_good, 0);
    CU_ASSERT_TRUE(drng_request_entropy(&rig.rdrand, true, out));
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log, sizeof(out)), 0);
}

static void retries_are_made_and_counted(void)
{
    set_up(scripted_every, DRNG_RDRAND_TRIES);
    CU_ASSERT_TRUE(drng_request_entropy(&rig.rdrand, false, out));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, DRNG_RDRAND_TRIES - 1);
    CU_ASSERT_EQUAL(memcmp(out, scripted_rdrand.log, sizeof(out)), 0);
}

/* Not tested, so not judged either: a bad word here does not disable anything. */
static void health_is_not_judged(void)
{
    set_up(scripted_constant, 0);
    CU_ASSERT_TRUE(drng_request_entropy(&rig.rdrand, false, out));
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 0);
    CU_ASSERT_FALSE(rig.rdrand.disabled);
}

static void nothing_fresh(struct drng_instruction *rdrand, uint64_t executions)
{
    CU_ASSERT_FALSE(drng_request_entropy(rdrand, false, out));
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, executions);
    CU_ASSERT_EQUAL(scripted_os_calls, 0);

    memset(out, TAKEN_BEFORE, sizeof(out));
    CU_ASSERT_TRUE(drng_request_entropy(rdrand, true, out));
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), KERNEL_BYTE));
    CU_ASSERT_EQUAL(scripted_os_calls, 1);

    memset(out, TAKEN_BEFORE, sizeof(out));
    scripted_os_ready = false;
    CU_ASSERT_FALSE(drng_request_entropy(rdrand, true, out));
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
}

static void without_rdrand_it_is_the_kernel_or_nothing(void)
{
    set_up(scripted_good, 0);
    nothing_fresh(NULL, 0);
}

static void a_disabled_rdrand_is_not_executed(void)
{
    set_up(scripted_good, 0);
    rig.rdrand.disabled = true;
    nothing_fresh(&rig.rdrand, 0);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
}

static void a_dry_rdrand_is_given_up_after_ten_tries(void)
{
    set_up(scripted_dry, 0);
    nothing_fresh(&rig.rdrand, DRNG_RDRAND_TRIES);
}

static const struct unit_test tests[] = {
    {"a word of RDRAND is taken", a_word_of_rdrand_is_taken},
    {"RDSEED is never asked", rdseed_is_never_asked},
    {"the kernel is not asked where RDRAND serves", the_kernel_is_not_asked_where_rdrand_serves},
    {"retries are made and counted", retries_are_made_and_counted},
    {"health is not judged", health_is_not_judged},
    {"without RDRAND it is the kernel or nothing", without_rdrand_it_is_the_kernel_or_nothing},
    {"a disabled RDRAND is not executed", a_disabled_rdrand_is_not_executed},
    {"a dry RDRAND is given up after ten tries", a_dry_rdrand_is_given_up_after_ten_tries},
};

UNIT_MAIN("fresh", tests)
