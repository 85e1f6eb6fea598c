/* SPDX-License-Identifier: Apache-2.0 */
/* What the counters say, and when: the provider on the scripted CPU. */

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/rand.h>

#include "mixing/state/fork.h"
#include "provider/observe/report.h"
#include "provider/observe/stats.h"
#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

/* ---- Each story in a process of its own, since what is disabled stays so ---- */

typedef bool story(void);

static int tell(void *arg)
{
    story *const *told = arg;
    return (*told)() ? 0 : 1;
}

static void assert_told(story *told)
{
    CU_ASSERT_EQUAL(child_forked(tell, &told), 0);
}

static bool draw(OSSL_LIB_CTX *libctx)
{
    unsigned char out[16];
    return RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1;
}

static OSSL_LIB_CTX *on_cpu(scripted_behaviour *rdseed, scripted_behaviour *rdrand)
{
    scripted_reset(rdseed, rdrand);
    return evp_context("");
}

/* ---- Stories ---- */

/* Both are masked, so it is known at the load. The request succeeds, so the error queue stays empty. */
static bool nothing_but_the_fallback(void)
{
    scripted_reset(scripted_good, scripted_good);
    drng_process.machine.evidence.masked[DRNG_RDSEED] = true;
    drng_process.machine.evidence.masked[DRNG_RDRAND] = true;
    OSSL_LIB_CTX *libctx = evp_context("");
    return strcmp(drng_stats.head->disabled_reason,
                  "RDSEED: masked by OPENSSL_ia32cap; RDRAND: masked by OPENSSL_ia32cap") == 0 &&
           drng_stats.head->first_source == DRNG_SOURCE_FALLBACK && draw(libctx) && ERR_peek_error() == 0;
}

UNIT_TEST("the counters say that the fallback serves")
{
    assert_told(nothing_but_the_fallback);
}

static bool failing_cpu(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(scripted_constant, scripted_dry);
    return draw(libctx) && evp_counter(libctx, "seeds-fallback") == 1 && ERR_peek_error() == 0 &&
           strstr(drng_stats.head->disabled_reason, "RDSEED: disabled") != NULL &&
           drng_stats.head->first_source == DRNG_SOURCE_INSTRUCTION + DRNG_RDRAND;
}

UNIT_TEST("the counters say what has failed since the load")
{
    assert_told(failing_cpu);
}

/* ---- A signal while the text is written, between taking its lock and noting who has it ---- */

enum { WATCHDOG = 20 }; /* seconds; ends a process that waits for itself */

static EVP_RAND_CTX *of_handler;
static OSSL_LIB_CTX *libctx_of_handler;
static bool handler_drew;
static bool handler_asked;
static bool interrupts;

static void draw_in_handler(int signal)
{
    handler_drew = EVP_RAND_reseed(of_handler, 0, NULL, 0, NULL, 0) == 1;
    handler_asked = evp_text(libctx_of_handler, "disabled-reason") != NULL;
}

/* Linked with --wrap. */
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    const int result = __real_pthread_mutex_lock(mutex);
    if (interrupts && mutex == &drng_process_lock(DRNG_LOCK_TEXT)->mutex) {
        interrupts = false;
        (void)raise(SIGUSR1);
    }
    return result;
}

static bool interrupted_report(void)
{
    const struct sigaction action = {.sa_handler = draw_in_handler};
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good);
    of_handler = RAND_get0_primary(libctx);
    libctx_of_handler = libctx;
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)alarm(WATCHDOG);
    drng_process.machine.instructions[DRNG_RDSEED].disabled = true;
    interrupts = true;
    return strstr(evp_text(libctx, "disabled-reason"), "RDSEED: disabled") != NULL && !interrupts && !handler_drew &&
           handler_asked;
}

/* A draw is refused: it might wait for another thread, and that one for the report. */
UNIT_TEST("a handler does not wait for a report")
{
    if (unit_emulated("7.2 starts handlers on a stack that is not aligned, and libcrypto's code traps there")) {
        return;
    }
    assert_told(interrupted_report);
}

int main(void)
{
    return unmask_instructions() ? unit_run("reports") : 1;
}
