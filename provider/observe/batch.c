#include "provider/observe/batch.h"

#include "mixing/memory/fork.h"

bool drng_batch_is_on(const struct drng_provctx *provctx)
{
    return provctx->config.batch && !drng_mixes_now(provctx->mixing);
}

/* In the order of settle_mixing(). */
const char *drng_batch_off_reason(const struct drng_provctx *provctx)
{
    if (!provctx->config.batch || !drng_mixes_now(provctx->mixing)) {
        return "";
    }
    if (provctx->config.request_mixing == DRNG_YES) {
        return "request_mixing = yes: every request takes in a fresh word";
    }
    if (!drng_fork_kernel_wipes) {
        return "this kernel does not wipe memory in a child, so every request takes in a fresh word";
    }
    if (provctx->mixing == DRNG_MIX_ALWAYS) {
        return "in a confidential guest every request takes in a fresh word";
    }
    return "in this virtual machine every request takes in a fresh word: let the process read /dev/vmclock0";
}
