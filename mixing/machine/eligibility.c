#include "mixing/machine/eligibility.h"

#include <stddef.h>
#include <string.h>

/* A range of parts whose instruction is known to give words that are not random. */
struct broken_part {
    const char *vendor;
    unsigned first_family;
    unsigned last_family;
    unsigned first_model;
    unsigned last_model;
    bool rdrand;
    bool rdseed;
};

static const struct broken_part broken_parts[] = {
    /* RDRAND constant after suspend, CF = 1 (families 15h and 16h; none of the older ones is known good). */
    {"AuthenticAMD", 0x00, 0x16, 0x00, 0xff, true, true},
    /* RDSEED always 0xffffffff ("Cyan Skillfish"). */
    {"AuthenticAMD", 0x17, 0x17, 0x47, 0x47, false, true},
    /* RDRAND all ones, CF = 1, before a firmware fix that cannot be seen from here (systemd issue 11810). */
    {"AuthenticAMD", 0x17, 0x17, 0x70, 0x7f, true, false},
};

static bool matches(const struct broken_part *part, const struct drng_cpu *cpu)
{
    return strcmp(part->vendor, cpu->vendor) == 0 && cpu->family >= part->first_family &&
           cpu->family <= part->last_family && cpu->model >= part->first_model && cpu->model <= part->last_model;
}

static void look_up(const struct drng_cpu *cpu, bool *rdrand_broken, bool *rdseed_broken)
{
    *rdrand_broken = false;
    *rdseed_broken = false;
    for (size_t i = 0; i < sizeof(broken_parts) / sizeof(*broken_parts); i++) {
        if (matches(&broken_parts[i], cpu)) {
            *rdrand_broken |= broken_parts[i].rdrand;
            *rdseed_broken |= broken_parts[i].rdseed;
        }
    }
}

/* The order of the reasons is that of enum drng_denial. */
static enum drng_denial judge(bool chosen, bool present, bool masked, bool broken, bool vetoed)
{
    if (!chosen) {
        return DRNG_NOT_CHOSEN;
    }
    if (!present) {
        return DRNG_ABSENT;
    }
    if (masked) {
        return DRNG_MASKED;
    }
    if (broken) {
        return DRNG_KNOWN_BROKEN;
    }
    return vetoed ? DRNG_VETOED : DRNG_ALLOWED;
}

struct drng_eligibility drng_eligibility_decide(const struct drng_evidence *e, enum drng_choice choice)
{
    const bool auto_chosen = choice == DRNG_CHOICE_AUTO;
    const bool rdrand_vetoed = e->kernel.known && !e->kernel.rdrand;
    const bool rdseed_vetoed = e->kernel.known && !e->kernel.rdseed;
    bool rdrand_broken = false;
    bool rdseed_broken = false;
    look_up(&e->cpu, &rdrand_broken, &rdseed_broken);
    const struct drng_cpu *cpu = &e->cpu;
    return (struct drng_eligibility){
        .rdseed = judge(choice != DRNG_CHOICE_RDRAND, cpu->rdseed, e->rdseed_masked, rdseed_broken,
                        rdseed_vetoed && auto_chosen),
        .rdrand = judge(choice != DRNG_CHOICE_RDSEED, cpu->rdrand, e->rdrand_masked, rdrand_broken,
                        rdrand_vetoed && auto_chosen),
        /* `source = rdseed` does not override the kernel's veto of RDRAND. */
        .fresh =
            judge(true, cpu->rdrand, e->rdrand_masked, rdrand_broken, rdrand_vetoed && choice != DRNG_CHOICE_RDRAND),
    };
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
