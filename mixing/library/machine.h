/*
 * machine.h - what all calls of libdrng in one process share: the CPU, its instructions, and the reader of their words.
 */

#ifndef DRNG_LIBRARY_MACHINE_H
#define DRNG_LIBRARY_MACHINE_H

#include <stdatomic.h>

#include "mixing/aes/aes.h"
#include "mixing/drbg/request_entropy.h"
#include "mixing/entropy/shared_reader.h"
#include "mixing/machine/eligibility.h"

enum { DRNG_LIBRARY_TEXT = 128 };

/* Set when the library is loaded, then constant but for the instructions and the reader. */
struct drng_library {
    atomic_uint ready;  /* no bool: not every RISC-V can exchange a byte */
    atomic_uint failed; /* the error of the last attempt to open; 0 if none has failed */
    struct drng_evidence evidence;
    struct drng_eligibility eligibility;
    const struct drng_aes *aes;
    struct drng_instruction instructions[DRNG_INSTRUCTIONS];
    struct drng_instruction_counters counters[DRNG_INSTRUCTIONS];
    struct drng_request_words words;
    struct drng_library_texts {
        char denied[DRNG_LIBRARY_TEXT];    /* "RDRAND: not in this CPU"; empty for one that may be used */
        char unhealthy[DRNG_LIBRARY_TEXT]; /* "RDRAND: its words failed the health tests" */
    } texts[DRNG_INSTRUCTIONS];
    struct drng_shared_reader reader;
};

extern struct drng_library drng_library;

/*
 * To be called first by every call that needs the machine. DRNG_SUCCESS, or one of drng.h's errors. A constructor has
 * made this call before main(), and before dlopen() returned: opening allocates memory, which a signal handler must not
 * do. So where the constructor has failed, this fails in the same way, and only drng_library_open_again() opens.
 */
DRNG_MUST_CHECK int drng_library_open(void);

/* Opens also where an attempt has failed. Not for signal handlers. */
DRNG_MUST_CHECK int drng_library_open_again(void);

/*
 * Every call that takes a lock or uses the reader stands between these two. False: the caller is a signal handler that
 * interrupted such a call of its own thread. What that call works on must not be touched, and no lock be waited for.
 *
 * Locks do not tell this in a child that the handler forks: there they are free, and the interrupted call goes on.
 */
bool drng_library_enter(void);
void drng_library_leave(void);

/* Runs `work` on the reader, under its lock. The caller holds no lock, or that of a handle. */
DRNG_MUST_CHECK enum drng_result drng_library_run(drng_reader_work *work, void *arg);

/* Runs `work` on a reader on the stack, without a lock: for a signal handler that interrupted a call. */
DRNG_MUST_CHECK enum drng_result drng_library_run_apart(drng_reader_work *work, void *arg);

/* "RDRAND: not in this CPU"; NULL: the instruction may be used. Constant. After drng_library_open(). */
const char *drng_library_denied(unsigned instruction);

/* Whether the instruction is an entropy source, and not the generator of this architecture. */
bool drng_library_is_seed_grade(unsigned instruction);

#endif
