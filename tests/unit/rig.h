/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - a seed policy on the scripted CPU, and the seeds that it must make. */

#ifndef DRNG_RIG_H
#define DRNG_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/seed.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"
#include "tests/unit/seed_model.h"

enum { RIG_FALLBACK_BYTE = 0xfb, RIG_KEY_WORDS = SEED_MODEL_KEY_WORDS };

/* The state with which a process makes seeds. It holds pointers into itself, so it must not be copied. */
struct rig {
    struct drng_instruction rdseed;
    struct drng_instruction rdrand;
    struct drng_counters counters;
    struct drng_family family;
    struct drng_seed_policy policy;
    struct drng_seed_reader reader;
    enum drng_source served; /* its source */
    bool fallback_works;
    unsigned fallback_calls;
};

/*
 * Sets up a new process: resets the scripted CPU and OS to these behaviours. Both instructions are allowed, the
 * conditioner is CBC-MAC, not fused, OS mixing is off, and the fallback fills with RIG_FALLBACK_BYTE.
 */
void rig_set_up(struct rig *rig, scripted_behaviour *rdseed, scripted_behaviour *rdrand);

/* drng_seed_get() under the policy as it is now. */
enum drng_result rig_seed(struct rig *rig, uint8_t *out, size_t len);

/* The ways from words to seed. If the real CPU has no AES-NI, those that need it are left out. */
struct rig_way {
    const char *name;
    enum drng_conditioner_kind conditioner;
    bool fused; /* with AES-NI */
};
extern const struct rig_way rig_ways[];
size_t rig_way_count(void);
void rig_take_way(struct rig *rig, const struct rig_way *way);

/* Whether the real CPU can run the fused loop. */
bool rig_has_aes_ni(void);

/* seed_model.h, by the names of this rig. */
#define rig_condition seed_model_condition
#define rig_words_of  seed_model_words

#endif
