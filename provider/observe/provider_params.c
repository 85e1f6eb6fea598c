#include "provider/observe/provider_params.h"

#include <stddef.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "mixing/memory/fork.h"
#include "provider/observe/batch.h"
#include "provider/observe/claims.h"
#include "provider/observe/clones.h"
#include "provider/observe/report.h"
#include "provider/observe/stats.h"
#include "provider/params.h"
#include "provider/process.h"
#include "provider/provctx.h"
#include "provider/version.h"

#define SEEDS_NAME(id, flag)   "seeds-" flag,
#define RETRIES_NAME(id, flag) flag "-retries",
#define SEEDS(id, flag)        OSSL_PARAM_uint64("seeds-" flag, NULL),
#define RETRIES(id, flag)      OSSL_PARAM_uint64(flag "-retries", NULL),

const OSSL_PARAM *drng_provider_params_gettable(void *provctx)
{
    static const OSSL_PARAM known[] = {
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, NULL, 0),
        OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL),
        OSSL_PARAM_utf8_ptr("aes-implementation", NULL, 0),
        OSSL_PARAM_utf8_ptr("active-source", NULL, 0),
        OSSL_PARAM_utf8_ptr("disabled-reason", NULL, 0),
        OSSL_PARAM_utf8_ptr("clone-protection", NULL, 0),
        OSSL_PARAM_utf8_ptr("claim", NULL, 0),
        OSSL_PARAM_utf8_ptr("batch", NULL, 0),
        OSSL_PARAM_utf8_ptr("batch-off-reason", NULL, 0),
        DRNG_EACH_INSTRUCTION(SEEDS) /* "seeds-rdseed" and its like */
        OSSL_PARAM_uint64("seeds-fallback", NULL),
        OSSL_PARAM_uint64("seed-failures", NULL),
        OSSL_PARAM_uint64("health-failures", NULL),
        DRNG_EACH_INSTRUCTION(RETRIES) /* "rdseed-retries" and its like */
        OSSL_PARAM_uint64("reseeds", NULL),
        OSSL_PARAM_uint64("fork-reseeds", NULL),
        OSSL_PARAM_uint64("clone-reseeds", NULL),
        OSSL_PARAM_uint64("forks", NULL),
        OSSL_PARAM_uint64("requests", NULL),
        OSSL_PARAM_uint64("bytes", NULL),
        OSSL_PARAM_uint64("last-seed", NULL),
        OSSL_PARAM_uint64("last-seed-bits", NULL),
        OSSL_PARAM_END,
    };
    (void)provctx;
    return known;
}

static uint64_t value_of(atomic_uint_least64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* The source of the last seed, or before the first seed the one that would be asked first; "none" after a failure. */
static const char *active_source(const struct drng_provctx *provctx)
{
    static const char *const names[DRNG_SOURCES] = {"none", DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_FLAG) "fallback"};
    struct drng_counters *counters = &drng_stats.live->counters;
    uint64_t source = value_of(&counters->source);
    if (source == DRNG_SOURCE_NONE && value_of(&counters->seed_failures) == 0) {
        source = drng_report_first_in_line(provctx);
    }
    return drng_process_healthy() ? names[source] : "none";
}

/* The counters of the instructions, each under a name with the instruction's. */
static bool get_instruction_counters(OSSL_PARAM params[])
{
    static const char *const seeds[] = {DRNG_EACH_INSTRUCTION(SEEDS_NAME)};
    static const char *const retries[] = {DRNG_EACH_INSTRUCTION(RETRIES_NAME)};
    struct drng_counters *c = &drng_stats.live->counters;
    uint64_t health_failures = 0;
    bool set = true;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        health_failures += value_of(&c->instructions[i].health_failures);
        set = set && drng_params_set_uint64(params, seeds[i], value_of(&c->seeds[i])) &&
              drng_params_set_uint64(params, retries[i], value_of(&c->instructions[i].retries));
    }
    return set && drng_params_set_uint64(params, "health-failures", health_failures);
}

static bool get_counters(OSSL_PARAM params[])
{
    struct drng_counters *c = &drng_stats.live->counters;
    const struct drng_requests served = drng_stats_requests();
    return get_instruction_counters(params) &&
           drng_params_set_uint64(params, "seeds-fallback", value_of(&c->seeds_fallback)) &&
           drng_params_set_uint64(params, "seed-failures", value_of(&c->seed_failures)) &&
           drng_params_set_uint64(params, "reseeds", value_of(&c->reseeds)) &&
           drng_params_set_uint64(params, "fork-reseeds", value_of(&c->fork_reseeds)) &&
           drng_params_set_uint64(params, "clone-reseeds", value_of(&c->clone_reseeds)) &&
           drng_params_set_uint64(params, "forks", value_of(&drng_stats.head->forks)) &&
           drng_params_set_uint64(params, "requests", served.requests) &&
           drng_params_set_uint64(params, "bytes", served.bytes) &&
           drng_params_set_uint64(params, "last-seed", value_of(&c->last_seed)) &&
           drng_params_set_uint64(params, "last-seed-bits", value_of(&c->claimed));
}

int drng_provider_params_get(void *vprovctx, OSSL_PARAM params[])
{
    struct drng_provctx *provctx = vprovctx;
    (void)drng_fork_generation();
    return drng_params_set_int(params, OSSL_PROV_PARAM_STATUS, drng_process_healthy()) &&
           drng_params_set_text(params, OSSL_PROV_PARAM_NAME, DRNG_NAME) &&
           drng_params_set_text(params, OSSL_PROV_PARAM_VERSION, DRNG_VERSION) &&
           drng_params_set_text(params, OSSL_PROV_PARAM_BUILDINFO, DRNG_BUILDINFO) &&
           drng_params_set_text(params, "aes-implementation", drng_process.aes->name) &&
           drng_params_set_text(params, "active-source", active_source(provctx)) &&
           drng_params_set_text(params, "disabled-reason", drng_report_disabled_reason(provctx)) &&
           drng_params_set_text(params, "clone-protection", drng_clones_name(drng_clones_protection(provctx))) &&
           drng_params_set_text(params, "claim", drng_claims_name(provctx)) &&
           drng_params_set_text(params, "batch", drng_batch_is_on(provctx) ? "on" : "off") &&
           drng_params_set_text(params, "batch-off-reason", drng_batch_off_reason(provctx)) && get_counters(params);
}
