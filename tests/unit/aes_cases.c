/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/aes_cases.h"

#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/reference.h"
#include "tests/unit/unit.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    GUARD = 64,
    TAIL_MAX = DRNG_AES_TAIL,
    AES_REQUEST_MAX = 256,
    CANARY = 0xc3,
    STATE = DRNG_AES_MAX_KEY + DRNG_AES_BLOCK
};

static const struct drng_aes *subject;
static const size_t key_lens[] = {16, 24, 32};

void aes_cases_about(const struct drng_aes *aes)
{
    subject = aes;
}

/* ---- One call, with nothing but canaries around what it may touch ---- */

/* Whether room[0..room_len) is `expected` at `at`, and canaries everywhere else. */
static bool holds_only(const uint8_t *room, size_t room_len, size_t at, const uint8_t *expected, size_t len)
{
    return bytes_are(room, at, CANARY) && memcmp(room + at, expected, len) == 0 &&
           bytes_are(room + at + len, room_len - at - len, CANARY);
}

bool aes_ctr_is_right(const struct aes_ctr_run *run)
{
    static uint8_t expected[(AES_RUN_MAX + TAIL_MAX) * BLOCK];
    static _Alignas(64) uint8_t out[AES_RUN_MAX * BLOCK + 3 * GUARD];
    static _Alignas(64) uint8_t tail[TAIL_MAX * BLOCK + 3 * GUARD];
    _Alignas(64) uint8_t key[DRNG_AES_MAX_KEY + GUARD];
    _Alignas(64) uint8_t v[3 * GUARD];
    const size_t at = GUARD + run->shift;
    const size_t out_len = run->out_blocks * BLOCK;
    const size_t tail_len = run->tail_blocks * BLOCK;
    uint8_t last[BLOCK];

    memcpy(last, run->v, BLOCK);
    reference_keystream(run->key, run->key_len, last, expected, run->out_blocks + run->tail_blocks);

    memset(out, CANARY, out_len + 3 * GUARD);
    memset(tail, CANARY, sizeof(tail));
    memset(v, CANARY, sizeof(v));
    memcpy(v + at, run->v, BLOCK);
    memcpy(key + run->shift, run->key, run->key_len);
    subject->ctr(key + run->shift, run->key_len, v + at, out_len > 0 ? out + at : NULL, run->out_blocks,
                 tail_len > 0 ? tail + at : NULL, run->tail_blocks);
    return holds_only(out, out_len + 3 * GUARD, at, expected, out_len) &&
           holds_only(tail, sizeof(tail), at, expected + out_len, tail_len) &&
           holds_only(v, sizeof(v), at, last, BLOCK) && memcmp(key + run->shift, run->key, run->key_len) == 0;
}

/* The new Key and V, one behind the other: CTR_DRBG_Update, from the blocks that follow `last`. */
static void expect_update(const uint8_t *key, size_t key_len, const uint8_t *fresh, uint8_t *last, uint8_t state[STATE])
{
    reference_keystream(key, key_len, last, state, 3);
    for (size_t i = 0; fresh != NULL && i < DRNG_REQUEST_ENTROPY_LEN; i++) {
        state[i] ^= fresh[i];
    }
}

bool aes_request_is_right(const struct aes_request_run *run)
{
    _Alignas(64) uint8_t key[3 * GUARD];
    _Alignas(64) uint8_t v[3 * GUARD];
    _Alignas(64) uint8_t out[AES_REQUEST_MAX + 3 * GUARD];
    uint8_t expected[AES_REQUEST_MAX + BLOCK];
    uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN + GUARD];
    uint8_t first[STATE]; /* Key and V from which the output comes */
    uint8_t state[STATE];
    uint8_t last[BLOCK];
    const size_t at = GUARD + run->shift;
    uint64_t random = run->out_len;
    const uint8_t *used = run->with_fresh ? fresh + run->shift : NULL;

    bytes_random(&random, fresh, sizeof(fresh));
    memcpy(first, run->key, run->key_len);
    memcpy(last, run->v, BLOCK);
    if (run->with_fresh) {
        expect_update(run->key, run->key_len, used, last, first);
        memcpy(last, first + run->key_len, BLOCK);
    }
    reference_keystream(first, run->key_len, last, expected, (run->out_len + BLOCK - 1) / BLOCK);
    expect_update(first, run->key_len, used, last, state);

    memset(key, CANARY, sizeof(key));
    memset(v, CANARY, sizeof(v));
    memset(out, CANARY, sizeof(out));
    memcpy(key + GUARD, run->key, run->key_len);
    memcpy(v + at, run->v, BLOCK);
    subject->request(key + GUARD, run->key_len, v + at, out + at, run->out_len, used);
    memset(key + GUARD + run->key_len, CANARY, DRNG_AES_MAX_KEY - run->key_len); /* there it may write what it likes */
    return holds_only(out, sizeof(out), at, expected, run->out_len) &&
           holds_only(key, sizeof(key), GUARD, state, run->key_len) &&
           holds_only(v, sizeof(v), at, state + run->key_len, BLOCK);
}

