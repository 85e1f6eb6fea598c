/* SPDX-License-Identifier: Apache-2.0 */
/* Puts into words why an instruction does not serve and what parts copies, whenever that changes. */

#include "provider/observe/report.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mixing/state/clone.h"
#include "mixing/state/fork.h"
#include "provider/process.h"
#include "provider/provctx.h"

/* The instructions that are disabled in this process, a bit each. */
static unsigned disabled_now(void)
{
    unsigned disabled = 0;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const struct drng_instruction *in = &drng_process.machine.instructions[i];
        disabled |= (unsigned)atomic_load_explicit(&in->disabled, memory_order_acquire) << i; /* with failed_test */
    }
    return disabled;
}

/* ---- Why an instruction does not serve ---- */

/* enum drng_last_result */
static uint64_t last_result(unsigned instruction)
{
    return atomic_load_explicit(&drng_process.machine.instructions[instruction].counters->last_result,
                                memory_order_relaxed);
}

/* Appends "RDSEED: " and why to a list in `text`, which always ends with NUL. */
static void append(char *text, size_t size, unsigned instruction, const char *why, const char *more)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s: %s%s", used > 0 ? "; " : "",
                   drng_instruction_rows[instruction].name, why, more);
}

/* `disabled` has a bit for each instruction. */
static void describe(const struct drng_eligibility *eligibility, unsigned disabled, char text[DRNG_TEXT_SIZE])
{
    text[0] = '\0';
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const struct drng_instruction *in = &drng_process.machine.instructions[i];
        const enum drng_denial denial = eligibility->seeds[i];
        if (denial != DRNG_ALLOWED) {
            append(text, DRNG_TEXT_SIZE, i, drng_denial_text(denial), "");
        } else if ((disabled >> i & 1) != 0) {
            const unsigned test = atomic_load_explicit(&in->failed_test, memory_order_relaxed);
            append(text, DRNG_TEXT_SIZE, i, "disabled after failed health tests, the last the ",
                   drng_health_test_name((enum drng_health_test)test));
        }
    }
}

const char *drng_report_unserved(struct drng_provctx *provctx, char why[DRNG_WHY_SIZE])
{
    (void)snprintf(why, DRNG_WHY_SIZE, "%s", drng_report_disabled_reason(provctx));
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const uint64_t last = last_result(i);
        if (provctx->eligibility.seeds[i] == DRNG_ALLOWED && (last == DRNG_LAST_SLOW || last == DRNG_LAST_DRY)) {
            append(why, DRNG_WHY_SIZE, i, last == DRNG_LAST_SLOW ? "too few words" : "no word",
                   " in its time, the next request tries again");
        }
    }
    return why;
}

const char *drng_report_last_result(const struct drng_provctx *provctx, unsigned instruction)
{
    static const char *const texts[] = {
        [DRNG_LAST_NONE] = "not asked",
        [DRNG_LAST_SERVED] = "served",
        [DRNG_LAST_SLOW] = "too slow",
        [DRNG_LAST_DRY] = "dry",
        [DRNG_LAST_FAILED] = "health test failed",
        [DRNG_LAST_DISABLED] = "disabled",
    };
    const enum drng_denial denial = provctx->eligibility.seeds[instruction];
    return denial != DRNG_ALLOWED ? drng_denial_text(denial) : texts[last_result(instruction)];
}

/* ---- Who serves, and what keeps copies apart ---- */

enum drng_source drng_report_first_in_line(const struct drng_provctx *provctx)
{
    const struct drng_seed_policy *policy = &provctx->policy;
    const unsigned disabled = disabled_now();
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        if (policy->instructions[i] != NULL && (disabled >> i & 1) == 0) {
            return DRNG_SOURCE_INSTRUCTION + i;
        }
    }
    return policy->fallback != NULL ? DRNG_SOURCE_FALLBACK : DRNG_SOURCE_NONE;
}

const char *const drng_clone_protections[] = {
    [DRNG_CLONES_NONE] = "none",
    [DRNG_CLONES_KERNEL] = "kernel",
    [DRNG_CLONES_INSTRUCTION] = "instruction",
    [DRNG_CLONES_COUNTER] = "counter",
};

