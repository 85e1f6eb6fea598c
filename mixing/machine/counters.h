/* counters.h - what happened in this process, for observers outside of it: counters, and probes for tracers. */

#ifndef DRNG_COUNTERS_H
#define DRNG_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/instruction.h"

/*
 * Static probes (USDT): a no-op in the code, and a note in the module with its address. Without sys/sdt.h at build time
 * there are none. docs/tracing.md lists them.
 */
#ifdef DRNG_HAVE_SDT
#include <sys/sdt.h>
#define DRNG_PROBE1(name, a)    DTRACE_PROBE1(drng, name, (a))
#define DRNG_PROBE2(name, a, b) DTRACE_PROBE2(drng, name, (a), (b))
#else
#define DRNG_PROBE1(name, a)    ((void)(a))
#define DRNG_PROBE2(name, a, b) ((void)(a), (void)(b))
#endif

/* Which source made the last seed. The values are part of the layout in provider/observe/stats.h. */
enum drng_source {
    DRNG_SOURCE_NONE = 0,        /* none: the last attempt failed, or there was none yet */
    DRNG_SOURCE_INSTRUCTION = 1, /* DRNG_SOURCE_INSTRUCTION + i: instruction i */
    DRNG_SOURCE_FALLBACK = DRNG_SOURCE_INSTRUCTION + DRNG_INSTRUCTIONS,
};
enum { DRNG_SOURCES = DRNG_SOURCE_FALLBACK + 1 };

/* What became of an instruction when it was asked last. The values are part of the layout in provider/observe/stats.h.
 */
enum drng_last_result {
    DRNG_LAST_NONE = 0, /* it was not asked yet */
    DRNG_LAST_SERVED,
    DRNG_LAST_SLOW,     /* too few words in its time */
    DRNG_LAST_DRY,      /* a word did not come */
    DRNG_LAST_FAILED,   /* a health test failed once too often: it was disabled */
    DRNG_LAST_DISABLED, /* it was disabled before */
};

/* The counters of one instruction. */
struct drng_instruction_counters {
    atomic_uint_least64_t health_failures; /* failed health tests, including failures after which the retry passed */
    atomic_uint_least64_t retries;         /* executions that returned no word */
    atomic_uint_least64_t last_result;     /* enum drng_last_result */
    atomic_uint_least64_t last_words;      /* the words that it gave then */
};

struct drng_counters {
    atomic_uint_least64_t source; /* enum drng_source */
    atomic_uint_least64_t seeds[DRNG_INSTRUCTIONS];
    atomic_uint_least64_t seeds_fallback;
    atomic_uint_least64_t seed_failures; /* requests for a seed that no source could serve */
    struct drng_instruction_counters instructions[DRNG_INSTRUCTIONS];
    atomic_uint_least64_t reseeds;         /* how often a generator replaced its seed */
    atomic_uint_least64_t fork_reseeds;    /* how often a generator was seeded because it was in a new process */
    atomic_uint_least64_t clone_reseeds;   /* how often a generator was seeded because its machine had been copied */
    atomic_uint_least64_t last_seed;       /* time of the last seed, in seconds since the Epoch */
    atomic_uint_least64_t kernel_requests; /* requests that took in the kernel's bytes and the time, and no word */
    atomic_uint_least64_t seeds_without_kernel; /* seeds with os_mixing for which the kernel had no bytes */
};

/*
 * The requests that one generator has served. Only the thread that has taken the generator writes, so a request costs
 * two plain additions and no shared cache line. When the generator is freed its counts stay, and the next owner adds to
 * them.
 */
struct drng_request_counts {
    _Alignas(64) atomic_uint_least64_t requests;
    atomic_uint_least64_t bytes;
};

/* Of several writers the last one wins, and any of them is right. */
static inline void drng_note(atomic_uint_least64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

static inline void drng_count(atomic_uint_least64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

#endif
