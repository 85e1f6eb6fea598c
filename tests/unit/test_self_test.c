/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test passes on what is right, and names what is wrong. */

#include <stdlib.h>
#include <string.h>

#include "mixing/aes/aes_sbox.h"
#include "mixing/drbg/self_test.h"
#include "mixing/entropy/conditioner.h"
#include "tests/unit/fake_aes.h"
#include "tests/unit/reference.h"
#include "tests/unit/unit.h"

/* With each size of key, until one fails. */
static enum drng_result test(const struct drng_aes *aes, bool whole, const char **what)
{
    enum drng_result result = DRNG_OK;
    for (size_t key_len = 16; key_len <= 32 && result == DRNG_OK; key_len += 8) {
        result = drng_self_test(aes, key_len, whole, what);
    }
    return result;
}

UNIT_TEST("it passes on every implementation")
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    for (size_t i = 0; i < count; i++) {
        const char *what = "untouched";
        CU_ASSERT_EQUAL(test(all[i], false, &what), DRNG_OK);
        CU_ASSERT_PTR_NULL(what);
        CU_ASSERT_EQUAL(test(all[i], true, &what), DRNG_OK);
        CU_ASSERT_PTR_NULL(what);
    }
}

static void ctr_of_libcrypto(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                             size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    reference_keystream(key, key_len, v, out, out_blocks);
    reference_keystream(key, key_len, v, tail, tail_blocks);
}

static void cbc_of_libcrypto(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out,
                             const uint8_t *data, size_t blocks)
{
    for (size_t i = 0; i < blocks * DRNG_AES_BLOCK; i++) {
        chain[i % DRNG_AES_BLOCK] ^= data != NULL ? data[i] : 0;
        if (i % DRNG_AES_BLOCK == DRNG_AES_BLOCK - 1) {
            reference_encrypt(key, key_len, chain, chain);
            if (out != NULL) {
                memcpy(out + i + 1 - DRNG_AES_BLOCK, chain, DRNG_AES_BLOCK);
            }
        }
    }
}

/* All that is compared is what libcrypto's AES gives: the sums, too. */
UNIT_TEST("it passes on libcrypto's AES")
{
    struct drng_aes aes = {.name = "libcrypto's", .ctr = ctr_of_libcrypto, .cbc = cbc_of_libcrypto};
    const char *what = NULL;
    CU_ASSERT_EQUAL(test(&aes, true, &what), DRNG_OK);
    aes.wide = true;
    CU_ASSERT_EQUAL(test(&aes, true, &what), DRNG_OK);
}

/* What a run with this script says is wrong. */
static const char *wrong_with(struct fake_aes_script script)
{
    const char *what = NULL;
    fake_aes_script = script;
    CU_ASSERT_EQUAL(test(&fake_aes, false, &what), DRNG_SELF_TEST_FAILED);
    return what != NULL ? what : "nothing";
}

UNIT_TEST("a wrong bit in one key size is found and named")
{
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        CU_ASSERT_STRING_EQUAL(wrong_with((struct fake_aes_script){.ctr_flips_key_len = key_len}), "AES");
        CU_ASSERT_STRING_EQUAL(wrong_with((struct fake_aes_script){.cbc_flips_key_len = key_len}), "AES");
    }
}

static unsigned calls_of_a_run(size_t key_len)
{
    const char *what = NULL;
    fake_aes_script = (struct fake_aes_script){0};
    CU_ASSERT_EQUAL(drng_self_test(&fake_aes, key_len, false, &what), DRNG_OK);
    return fake_aes_script.calls;
}

/* A call of cbc and one of ctr; two of cbc; then CTR_DRBG. */
enum { AES_CALLS = 2, MAC_CALLS = 2, SAMPLE = 7 };

static const char *name_of(unsigned call)
{
    const unsigned aes = AES_CALLS;
    return call <= aes ? "AES" : call <= aes + MAC_CALLS ? "AES-CBC-MAC" : "CTR_DRBG";
}

