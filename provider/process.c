#include "provider/process.h"

#include "mixing/drbg/self_test.h"
#include "mixing/machine/clone.h"
#include "mixing/memory/fork.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/secmem.h"
#include "provider/masks.h"
#include "provider/observe/stats.h"

struct drng_process drng_process;

/* Guarded by DRNG_LOCK_LOAD. */
static unsigned openings;
static bool looked;

/* The algorithm that last failed a self-test, or NULL. */
static _Atomic(const char *) failed;

static void look_once(const char *libcrypto_version)
{
    if (!looked) {
        struct drng_evidence *evidence = &drng_process.evidence;
        drng_cpu_identify(&evidence->cpu);
        drng_os_kernel_flags(&evidence->kernel);
        drng_masks_apply(evidence, libcrypto_version);
        const char *wrong = NULL;
        drng_process.aes = drng_self_test_choose(&evidence->cpu, &wrong);
        atomic_store(&failed, wrong);
        atomic_store(&drng_process.healthy, drng_process.aes != NULL);
        looked = true;
    }
}

/* Called when the first instance loads. Threads only read what it sets. */
static void open_page(const char *libcrypto_version)
{
    drng_stats_open(drng_process.aes != NULL ? drng_process.aes->name : NULL, libcrypto_version);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        drng_process.instructions[i].row = &drng_instruction_rows[i];
        drng_process.instructions[i].counters = &drng_stats.live->counters.instructions[i];
    }
}

static bool open_locked(const char *libcrypto_version)
{
    if (!drng_secmem_open()) {
        return false;
    }
    look_once(libcrypto_version);
    if (openings == 0) {
        drng_clone_open();
        open_page(libcrypto_version);
    } else {
        drng_stats_add_libcrypto(libcrypto_version);
    }
    openings++;
    return true;
}

bool drng_process_open(const char *libcrypto_version)
{
    drng_fork_open();
    if (!drng_lock(drng_process_lock(DRNG_LOCK_LOAD))) {
        return false;
    }
    const bool opened = open_locked(libcrypto_version);
    drng_unlock(drng_process_lock(DRNG_LOCK_LOAD));
    return opened;
}

void drng_process_close(void)
{
    if (!drng_lock(drng_process_lock(DRNG_LOCK_LOAD))) {
        return;
    }
    if (--openings == 0) {
        drng_stats_close();
        drng_clone_close();
    }
    drng_secmem_close();
    drng_unlock(drng_process_lock(DRNG_LOCK_LOAD));
}

/*
 * Takes no lock: a child forked while another thread held it could not unload the provider. Two threads at once do the
 * same work twice.
 */
bool drng_process_self_test(bool with_hmac, const char **what)
{
    const char *wrong = NULL;
    if (drng_process_healthy() && drng_self_test(drng_process.aes, with_hmac, &wrong) != DRNG_OK) {
        atomic_store(&failed, wrong);
        atomic_store_explicit(&drng_process.healthy, false, memory_order_relaxed);
        atomic_store_explicit(&drng_stats.head->healthy, 0, memory_order_relaxed);
    }
    *what = atomic_load(&failed);
    return drng_process_healthy();
}
