#include "provider/observe/provider_params.h"

#include <stddef.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "mixing/memory/fork.h"
#include "provider/observe/page.h"
#include "provider/observe/report.h"
#include "provider/params.h"
#include "provider/process.h"
#include "provider/provctx.h"
#include "provider/version.h"

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
        OSSL_PARAM_uint64("seeds-rdseed", NULL),
        OSSL_PARAM_uint64("seeds-rdrand", NULL),
        OSSL_PARAM_uint64("seeds-fallback", NULL),
        OSSL_PARAM_uint64("seed-failures", NULL),
        OSSL_PARAM_uint64("health-failures", NULL),
        OSSL_PARAM_uint64("rdseed-retries", NULL),
        OSSL_PARAM_uint64("rdrand-retries", NULL),
        OSSL_PARAM_uint64("reseeds", NULL),
        OSSL_PARAM_uint64("fork-reseeds", NULL),
        OSSL_PARAM_uint64("forks", NULL),
        OSSL_PARAM_uint64("requests", NULL),
        OSSL_PARAM_uint64("bytes", NULL),
        OSSL_PARAM_uint64("last-seed", NULL),
        OSSL_PARAM_END,
    };
    (void)provctx;
    return known;
}

static uint64_t value_of(atomic_uint_least64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Who made the last seed, or would make the first; nobody once an attempt has failed. */
static const char *active_source(const struct drng_provctx *provctx)
{
    static const char *const names[] = {
        [DRNG_SOURCE_NONE] = "none",
        [DRNG_SOURCE_RDSEED] = "rdseed",
        [DRNG_SOURCE_RDRAND] = "rdrand",
        [DRNG_SOURCE_FALLBACK] = "fallback",
    };
    struct drng_counters *counters = &drng_page.live->counters;
    uint64_t source = value_of(&counters->source);
    if (source == DRNG_SOURCE_NONE && value_of(&counters->seed_failures) == 0) {
        source = drng_report_first_in_line(provctx);
    }
    return drng_process_healthy() ? names[source] : "none";
}

static bool get_counters(OSSL_PARAM params[])
{
    struct drng_counters *c = &drng_page.live->counters;
    const struct drng_requests served = drng_page_requests();
    return drng_params_set_uint64(params, "seeds-rdseed", value_of(&c->seeds_rdseed)) &&
           drng_params_set_uint64(params, "seeds-rdrand", value_of(&c->seeds_rdrand)) &&
           drng_params_set_uint64(params, "seeds-fallback", value_of(&c->seeds_fallback)) &&
           drng_params_set_uint64(params, "seed-failures", value_of(&c->seed_failures)) &&
           drng_params_set_uint64(params, "health-failures",
                                  value_of(&c->rdseed.health_failures) + value_of(&c->rdrand.health_failures)) &&
           drng_params_set_uint64(params, "rdseed-retries", value_of(&c->rdseed.retries)) &&
           drng_params_set_uint64(params, "rdrand-retries", value_of(&c->rdrand.retries)) &&
           drng_params_set_uint64(params, "reseeds", value_of(&c->reseeds)) &&
           drng_params_set_uint64(params, "fork-reseeds", value_of(&c->fork_reseeds)) &&
           drng_params_set_uint64(params, "forks", value_of(&drng_page.head->forks)) &&
           drng_params_set_uint64(params, "requests", served.requests) &&
           drng_params_set_uint64(params, "bytes", served.bytes) &&
           drng_params_set_uint64(params, "last-seed", value_of(&c->last_seed));
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
           get_counters(params);
}