/* Whether a run in which this call answers wrong fails, and says what is wrong. */
static bool is_found_at(size_t key_len, unsigned call, struct fake_aes_script script)
{
    const char *what = NULL;
    fake_aes_script = script;
    return drng_self_test(&fake_aes, key_len, false, &what) == DRNG_SELF_TEST_FAILED && what != NULL &&
           strcmp(what, name_of(call)) == 0;
}

UNIT_TEST("a wrong bit in any call is found and named")
{
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        const unsigned calls = calls_of_a_run(key_len);
        CU_ASSERT_TRUE(calls > AES_CALLS + MAC_CALLS);
        for (unsigned call = 1; call <= calls; call += unit_samples() ? SAMPLE : 1) {
            CU_ASSERT_TRUE(is_found_at(key_len, call, (struct fake_aes_script){.flips_at = call}));
            /* Of the three blocks that make Key and V of AES-192, half of the last one is left over. */
            const struct fake_aes_script in_the_last_byte = {.flips_at = call,
                                                             .flips_last = true,
                                                             .spare_192 =
                                                                 call > AES_CALLS + MAC_CALLS ? DRNG_AES_BLOCK / 2 : 0};
            CU_ASSERT_TRUE(is_found_at(key_len, call, in_the_last_byte));
        }
    }
}

static size_t wrong_from;
static size_t wrong_to;

/* What Debian 12's QEMU makes of VAES: the second block of each pair is the first one's. */
static void ctr_wrong_when_wide(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                                size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    drng_aes_portable.ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
    if (out_blocks >= wrong_from && out_blocks <= wrong_to) {
        memcpy(out + DRNG_AES_BLOCK, out, DRNG_AES_BLOCK);
    }
}

static bool is_found(size_t from, size_t to)
{
    const struct drng_aes wide = {
        .name = "wrong when wide", .ctr = ctr_wrong_when_wide, .cbc = drng_aes_portable.cbc, .wide = true};
    const char *what = NULL;
    wrong_from = from;
    wrong_to = to;
    return test(&wide, false, &what) == DRNG_SELF_TEST_FAILED && what != NULL && strcmp(what, "CTR_DRBG") == 0;
}

/* Those of long runs, and those of short requests, each of their two numbers of lanes. */
UNIT_TEST("a wrong wide register is found")
{
    CU_ASSERT_TRUE(is_found(32, SIZE_MAX));
    CU_ASSERT_TRUE(is_found(9, 12));
    CU_ASSERT_TRUE(is_found(13, 20));
}

/* ---- Negative twins ---- */

enum { SECOND_BYTE = 0x11, THIRD_BYTE = 0x22 };

/* AES that does not see the lowest bit of FIPS 197's plaintext, which is 0 there: every known answer is right. */
static void cbc_blind(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out,
                      const uint8_t *data, size_t blocks)
{
    uint8_t block[DRNG_AES_BLOCK];
    const bool is_plaintext = data != NULL && blocks == 1 && data[1] == SECOND_BYTE && data[2] == THIRD_BYTE;
    if (is_plaintext) {
        memcpy(block, data, sizeof(block));
        block[0] &= 0xfe;
    }
    drng_aes_portable.cbc(key, key_len, chain, out, is_plaintext ? block : data, blocks);
}

static void ctr_blind(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                      uint8_t *tail, size_t tail_blocks)
{
    const uint8_t unseen = v[1] == SECOND_BYTE && v[2] == THIRD_BYTE ? v[0] & 1 : 0;
    v[0] ^= unseen;
    drng_aes_portable.ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
    v[0] ^= unseen;
}

UNIT_TEST("a twin that passes is found")
{
    const struct drng_aes blind = {.name = "blind", .ctr = ctr_blind, .cbc = cbc_blind};
    const char *what = NULL;
    CU_ASSERT_EQUAL(test(&blind, false, &what), DRNG_OK);
    CU_ASSERT_EQUAL(test(&blind, true, &what), DRNG_SELF_TEST_FAILED);
    CU_ASSERT_STRING_EQUAL(what, "the comparison with known answers");
}

/* ---- A request in registers ---- */

