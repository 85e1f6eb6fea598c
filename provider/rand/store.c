#include "provider/rand/store.h"

#include "mixing/memory/wipe.h"

void drng_store_erase(struct drng_drbg *d)
{
    if (d->store == NULL) {
        return;
    }
    d->secrets->stored = 0;
    atomic_signal_fence(memory_order_seq_cst);
    drng_wipe(d->store, DRNG_STORE_SIZE);
}

enum drng_result drng_store_fill(struct drng_drbg *d)
{
    const struct drng_bytes nothing = {NULL, 0};
    d->secrets->stored = 0;
    const enum drng_result status = drng_ctr_drbg_generate(&d->secrets->drbg, d->store, DRNG_STORE_SIZE, nothing, NULL);
    if (status == DRNG_OK) {
        d->secrets->stored = DRNG_STORE_SIZE;
    }
    return status;
}
