/* counters.h - what happened in this process, for observers outside of it. */

#ifndef DRNG_COUNTERS_H
#define DRNG_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "mixing/machine/instruction.h"

/* Which source made the last seed. The values are part of the layout in provider/observe/stats.h. */
enum drng_source {
    DRNG_SOURCE_NONE = 0,        /* none: the last attempt failed, or there was none yet */
    DRNG_SOURCE_INSTRUCTION = 1, /* DRNG_SOURCE_INSTRUCTION + i: instruction i */
    DRNG_SOURCE_FALLBACK = DRNG_SOURCE_INSTRUCTION + DRNG_INSTRUCTIONS,
};
enum { DRNG_SOURCES = DRNG_SOURCE_FALLBACK + 1 };

/* The counters of one instruction. */
struct drng_instruction_counters {
    atomic_uint_least64_t health_failures; /* failed health tests, including failures after which the retry passed */
    atomic_uint_least64_t retries;         /* executions that returned no word */
};

struct drng_counters {
    atomic_uint_least64_t source; /* enum drng_source */
    atomic_uint_least64_t seeds[DRNG_INSTRUCTIONS];
    atomic_uint_least64_t seeds_fallback;
    atomic_uint_least64_t seed_failures; /* requests for a seed that no source could serve */
    struct drng_instruction_counters instructions[DRNG_INSTRUCTIONS];
    atomic_uint_least64_t reseeds;       /* how often a generator replaced its seed */
    atomic_uint_least64_t fork_reseeds;  /* how often a generator was seeded because it was in a new process */
    atomic_uint_least64_t clone_reseeds; /* how often a generator was seeded because its machine had been copied */
    atomic_uint_least64_t last_seed;     /* time of the last seed, in seconds since the Epoch */
    atomic_uint_least64_t claimed; /* entropy claimed for the words of the last seed, in bits; 0: nothing is claimed */
};

static inline void drng_note_source(struct drng_counters *counters, enum drng_source source)
{
    atomic_store_explicit(&counters->source, source, memory_order_relaxed);
}

static inline void drng_note_claimed(struct drng_counters *counters, uint64_t bits)
{
    atomic_store_explicit(&counters->claimed, bits, memory_order_relaxed);
}

static inline void drng_note_seeded(struct drng_counters *counters, uint64_t now)
{
    atomic_store_explicit(&counters->last_seed, now, memory_order_relaxed);
}

static inline void drng_count(atomic_uint_least64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

#endif