static enum { RIGHT, WRONG_OUT, WRONG_KEY, WRONG_V } request_is;

static void output_and_update(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                              const uint8_t *fresh)
{
    uint8_t stream[(16 + 3) * DRNG_AES_BLOCK];
    uint8_t *state = stream + (out_len + DRNG_AES_BLOCK - 1) / DRNG_AES_BLOCK * DRNG_AES_BLOCK;
    drng_aes_portable.ctr(key, key_len, v, stream, sizeof(stream) / DRNG_AES_BLOCK, NULL, 0);
    for (size_t i = 0; fresh != NULL && i < DRNG_REQUEST_ENTROPY_LEN; i++) {
        state[i] ^= fresh[i];
    }
    if (out_len > 0) {
        memcpy(out, stream, out_len);
    }
    memcpy(key, state, key_len);
    memcpy(v, state + key_len, DRNG_AES_BLOCK);
}

static void request_by_ctr(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                           const uint8_t *fresh)
{
    if (fresh != NULL) {
        output_and_update(key, key_len, v, NULL, 0, fresh);
    }
    output_and_update(key, key_len, v, out, out_len, fresh);
    if (out_len >= wrong_from && out_len <= wrong_to) {
        out[out_len - 1] ^= request_is == WRONG_OUT;
        key[key_len - 1] ^= request_is == WRONG_KEY;
        v[DRNG_AES_BLOCK - 1] ^= request_is == WRONG_V;
    }
}

static bool request_is_found(size_t from, size_t to)
{
    const struct drng_aes aes = {.name = "with a request",
                                 .ctr = drng_aes_portable.ctr,
                                 .cbc = drng_aes_portable.cbc,
                                 .request = request_by_ctr,
                                 .short_len = 256};
    const char *what = NULL;
    wrong_from = from;
    wrong_to = to;
    return test(&aes, false, &what) == DRNG_SELF_TEST_FAILED && what != NULL && strcmp(what, "CTR_DRBG") == 0;
}

/* The lengths are those of 4, 5 and 8 blocks of AES-NI, and of 12 and 20 in registers of 256 bits. */
UNIT_TEST("a wrong request is found")
{
    static const size_t lengths[] = {1, 16, 17, 32, 33, 80, 81, 128, 129, 256};
    request_is = RIGHT;
    CU_ASSERT_FALSE(request_is_found(1, SIZE_MAX));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i += 2) {
        for (request_is = WRONG_OUT; request_is <= WRONG_V; request_is++) {
            CU_ASSERT_TRUE(request_is_found(lengths[i], lengths[i + 1]));
        }
    }
}

/* ---- In the place of those that the plain ones are made of ---- */

static bool sbox_is_wrong;
static bool hmac_is_wrong;

void __real_drng_aes_sub_bytes(uint64_t q[DRNG_AES_SLICES]);
void __real_drng_hmac_end(struct drng_hmac *hmac, uint8_t digest[DRNG_HMAC_LEN]);

void __wrap_drng_aes_sub_bytes(uint64_t q[DRNG_AES_SLICES])
{
    __real_drng_aes_sub_bytes(q);
    q[0] ^= sbox_is_wrong ? 1 : 0;
}

void __wrap_drng_hmac_end(struct drng_hmac *hmac, uint8_t digest[DRNG_HMAC_LEN])
{
    __real_drng_hmac_end(hmac, digest);
    digest[DRNG_HMAC_LEN - 1] ^= hmac_is_wrong ? 1 : 0;
}

UNIT_TEST("the choice is one that passes")
{
    const struct drng_cpu none = {.aes = false};
    const char *what = "untouched";
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    CU_ASSERT_PTR_EQUAL(drng_self_test_choose(&none, &what), &drng_aes_portable);
    CU_ASSERT_PTR_NULL(what);
    const struct drng_aes *chosen = drng_self_test_choose(&cpu, &what);
    CU_ASSERT_PTR_NOT_NULL_FATAL(chosen);
    CU_ASSERT_EQUAL(test(chosen, false, &what), DRNG_OK);

    sbox_is_wrong = true;
    chosen = drng_self_test_choose(&none, &what);
    sbox_is_wrong = false;
    CU_ASSERT_PTR_NULL(chosen);
    CU_ASSERT_STRING_EQUAL(what != NULL ? what : "nothing", "AES");
}

