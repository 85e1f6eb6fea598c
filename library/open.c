/* SPDX-License-Identifier: Apache-2.0 */
/* Opens libdrng for the process: once, before main(), or when a program first loads it. */

#include "library/open.h"

#include <pthread.h>

#include "library/drng.h"
#include "mixing/drbg/self_test.h"
#include "mixing/state/clone.h"

struct drng_library drng_library;

const char *drng_library_denied(unsigned instruction)
{
    const enum drng_denial denial = drng_library.eligibility.words[instruction];
    const bool disabled =
        atomic_load_explicit(&drng_library.machine.instructions[instruction].disabled, memory_order_relaxed);
    if (denial != DRNG_ALLOWED) {
        return drng_denial_text(denial);
    }
    return disabled ? "its words failed the health tests" : NULL;
}

static void settle_instructions(struct drng_library *library)
{
    library->eligibility = drng_eligibility_decide(&library->machine.evidence, DRNG_CHOICE_AUTO);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        library->machine.instructions[i].counters = &library->counters[i];
        library->machine.instructions[i].family = &drng_family->instructions[i];
    }
    drng_request_words_settle(&library->words, &library->eligibility, library->machine.instructions);
}

static int open_locked(struct drng_library *library)
{
    const char *failed = NULL;
    if (atomic_load(&library->ready) != 0) {
        return DRNG_SUCCESS;
    }
    if (!drng_machine_open(&library->machine, NULL, NULL) ||
        (library->root.slot == NULL && !drng_place_make(&library->root, DRNG_WIDE_SLOT_SIZE))) {
        return DRNG_E_MEMORY;
    }
    /* AES has been tested when it was chosen, HMAC has not. */
    if (library->machine.aes == NULL ||
        drng_self_test(library->machine.aes, DRNG_AES_MAX_KEY, true, &failed) != DRNG_OK) {
        return DRNG_E_SELF_TEST;
    }
    settle_instructions(library);
    drng_clone_open();
    atomic_store_explicit(&library->ready, 1, memory_order_release);
    return DRNG_SUCCESS;
}

int drng_library_open(bool again)
{
    if (__builtin_expect(atomic_load_explicit(&drng_library.ready, memory_order_acquire) != 0, 1)) {
        return DRNG_SUCCESS;
    }
    int error = (int)atomic_load(&drng_library.failed);
    if (error != 0 && !again) {
        return error;
    }
    (void)drng_fork_open(); /* drng_secmem_open() asks again, and fails */
    int cancel = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = DRNG_E_BUSY;
    if (drng_lock(drng_process_lock(DRNG_LOCK_LOAD))) {
        error = open_locked(&drng_library);
        atomic_store(&drng_library.failed, (unsigned)error);
        drng_unlock(drng_process_lock(DRNG_LOCK_LOAD));
    }
    (void)pthread_setcancelstate(cancel, &cancel);
    return error;
}

static __attribute__((constructor)) void open_early(void)
{
    const int error = drng_library_open(false);
    (void)error; /* drng_library.failed has it, for the calls to come */
}

const char *drng_strerror(int error)
{
    static const char *const texts[] = {
        [DRNG_SUCCESS] = "no error",
        [DRNG_E_ARGUMENT] =
            "an argument is wrong: NULL, a length above PTRDIFF_MAX, or a choice or conditioning that does not exist",
        [DRNG_E_UNSUPPORTED] = "this machine has no such instruction, or it may not be used: drng_random_supported() "
                               "and drng_seed_supported() say why",
        [DRNG_E_NOT_READY] =
            "the instruction gave too few words within its retries or its time: try again later, or allow more",
        [DRNG_E_UNHEALTHY] =
            "the instruction's words failed the health tests, and this process does not ask it any more",
        [DRNG_E_NO_SOURCE] = "no instruction served, and the kernel's generator has no bytes: try again later, and "
                             "check that the process may call getrandom()",
        [DRNG_E_MEMORY] = "no memory for secrets could be mapped: look at the limits (RLIMIT_AS, RLIMIT_DATA) and at "
                          "the filter of system calls (mmap, mprotect, madvise)",
        [DRNG_E_SELF_TEST] = "AES or HMAC gave a wrong answer to a known-answer test: the CPU or the library is broken",
        [DRNG_E_BUSY] = "this call was made inside another one of its thread: do not draw in signal handlers",
    };
    return error >= DRNG_SUCCESS && error <= DRNG_E_BUSY ? texts[error] : "not an error of libdrng";
}
