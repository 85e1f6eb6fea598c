#include "mixing/machine/eligibility.h"

#include <stddef.h>
#include <string.h>

/* A range of CPU models whose instruction is known to return words that are not random. */
struct broken_part {
    const char *vendor;
    unsigned first_family;
    unsigned last_family;
    unsigned first_model;
    unsigned last_model;
    bool broken[DRNG_INSTRUCTIONS];
};

static const struct broken_part broken_parts[] = {
    /* RDRAND constant after suspend, CF = 1 (families 15h and 16h; no older family is known to be good). */
    {"AuthenticAMD", 0x00, 0x16, 0x00, 0xff, {[DRNG_RDRAND] = true, [DRNG_RDSEED] = true}},
    /* RDSEED always 0xffffffff ("Cyan Skillfish"). */
    {"AuthenticAMD", 0x17, 0x17, 0x47, 0x47, {[DRNG_RDSEED] = true}},
    /* RDRAND all ones, CF = 1, before a firmware fix that software cannot detect (systemd issue 11810). */
    {"AuthenticAMD", 0x17, 0x17, 0x70, 0x7f, {[DRNG_RDRAND] = true}},
};

static bool matches(const struct broken_part *part, const struct drng_cpu *cpu)
{
    return strcmp(part->vendor, cpu->vendor) == 0 && cpu->family >= part->first_family &&
           cpu->family <= part->last_family && cpu->model >= part->first_model && cpu->model <= part->last_model;
}

static bool is_known_broken(const struct drng_cpu *cpu, int instruction)
{
    bool broken = false;
    for (size_t i = 0; i < sizeof(broken_parts) / sizeof(*broken_parts); i++) {
        broken |= broken_parts[i].broken[instruction] && matches(&broken_parts[i], cpu);
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
        return "masked by OPENSSL_ia32cap";
    case DRNG_KNOWN_BROKEN:
        return "known to be broken on this CPU model";
    case DRNG_VETOED:
        return "switched off by the kernel (flag missing in /proc/cpuinfo)";
    }
    return "not allowed";
}