/* SP 800-38A, 6.2; returns the last block of ciphertext in chain. */
static void expect_cbc(const struct aes_cbc_run *run, const uint8_t *in, uint8_t *expected, uint8_t chain[BLOCK])
{
    memcpy(chain, run->iv, BLOCK);
    for (size_t i = 0; i < run->blocks; i++) {
        for (size_t j = 0; j < BLOCK; j++) {
            chain[j] ^= run->without_in ? 0 : in[i * BLOCK + j];
        }
        reference_encrypt(run->key, run->key_len, chain, chain);
        memcpy(expected + i * BLOCK, chain, BLOCK);
    }
}

bool aes_cbc_is_right(const struct aes_cbc_run *run)
{
    _Alignas(64) uint8_t in[AES_CBC_MAX * BLOCK + GUARD];
    _Alignas(64) uint8_t out[AES_CBC_MAX * BLOCK + 3 * GUARD];
    _Alignas(64) uint8_t key[DRNG_AES_MAX_KEY + GUARD];
    _Alignas(64) uint8_t chain[3 * GUARD];
    uint8_t expected[AES_CBC_MAX * BLOCK];
    uint8_t last[BLOCK];
    const size_t at = GUARD + run->shift;
    uint64_t state = run->blocks;

    bytes_random(&state, in, sizeof(in));
    expect_cbc(run, in + run->shift, expected, last);

    memset(out, CANARY, sizeof(out));
    memset(chain, CANARY, sizeof(chain));
    memcpy(chain + at, run->iv, BLOCK);
    memcpy(key + run->shift, run->key, run->key_len);
    subject->cbc(key + run->shift, run->key_len, chain + at, run->without_out ? NULL : out + at,
                 run->without_in ? NULL : in + run->shift, run->blocks);
    return holds_only(out, sizeof(out), at, expected, run->without_out ? 0 : run->blocks * BLOCK) &&
           holds_only(chain, sizeof(chain), at, last, BLOCK);
}

/* ---- Known answers ---- */

/* SP 800-38A, F.2.1, F.2.3, F.2.5 (CBC), F.5.1, F.5.3, F.5.5 (CTR), and FIPS 197, appendix C; by key size. */
static const struct {
    const char *key;
    const char *cbc;
    const char *ctr;
    const char *fips_197;
} known[] = {
    {"2b7e151628aed2a6abf7158809cf4f3c",
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
     "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
     "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
     "69c4e0d86a7b0430d8cdb78070b4c55a"},
    {"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
     "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
     "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
     "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
     "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
     "dda97ca4864cdfe06eaf70a0ec0d7191"},
    {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
     "8ea2b7ca516745bfeafc49904b496089"},
};
enum { KNOWN = sizeof(known) / sizeof(*known), EXAMPLE_LEN = 64 };

static const char plaintext[] = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                                "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

UNIT_TEST("FIPS 197's examples are met")
{
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t in[BLOCK];
    uint8_t expected[BLOCK];
    bytes_from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", key, sizeof(key));
    bytes_from_hex("00112233445566778899aabbccddeeff", in, sizeof(in));
    for (size_t i = 0; i < KNOWN; i++) {
        uint8_t chain[BLOCK] = {0};
        uint8_t v[BLOCK];
        uint8_t out[BLOCK];
        bytes_from_hex(known[i].fips_197, expected, sizeof(expected));
        subject->cbc(key, key_lens[i], chain, NULL, in, 1);
        CU_ASSERT_EQUAL(memcmp(chain, expected, BLOCK), 0);
        /* V is incremented first. */
        memcpy(v, in, BLOCK);
        v[15]--;
        subject->ctr(key, key_lens[i], v, out, 1, NULL, 0);
        CU_ASSERT_EQUAL(memcmp(out, expected, BLOCK), 0);
    }
}

