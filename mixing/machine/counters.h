/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - what happened in this process, for observers outside of it. */

#pragma once

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

/*
 * What became of an instruction when it was asked last: the results of noise.h, in the order of enum drng_result. The
 * values are part of the layout in provider/observe/stats.h.
 */
enum drng_last_result {
    DRNG_LAST_NONE = 0, /* it was not asked yet */
    DRNG_LAST_SERVED,
    DRNG_LAST_SLOW,     /* too few words in its time */
    DRNG_LAST_DRY,      /* a word did not come */
    DRNG_LAST_FAILED,   /* a health test failed once too often: it was disabled */
    DRNG_LAST_DISABLED, /* it was disabled before */
};

/*
 * The counters, in their order in memory, with the names that the provider's parameters and drng-status have for them:
 * the structs, the parameters and the layout that drng-status reads are made of these lists, or compared with them
 * (tests/programs/counter_names.c). What each counts:
 *
 * health-failures  failed health tests, including failures after which the retry passed
 * retries          executions that returned no word
 * last-result      enum drng_last_result
 * last-words       the words that the instruction gave then
 */
#define DRNG_INSTRUCTION_COUNTERS(COUNTER)                                                                             \
    COUNTER(health_failures, "health-failures")                                                                        \
    COUNTER(retries, "retries")                                                                                        \
    COUNTER(last_result, "last-result")                                                                                \
    COUNTER(last_words, "last-words")

/*
 * seeds-fallback              seeds of the fallback; those of instructions stand before it
 * seed-failures               requests for a seed that no source could serve
 */
#define DRNG_SEED_COUNTERS(COUNTER)                                                                                    \
    COUNTER(seeds_fallback, "seeds-fallback")                                                                          \
    COUNTER(seed_failures, "seed-failures")

/*
 * reseeds                     how often a generator replaced its seed
 * fork-reseeds, clone-reseeds how often it asked for one because it was in a new process, or its machine was copied
 * last-seed                   time of the last seed, in seconds since the Epoch
 * kernel-words                requests that took in the kernel's bytes and the time, and no word
 * seeds-without-kernel-bytes  seeds with os_mixing for which the kernel had no bytes
 * refused-calls               calls of a signal handler, or of a thread that left one, in the middle of another call
 */
#define DRNG_OTHER_COUNTERS(COUNTER)                                                                                   \
    COUNTER(reseeds, "reseeds")                                                                                        \
    COUNTER(fork_reseeds, "fork-reseeds")                                                                              \
    COUNTER(clone_reseeds, "clone-reseeds")                                                                            \
    COUNTER(last_seed, "last-seed")                                                                                    \
    COUNTER(kernel_requests, "kernel-words")                                                                           \
    COUNTER(seeds_without_kernel, "seeds-without-kernel-bytes")                                                        \
    COUNTER(refused_calls, "refused-calls")

#define DRNG_COUNTER_MEMBER(member, name) atomic_uint_least64_t member;

struct drng_instruction_counters {
    DRNG_INSTRUCTION_COUNTERS(DRNG_COUNTER_MEMBER)
};

struct drng_counters {
    atomic_uint_least64_t source; /* enum drng_source */
    atomic_uint_least64_t seeds[DRNG_INSTRUCTIONS];
    DRNG_SEED_COUNTERS(DRNG_COUNTER_MEMBER)
    struct drng_instruction_counters instructions[DRNG_INSTRUCTIONS];
    DRNG_OTHER_COUNTERS(DRNG_COUNTER_MEMBER)
};

/*
 * What a family of processes (mixing/state/fork.h) has found of an instruction, those that have ended included:
 *
 * family-failures  failed health tests
 * family-disabled  processes that have disabled the instruction
 * family-slow      seeds, or draws of its own words, for which it was too slow
 */
#define DRNG_FAMILY_COUNTERS(COUNTER)                                                                                  \
    COUNTER(failures, "family-failures")                                                                               \
    COUNTER(disabled, "family-disabled")                                                                               \
    COUNTER(slow, "family-slow")

struct drng_family_counters {
    DRNG_FAMILY_COUNTERS(DRNG_COUNTER_MEMBER)
    atomic_uint_least64_t slow_until; /* drng_os_clock_ns() until which another source is asked first; 0: none is */
};

struct drng_family {
    atomic_uint_least64_t id; /* another one in each family */
    struct drng_family_counters instructions[DRNG_INSTRUCTIONS];
    atomic_uint_least64_t last_token; /* the last one that a process has drawn: fork.h */
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
