/*
 * The counter V in all forms in which the kernels count, beside addition modulo 2^128. The intrinsics are those of
 * models/immintrin.h: plain C of what Intel's manual says that they do. The functions are the product's own.
 */

#include <string.h>

#include "mixing/aes/aes_vaes512.c"
#include "proof.h"

static u128 v_of(struct drng_counter counter)
{
    return (u128)counter.high << 64 | counter.low;
}

static struct drng_counter any_counter(void)
{
    return (struct drng_counter){.high = nondet_u64(), .low = nondet_u64()};
}

/* A block as the 128-bit big-endian number that it is. */
static u128 number_of(const uint8_t bytes[16])
{
    u128 number = 0;
    for (int i = 0; i < 16; i++) {
        number = number << 8 | bytes[i];
    }
    return number;
}

static u128 number_of_vector(__m128i block)
{
    uint8_t bytes[16];
    for (unsigned i = 0; i < 16; i++) {
        bytes[i] = byte_of_vector(block, i);
    }
    return number_of(bytes);
}

/* V as the kernels read it. */
static __m128i vector_of(struct drng_counter counter)
{
    uint8_t bytes[16];
    drng_counter_store(bytes, counter);
    return drng_counter_loaded(bytes);
}

void prove_scalar(void)
{
    struct drng_counter counter = any_counter();
    const u128 v = v_of(counter);
    const uint64_t blocks = nondet_u64();
    uint8_t bytes[16];
    ASSUME(blocks < UINT64_C(1) << 63);
    drng_counter_add(&counter, blocks);
    CLAIM(v_of(counter) == v + blocks, "V + n modulo 2^128");
    drng_counter_store(bytes, counter);
    CLAIM(number_of(bytes) == v + blocks, "V is big-endian in memory");
    const struct drng_counter loaded = drng_counter_load(bytes);
    CLAIM(v_of(loaded) == v + blocks, "and is read as it was written");
    REACHED("a counter");
}

/* Less than 2^63 is added: 65,536 bytes are 4,096 blocks. */
static long long any_few(void)
{
    const long long n = nondet_long();
    ASSUME(n >= 1 && n <= 5000);
    return n;
}

void prove_128_bits(void)
{
    const struct drng_counter counter = any_counter();
    const u128 v = v_of(counter);
    const long long at = any_few();
    const int n = (int)any_few();
    const __m128i from = drng_counter_plus(vector_of(counter), _mm_set_epi64x(0, at));
    CLAIM(number_of_vector(drng_counter_block(from, n)) == v + (u128)at + (u128)n, "the block V + at + n");
    REACHED("blocks");
}

/* Two counters of which each has any distance from V. */
void prove_256_bits(void)
{
    const struct drng_counter counter = any_counter();
    const u128 v = v_of(counter);
    const long long n[2] = {any_few(), any_few()};
    const __m256i wide = _mm256_broadcastsi128_si256(vector_of(counter));
    const __m256i distance = {{_mm_set_epi64x(0, n[0]), _mm_set_epi64x(0, n[1])}};
    const __m256i blocks = drng_counter_blocks(wide, _mm256_add_epi64(wide, distance));
    const unsigned i = nondet_unsigned();
    ASSUME(i < 2);
    CLAIM(number_of_vector(blocks.lane[i]) == v + (u128)n[i], "two blocks at once");
    REACHED("blocks");
}

void prove_512_bits(void)
{
    const struct drng_counter counter = any_counter();
    const u128 v = v_of(counter);
    const long long n[4] = {any_few(), any_few(), any_few(), any_few()};
    const __m512i wide = _mm512_broadcast_i32x4(vector_of(counter));
    const __m512i blocks =
        counter_blocks(wide, _mm512_add_epi64(wide, _mm512_set_epi64(0, n[3], 0, n[2], 0, n[1], 0, n[0])));
    const unsigned i = nondet_unsigned();
    ASSUME(i < 4);
    CLAIM(number_of_vector(blocks.lane[i]) == v + (u128)n[i], "four blocks at once");
    REACHED("blocks");
}
