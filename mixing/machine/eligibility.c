/* SPDX-License-Identifier: Apache-2.0 */
/* Says of each instruction whether it may be used: the choice, the CPU, the mask, the broken list, the kernel. */

#include "mixing/machine/eligibility.h"

#include <stddef.h>
#include <string.h>

/* Whether the list has the instruction of this CPU as broken, in a row for which the kernel decides, or in another. */
static bool is_listed(const struct drng_cpu *cpu, int instruction, bool kernel_decides)
{
    for (const struct drng_broken_part *part = drng_broken_parts; part->vendor != NULL; part++) {
        if (part->kernel_decides == kernel_decides && part->broken[instruction] &&
            strcmp(part->vendor, cpu->vendor) == 0 && cpu->family >= part->first_family &&
            cpu->family <= part->last_family && cpu->model >= part->first_model && cpu->model <= part->last_model) {
            return true;
        }
    }
    return false;
}

/* Checks the reasons in the order of enum drng_denial. */
static enum drng_denial judge(const struct drng_evidence *e, int instruction, bool chosen, bool heeds_veto)
{
    if (!chosen) {
        return DRNG_NOT_CHOSEN;
    }
    if (!e->cpu.has[instruction]) {
        return DRNG_ABSENT;
    }
    if (e->masked[instruction]) {
        return DRNG_MASKED;
    }
    if (is_listed(&e->cpu, instruction, false)) {
        return DRNG_KNOWN_BROKEN;
    }
    if (!heeds_veto || !is_listed(&e->cpu, instruction, true)) {
        return DRNG_ALLOWED;
    }
    return !e->kernel.known ? DRNG_UNJUDGED : !e->kernel.has[instruction] ? DRNG_VETOED : DRNG_ALLOWED;
}

bool drng_eligibility_asks_kernel(const struct drng_cpu *cpu)
{
    bool asks = false;
    for (int i = 0; i < DRNG_INSTRUCTIONS; i++) {
        asks |= is_listed(cpu, i, true);
    }
    return asks;
}

struct drng_eligibility drng_eligibility_decide(const struct drng_evidence *e, int choice)
{
    const bool is_auto = choice == DRNG_CHOICE_AUTO;
    struct drng_eligibility eligibility;
    for (int i = 0; i < DRNG_INSTRUCTIONS; i++) {
        eligibility.seeds[i] = judge(e, i, is_auto || choice == i, is_auto);
        /* `source = rdseed` does not override the kernel's veto of RDRAND. */
        eligibility.words[i] = judge(e, i, true, choice != i);
    }
    return eligibility;
}

const char *drng_denial_text(enum drng_denial denial)
{
    static const char *const texts[] = {
        [DRNG_ALLOWED] = "allowed",
        [DRNG_NOT_CHOSEN] = "not chosen by the source key",
        [DRNG_ABSENT] = DRNG_ABSENT_TEXT,
        [DRNG_MASKED] = DRNG_MASKED_TEXT,
        [DRNG_KNOWN_BROKEN] = "known to be broken on this CPU model",
        [DRNG_UNJUDGED] =
            ("broken on some CPUs of this model, and the kernel's verdict is not known (/proc/cpuinfo cannot "
             "be read)"),
        [DRNG_VETOED] = "switched off by the kernel (flag missing in /proc/cpuinfo)",
    };
    return texts[denial];
}
