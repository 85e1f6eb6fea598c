/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an instance: configuration, policy of seeds, mixing, self-test; in this order, each needs the one before. */

#include "provider/provctx.h"

#include <string.h>

#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "provider/errors.h"
#include "provider/process.h"

/* When requests take in words. */
static enum drng_request_mixing settle_mixing(enum drng_tristate chosen, const struct drng_cpu *cpu)
{
    if (chosen == DRNG_YES) {
        return DRNG_MIX_ALWAYS;
    }
    return chosen == DRNG_NO && drng_fork_kernel_wipes ? DRNG_MIX_NEVER : drng_request_mixing_auto(cpu);
}

static void settle_policy(struct drng_provctx *provctx)
{
    const struct drng_config *config = &provctx->config;
    const bool has_default = provctx->core.get_entropy != NULL && provctx->core.cleanup_entropy != NULL;

    provctx->eligibility = drng_eligibility_decide(&drng_process.machine.evidence, config->choice);
    provctx->policy = (struct drng_seed_policy){
        .aes = drng_process.machine.aes,
        .conditioner = config->conditioner,
        .rdseed_words = config->rdseed_words,
        .os_mixing = config->os_mixing,
        .fallback = config->fallback && has_default ? drng_default_seed_source : NULL,
        .fallback_arg = &provctx->core,
        .counters = &drng_stats.live->counters,
    };
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const bool allowed = provctx->eligibility.seeds[i] == DRNG_ALLOWED;
        provctx->policy.instructions[i] = allowed ? &drng_process.machine.instructions[i] : NULL;
    }

    /* A child of RDRAND must not get its words as a seed: the seed is conditioned, and no other source is asked. */
    const bool has_words = provctx->eligibility.words[DRNG_WORDS_INSTRUCTION] == DRNG_ALLOWED;
    provctx->words_policy = provctx->policy;
    memset(provctx->words_policy.instructions, 0, sizeof(provctx->words_policy.instructions));
    provctx->words_policy.instructions[DRNG_WORDS_INSTRUCTION] =
        has_words ? &drng_process.machine.instructions[DRNG_WORDS_INSTRUCTION] : NULL;
    provctx->words_policy.fallback = NULL;
    provctx->words_policy.fallback_arg = NULL; /* by which errors know it, in whatever instance it is asked */

    drng_request_words_settle(&provctx->words, &provctx->eligibility, drng_process.machine.instructions);
    provctx->mixing = settle_mixing(config->request_mixing, &drng_process.machine.evidence.cpu);
}

/* When AES was chosen, everything but HMAC was tested. HMAC is tested here if it is the conditioner. */
static bool test(const struct drng_provctx *provctx)
{
    const char *failed = NULL;
    const bool with_hmac = provctx->config.conditioner == DRNG_HMAC_SHA256;
    if ((drng_process_healthy() && !with_hmac) || drng_process_self_test(&failed)) {
        return true;
    }
    drng_raise(&provctx->core, DRNG_R_SELF_TEST_FAILED, "%s gave a wrong answer: the CPU or the module is broken",
               failed);
    return false;
}

struct drng_provctx *drng_provctx_new(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in)
{
    struct drng_core core;
    drng_core_init(&core, handle, in);

    if (!drng_core_has_memory(&core)) {
        drng_raise(&core, DRNG_R_CORE, "libcrypto hands providers no memory: use OpenSSL 3.0 or later");
        return NULL;
    }
    struct drng_provctx *provctx = drng_zalloc(&core, sizeof(*provctx));
    if (provctx == NULL) {
        drng_raise(&core, DRNG_R_OUT_OF_MEMORY, NULL);
        return NULL;
    }
    provctx->core = core;
    if (!drng_config_read(&provctx->config, &provctx->core)) {
        drng_free(&core, provctx);
        return NULL;
    }
    if (!drng_process_open(drng_core_version(&core))) {
        drng_raise(
            &core, DRNG_R_OUT_OF_MEMORY,
            "no memory for secrets could be mapped: look at the limits (RLIMIT_AS, RLIMIT_DATA) and at the filter "
            "of system calls (mmap, mprotect, madvise)");
        drng_free(&core, provctx);
        return NULL;
    }
    settle_policy(provctx);
    provctx->root = (struct drng_root){.place = &provctx->seeds, .policy = &provctx->policy, .open = true};
    const bool made = drng_place_make(&provctx->seeds, DRNG_WIDE_SLOT_SIZE);
    if (!made) {
        drng_raise(&core, DRNG_R_OUT_OF_MEMORY, NULL);
    }
    if (!made || !test(provctx)) {
        drng_provctx_free(provctx);
        return NULL;
    }
    return provctx;
}

void drng_provctx_free(struct drng_provctx *provctx)
{
    const struct drng_core core = provctx->core;
    drng_place_free(&provctx->seeds);
    drng_process_close();
    drng_free(&core, provctx);
}