UNIT_TEST("where all have failed a key size, whoever asks again is told so, too")
{
    const struct drng_cpu none = {.aes = false};
    const char *what = NULL;
    CU_ASSERT_PTR_NOT_NULL(drng_self_test_choose(&none, &what));
    sbox_is_wrong = true;
    CU_ASSERT_PTR_NULL(drng_self_test_aes(16));
    sbox_is_wrong = false;
    /* as a thread sees it that has asked at the same time */
    atomic_store(&drng_failed_algorithm, NULL);
    CU_ASSERT_PTR_NULL(drng_self_test_aes(16));
    const char *failed = atomic_load(&drng_failed_algorithm);
    CU_ASSERT_STRING_EQUAL(failed != NULL ? failed : "nothing", "AES");
    atomic_store(&drng_failed_algorithm, NULL);
}

/* ---- The fused loop ---- */

static bool fused_is_wrong;

enum drng_result __wrap_drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                       const uint64_t *known, uint64_t *retries);
enum drng_result __wrap_drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                       const uint64_t *known, uint64_t *retries)
{
    (void)health;
    (void)retries;
    mac->aes->cbc(mac->key, sizeof(mac->key), mac->state, NULL, (const uint8_t *)known, blocks);
    mac->state[DRNG_MAC_LEN - 1] ^= fused_is_wrong && blocks > 1 ? 1 : 0;
    return DRNG_OK;
}

UNIT_TEST("a wrong fused loop is found, and an implementation that is skipped is counted")
{
    struct drng_aes fuses = drng_aes_portable;
    const char *what = NULL;
    struct drng_cpu cpu;
    fuses.fuses = true;
    CU_ASSERT_EQUAL(test(&fuses, false, &what), DRNG_OK);
    fused_is_wrong = true;
    CU_ASSERT_EQUAL(test(&fuses, false, &what), DRNG_SELF_TEST_FAILED);
    CU_ASSERT_STRING_EQUAL(what != NULL ? what : "nothing", "AES-CBC-MAC");

    /* All that fuse are skipped. */
    const struct drng_aes *all[DRNG_AES_KINDS];
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    unsigned fusing = 0;
    unsigned wrong = 0; /* the fastest that this CPU computes wrong: those of an emulator */
    for (size_t i = 0; i < count; i++) {
        fusing += all[i]->fuses;
    }
    CU_ASSERT_PTR_NOT_NULL(drng_self_test_choose(&cpu, &what));
    CU_ASSERT_EQUAL(drng_self_test_failed_count(), fusing);
    CU_ASSERT_STRING_EQUAL(drng_self_test_failed_name(), fusing > 0 ? all[count - 1]->name : "");
    fused_is_wrong = false;
    while (wrong < count && test(all[count - 1 - wrong], false, &what) != DRNG_OK) {
        wrong++;
    }
    CU_ASSERT_PTR_NOT_NULL(drng_self_test_choose(&cpu, &what));
    CU_ASSERT_EQUAL(drng_self_test_failed_count(), wrong);
}

UNIT_TEST("a wrong HMAC is found only where asked for")
{
    const char *what = NULL;
    hmac_is_wrong = true;
    CU_ASSERT_EQUAL(test(&drng_aes_portable, true, &what), DRNG_SELF_TEST_FAILED);
    CU_ASSERT_STRING_EQUAL(what != NULL ? what : "nothing", "HMAC-SHA-256");
    CU_ASSERT_EQUAL(test(&drng_aes_portable, false, &what), DRNG_OK);
    CU_ASSERT_PTR_NULL(what);
    hmac_is_wrong = false;
    CU_ASSERT_EQUAL(test(&drng_aes_portable, true, &what), DRNG_OK);
}

UNIT_MAIN("self-test")
