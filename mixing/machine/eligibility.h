/*
 * eligibility.h - which of the two instructions may feed seeds on this machine.
 */

#ifndef DRNG_ELIGIBILITY_H
#define DRNG_ELIGIBILITY_H

#include <stdbool.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"

/* The operator's choice. */
enum drng_choice { DRNG_CHOICE_AUTO, DRNG_CHOICE_RDSEED, DRNG_CHOICE_RDRAND };

/* Why an instruction may not be used; the first reason that holds, in this order. */
enum drng_denial {
    DRNG_ALLOWED = 0,
    DRNG_NOT_CHOSEN,   /* `source` names the other one */
    DRNG_ABSENT,       /* CPUID */
    DRNG_MASKED,       /* OPENSSL_ia32cap, the kill switch that users of OpenSSL know */
    DRNG_KNOWN_BROKEN, /* the list of parts; inside a virtual machine too */
    DRNG_VETOED,       /* the kernel cleared the flag in /proc/cpuinfo; an explicit choice overrides this one */
};

/* All that is known about the machine. */
struct drng_evidence {
    struct drng_cpu cpu;
    bool rdrand_masked;
    bool rdseed_masked;
    struct drng_kernel_flags kernel;
};

struct drng_eligibility {
    enum drng_denial rdseed; /* as a source of seeds */
    enum drng_denial rdrand; /* the same */
    enum drng_denial fresh;  /* RDRAND for what is no seed, whatever `source` names */
};

struct drng_eligibility drng_eligibility_decide(const struct drng_evidence *evidence, enum drng_choice choice);

/* The denial as part of a sentence: "not in this CPU". */
const char *drng_denial_text(enum drng_denial denial);

#endif
