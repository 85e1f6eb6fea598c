/*
 * keystream_x86.h - AES on several blocks at once, with the round keys computed on the way: no schedule is read from
 * memory, and the latency of the key schedule hides the rounds.
 *
 * A template: the file that includes it defines before
 *
 *     lane             a register of one block or more
 *     LANE_INLINE      the attributes of a function on lanes
 *     add_round_key(), do_round(), do_last_round()    the three steps of AES that take a round key, each on every lane
 *
 * `lanes` is a constant wherever these functions are inlined, and save is NULL or a pointer to a schedule: it receives
 * the round keys, for further blocks. Each round key is computed before the round with the one before it, since a CPU
 * begins with what stands first, and the next round key is what everything waits for.
 */

/* As many round keys as Nk = 4 has round constants, FIPS 197, 5.2. */
#define DRNG_AES_RCONS                                                                                                 \
    {                                                                                                                  \
        0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36                                                     \
    }

LANE_INLINE void keep(__m128i **rk, __m128i round_key)
{
    if (*rk != NULL) {
        *(*rk)++ = round_key;
    }
}

LANE_INLINE void keystream_128(const uint8_t *key, lane *block, const int lanes, __m128i *rk)
{
    static const int rcon[] = DRNG_AES_RCONS;
    __m128i round_key = _mm_loadu_si128((const __m128i *)key);
    __m128i rest = drng_aes_rest(round_key);
    add_round_key(block, lanes, round_key);
    keep(&rk, round_key);
    drng_aes_next_with_rest(&round_key, &rest, round_key, 3, rcon[0]);
    keep(&rk, round_key);
    DRNG_AES_UNROLL
    for (int i = 1; i < 10; i++) {
        const __m128i before = round_key;
        drng_aes_next_with_rest(&round_key, &rest, round_key, 3, rcon[i]);
        round_key = drng_aes_now(round_key);
        keep(&rk, round_key);
        do_round(block, lanes, before);
    }
    do_last_round(block, lanes, round_key);
}

/* Two steps yield three round keys: see drng_aes_step_192(). */
LANE_INLINE void keystream_192(const uint8_t *key, lane *block, const int lanes, __m128i *rk)
{
    __m128i low = _mm_loadu_si128((const __m128i *)key);
    __m128i high = _mm_loadl_epi64((const __m128i *)(key + 16));
    __m128i rest = drng_aes_rest(low);
    add_round_key(block, lanes, low);
    keep(&rk, low);
    DRNG_AES_UNROLL
    for (int rcon = 1; rcon < 0x100; rcon <<= 2) {
        const __m128i before = high;
        drng_aes_step_192(&low, &rest, &high, rcon);
        const __m128i one = _mm_unpacklo_epi64(before, low);
        const __m128i two = _mm_unpacklo_epi64(_mm_srli_si128(low, 8), high);
        drng_aes_step_192(&low, &rest, &high, rcon << 1);
        low = drng_aes_now(low);
        keep(&rk, one);
        keep(&rk, two);
        keep(&rk, low);
        do_round(block, lanes, one);
        do_round(block, lanes, two);
        if (rcon < 0x40) {
            do_round(block, lanes, low);
        } else {
            do_last_round(block, lanes, low);
        }
    }
}

LANE_INLINE void keystream_256(const uint8_t *key, lane *block, const int lanes, __m128i *rk)
{
    __m128i even = _mm_loadu_si128((const __m128i *)key);
    __m128i odd = _mm_loadu_si128((const __m128i *)(key + 16));
    add_round_key(block, lanes, even);
    keep(&rk, even);
    keep(&rk, odd);
    DRNG_AES_UNROLL
    for (int rcon = 1; rcon < 0x40; rcon <<= 1) {
        even = drng_aes_now(drng_aes_next_key(even, odd, rcon));
        keep(&rk, even);
        do_round(block, lanes, odd);
        odd = drng_aes_now(drng_aes_next_odd_key(odd, even));
        keep(&rk, odd);
        do_round(block, lanes, even);
    }
    even = drng_aes_now(drng_aes_next_key(even, odd, 0x40));
    keep(&rk, even);
    do_round(block, lanes, odd);
    do_last_round(block, lanes, even);
}

/* key_len is 16, 24 or 32. */
LANE_INLINE void keystream(const uint8_t *key, size_t key_len, lane *block, const int lanes, __m128i *save)
{
    switch (key_len) {
    case 16:
        keystream_128(key, block, lanes, save);
        break;
    case 24:
        keystream_192(key, block, lanes, save);
        break;
    default:
        keystream_256(key, block, lanes, save);
        break;
    }
}
