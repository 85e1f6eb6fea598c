/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/rig.h"

#include <string.h>

/* ---- Setting up ---- */

static bool fall_back(void *arg, uint8_t *out, size_t len)
{
    struct rig *rig = arg;
    rig->fallback_calls++;
    memset(out, RIG_FALLBACK_BYTE, len);
    return rig->fallback_works;
}

void rig_set_up(struct rig *rig, scripted_behaviour *rdseed, scripted_behaviour *rdrand)
{
    scripted_reset(rdseed, rdrand);
    memset(rig, 0, sizeof(*rig));
    rig->rdseed.row = &drng_instruction_rows[DRNG_RDSEED];
    rig->rdrand.row = &drng_instruction_rows[DRNG_RDRAND];
    rig->rdseed.family = &rig->family.instructions[DRNG_RDSEED];
    rig->rdrand.family = &rig->family.instructions[DRNG_RDRAND];
    rig->rdseed.counters = &rig->counters.instructions[DRNG_RDSEED];
    rig->rdrand.counters = &rig->counters.instructions[DRNG_RDRAND];
    rig->policy =
        (struct drng_seed_policy){.instructions = {[DRNG_RDSEED] = &rig->rdseed, [DRNG_RDRAND] = &rig->rdrand},
                                  .aes = &drng_aes_portable,
                                  .conditioner = DRNG_CBC_MAC,
                                  .fallback = fall_back,
                                  .fallback_arg = rig,
                                  .counters = &rig->counters};
    rig->fallback_works = true;
}

enum drng_result rig_seed(struct rig *rig, uint8_t *out, size_t len)
{
    const enum drng_result result = drng_seed_get(&rig->policy, &rig->reader, out, len, &rig->served);
    return result;
}

/* ---- Ways ---- */

/* Those that need AES-NI last, so that they can be left out; the one that most machines take last of all. */
const struct rig_way rig_ways[] = {
    {"CBC-MAC", DRNG_CBC_MAC, false},
    {"HMAC-SHA-256", DRNG_HMAC_SHA256, false},
    {"HMAC-SHA-256 on a CPU with AES-NI", DRNG_HMAC_SHA256, true},
    {"CBC-MAC fused", DRNG_CBC_MAC, true},
};

bool rig_has_aes_ni(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.2");
#else
    return false;
#endif
}

size_t rig_way_count(void)
{
    const size_t all = sizeof(rig_ways) / sizeof(*rig_ways);
    return rig_has_aes_ni() ? all : all - 2;
}

/* The fused loop goes with AES-NI. */
void rig_take_way(struct rig *rig, const struct rig_way *way)
{
#if defined(__x86_64__)
    rig->policy.aes = way->fused ? &drng_aes_ni : &drng_aes_portable;
#else
    rig->policy.aes = &drng_aes_portable;
#endif
    rig->policy.conditioner = way->conditioner;
}
