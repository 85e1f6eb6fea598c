/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - the results of the functions in mixing/. */

#pragma once

/* The compiler warns if a caller ignores the result. The functions that return enum drng_result have it. */
#define DRNG_MUST_CHECK __attribute__((warn_unused_result))
#define DRNG_UNUSED     __attribute__((unused)) /* a parameter that this function has for its type's sake */

/* The first five stand in the order of enum drng_last_result. */
enum drng_result {
    DRNG_OK = 0,
    DRNG_SLOW,              /* the instruction gave too few words in its time; a later call may succeed */
    DRNG_EXHAUSTED,         /* it gave no word within its tries and time; a later call may succeed */
    DRNG_HEALTH_FAILED,     /* raw words failed a health test, and were discarded */
    DRNG_UNAVAILABLE,       /* the CPU has no such instruction, it may not be used, or it is disabled in this process */
    DRNG_NO_FALLBACK,       /* no instruction served, and there is no fallback */
    DRNG_FALLBACK_FAILED,   /* no instruction served, and the default seed source failed */
    DRNG_BAD_LENGTH,        /* a length outside the limits that the header states */
    DRNG_INPUT_TOO_LONG,    /* a personalization string or an additional input longer than the generator allows */
    DRNG_STRENGTH_TOO_HIGH, /* more strength asked for than the generator has */
    DRNG_RESEED_NEEDED,     /* there is no seed, or reseed_counter has passed the limit of SP 800-90A */
    DRNG_BUSY,              /* this thread is in a call already: guard.h */
    DRNG_OTHER_PROCESS,     /* the object was made by a process that is no ancestor of this one */
    DRNG_NO_MEMORY,         /* for a slot */
    DRNG_NO_SEED,           /* a parent that is not drng's gave no seed */
    DRNG_PARENT_TOO_WEAK,   /* the parent has less security strength than its child */
    DRNG_INSTANTIATED,      /* the generator is instantiated already */
    DRNG_IN_ERROR_STATE,    /* its last seed failed: uninstantiate it first */
    DRNG_SELF_TEST_FAILED,  /* an algorithm gave a wrong answer to a known-answer test */
};
