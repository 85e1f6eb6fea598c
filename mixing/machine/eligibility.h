/* SPDX-License-Identifier: Apache-2.0 */
/* eligibility.h - which instructions may be used on this machine. */

#pragma once

#include <stdbool.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"

/* The operator's choice is the index of an instruction, or this. */
enum { DRNG_CHOICE_AUTO = -1 };

/* Why an instruction may not be used: the first reason in this order that holds. */
enum drng_denial {
    DRNG_ALLOWED = 0,
    DRNG_NOT_CHOSEN,   /* the key `source` names another instruction */
    DRNG_ABSENT,       /* CPUID does not report it */
    DRNG_MASKED,       /* by the switch that users of OpenSSL know: OPENSSL_ia32cap, OPENSSL_armcap */
    DRNG_KNOWN_BROKEN, /* in the list of broken CPU models; applies inside a virtual machine, too */
    /* On a CPU of the list for which the kernel decides, unless `source` names the instruction: */
    DRNG_UNJUDGED, /* the kernel's verdict cannot be heard */
    DRNG_VETOED,   /* the kernel cleared its flag in /proc/cpuinfo */
};

/* The facts on which the decision rests. */
struct drng_evidence {
    struct drng_cpu cpu;
    bool masked[DRNG_INSTRUCTIONS];
    struct drng_kernel_flags kernel; /* of a CPU for which the kernel is asked */
};

struct drng_eligibility {
    enum drng_denial seeds[DRNG_INSTRUCTIONS]; /* whether each may make seeds */
    enum drng_denial words[DRNG_INSTRUCTIONS]; /* whether each may give words that are no seed, whatever `source` is */
};

/* Whether the kernel knows more of this CPU's instructions than its name tells: then /proc/cpuinfo is read. */
bool drng_eligibility_asks_kernel(const struct drng_cpu *cpu);

struct drng_eligibility drng_eligibility_decide(const struct drng_evidence *evidence, int choice);

/* The denial as a part of a sentence: "not in this CPU". */
const char *drng_denial_text(enum drng_denial denial);
