#include "provider/rand/drbg_apart.h"

#include "mixing/machine/clone.h"
#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/process.h"
#include "provider/rand/drbg_seed.h"
#include "provider/rand/seeding.h"

/* Lies on the stack: the interrupted code may hold the lock of the slots. */
struct apart {
    struct drng_ctr_drbg drbg;
    uint8_t entropy[DRNG_DRBG_MAX_SEEDLEN];
};

static bool serve(const struct drng_drbg *d, struct apart *apart, uint8_t *out, size_t out_len,
                  struct drng_bytes additional)
{
    const size_t entropy_len = drng_drbg_first_entropy_len(d);
    const struct drng_bytes entropy = {apart->entropy, entropy_len};
    const struct drng_bytes nonce = {NULL, 0};
    const struct drng_bytes personalization = {drng_default_personalization, sizeof(drng_default_personalization)};
    return drng_seeding_fill_apart(d->provctx, apart->entropy, entropy_len) &&
           drng_ctr_drbg_instantiate(&apart->drbg, drng_process.aes, d->key_len, d->use_df, entropy, nonce,
                                     personalization, 0) == DRNG_OK &&
           drng_ctr_drbg_generate(&apart->drbg, out, out_len, additional, NULL) == DRNG_OK;
}

bool drng_drbg_generate_apart(const struct drng_drbg *d, uint8_t *out, size_t out_len, struct drng_bytes additional)
{
    struct apart apart;
    uint64_t epoch = 0;
    bool served = false;

    if (!d->own_chain) {
        drng_wipe(out, out_len);
        drng_raise(&d->provctx->core, DRNG_R_BUSY, "its seeds come from a generator that is not drng's");
        return false;
    }
    do {
        epoch = drng_epoch();
        served = serve(d, &apart, out, out_len, additional);
        drng_wipe(&apart, sizeof(apart));
    } while (!drng_epoch_is_still(epoch));
    if (!served) {
        drng_wipe(out, out_len);
    }
    return served;
}