enum drng_clone_protection drng_report_clones(const struct drng_provctx *provctx, const char **reason)
{
    /* A foreign parent gives the same seed in each copy: there a counter does not help either. */
    if (atomic_load_explicit(&provctx->foreign, memory_order_relaxed) > 0) {
        *reason = "a generator takes its seeds from another provider, and mixes in no words";
        return DRNG_CLONES_NONE;
    }
    if (drng_clone_is_watched()) {
        *reason = "vmclock tells of each copy of this machine, and generators reseed";
        return DRNG_CLONES_COUNTER;
    }
    if (provctx->mixing == DRNG_MIX_NEVER) {
        *reason = drng_process.machine.evidence.cpu.hypervisor
                      ? "request_mixing = no, and no vmclock can be read"
                      : "no hypervisor is announced; in a virtual machine that hides "
                        "its own, set request_mixing = yes";
        return DRNG_CLONES_NONE;
    }
    if (drng_request_words_serve(&provctx->words)) {
        *reason = "every request takes in a fresh word of the CPU";
        return DRNG_CLONES_INSTRUCTION;
    }
    *reason =
        "no instruction gives words: requests take in bytes of the kernel, which may repeat in copies, and the time";
    return DRNG_CLONES_KERNEL;
}

/* ---- What is recorded ---- */

/*
 * Records what is true now, for the parameters and for the counters. What is disabled stays so: each text is written
 * once, before it is shown. A signal handler may call this while its own thread is in it: it returns at once, and the
 * thread records the change.
 */
static void explain(struct drng_provctx *provctx)
{
    static _Thread_local bool explains;
    if (explains) {
        return;
    }
    explains = true;
    const enum drng_inside before = drng_guard_note(DRNG_INSIDE); /* a handler that drew might wait for this lock */
    (void)drng_lock(drng_process_lock(DRNG_LOCK_TEXT));
    const unsigned disabled = disabled_now();
    char *reason = provctx->disabled_reasons[disabled];
    if (atomic_load(&provctx->disabled_reason) != reason) {
        describe(&provctx->eligibility, disabled, reason);
        atomic_store(&provctx->disabled_reason, reason);
    }
    const char *clone_reason = NULL;
    const enum drng_clone_protection protection = drng_report_clones(provctx, &clone_reason);
    struct drng_stats_head *head = drng_stats.head;
    head->first_source = drng_report_first_in_line(provctx);
    head->virtual_machine = drng_process.machine.evidence.cpu.hypervisor;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        head->denials[i] = provctx->eligibility.seeds[i];
    }
    drng_stats_text(head->disabled_reason, sizeof(head->disabled_reason), reason);
    drng_stats_text(head->clone_reason, sizeof(head->clone_reason), clone_reason);
    atomic_store_explicit(&head->clone_protection, protection, memory_order_relaxed);
    drng_unlock(drng_process_lock(DRNG_LOCK_TEXT));
    (void)drng_guard_note(before);
    explains = false;
}

void drng_report_foreign(struct drng_provctx *provctx, int change)
{
    const unsigned before = atomic_fetch_add(&provctx->foreign, (unsigned)change);
    if (before == 0 || before + (unsigned)change == 0) {
        explain(provctx);
    }
}

/* Also if it was disabled by another instance. */
const char *drng_report_disabled_reason(struct drng_provctx *provctx)
{
    if (atomic_load(&provctx->disabled_reason) != provctx->disabled_reasons[disabled_now()]) {
        explain(provctx);
    }
    const char *reason = atomic_load(&provctx->disabled_reason);
    return reason != NULL ? reason : "";
}

/* ---- When ---- */

void drng_report_loaded(struct drng_provctx *provctx)
{
    explain(provctx);
    /* The head is complete: it can be read from outside. */
    atomic_store_explicit(&drng_stats.head->layout, DRNG_STATS_LAYOUT, memory_order_release);
}

void drng_report_seed(struct drng_provctx *provctx)
{
    atomic_store(&drng_stats.live->begun, 1);
    atomic_store(&drng_stats.head->forks, drng_fork_generation() - drng_stats.first_generation);
    /* A clock device that has stopped answering, or an instruction that was disabled, changes the protection. */
    const char *clone_reason = NULL;
    (void)drng_report_disabled_reason(provctx);
    if (atomic_load_explicit(&drng_stats.head->clone_protection, memory_order_relaxed) !=
        drng_report_clones(provctx, &clone_reason)) {
        explain(provctx);
    }
}
