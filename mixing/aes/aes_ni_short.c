/*
 * Short requests with AES-NI: nearly all requests are. A function for each size, with a frame of its own.
 *
 * The blocks of the Update come first in the lanes, those of the output behind them, as many as there are. In memory
 * are only the old Key and V, and then the new ones.
 */

#include "mixing/aes/lanes_ni.h"
#include "mixing/memory/wipe.h"

enum { FEW = 4, MOST = DRNG_AES_NI_LANES };

/* key_len and `lanes` are constants wherever this is inlined. */
LANE_INLINE void serve(const struct drng_request request, const size_t key_len, const int lanes)
{
    const __m128i v = drng_counter_loaded(request.v);
    const int updates = drng_aes_updates(key_len);
    struct drng_rest rest = {request.out, request.out_len};
    lane block[MOST];

    count(v, drng_aes_blocks(request.out_len), block, updates);
    count(v, 0, block + updates, lanes - updates);
    keystream(request.key, key_len, block, lanes, NULL);
    DRNG_AES_UNROLL
    for (int i = updates; i < lanes; i++) {
        drng_rest_take(&rest, block[i]);
    }
    drng_aes_set_key_and_v(&request, key_len, block[0], block[1], block[updates - 1]);
}

DRNG_AES_TARGET DRNG_OWN_FRAME static void few_128(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                                   const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 16, FEW);
}

DRNG_AES_TARGET DRNG_OWN_FRAME static void most_128(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                                    const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 16, MOST);
}

DRNG_AES_TARGET DRNG_OWN_FRAME static void few_192(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                                   const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 24, FEW);
}

DRNG_AES_TARGET DRNG_OWN_FRAME static void most_192(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                                    const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 24, MOST);
}

DRNG_AES_TARGET DRNG_OWN_FRAME static void few_256(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                                   const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 32, FEW);
}

DRNG_AES_TARGET DRNG_OWN_FRAME static void most_256(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len,
                                                    const uint8_t *provided)
{
    serve((struct drng_request){key, v, out, out_len, provided}, 32, MOST);
}

static drng_aes_short *kernel_for(size_t key_len, bool few)
{
    switch (key_len) {
    case 16:
        return few ? few_128 : most_128;
    case 24:
        return few ? few_192 : most_192;
    default:
        return few ? few_256 : most_256;
    }
}

drng_aes_short *drng_aes_ni_short(size_t key_len, size_t out_len)
{
    const size_t blocks = drng_aes_blocks(out_len) + (size_t)drng_aes_updates(key_len);
    return kernel_for(key_len, blocks <= FEW);
}