UNIT_TEST("SP 800-38A's examples of CBC are met")
{
    uint8_t in[EXAMPLE_LEN];
    bytes_from_hex(plaintext, in, sizeof(in));
    for (size_t i = 0; i < KNOWN; i++) {
        uint8_t key[DRNG_AES_MAX_KEY];
        uint8_t chain[BLOCK];
        uint8_t out[EXAMPLE_LEN];
        uint8_t expected[EXAMPLE_LEN];
        bytes_from_hex(known[i].key, key, key_lens[i]);
        bytes_from_hex(known[i].cbc, expected, sizeof(expected));
        bytes_from_hex("000102030405060708090a0b0c0d0e0f", chain, sizeof(chain));
        subject->cbc(key, key_lens[i], chain, out, in, EXAMPLE_LEN / BLOCK);
        CU_ASSERT_EQUAL(memcmp(out, expected, EXAMPLE_LEN), 0);
        CU_ASSERT_EQUAL(memcmp(chain, expected + EXAMPLE_LEN - BLOCK, BLOCK), 0);
    }
}

UNIT_TEST("SP 800-38A's examples of CTR are met")
{
    uint8_t in[EXAMPLE_LEN];
    uint8_t last[BLOCK];
    bytes_from_hex(plaintext, in, sizeof(in));
    bytes_from_hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdff02", last, sizeof(last));
    for (size_t i = 0; i < KNOWN; i++) {
        uint8_t key[DRNG_AES_MAX_KEY];
        uint8_t v[BLOCK];
        uint8_t out[EXAMPLE_LEN];
        uint8_t expected[EXAMPLE_LEN];
        bytes_from_hex(known[i].key, key, key_lens[i]);
        bytes_from_hex(known[i].ctr, expected, sizeof(expected));
        bytes_from_hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfefe", v, sizeof(v));
        subject->ctr(key, key_lens[i], v, out, 3, out + 3 * BLOCK, 1);
        for (size_t j = 0; j < EXAMPLE_LEN; j++) {
            out[j] ^= in[j];
        }
        CU_ASSERT_EQUAL(memcmp(out, expected, EXAMPLE_LEN), 0);
        CU_ASSERT_EQUAL(memcmp(v, last, BLOCK), 0);
    }
}

/* ---- Agreement with the reference ---- */

/* Another key and counter for each state; the low halves of the counters are far from a carry. */
static struct aes_ctr_run ctr_run(uint64_t *state, size_t key_len, size_t out_blocks, size_t tail_blocks)
{
    struct aes_ctr_run run = {.key_len = key_len, .out_blocks = out_blocks, .tail_blocks = tail_blocks};
    bytes_random(state, run.key, sizeof(run.key));
    bytes_random(state, run.v, sizeof(run.v));
    run.v[8] &= 0x7f;
    return run;
}

UNIT_TEST("CTR agrees at every length")
{
    uint64_t state = 1;
    for (size_t i = 0; i < 3; i++) {
        for (size_t out_blocks = 0; out_blocks <= 100; out_blocks++) {
            for (size_t tail_blocks = 0; tail_blocks <= 4; tail_blocks++) {
                const struct aes_ctr_run run = ctr_run(&state, key_lens[i], out_blocks, tail_blocks);
                CU_ASSERT_TRUE(aes_ctr_is_right(&run));
            }
        }
    }
}

UNIT_TEST("CTR agrees on long runs")
{
    static const size_t lengths[] = {255, 256, 257, 1000, 4095, 4096, 4097, 8200};
    uint64_t state = 2;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        const struct aes_ctr_run run = ctr_run(&state, key_lens[i % 3], lengths[i], i % 5);
        CU_ASSERT_TRUE(aes_ctr_is_right(&run));
    }
}

UNIT_TEST("CTR carries at every position")
{
    uint64_t state = 3;
    for (unsigned bits = 32; bits <= 128; bits *= 2) {
        for (unsigned before = 0; before < 75; before++) {
            for (size_t i = 0; i < 3; i++) {
                struct aes_ctr_run run = ctr_run(&state, key_lens[i], 70, 3);
                reference_before_carry(run.v, bits, before);
                CU_ASSERT_TRUE(aes_ctr_is_right(&run));
            }
        }
    }
}

