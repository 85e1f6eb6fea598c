/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps quoted here are those of SP 800-90A Rev. 1, 10.2.1. "Key", "V", "temp", "provided_data" and "seedlen" are
 * its names.
 *
 * The code departs from the order of the steps in two places. Without a derivation function the inputs are not padded:
 * shorter ones are added to a buffer of zeros. And Generate computes the blocks of its output and those of its final
 * Update in one run of the counter, since both use the same Key and consecutive values of V.
 *
 * A signal handler may fork at any instruction, and the context may lie in memory that the kernel wipes in the child.
 * So every function first copies the constant part of a context (struct mechanism), and works from this copy: in the
 * child it then computes on zeros, but with a valid cipher and lengths. The caller detects the fork and starts over.
 */
#include "mixing/drbg/ctr_drbg.h"

#include <stdatomic.h>
#include <string.h>

#include "mixing/drbg/df.h"
#include "mixing/machine/wipe.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    UPDATE_BLOCKS = 3, /* blocks of seedlen, rounded up */
};

/*
 * The constant part of a context. Read once in each function, before a fork can wipe the context. Of 16 bytes, which
 * are handed over in registers: in memory they would be read wider than they were written, which takes time.
 */
struct mechanism {
    const struct drng_aes *aes;
    unsigned key_len;
    bool use_df;
};

/*
 * Reads the mechanism, and returns reseed_counter, or 0 if the context has no seed. The counter is read last: if it is
 * not 0 now, the mechanism was valid when it was read. An aes of NULL with a counter above 0 also shows a fork: the
 * mechanism was read as zeros, and the counter is what the child's own seeding left.
 */
static uint64_t read_constants(const struct drng_ctr_drbg *drbg, struct mechanism *m)
{
    *m = (struct mechanism){drbg->aes, drbg->key_len, drbg->use_df};
    atomic_signal_fence(memory_order_seq_cst);
    const uint64_t counter = *(const volatile uint64_t *)&drbg->reseed_counter;
    return m->aes != NULL ? counter : 0;
}

static size_t seedlen_of(const struct mechanism *m)
{
    return DRNG_DRBG_SEEDLEN(m->key_len);
}

static size_t update_blocks(const struct mechanism *m)
{
    return (seedlen_of(m) + BLOCK - 1) / BLOCK;
}

/* Whole blocks at once: see drng_block. */
static void xor_into(uint8_t *out, struct drng_bytes in)
{
    size_t i = 0;
    for (; i + BLOCK <= in.len; i += BLOCK) {
        *(drng_block *)(void *)(out + i) ^= *(const drng_block *)(const void *)(in.data + i);
    }
    for (; i < in.len; i++) {
        out[i] ^= in.data[i];
    }
}

/* 10.2.1.2, steps 5 and 6: "Key = leftmost (temp, keylen). V = rightmost (temp, blocklen)." */
static void set_key_and_v(struct drng_ctr_drbg *drbg, const struct mechanism *m, const uint8_t *temp)
{
    memcpy(drbg->key, temp, m->key_len);
    memcpy(drbg->v, temp + m->key_len, BLOCK);
}

/* Step 4, "temp = temp XOR provided_data", once temp is in Key and V. */
static void add_provided(struct drng_ctr_drbg *drbg, const struct mechanism *m, const uint8_t *provided)
{
    xor_into(drbg->key, (struct drng_bytes){provided, m->key_len});
    xor_into(drbg->v, (struct drng_bytes){provided + m->key_len, BLOCK});
}

/* CTR_DRBG_Update, 10.2.1.2. `provided` has DRNG_DRBG_MAX_SEEDLEN bytes, zeros beyond seedlen. */
static DRNG_OWN_FRAME void update(struct drng_ctr_drbg *drbg, const struct mechanism *m, const uint8_t *provided)
{
    uint8_t temp[UPDATE_BLOCKS * BLOCK];

    /*
     * Steps 1 to 3: "While (len (temp) < seedlen) do V = (V+1) mod 2^blocklen, temp = temp || Block_Encrypt (Key, V)."
     */
    if (m->aes->request != NULL) {
        m->aes->request(drbg->key, m->key_len, drbg->v, NULL, 0, NULL);
    } else {
        m->aes->ctr(drbg->key, m->key_len, drbg->v, NULL, 0, temp, update_blocks(m));
        set_key_and_v(drbg, m, temp);
    }
    add_provided(drbg, m, provided);
}

