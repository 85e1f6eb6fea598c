#include "provider/observe/clones.h"

#include <stdio.h>

#include "mixing/machine/clone.h"
#include "provider/observe/messages.h"
#include "provider/process.h"

enum drng_clone_protection drng_clones_protection(const struct drng_provctx *provctx)
{
    if (drng_clone_is_watched()) {
        return DRNG_CLONES_COUNTER;
    }
    if (provctx->mixing == DRNG_MIX_NEVER) {
        return DRNG_CLONES_NONE;
    }
    return drng_request_words_usable(&provctx->words) ? DRNG_CLONES_INSTRUCTION : DRNG_CLONES_KERNEL;
}

const char *drng_clones_name(enum drng_clone_protection protection)
{
    static const char *const names[] = {
        [DRNG_CLONES_NONE] = "none",
        [DRNG_CLONES_KERNEL] = "kernel",
        [DRNG_CLONES_INSTRUCTION] = "instruction",
        [DRNG_CLONES_COUNTER] = "counter",
    };
    return names[protection];
}

const char *drng_clones_reason(enum drng_clone_protection protection)
{
    switch (protection) {
    case DRNG_CLONES_COUNTER:
        return "vmclock tells of each copy of this machine, and generators reseed";
    case DRNG_CLONES_INSTRUCTION:
        return "every request takes in a fresh word of the CPU";
    case DRNG_CLONES_KERNEL:
        return "no instruction gives words: requests take in bytes of the kernel, which may repeat in copies, and the "
               "time";
    case DRNG_CLONES_NONE:
        break;
    }
    return drng_process.evidence.cpu.hypervisor ? "request_mixing = no, and no vmclock can be read"
                                                : "this is no virtual machine";
}

void drng_clones_warn(const struct drng_provctx *provctx)
{
    const enum drng_clone_protection protection = drng_clones_protection(provctx);
    char text[DRNG_MESSAGE_SIZE];
    if (!drng_process.evidence.cpu.hypervisor || protection > DRNG_CLONES_KERNEL) {
        return;
    }
    (void)snprintf(text, sizeof(text),
                   "copies of this machine may draw the same bytes: %s; let this process read /dev/vmclock0, or "
                   "set request_mixing = auto on a CPU with RDRAND",
                   drng_clones_reason(protection));
    drng_message_once(DRNG_SAYS_CLONES, text);
}
