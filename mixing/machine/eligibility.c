#include "mixing/machine/eligibility.h"

#include <stddef.h>
#include <string.h>

static bool matches(const struct drng_broken_part *part, const struct drng_cpu *cpu)
{
    return strcmp(part->vendor, cpu->vendor) == 0 && cpu->family >= part->first_family &&
           cpu->family <= part->last_family && cpu->model >= part->first_model && cpu->model <= part->last_model;
}

static bool is_known_broken(const struct drng_cpu *cpu, int instruction)
{
    bool broken = false;
    for (const struct drng_broken_part *part = drng_broken_parts; part->vendor != NULL; part++) {
        broken |= part->broken[instruction] && matches(part, cpu);
    }
    return broken;
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
    if (is_known_broken(&e->cpu, instruction)) {
        return DRNG_KNOWN_BROKEN;
    }
    return heeds_veto && e->kernel.known && !e->kernel.has[instruction] ? DRNG_VETOED : DRNG_ALLOWED;
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
    switch (denial) {
    case DRNG_ALLOWED:
        return "allowed";
    case DRNG_NOT_CHOSEN:
        return "not chosen by the source key";
    case DRNG_ABSENT:
        return "not in this CPU";
    case DRNG_MASKED:
        return DRNG_MASKED_TEXT;
    case DRNG_KNOWN_BROKEN:
        return "known to be broken on this CPU model";
    case DRNG_VETOED:
        return "switched off by the kernel (flag missing in /proc/cpuinfo)";
    case DRNG_UNCERTIFIED:
        return "drng knows no certificate for it on this CPU (claim = certified)";
    }
    return "not allowed";
}