/* seed_material: the derivation function of all inputs, or without it their XOR, each padded with zeros to seedlen. */
static void combine(const struct mechanism *m, uint8_t out[DRNG_DRBG_MAX_SEEDLEN], const struct drng_bytes *inputs,
                    size_t count)
{
    memset(out, 0, DRNG_DRBG_MAX_SEEDLEN);
    if (m->use_df) {
        drng_block_cipher_df(m->aes, m->key_len, out, inputs, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        xor_into(out, inputs[i]);
    }
}

static bool entropy_fits(const struct mechanism *m, size_t len)
{
    return m->use_df ? len >= m->key_len && len <= DRNG_DRBG_MAX_INPUT : len == seedlen_of(m);
}

static bool input_fits(const struct mechanism *m, size_t len)
{
    return len <= (m->use_df ? (size_t)DRNG_DRBG_MAX_INPUT : seedlen_of(m));
}

/* Block_Cipher_df has the length of its input, L, in 32 bits. */
static bool together_fit(const struct drng_bytes *inputs, size_t count)
{
    uint64_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += inputs[i].len;
    }
    return len <= UINT32_MAX;
}

static DRNG_OWN_FRAME void update_with_inputs(struct drng_ctr_drbg *drbg, const struct mechanism *m,
                                              const struct drng_bytes *inputs, size_t count)
{
    uint8_t material[DRNG_DRBG_MAX_SEEDLEN];

    combine(m, material, inputs, count);
    update(drbg, m, material);
}

/*
 * The steps that Instantiate (10.2.1.3) and Reseed (10.2.1.4) share: seed_material, "(Key, V) = CTR_DRBG_Update
 * (seed_material, Key, V)", "reseed_counter = 1".
 */
static void seed(struct drng_ctr_drbg *drbg, const struct mechanism *m, const struct drng_bytes *inputs, size_t count,
                 time_t now)
{
    update_with_inputs(drbg, m, inputs, count);
    drng_wipe_stack_2048();
    drng_cpu_clear_vectors();
    drbg->reseed_counter = 1;
    drbg->generated = 0;
    drbg->reseed_time = now;
}

enum drng_result drng_ctr_drbg_instantiate(struct drng_ctr_drbg *drbg, const struct drng_aes *aes, size_t key_len,
                                           bool use_df, struct drng_bytes entropy, struct drng_bytes nonce,
                                           struct drng_bytes personalization, time_t now)
{
    /* "Key = 0^keylen. V = 0^blocklen." */
    *drbg = (struct drng_ctr_drbg){.aes = aes, .key_len = (uint8_t)key_len, .use_df = use_df};
    const struct mechanism m = {aes, (unsigned)key_len, use_df};
    const struct drng_bytes inputs[] = {entropy, nonce, personalization};
    const bool nonce_fits = use_df ? nonce.len <= DRNG_DRBG_MAX_INPUT : nonce.len == 0;
    if (!entropy_fits(&m, entropy.len) || !nonce_fits || !input_fits(&m, personalization.len) ||
        !together_fit(inputs, 3)) {
        drng_ctr_drbg_uninstantiate(drbg);
        return DRNG_BAD_LENGTH;
    }
    seed(drbg, &m, inputs, 3, now);
    return DRNG_OK;
}

enum drng_result drng_ctr_drbg_reseed(struct drng_ctr_drbg *drbg, struct drng_bytes entropy,
                                      struct drng_bytes additional, time_t now)
{
    const struct drng_bytes inputs[] = {entropy, additional};
    struct mechanism m;
    if (read_constants(drbg, &m) == 0) {
        return DRNG_RESEED_NEEDED;
    }
    if (!entropy_fits(&m, entropy.len) || !input_fits(&m, additional.len) || !together_fit(inputs, 2)) {
        return DRNG_BAD_LENGTH;
    }
    seed(drbg, &m, inputs, 2, now);
    return DRNG_OK;
}

