#include "provider/observe/report.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "provider/observe/claims.h"
#include "provider/observe/clones.h"
#include "provider/observe/messages.h"
#include "provider/observe/reasons.h"
#include "provider/observe/stats.h"
#include "provider/process.h"
#include "provider/provctx.h"

static bool may_serve(const struct drng_instruction *in)
{
    return in != NULL && !atomic_load_explicit(&in->disabled, memory_order_relaxed);
}

enum drng_source drng_report_first_in_line(const struct drng_provctx *provctx)
{
    const struct drng_seed_policy *policy = &provctx->policy;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        if (may_serve(policy->instructions[i])) {
            return DRNG_SOURCE_INSTRUCTION + i;
        }
    }
    return policy->fallback != NULL ? DRNG_SOURCE_FALLBACK : DRNG_SOURCE_NONE;
}

/* Takes the lock of the root, since two threads may ask at once. Writes the text only if it has changed. */
const char *drng_report_disabled_reason(struct drng_provctx *provctx)
{
    char text[DRNG_TEXT_SIZE];
    drng_reasons_disabled(&provctx->eligibility, text);
    if (drng_lock(&provctx->root.slot->lock)) {
        if (strcmp(text, provctx->disabled_reason) != 0) {
            memcpy(provctx->disabled_reason, text, sizeof(text));
        }
        drng_unlock(&provctx->root.slot->lock);
    }
    return provctx->disabled_reason;
}

static void explain(struct drng_provctx *provctx)
{
    const enum drng_clone_protection protection = drng_clones_protection(provctx);
    const enum drng_source first = drng_report_first_in_line(provctx);
    char claim_source[DRNG_CLAIM_TEXT_SIZE];
    drng_claims_source(provctx, first, claim_source);
    const struct drng_stats_account account = {
        .disabled_reason = drng_report_disabled_reason(provctx),
        .first_source = first,
        .virtual_machine = drng_process.evidence.cpu.hypervisor,
        .clone_protection = protection,
        .clone_reason = drng_clones_reason(protection),
        .certified = provctx->config.certified,
        .claim_source = claim_source,
    };
    drng_stats_explain(&account);
}

/* Whether the instruction has been disabled since the last call. */
static bool newly_disabled(unsigned instruction)
{
    static atomic_uint known[DRNG_INSTRUCTIONS]; /* no bool: not every RISC-V can exchange a byte */
    return atomic_load_explicit(&drng_process.instructions[instruction].disabled, memory_order_relaxed) &&
           !atomic_exchange_explicit(&known[instruction], true, memory_order_relaxed);
}

static void say_disabled(struct drng_provctx *provctx, unsigned instruction)
{
    char text[DRNG_MESSAGE_SIZE];
    (void)snprintf(text, sizeof(text), "%s is not used any more in this process: %s",
                   drng_instruction_rows[instruction].name, drng_report_disabled_reason(provctx));
    drng_message_once(DRNG_SAYS_DISABLED + instruction, text);
}

static void say_fallback(const struct drng_provctx *provctx)
{
    char why[DRNG_WHY_SIZE];
    char text[DRNG_MESSAGE_SIZE];
    drng_reasons_unserved(&provctx->eligibility, why);
    (void)snprintf(text, sizeof(text), "OpenSSL's default seed source serves in place of the CPU: %s", why);
    drng_message_once(DRNG_SAYS_FALLBACK_SERVES, text);
}

/* True once for each instance, and only in the process that loaded it. */
static bool is_first_seed_here(struct drng_provctx *provctx)
{
    return !atomic_exchange_explicit(&provctx->has_asked, true, memory_order_relaxed) &&
           atomic_load_explicit(&drng_stats.head->forks, memory_order_relaxed) == provctx->forks_before;
}

void drng_report_loaded(struct drng_provctx *provctx)
{
    provctx->forks_before = atomic_load_explicit(&drng_stats.head->forks, memory_order_relaxed);
    explain(provctx);
    drng_clones_warn(provctx);
}

/* A clock device that has stopped answering, or an instruction that was disabled, changes it. */
static bool clone_protection_has_changed(const struct drng_provctx *provctx)
{
    return atomic_load_explicit(&drng_stats.head->clone_protection, memory_order_relaxed) !=
           drng_clones_protection(provctx);
}

void drng_report_seed(struct drng_provctx *provctx)
{
    const bool may_say = is_first_seed_here(provctx);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        if (newly_disabled(i)) {
            explain(provctx);
            if (may_say) {
                say_disabled(provctx, i);
            }
        }
    }
    if (clone_protection_has_changed(provctx)) {
        explain(provctx);
    }
    if (may_say &&
        atomic_load_explicit(&drng_stats.live->counters.source, memory_order_relaxed) == DRNG_SOURCE_FALLBACK) {
        say_fallback(provctx);
    }
}
