#include "provider/report.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "mixing/filter.h"
#include "provider/page.h"
#include "provider/process.h"
#include "provider/provctx.h"
#include "provider/syslog.h"

enum { MESSAGE_SIZE = 768 };

/* ---- Messages ---- */

/* One flag for each kind of message; a child inherits them. */
enum message { DOES_NOT_LOAD, RDSEED_DISABLED, RDRAND_DISABLED, FALLBACK_SERVES, MESSAGES };

static void say_once(enum message message, const char *text)
{
    static atomic_bool said[MESSAGES];
    if (drng_filter_lets_us_call() && !atomic_exchange_explicit(&said[message], true, memory_order_relaxed)) {
        drng_syslog(text);
    }
}

void drng_refuse_at(const struct drng_core *core, const char *file, int line, const char *function,
                    enum drng_reason reason, const char *format, ...)
{
    char data[MESSAGE_SIZE];
    char text[MESSAGE_SIZE + 64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(data, sizeof(data), format, args);
    va_end(args);
    drng_raise_at(core, file, line, function, reason, "%s", data);
    (void)snprintf(text, sizeof(text), "the provider does not load: %s", data);
    say_once(DOES_NOT_LOAD, text);
}

/* ---- What has come to light ---- */

static bool may_serve(const struct drng_instruction *in)
{
    return in != NULL && !atomic_load_explicit(&in->disabled, memory_order_relaxed);
}

enum drng_source drng_report_first_in_line(const struct drng_provctx *provctx)
{
    const struct drng_seed_policy *policy = &provctx->policy;
    if (may_serve(policy->rdseed)) {
        return DRNG_SOURCE_RDSEED;
    }
    if (may_serve(policy->rdrand)) {
        return DRNG_SOURCE_RDRAND;
    }
    return policy->fallback != NULL ? DRNG_SOURCE_FALLBACK : DRNG_SOURCE_NONE;
}

static void explain(struct drng_provctx *provctx)
{
    drng_page_explain(drng_provctx_disabled_reason(provctx), drng_report_first_in_line(provctx));
}

/* Disabled since anybody looked. */
static bool newly_disabled(const struct drng_instruction *in, atomic_bool *known)
{
    return atomic_load_explicit(&in->disabled, memory_order_relaxed) &&
           !atomic_exchange_explicit(known, true, memory_order_relaxed);
}

static void say_disabled(struct drng_provctx *provctx, enum message message, const char *name)
{
    char text[MESSAGE_SIZE];
    (void)snprintf(text, sizeof(text), "%s is not used any more in this process: %s", name,
                   drng_provctx_disabled_reason(provctx));
    say_once(message, text);
}

static void say_fallback(struct drng_provctx *provctx)
{
    char why[DRNG_WHY_SIZE];
    char text[MESSAGE_SIZE];
    drng_provctx_why(provctx, why);
    (void)snprintf(text, sizeof(text), "OpenSSL's default seed source serves in place of the CPU: %s", why);
    say_once(FALLBACK_SERVES, text);
}

/* Once for each instance, and only in the process that loaded it. */
static bool is_first_seed_here(struct drng_provctx *provctx)
{
    return !atomic_exchange_explicit(&provctx->has_asked, true, memory_order_relaxed) &&
           atomic_load_explicit(&drng_page.head->forks, memory_order_relaxed) == provctx->forks_before;
}

void drng_report_loaded(struct drng_provctx *provctx)
{
    provctx->forks_before = atomic_load_explicit(&drng_page.head->forks, memory_order_relaxed);
    explain(provctx);
}

void drng_report_seed(struct drng_provctx *provctx)
{
    static atomic_bool rdseed_known;
    static atomic_bool rdrand_known;
    struct drng_counters *counters = &drng_page.live->counters;
    const bool may_say = is_first_seed_here(provctx);
    const bool rdseed = newly_disabled(&drng_process.rdseed, &rdseed_known);
    const bool rdrand = newly_disabled(&drng_process.rdrand, &rdrand_known);

    if (rdseed || rdrand) {
        explain(provctx);
    }
    if (may_say && rdseed) {
        say_disabled(provctx, RDSEED_DISABLED, drng_process.rdseed.name);
    }
    if (may_say && rdrand) {
        say_disabled(provctx, RDRAND_DISABLED, drng_process.rdrand.name);
    }
    if (may_say && atomic_load_explicit(&counters->source, memory_order_relaxed) == DRNG_SOURCE_FALLBACK) {
        say_fallback(provctx);
    }
}