/*
 * Steps 3 to 6: the output blocks, "returned_bits = leftmost (temp, requested_number_of_bits)", and "(Key, V) =
 * CTR_DRBG_Update (additional_input, Key, V)", to which the caller adds the input. All blocks come from one run of the
 * counter. Whole blocks of output go to `out`. If the request ends with a part of a block, that block comes first in
 * `tail`, and those of Update follow.
 */
static DRNG_OWN_FRAME void output_and_update(struct drng_ctr_drbg *drbg, struct mechanism m, uint8_t *out,
                                             size_t out_len)
{
    const size_t whole = out_len / BLOCK;
    const size_t rest = out_len % BLOCK;
    const size_t cut = rest > 0 ? 1 : 0;
    uint8_t tail[(1 + UPDATE_BLOCKS) * BLOCK];

    m.aes->ctr(drbg->key, m.key_len, drbg->v, out, whole, tail, cut + update_blocks(&m));
    if (rest > 0) {
        memcpy(out + whole * BLOCK, tail, rest);
    }
    set_key_and_v(drbg, &m, tail + cut * BLOCK);
}

/*
 * Step 2: "If (additional_input != Null), then additional_input = Block_Cipher_df (additional_input, seedlen), (Key, V)
 * = CTR_DRBG_Update (additional_input, Key, V)"; without a derivation function it is padded instead. The fresh word is
 * added to the first bytes of the result. Then the rest.
 *
 * Keeps `provided` in a frame of its own. All other secrets are in the frames of the functions called here, which do
 * not wipe them: one wipe below this frame removes them, together with the compiler's copies.
 */
static DRNG_OWN_FRAME void request_with_input(struct drng_ctr_drbg *drbg, struct mechanism m, uint8_t *out,
                                              size_t out_len, struct drng_bytes additional, const uint8_t *fresh)
{
    drng_block provided[UPDATE_BLOCKS] = {{0}};

    if (additional.len > 0) {
        combine(&m, (uint8_t *)provided, &additional, 1);
    }
    if (fresh != NULL) {
        xor_into((uint8_t *)provided, (struct drng_bytes){fresh, DRNG_REQUEST_ENTROPY_LEN});
    }
    update(drbg, &m, (const uint8_t *)provided);
    if (out_len - 1 < m.aes->short_len) {
        m.aes->request(drbg->key, m.key_len, drbg->v, out, out_len, NULL);
    } else {
        output_and_update(drbg, m, out, out_len);
    }
    add_provided(drbg, &m, (const uint8_t *)provided);
    drng_wipe(provided, sizeof(provided));
    if (additional.len > 0) {
        drng_wipe_stack_1024();
    } else {
        drng_wipe_stack_512();
    }
    drng_cpu_clear_vectors();
}

enum drng_result drng_ctr_drbg_generate_any(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                            struct drng_bytes additional, const uint8_t *fresh)
{
    struct mechanism m;
    const uint64_t counter = read_constants(drbg, &m);

    if (out_len > DRNG_DRBG_MAX_REQUEST || (additional.len > 0 && !input_fits(&m, additional.len))) {
        memset(out, 0, out_len);
        return DRNG_BAD_LENGTH;
    }
    /* Step 1: "If reseed_counter > reseed_interval, then return an indication that a reseed is required." */
    if (counter == 0 || counter > DRNG_DRBG_MAX_REQUESTS) {
        memset(out, 0, out_len);
        return DRNG_RESEED_NEEDED;
    }
    if (additional.len > 0 || fresh != NULL) {
        request_with_input(drbg, m, out, out_len, additional, fresh);
    } else {
        output_and_update(drbg, m, out, out_len);
        drng_wipe_stack_512();
        drng_cpu_clear_vectors();
    }
    /* Step 7. */
    drbg->reseed_counter++;
    drbg->generated += out_len;
    return DRNG_OK;
}

void drng_ctr_drbg_uninstantiate(struct drng_ctr_drbg *drbg)
{
    drng_wipe(drbg, sizeof(*drbg));
}
