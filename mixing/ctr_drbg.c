#include "mixing/ctr_drbg.h"

#include <string.h>

#include "mixing/block.h"
#include "mixing/df.h"
#include "mixing/wipe.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    UPDATE_BLOCKS = 3, /* blocks that CTR_DRBG_Update takes: seedlen, rounded up */
};

static size_t seedlen_of(const struct drng_ctr_drbg *drbg)
{
    return drng_ctr_drbg_seedlen(drbg->key_len);
}

static size_t update_blocks(const struct drng_ctr_drbg *drbg)
{
    return (seedlen_of(drbg) + BLOCK - 1) / BLOCK;
}

/* Block `index` of temp XOR provided_data; provided NULL stands for zeros. */
static drng_block next_block(const uint8_t *temp, const uint8_t *provided, size_t index)
{
    const drng_block block = drng_block_load(temp + index * BLOCK);
    return provided != NULL ? block ^ drng_block_load(provided + index * BLOCK) : block;
}

/* Key and V of AES-192 meet in the middle of a block. */
static void split_192(struct drng_ctr_drbg *drbg, drng_block second, drng_block third)
{
    uint8_t both[2 * BLOCK];
    drng_block_store(both, second);
    drng_block_store(both + BLOCK, third);
    memcpy(drbg->key + BLOCK, both, BLOCK / 2);
    memcpy(drbg->v, both + BLOCK / 2, BLOCK);
}

/* 10.2.1.2, steps 4 to 6: the new Key and V. */
static void take_over(struct drng_ctr_drbg *drbg, const uint8_t *temp, const uint8_t *provided)
{
    const drng_block second = next_block(temp, provided, 1);
    drng_block_store(drbg->key, next_block(temp, provided, 0));
    switch (drbg->key_len) {
    case 16:
        drng_block_store(drbg->v, second);
        break;
    case 24:
        split_192(drbg, second, next_block(temp, provided, 2));
        break;
    default:
        drng_block_store(drbg->key + BLOCK, second);
        drng_block_store(drbg->v, next_block(temp, provided, 2));
        break;
    }
}

/* CTR_DRBG_Update (10.2.1.2); provided is DRNG_DRBG_MAX_SEEDLEN bytes, whatever seedlen is. */
static enum drng_status update(struct drng_ctr_drbg *drbg, const uint8_t *provided)
{
    uint8_t temp[UPDATE_BLOCKS * BLOCK];

    const enum drng_status status =
        drbg->aes->ctr(drbg->key, drbg->key_len, drbg->v, NULL, 0, temp, update_blocks(drbg));
    if (status == DRNG_OK) {
        take_over(drbg, temp, provided);
    }
    return status;
}

static void xor_into(uint8_t *out, struct drng_bytes in)
{
    for (size_t i = 0; i < in.len; i++) {
        out[i] ^= in.data[i];
    }
}

/* Without df the inputs are as long as seedlen at most, and what comes after the first is added to it. */
static enum drng_status combine(const struct drng_ctr_drbg *drbg, uint8_t out[DRNG_DRBG_MAX_SEEDLEN],
                                const struct drng_bytes *inputs, size_t count)
{
    memset(out, 0, DRNG_DRBG_MAX_SEEDLEN);
    if (drbg->use_df) {
        return drng_block_cipher_df(drbg->aes, drbg->key_len, out, inputs, count);
    }
    for (size_t i = 0; i < count; i++) {
        xor_into(out, inputs[i]);
    }
    return DRNG_OK;
}

static bool entropy_fits(const struct drng_ctr_drbg *drbg, size_t len)
{
    return drbg->use_df ? len >= drbg->key_len && len <= DRNG_DRBG_MAX_INPUT : len == seedlen_of(drbg);
}

static bool input_fits(const struct drng_ctr_drbg *drbg, size_t len)
{
    return len <= (drbg->use_df ? (size_t)DRNG_DRBG_MAX_INPUT : seedlen_of(drbg));
}

/* df counts the bytes of all its inputs in 32 bits. */
static bool together_fit(const struct drng_bytes *inputs, size_t count)
{
    uint64_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += inputs[i].len;
    }
    return len <= UINT32_MAX;
}

static DRNG_OWN_FRAME enum drng_status update_with_inputs(struct drng_ctr_drbg *drbg, const struct drng_bytes *inputs,
                                                          size_t count)
{
    uint8_t material[DRNG_DRBG_MAX_SEEDLEN];

    const enum drng_status status = combine(drbg, material, inputs, count);
    return status == DRNG_OK ? update(drbg, material) : status;
}

/* What instantiate and reseed share: Update with the combined inputs, and the counters afresh. */
static enum drng_status seed(struct drng_ctr_drbg *drbg, const struct drng_bytes *inputs, size_t count, time_t now)
{
    const enum drng_status status = update_with_inputs(drbg, inputs, count);
    drng_wipe_stack_2048();
    drng_cpu_clear_vectors();
    if (status != DRNG_OK) {
        drng_ctr_drbg_uninstantiate(drbg);
        return status;
    }
    drbg->reseed_counter = 1;
    drbg->reseed_time = now;
    return DRNG_OK;
}

