/* SPDX-License-Identifier: Apache-2.0 */
/* What all instances of the provider in a process share: opened with the first, closed with the last. */

#include "provider/process.h"

#include <stdlib.h>
#include <time.h>

#include "mixing/state/clone.h"
#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "provider/masks.h"
#include "provider/observe/stats.h"

struct drng_process drng_process;

/* Guarded by DRNG_LOCK_LOAD. */
static unsigned openings;
static bool looked;

static void note_exit(void)
{
    atomic_store(&drng_process.exits, true);
}

static bool look_once(const char *libcrypto_version)
{
    if (looked) {
        return drng_secmem_open();
    }
    if (!drng_machine_open(&drng_process.machine, drng_masks_apply, libcrypto_version)) {
        return false;
    }
    atomic_store(&drng_failed_algorithm, drng_process.machine.failed);
    (void)atexit(note_exit); /* called before libcrypto's handler, which was there first */
    looked = true;
    return true;
}

static bool open_locked(const char *libcrypto_version)
{
    if (!look_once(libcrypto_version)) {
        return false;
    }
    if (openings > 0) {
        openings++;
        drng_stats_add_libcrypto(libcrypto_version);
        return true;
    }
    drng_clone_open();
    drng_stats_open(drng_process.machine.aes != NULL ? drng_process.machine.aes->name : NULL, libcrypto_version);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        drng_process.machine.instructions[i].counters = &drng_stats.live->counters.instructions[i];
        drng_process.machine.instructions[i].family = &drng_family->instructions[i];
    }
    atomic_signal_fence(memory_order_seq_cst);
    openings = 1; /* last: what another thread was opening at a fork is opened anew in the child */
    return true;
}

bool drng_process_open(const char *libcrypto_version)
{
    bool opened = false;
    (void)drng_fork_open(); /* drng_secmem_open() asks again, and fails */
    if (drng_lock(drng_process_lock(DRNG_LOCK_LOAD))) {
        opened = open_locked(libcrypto_version);
        drng_unlock(drng_process_lock(DRNG_LOCK_LOAD));
    }
    return opened;
}

void drng_process_close(void)
{
    if (!drng_lock(drng_process_lock(DRNG_LOCK_LOAD))) {
        return;
    }
    if (--openings == 0) {
        drng_stats_close();
        drng_secmem_close();
    }
    drng_unlock(drng_process_lock(DRNG_LOCK_LOAD));
}

/*
 * Takes no lock while it tests: a child forked while another thread held it could not unload the provider. Two threads
 * at once do the same work twice.
 */
bool drng_process_self_test(const char **what)
{
    const char *wrong = NULL;
    for (size_t key_len = 16; key_len <= DRNG_AES_MAX_KEY && drng_process_healthy(); key_len += 8) {
        const struct drng_aes *aes =
            key_len == DRNG_AES_MAX_KEY ? drng_process.machine.aes : drng_self_test_aes(key_len);
        if (aes != NULL && drng_self_test(aes, key_len, true, &wrong) != DRNG_OK) {
            atomic_store(&drng_failed_algorithm, wrong);
        }
    }
    drng_stats_note_self_tests();
    *what = atomic_load(&drng_failed_algorithm);
    drng_note(&drng_stats.head->tested, (uint64_t)time(NULL));
    return drng_process_healthy();
}
