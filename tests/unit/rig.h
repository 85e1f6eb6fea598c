/* rig.h - a seed policy over the scripted CPU, and what the seeds made with it must be. */

#ifndef DRNG_RIG_H
#define DRNG_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/seed.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"

enum { RIG_FALLBACK_BYTE = 0xfb, RIG_KEY_WORDS = 2 };

/* All that a process holds to make seeds. Points into itself, so it stays where it was set up. */
struct rig {
    struct drng_instruction rdseed;
    struct drng_instruction rdrand;
    struct drng_counters counters;
    struct drng_seed_policy policy;
    struct drng_seed_reader reader;
    bool fallback_works;
    unsigned fallback_calls;
};

/*
 * A new process: resets the scripted CPU and OS to these behaviours. Both instructions are allowed, the conditioner
 * is CBC-MAC and not fused, OS mixing is off, and a fallback that fills with RIG_FALLBACK_BYTE stands by.
 */
void rig_set_up(struct rig *rig, scripted_behaviour *rdseed, scripted_behaviour *rdrand);

/* The ways from words to seed, without those for AES-NI where the real CPU lacks it. */
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

/*
 * The seed that `kind` makes of `words`, a window of them for each 16 bytes: through libcrypto, whatever the rig
 * uses. False: libcrypto failed.
 */
bool rig_condition(enum drng_conditioner_kind kind, const uint64_t key[RIG_KEY_WORDS], const uint64_t *words,
                   size_t window, uint8_t *out, size_t len);

/* Words that a seed of len bytes takes. */
size_t rig_words_of(size_t window, size_t len);

#endif
