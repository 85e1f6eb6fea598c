/* SPDX-License-Identifier: Apache-2.0 */
/* What a seed takes in beside its words. */

#include <endian.h>
#include <stdalign.h>
#include <string.h>

#include "mixing/state/clone.h"
#include "tests/unit/bytes.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { OS_BYTE = 0x5c, SEED_LEN = 48, LONG_LEN = 200, TAKEN_BEFORE = 0xaa };

static struct rig rig;
static uint8_t out[LONG_LEN];

static void set_up(scripted_behaviour *rdseed, scripted_behaviour *rdrand)
{
    rig_set_up(&rig, rdseed, rdrand);
    scripted_os_byte = OS_BYTE;
    memset(out, TAKEN_BEFORE, sizeof(out));
}

static enum drng_result get(size_t len)
{
    return rig_seed(&rig, out, len);
}

/* Whether out is the seed of RDSEED's words with `byte` added to all of it. */
static bool is_seed_with(uint8_t byte, size_t len)
{
    uint8_t seed[LONG_LEN];
    const uint64_t *key = &scripted_rdseed.log[DRNG_STARTUP_WORDS];
    if (!rig_condition(DRNG_CBC_MAC, key, key + RIG_KEY_WORDS, DRNG_RDSEED_WORDS, seed, len)) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        seed[i] ^= byte;
    }
    return memcmp(seed, out, len) == 0;
}

/* ---- OS mixing ---- */

UNIT_TEST("OS bytes are added")
{
    static const size_t lengths[] = {1, 16, 17, SEED_LEN, 63, 64, 65, 128, LONG_LEN};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        set_up(scripted_good, scripted_good);
        rig.policy.os_mixing = true;
        CU_ASSERT_EQUAL(get(lengths[i]), DRNG_OK);
        CU_ASSERT_TRUE(is_seed_with(OS_BYTE, lengths[i]));
        CU_ASSERT_TRUE(lengths[i] == LONG_LEN || out[lengths[i]] == TAKEN_BEFORE);
        /* Any seed that a DRBG asks for takes one system call. */
        CU_ASSERT_TRUE(lengths[i] > 64 ? scripted_os_calls > 1 : scripted_os_calls == 1);
    }
}

UNIT_TEST("OS bytes are added to an RDRAND seed too")
{
    uint8_t without[SEED_LEN];
    set_up(scripted_dry, scripted_good);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    memcpy(without, out, SEED_LEN);
    set_up(scripted_dry, scripted_good);
    rig.policy.os_mixing = true;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    for (size_t i = 0; i < SEED_LEN; i++) {
        CU_ASSERT_EQUAL(out[i], without[i] ^ OS_BYTE);
    }
}

/* Early in boot the hardware alone is enough: asked once, not waited for, not missed. */
UNIT_TEST("an OS that is not ready is not waited for")
{
    set_up(scripted_good, scripted_good);
    rig.policy.os_mixing = true;
    scripted_os_ready = false;
    CU_ASSERT_EQUAL(get(LONG_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_seed_with(0, LONG_LEN));
    CU_ASSERT_EQUAL(scripted_os_calls, 1);
    CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDSEED);
}

UNIT_TEST("OS mixing can be switched off")
{
    set_up(scripted_good, scripted_good);
    rig.policy.os_mixing = false;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_seed_with(0, SEED_LEN));
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
}

/* OS bytes earn no credit: they never stand in for a source. */
UNIT_TEST("OS bytes alone are no seed")
{
    set_up(scripted_dry, scripted_dry);
    rig.policy.os_mixing = true;
    rig.policy.fallback = NULL;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_NO_FALLBACK);
    CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, 0));
}

UNIT_TEST("the fallback is left as it is")
{
    set_up(scripted_dry, scripted_dry);
    rig.policy.os_mixing = true;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, RIG_FALLBACK_BYTE));
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
}

/* ---- A copy of the machine ---- */

static alignas(4096) uint8_t page[4096];

static void plug_in_and_copy(void)
{
    struct drng_vmclock *device = (struct drng_vmclock *)(void *)page;
    memset(page, 0, sizeof(page));
    device->magic = htole32(DRNG_VMCLOCK_MAGIC);
    device->size = htole32(sizeof(page));
    device->version = htole16(DRNG_VMCLOCK_VERSION);
    scripted_vmclock = device;
    (void)drng_fork_open();
    drng_clone_open();
    atomic_store(&device->disruption_marker, htole64(1));
    (void)drng_clone_count();
}

/* Its kernel may give what every copy's gives, then and after the wait. */
UNIT_TEST("the fallback of a copy waits and takes in the time")
{
    set_up(scripted_dry, scripted_dry);
    plug_in_and_copy();
    const uint64_t seen_at = scripted_clock_ns;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(scripted_clock_ns >= seen_at + DRNG_CLONE_KERNEL_NS);
    uint8_t time[SEED_LEN] = {0};
    memcpy(time, &scripted_clock_ns, sizeof(scripted_clock_ns));
    for (size_t i = 0; i < SEED_LEN; i++) {
        CU_ASSERT_EQUAL(out[i], RIG_FALLBACK_BYTE ^ time[i]);
    }
    scripted_unwatch();
}

UNIT_TEST("an instruction of a copy does not wait")
{
    set_up(scripted_good, scripted_good);
    plug_in_and_copy();
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_waits, 0);
    CU_ASSERT_TRUE(is_seed_with(0, SEED_LEN));
    scripted_unwatch();
}

UNIT_MAIN("seed_mixing")