/* The short runs have a way of their own. */
UNIT_TEST("CTR carries in short runs")
{
    uint64_t state = 4;
    for (unsigned bits = 32; bits <= 128; bits *= 2) {
        for (unsigned before = 0; before < 24; before++) {
            for (size_t out_blocks = 0; out_blocks < 20; out_blocks++) {
                struct aes_ctr_run run = ctr_run(&state, 32, out_blocks, 3);
                reference_before_carry(run.v, bits, before);
                CU_ASSERT_TRUE(aes_ctr_is_right(&run));
            }
        }
    }
}

UNIT_TEST("CTR takes unaligned pointers")
{
    uint64_t state = 5;
    for (size_t shift = 0; shift < 64; shift++) {
        struct aes_ctr_run run = ctr_run(&state, key_lens[shift % 3], shift % 2 == 0 ? 3 : 75, 4);
        run.shift = shift;
        CU_ASSERT_TRUE(aes_ctr_is_right(&run));
    }
}

/* ---- Requests ---- */

static struct aes_request_run request_run(uint64_t *state, size_t key_len, size_t out_len)
{
    struct aes_request_run run = {.key_len = key_len, .out_len = out_len};
    bytes_random(state, run.key, sizeof(run.key));
    bytes_random(state, run.v, sizeof(run.v));
    return run;
}

UNIT_TEST("requests agree at every length")
{
    uint64_t state = 8;
    for (size_t i = 0; subject->request != NULL && i < 3; i++) {
        for (size_t out_len = 0; out_len <= subject->short_len; out_len++) {
            struct aes_request_run run = request_run(&state, key_lens[i], out_len);
            CU_ASSERT_TRUE(out_len == 0 || aes_request_is_right(&run));
            run.with_fresh = true;
            CU_ASSERT_TRUE(aes_request_is_right(&run));
        }
    }
}

UNIT_TEST("requests carry at every position")
{
    uint64_t state = 9;
    for (unsigned bits = 32; subject->request != NULL && bits <= 128; bits *= 2) {
        for (unsigned before = 0; before < 24; before++) {
            for (size_t blocks = 0; blocks <= subject->short_len / BLOCK; blocks++) {
                struct aes_request_run run = request_run(&state, key_lens[(blocks + before) % 3], blocks * BLOCK);
                run.with_fresh = before % 2 == 0 || blocks == 0;
                reference_before_carry(run.v, bits, before);
                CU_ASSERT_TRUE(aes_request_is_right(&run));
            }
        }
    }
}

UNIT_TEST("requests take unaligned pointers")
{
    uint64_t state = 10;
    for (size_t shift = 0; subject->request != NULL && shift < 64; shift++) {
        struct aes_request_run run = request_run(&state, key_lens[shift % 3], shift % 2 == 0 ? 33 : subject->short_len);
        run.with_fresh = true;
        run.shift = shift;
        CU_ASSERT_TRUE(aes_request_is_right(&run));
    }
}

static struct aes_cbc_run cbc_run(uint64_t *state, size_t key_len, size_t blocks)
{
    struct aes_cbc_run run = {.key_len = key_len, .blocks = blocks};
    bytes_random(state, run.key, sizeof(run.key));
    bytes_random(state, run.iv, sizeof(run.iv));
    return run;
}

UNIT_TEST("CBC agrees with and without in and out")
{
    uint64_t state = 6;
    for (size_t i = 0; i < 3; i++) {
        for (size_t blocks = 0; blocks <= 20; blocks++) {
            for (unsigned without = 0; without < 4; without++) {
                struct aes_cbc_run run = cbc_run(&state, key_lens[i], blocks);
                run.without_in = (without & 1) != 0;
                run.without_out = (without & 2) != 0;
                CU_ASSERT_TRUE(aes_cbc_is_right(&run));
            }
        }
    }
}

UNIT_TEST("CBC takes unaligned pointers")
{
    uint64_t state = 7;
    for (size_t shift = 0; shift < 64; shift++) {
        struct aes_cbc_run run = cbc_run(&state, key_lens[shift % 3], AES_CBC_MAX);
        run.shift = shift;
        CU_ASSERT_TRUE(aes_cbc_is_right(&run));
    }
}

int aes_cases_run(const struct drng_aes *aes)
{
    aes_cases_about(aes);
    return unit_run(aes->name);
}