enum drng_status drng_ctr_drbg_instantiate(struct drng_ctr_drbg *drbg, const struct drng_aes *aes, size_t key_len,
                                           bool use_df, struct drng_bytes entropy, struct drng_bytes nonce,
                                           struct drng_bytes personalization, time_t now)
{
    /* 10.2.1.3.1 and .2: Key and V start as zeros. */
    *drbg = (struct drng_ctr_drbg){.aes = aes, .key_len = (uint8_t)key_len, .use_df = use_df};
    const struct drng_bytes inputs[] = {entropy, nonce, personalization};
    const bool nonce_fits = use_df ? nonce.len <= DRNG_DRBG_MAX_INPUT : nonce.len == 0;
    if (!entropy_fits(drbg, entropy.len) || !nonce_fits || !input_fits(drbg, personalization.len) ||
        !together_fit(inputs, 3)) {
        drng_ctr_drbg_uninstantiate(drbg);
        return DRNG_BAD_LENGTH;
    }
    return seed(drbg, inputs, 3, now);
}

enum drng_status drng_ctr_drbg_reseed(struct drng_ctr_drbg *drbg, struct drng_bytes entropy,
                                      struct drng_bytes additional, time_t now)
{
    const struct drng_bytes inputs[] = {entropy, additional};
    if (drbg->reseed_counter == 0) {
        return DRNG_RESEED_NEEDED;
    }
    if (!entropy_fits(drbg, entropy.len) || !input_fits(drbg, additional.len) || !together_fit(inputs, 2)) {
        return DRNG_BAD_LENGTH;
    }
    return seed(drbg, inputs, 2, now);
}

/* 10.2.1.5, step 2: the additional input at its full width, and a first Update with it. */
static DRNG_OWN_FRAME enum drng_status take_in(struct drng_ctr_drbg *drbg, uint8_t provided[DRNG_DRBG_MAX_SEEDLEN],
                                               struct drng_bytes additional, const uint8_t *fresh)
{
    memset(provided, 0, DRNG_DRBG_MAX_SEEDLEN);
    if (additional.len > 0) {
        const enum drng_status status = combine(drbg, provided, &additional, 1);
        if (status != DRNG_OK) {
            return status;
        }
    }
    if (fresh != NULL) {
        uint64_t word;
        memcpy(&word, fresh, sizeof(word));
        drng_block_store(provided, drng_block_load(provided) ^ (drng_block){word, 0});
    }
    return update(drbg, provided);
}

/*
 * Steps 4 to 6. The blocks of the final Update follow those of the output under the same key, so both come from
 * one run of the counter; a last block that the caller wants only a part of is the first of the tail.
 */
static DRNG_OWN_FRAME enum drng_status put_out(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                               const uint8_t *provided)
{
    const size_t whole = out_len / BLOCK;
    const size_t rest = out_len % BLOCK;
    const size_t cut = rest > 0 ? 1 : 0;
    uint8_t tail[(1 + UPDATE_BLOCKS) * BLOCK];

    const enum drng_status status =
        drbg->aes->ctr(drbg->key, drbg->key_len, drbg->v, out, whole, tail, cut + update_blocks(drbg));
    if (status == DRNG_OK) {
        if (rest > 0) {
            memcpy(out + whole * BLOCK, tail, rest);
        }
        take_over(drbg, tail + cut * BLOCK, provided);
    }
    return status;
}

/*
 * All secrets but `provided` are in frames below this one, and nothing on the way wipes its own: they go at once,
 * together with what the compiler made copies of.
 */
static DRNG_OWN_FRAME enum drng_status request_with_input(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                                          struct drng_bytes additional, const uint8_t *fresh)
{
    uint8_t provided[DRNG_DRBG_MAX_SEEDLEN];

    enum drng_status status = take_in(drbg, provided, additional, fresh);
    if (status == DRNG_OK) {
        status = put_out(drbg, out, out_len, provided);
    }
    if (additional.len > 0) {
        drng_wipe_stack_1024();
    } else {
        drng_wipe_stack_512();
    }
    drng_wipe(provided, sizeof(provided));
    return status;
}

static enum drng_status plain_request(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len)
{
    const enum drng_status status = put_out(drbg, out, out_len, NULL);
    drng_wipe_stack_512();
    return status;
}

static enum drng_status make_request(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                     struct drng_bytes additional, const uint8_t *fresh)
{
    const bool plain = additional.len == 0 && fresh == NULL;
    const enum drng_status status =
        plain ? plain_request(drbg, out, out_len) : request_with_input(drbg, out, out_len, additional, fresh);
    drng_cpu_clear_vectors();
    return status;
}

enum drng_status drng_ctr_drbg_generate(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                        struct drng_bytes additional, const uint8_t *fresh)
{
    if (out_len > DRNG_DRBG_MAX_REQUEST || !input_fits(drbg, additional.len)) {
        memset(out, 0, out_len);
        return DRNG_BAD_LENGTH;
    }
    if (drbg->reseed_counter == 0 || drbg->reseed_counter > DRNG_DRBG_MAX_REQUESTS) {
        memset(out, 0, out_len);
        return DRNG_RESEED_NEEDED;
    }
    const enum drng_status status = make_request(drbg, out, out_len, additional, fresh);
    if (status != DRNG_OK) {
        memset(out, 0, out_len);
        drng_ctr_drbg_uninstantiate(drbg);
        return status;
    }
    drbg->reseed_counter++;
    return DRNG_OK;
}

void drng_ctr_drbg_uninstantiate(struct drng_ctr_drbg *drbg)
{
    drng_wipe(drbg, sizeof(*drbg));
}
