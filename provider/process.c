#include "provider/process.h"

#include <pthread.h>

#include "mixing/libcrypto.h"
#include "mixing/secmem.h"
#include "mixing/self_test.h"
#include "provider/ia32cap.h"
#include "provider/page.h"

struct drng_process drng_process = {
    .rdseed = {.name = "RDSEED", .read = drng_cpu_rdseed, .starves = true},
    .rdrand = {.name = "RDRAND", .read = drng_cpu_rdrand},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned openings;
static bool looked;
static const char *failed; /* the algorithm that failed its self-test last, or NULL */

static void look_once(void)
{
    if (!looked) {
        struct drng_evidence *evidence = &drng_process.evidence;
        drng_cpu_identify(&evidence->cpu);
        drng_os_kernel_flags(&evidence->kernel);
        drng_ia32cap_apply(evidence);
        drng_process.aes = drng_self_test_choose(&evidence->cpu, &failed);
        atomic_store(&drng_process.healthy, drng_process.aes != NULL);
        looked = true;
    }
}

/* The first to load the provider; what it sets is read by threads from then on. */
static bool open_page(void)
{
    if (!drng_page_open(drng_process.aes != NULL ? drng_process.aes->name : NULL)) {
        return false;
    }
    drng_process.rdseed.counters = &drng_page.live->counters.rdseed;
    drng_process.rdrand.counters = &drng_page.live->counters.rdrand;
    return true;
}

bool drng_process_open(void)
{
    (void)pthread_mutex_lock(&lock);
    bool opened = drng_secmem_open();
    if (opened) {
        look_once();
        opened = openings > 0 || open_page();
        if (opened) {
            openings++;
        } else {
            drng_secmem_close();
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return opened;
}

void drng_process_close(void)
{
    (void)pthread_mutex_lock(&lock);
    if (--openings == 0) {
        drng_page_close();
        drng_libcrypto_close();
    }
    drng_secmem_close();
    (void)pthread_mutex_unlock(&lock);
}

bool drng_process_self_test(bool with_hmac, const char **what)
{
    (void)pthread_mutex_lock(&lock);
    if (drng_process_healthy() && drng_self_test(drng_process.aes, with_hmac, &failed) != DRNG_OK) {
        atomic_store_explicit(&drng_process.healthy, false, memory_order_relaxed);
        atomic_store_explicit(&drng_page.head->healthy, 0, memory_order_relaxed);
    }
    *what = failed;
    (void)pthread_mutex_unlock(&lock);
    return drng_process_healthy();
}
