/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The algorithm RDRAND and prediction resistance: its words cannot give it, its seeds can. And threads that share it.
 * On the scripted CPU.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/err.h>

#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

static bool draw_from(OSSL_LIB_CTX *libctx, const char *name, int prediction_resistance)
{
    unsigned char out[48] = {0xaa};
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, name, "provider=drng", NULL);
    const int drawn = EVP_RAND_generate(rand, out, sizeof(out), 0, prediction_resistance, NULL, 0);
    CU_ASSERT_TRUE(drawn == 1 || bytes_are(out, sizeof(out), 0));
    EVP_RAND_CTX_free(rand);
    return drawn == 1;
}

UNIT_TEST("RDRAND does not pretend prediction resistance")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    CU_ASSERT_FALSE(draw_from(libctx, "RDRAND", 1));
    CU_ASSERT_TRUE(evp_error("RDRAND may not be used", "it cannot give prediction resistance"));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    EVP_RAND_CTX *alone = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(alone, 1, NULL, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(evp_error("RDRAND may not be used", "it cannot give prediction resistance"));
    CU_ASSERT_EQUAL(EVP_RAND_reseed(alone, 0, NULL, 0, NULL, 0), 1);
    EVP_RAND_CTX_free(alone);
    EVP_RAND_CTX *parent = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    EVP_RAND_CTX *child = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
    unsigned char out[16];
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    const uint64_t words = scripted_rdrand.words;
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 1, NULL, 0), 1);
    CU_ASSERT_TRUE(scripted_rdrand.words - words >= 2 * DRNG_RDRAND_WORDS);
    /* And of nothing else, though there is a fallback. */
    scripted_rdrand.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 1, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    scripted_rdrand.behaviour = scripted_good;
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(parent);
    CU_ASSERT_TRUE(draw_from(libctx, "DRNG-SEED", 1));
    CU_ASSERT_TRUE(draw_from(libctx, "CTR-DRBG", 1));
    OSSL_LIB_CTX_free(libctx);
}

/* ---- Threads that share one ---- */

static EVP_RAND_CTX *shared;
static pthread_t other;
static bool other_waits;

static void *draw_from_shared(void *failed)
{
    unsigned char out[16];
    return EVP_RAND_generate(shared, out, sizeof(out), 0, 0, NULL, 0) == 1 ? NULL : failed;
}

/* In the middle of a draw: the other thread, which does the same, does not come to its end. */
static bool with_another_thread(struct scripted_instruction *cpu, uint64_t *word)
{
    struct timespec deadline;
    cpu->behaviour = scripted_good;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, draw_from_shared, &shared), 0);
    (void)clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec++;
    other_waits = pthread_timedjoin_np(other, NULL, &deadline) == ETIMEDOUT;
    return scripted_good(cpu, word);
}

/* Also where nobody has called enable_locking: libcrypto may have its threads share a seed source before it does. */
UNIT_TEST("threads take turns")
{
    static const char *const names[] = {"RDRAND", "DRNG-SEED"};
    OSSL_LIB_CTX *libctx = evp_context("source = rdrand\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        void *failed = NULL;
        shared = evp_rand_ready(libctx, names[i], "provider=drng", NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(shared);
        CU_ASSERT_PTR_NULL(draw_from_shared(&shared));
        scripted_rdrand.behaviour = with_another_thread;
        CU_ASSERT_PTR_NULL(draw_from_shared(&shared));
        CU_ASSERT_TRUE(other_waits);
        CU_ASSERT_TRUE(!other_waits || (pthread_join(other, &failed) == 0 && failed == NULL));
        EVP_RAND_CTX_free(shared);
    }
    OSSL_LIB_CTX_free(libctx);
}

int main(void)
{
    if (!unmask_instructions()) {
        return EXIT_FAILURE;
    }
    evp_be_quiet();
    scripted_reset(scripted_good, scripted_good);
    if (!drng_process_open(NULL)) {
        return EXIT_FAILURE;
    }
    const int result = unit_run("rdrand");
    drng_process_close();
    return result;
}
