/*
 * Which kernel serves a request, and which implementations a CPU can run; x86-64.
 *
 * Kernels spill round keys and blocks to the stack when they run out of registers. After each kernel a wipe follows
 * that covers its frames. CMakeLists.txt limits the frames, so a compiler that needs more does not build.
 */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"
#include "mixing/machine/vectors_x86.h"
#include "mixing/memory/wipe.h"

typedef void long_request(const struct drng_stretch *stretch, size_t key_len);

DRNG_OWN_FRAME static void count_on(uint8_t v[DRNG_AES_BLOCK], size_t blocks)
{
    struct drng_counter counter = drng_counter_load(v);
    drng_counter_add(&counter, blocks);
    drng_counter_store(v, counter);
}

static inline void serve(long_request *kernel, size_t key_len, const struct drng_stretch *stretch, uint8_t *v)
{
    kernel(stretch, key_len);
    count_on(v, stretch->out_blocks + stretch->tail_blocks);
    drng_wipe_stack_1024();
}

static void ctr_ni(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                   uint8_t *tail, size_t tail_blocks)
{
    const struct drng_stretch stretch = {key, v, out, out_blocks, tail, tail_blocks};
    serve(drng_aes_ni_long, key_len, &stretch, v);
}

static long_request *wide(size_t blocks)
{
    return blocks >= DRNG_AES_VAES256_MIN ? drng_aes_vaes256_long : drng_aes_ni_long;
}

static void ctr_vaes256(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                        uint8_t *tail, size_t tail_blocks)
{
    const struct drng_stretch stretch = {key, v, out, out_blocks, tail, tail_blocks};
    serve(wide(out_blocks), key_len, &stretch, v);
}

static void ctr_vaes512(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                        uint8_t *tail, size_t tail_blocks)
{
    const struct drng_stretch stretch = {key, v, out, out_blocks, tail, tail_blocks};
    serve(out_blocks >= DRNG_AES_VAES512_MIN ? drng_aes_vaes512_long : wide(out_blocks), key_len, &stretch, v);
}

static void request_ni(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                       const uint8_t *provided)
{
    drng_aes_ni_short(key_len, out_len)(key, v, out, out_len, provided);
    drng_cpu_clear_sse();
    drng_wipe_stack_256();
}

static void request_vaes(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                         const uint8_t *provided)
{
    if (out_len <= DRNG_AES_NI_SHORT) {
        request_ni(key, key_len, v, out, out_len, provided);
    } else {
        drng_aes_vaes_short(key_len, out_len)(key, v, out, out_len, provided);
        drng_wipe_stack_512_avx();
        drng_cpu_clear_vectors();
    }
}

const struct drng_aes drng_aes_ni = {.name = "AES-NI",
                                     .fuses = true,
                                     .ctr = ctr_ni,
                                     .cbc = drng_aes_ni_cbc,
                                     .request = request_ni,
                                     .short_len = DRNG_AES_NI_SHORT,
                                     .chains = drng_aes_ni_chains};
const struct drng_aes drng_aes_vaes256 = {.name = "VAES-256",
                                          .fuses = true,
                                          .ctr = ctr_vaes256,
                                          .cbc = drng_aes_ni_cbc,
                                          .request = request_vaes,
                                          .short_len = DRNG_AES_VAES_SHORT,
                                          .chains = drng_aes_ni_chains};
const struct drng_aes drng_aes_vaes512 = {.name = "VAES-512",
                                          .fuses = true,
                                          .ctr = ctr_vaes512,
                                          .cbc = drng_aes_ni_cbc,
                                          .request = request_vaes,
                                          .short_len = DRNG_AES_VAES_SHORT,
                                          .chains = drng_aes_ni_chains};

size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS])
{
    size_t count = 0;
    all[count++] = &drng_aes_portable;
    if (cpu->aes) {
        all[count++] = &drng_aes_ni;
    }
    if (cpu->vaes256) {
        all[count++] = &drng_aes_vaes256;
    }
    if (cpu->vaes512) {
        all[count++] = &drng_aes_vaes512;
    }
    return count;
}
