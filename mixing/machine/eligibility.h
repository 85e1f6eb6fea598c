/*
 * eligibility.h - which of the instructions may feed seeds on this machine.
 */

#ifndef DRNG_ELIGIBILITY_H
#define DRNG_ELIGIBILITY_H

#include <stdbool.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"

/* The operator's choice: the place of an instruction's row, or this. */
enum { DRNG_CHOICE_AUTO = -1 };

/* Why an instruction may not be used; the first reason that holds, in this order. */
enum drng_denial {
    DRNG_ALLOWED = 0,
    DRNG_NOT_CHOSEN,   /* `source` names another */
    DRNG_ABSENT,       /* CPUID */
    DRNG_MASKED,       /* OPENSSL_ia32cap, the kill switch that users of OpenSSL know */
    DRNG_KNOWN_BROKEN, /* the list of parts; inside a virtual machine too */
    DRNG_VETOED,       /* the kernel cleared the flag in /proc/cpuinfo; an explicit choice overrides this one */
};

/* All that is known about the machine. */
struct drng_evidence {
    struct drng_cpu cpu;
    bool masked[DRNG_INSTRUCTIONS];
    struct drng_kernel_flags kernel;
};

struct drng_eligibility {
    enum drng_denial seeds[DRNG_INSTRUCTIONS]; /* each as a source of seeds */
    enum drng_denial words;                    /* DRNG_WORDS_INSTRUCTION for what is no seed, whatever `source` names */
};

struct drng_eligibility drng_eligibility_decide(const struct drng_evidence *evidence, int choice);

/* The denial as part of a sentence: "not in this CPU". */
const char *drng_denial_text(enum drng_denial denial);

#endif
