/* Short requests with VAES on 256-bit registers: no CPU lowers its clock for these. See aes_ni_short.c. */

#include "mixing/aes/lanes_vaes256.h"
#include "mixing/memory/wipe.h"

/*
 * Two sizes: requests of up to 128 bytes, and the longest ones. Every lane goes through each round, even if the request
 * does not need it: with a number of lanes that is not constant the compiler would keep them in memory. The blocks of
 * the Update have two lanes.
 */
enum {
    UPDATE_LANES = 2,
    MOST = UPDATE_LANES + DRNG_AES_VAES_SHORT / DRNG_AES_BLOCK / PER_LANE,
    FEWER_LEN = 128,
    FEWER = UPDATE_LANES + FEWER_LEN / DRNG_AES_BLOCK / PER_LANE,
};

LANE_INLINE void put_out(struct drng_rest rest, lane *block, const int lanes)
{
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        drng_rest_take(&rest, _mm256_castsi256_si128(block[i]));
        /* The asm keeps the compiler from extracting all halves at once, which takes more registers than there are. */
        __asm__ volatile("" : "+x"(block[i]));
        drng_rest_take(&rest, _mm256_extracti128_si256(block[i], 1));
    }
}

/* key_len and `lanes` are constants wherever this is inlined. */
LANE_INLINE void serve(const struct drng_request request, const size_t key_len, const int lanes)
{
    const __m128i v = drng_counter_loaded(request.v);
    const struct drng_rest rest = {request.out, request.out_len};
    lane block[MOST];

    count(v, drng_aes_blocks(request.out_len), block, UPDATE_LANES);
    count(v, 0, block + UPDATE_LANES, lanes - UPDATE_LANES);
    keystream(request.key, key_len, block, lanes, NULL);
    put_out(rest, block + UPDATE_LANES, lanes - UPDATE_LANES);
    drng_aes_set_key_and_v(&request, key_len, _mm256_castsi256_si128(block[0]), _mm256_extracti128_si256(block[0], 1),
                           _mm256_castsi256_si128(block[1]));
}

WIDE DRNG_OWN_FRAME static void fewer_128(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                          const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 16, FEWER);
}

WIDE DRNG_OWN_FRAME static void most_128(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                         const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 16, MOST);
}

WIDE DRNG_OWN_FRAME static void fewer_192(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                          const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 24, FEWER);
}

WIDE DRNG_OWN_FRAME static void most_192(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                         const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 24, MOST);
}

WIDE DRNG_OWN_FRAME static void fewer_256(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                          const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 32, FEWER);
}

WIDE DRNG_OWN_FRAME static void most_256(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                         const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 32, MOST);
}

static drng_aes_short *kernel_for(size_t key_len, bool fewer)
{
    switch (key_len) {
    case 16:
        return fewer ? fewer_128 : most_128;
    case 24:
        return fewer ? fewer_192 : most_192;
    default:
        return fewer ? fewer_256 : most_256;
    }
}

drng_aes_short *drng_aes_vaes_short(size_t key_len, size_t out_len)
{
    return kernel_for(key_len, out_len <= FEWER_LEN);
}
