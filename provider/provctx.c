#include "provider/provctx.h"

#include "mixing/machine/filter.h"
#include "mixing/memory/fork.h"
#include "mixing/memory/secmem.h"
#include "provider/fallback.h"
#include "provider/observe/messages.h"
#include "provider/process.h"

/* DRNG_WORDS_INSTRUCTION comes first, since it gives words fastest. */
static void settle_words(struct drng_provctx *provctx)
{
    unsigned count = 0;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const unsigned instruction = (DRNG_WORDS_INSTRUCTION + i) % DRNG_INSTRUCTIONS;
        if (provctx->eligibility.words[instruction] == DRNG_ALLOWED) {
            provctx->words.instructions[count++] = &drng_process.instructions[instruction];
        }
    }
}

/*
 * A child of fork() that the kernel does not wipe is told apart by its words, too. The clock device is the host's word:
 * where the guest does not trust its host, the device adds reseeds, and leaves no words out.
 */
static enum drng_request_mixing settle_mixing(enum drng_tristate chosen, const struct drng_cpu *cpu)
{
    const bool automatic = chosen == DRNG_AUTO && cpu->hypervisor;
    if (chosen == DRNG_YES || !drng_fork_kernel_wipes || (automatic && cpu->confidential)) {
        return DRNG_MIX_ALWAYS;
    }
    return automatic ? DRNG_MIX_UNWATCHED : DRNG_MIX_NEVER;
}

/* By certificate, an instruction that has none makes no seeds: the next source is asked. */
static void count_by_certificate(struct drng_provctx *provctx)
{
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const struct drng_claim *claim = drng_claim_find(&drng_process.evidence.cpu, i);
        if (drng_claim_window_words(claim) > 0) {
            provctx->policy.certified[i] = claim;
        } else if (provctx->eligibility.seeds[i] == DRNG_ALLOWED) {
            provctx->eligibility.seeds[i] = DRNG_UNCERTIFIED;
        }
    }
}

static void settle_policy(struct drng_provctx *provctx)
{
    const struct drng_config *config = &provctx->config;
    const struct drng_cpu *cpu = &drng_process.evidence.cpu;

    provctx->eligibility = drng_eligibility_decide(&drng_process.evidence, config->choice);
    provctx->policy = (struct drng_seed_policy){
        .aes = drng_process.aes,
        .conditioner = config->conditioner,
        .os_mixing = config->os_mixing,
        .fallback = config->fallback && drng_has_default_seed_source(&provctx->core) ? drng_default_seed_source : NULL,
        .fallback_arg = &provctx->core,
        .counters = &drng_stats.live->counters,
    };
    if (config->certified) {
        count_by_certificate(provctx);
    }
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const bool allowed = provctx->eligibility.seeds[i] == DRNG_ALLOWED;
        provctx->policy.instructions[i] = allowed ? &drng_process.instructions[i] : NULL;
    }
    settle_words(provctx);
    provctx->mixing = settle_mixing(config->request_mixing, cpu);
}

static bool allocate(struct drng_provctx *provctx)
{
    provctx->root.slot = drng_secmem_alloc();
    if (provctx->root.slot == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        return false;
    }
    return true;
}

/* When AES was chosen, everything but HMAC was tested. HMAC is tested here if it is the conditioner. */
static bool test(const struct drng_provctx *provctx)
{
    const char *failed = NULL;
    const bool with_hmac = provctx->config.conditioner == DRNG_HMAC_SHA256;
    if (!drng_process_healthy() || with_hmac) {
        if (!drng_process_self_test(with_hmac, &failed)) {
            drng_raise_and_log(&provctx->core, DRNG_R_SELF_TEST_FAILED,
                               "%s gave a wrong answer: the CPU or the module is broken", failed);
            return false;
        }
    }
    return true;
}

struct drng_provctx *drng_provctx_new(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in)
{
    struct drng_core core;
    drng_core_init(&core, handle, in);
    drng_filter_look();

    const char *lacking = drng_core_lacks(&core);
    if (lacking != NULL) {
        drng_raise_and_log(&core, DRNG_R_CORE, "libcrypto hands providers no %s: use OpenSSL 3.0 or later", lacking);
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
        drng_raise_and_log(
            &core, DRNG_R_OUT_OF_MEMORY,
            "no memory for secrets could be mapped: look at the limits (RLIMIT_AS, RLIMIT_DATA) and at the filter "
            "of system calls (mmap, madvise)");
        drng_free(&core, provctx);
        return NULL;
    }
    settle_policy(provctx);
    if (!allocate(provctx) || !test(provctx)) {
        drng_provctx_free(provctx);
        return NULL;
    }
    return provctx;
}

void drng_provctx_free(struct drng_provctx *provctx)
{
    const struct drng_core core = provctx->core;
    drng_secmem_free(provctx->root.slot);
    drng_process_close();
    drng_free(&core, provctx);
}
