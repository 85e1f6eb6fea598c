#include "mixing/drbg/self_test.h"

#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/drbg/self_test_answers.h"
#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/hmac.h"
#include "mixing/memory/wipe.h"

_Atomic(const char *) drng_failed_algorithm;

enum {
    LONGEST_RUN = 72,      /* blocks */
    LONGEST_REQUEST = 253, /* bytes */
    UPDATE_BLOCKS = 3,
};

/* ---- AES: FIPS 197, appendix C ---- */

static const uint8_t fips197_plaintext[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                              0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

/* For the keys 00 01 02 ... of 16, 24 and 32 bytes. */
static const uint8_t fips197_ciphertext[3][16] = {
    {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a},
    {0xdd, 0xa9, 0x7c, 0xa4, 0x86, 0x4c, 0xdf, 0xe0, 0x6e, 0xaf, 0x70, 0xa0, 0xec, 0x0d, 0x71, 0x91},
    {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf, 0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89},
};

static bool test_aes_key(const struct drng_aes *aes, size_t key_len, const uint8_t expected[16])
{
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t chain[16] = {0};
    uint8_t v[16];
    uint8_t block[16];
    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)i;
    }
    /* For one block, CBC with an IV of zeros is AES itself; so is CTR with V = plaintext - 1. */
    memcpy(v, fips197_plaintext, sizeof(v));
    v[15]--;
    aes->cbc(key, key_len, chain, NULL, fips197_plaintext, 1);
    aes->ctr(key, key_len, v, block, 1, NULL, 0);
    return memcmp(chain, expected, 16) == 0 && memcmp(block, expected, 16) == 0 &&
           memcmp(v, fips197_plaintext, 16) == 0;
}

/*
 * Checks each block of a run of CTR against AES of its counter. V starts so that the longest run carries from the low
 * word of V to the high one.
 */
static bool test_run(const struct drng_aes *aes, size_t key_len, size_t blocks)
{
    static const uint8_t zero_key[DRNG_AES_MAX_KEY];
    uint8_t out[LONGEST_RUN][16];
    uint8_t v[16] = {0, 0, 0, 0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff - 48};
    uint8_t counter[16];

    memcpy(counter, v, sizeof(v));
    aes->ctr(zero_key, key_len, v, out[0], blocks, NULL, 0);
    for (size_t i = 0; i < blocks; i++) {
        uint8_t chain[16] = {0};
        for (size_t byte = sizeof(counter); byte-- > 0 && ++counter[byte] == 0;) {
        }
        aes->cbc(zero_key, key_len, chain, NULL, counter, 1);
        if (memcmp(chain, out[i], 16) != 0) {
            return false;
        }
    }
    return memcmp(counter, v, sizeof(v)) == 0;
}

/*
 * Each length uses other registers than the one before. QEMU 7.2 (Debian 12) computes VAES wrong, and only these runs
 * show it.
 */
static bool test_runs(const struct drng_aes *aes, size_t key_len)
{
    static const uint8_t lengths[] = {4, 8, 12, 20, 31, LONGEST_RUN};
    for (size_t i = 0; i < sizeof(lengths); i++) {
        if (!test_run(aes, key_len, lengths[i])) {
            return false;
        }
    }
    return true;
}

/* A whole request against the same blocks of CTR; the key is all zero. V starts so that the longest one carries. */
static bool test_request(const struct drng_aes *aes, size_t key_len, size_t out_len)
{
    const size_t blocks = (out_len + DRNG_AES_BLOCK - 1) / DRNG_AES_BLOCK;
    _Alignas(16) uint8_t key[DRNG_AES_MAX_KEY] = {0};
    uint8_t v[16] = {0, 0, 0, 0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff - 12};
    uint8_t v_of_ctr[16];
    uint8_t stream[LONGEST_RUN][16];
    uint8_t out[LONGEST_REQUEST];

    memcpy(v_of_ctr, v, sizeof(v));
    aes->ctr(key, key_len, v_of_ctr, stream[0], blocks + UPDATE_BLOCKS, NULL, 0);
    aes->request(key, key_len, v, out, out_len, NULL);
    return memcmp(out, stream, out_len) == 0 && memcmp(key, stream[blocks], key_len) == 0 &&
           memcmp(v, stream[blocks] + key_len, sizeof(v)) == 0;
}

/* A length for each number of registers. */
static bool test_requests(const struct drng_aes *aes, size_t key_len)
{
    static const uint8_t lengths[] = {16, 77, 128, LONGEST_REQUEST};
    for (size_t i = 0; aes->request != NULL && i < sizeof(lengths) / sizeof(*lengths); i++) {
        if (lengths[i] <= aes->short_len && !test_request(aes, key_len, lengths[i])) {
            return false;
        }
    }
    return true;
}

static bool test_key_len(const struct drng_aes *aes, size_t key_len, const uint8_t ciphertext[16])
{
    return test_aes_key(aes, key_len, ciphertext) && test_runs(aes, key_len) && test_requests(aes, key_len);
}

static bool test_aes(const struct drng_aes *aes)
{
    return test_key_len(aes, 16, fips197_ciphertext[0]) && test_key_len(aes, 24, fips197_ciphertext[1]) &&
           test_key_len(aes, 32, fips197_ciphertext[2]);
}

/* ---- CBC-MAC: SP 800-38A, F.2.1, with the IV added to the first block ---- */

static const uint8_t mac_key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t mac_message[64] = {
    0x6b, 0xc0, 0xbc, 0xe1, 0x2a, 0x45, 0x99, 0x91, 0xe1, 0x34, 0x74, 0x1a, 0x7f, 0x9e, 0x19, 0x25,
    0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03, 0xac, 0x9c, 0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51,
    0x30, 0xc8, 0x1c, 0x46, 0xa3, 0x5c, 0xe4, 0x11, 0xe5, 0xfb, 0xc1, 0x19, 0x1a, 0x0a, 0x52, 0xef,
    0xf6, 0x9f, 0x24, 0x45, 0xdf, 0x4f, 0x9b, 0x17, 0xad, 0x2b, 0x41, 0x7b, 0xe6, 0x6c, 0x37, 0x10,
};
static const uint8_t mac_expected[16] = {0x3f, 0xf1, 0xca, 0xa1, 0x68, 0x1f, 0xac, 0x09,
                                         0x12, 0x0e, 0xca, 0x30, 0x75, 0x86, 0xe1, 0xa7};

static bool test_cbc_mac(const struct drng_aes *aes)
{
    struct drng_conditioner conditioner;
    uint8_t mac[DRNG_CONDITIONED_LEN];
    drng_conditioner_begin(&conditioner, DRNG_CBC_MAC, aes, mac_key);
    drng_conditioner_update(&conditioner, mac_message, 16);
    drng_conditioner_update(&conditioner, mac_message + 16, 48);
    drng_conditioner_end(&conditioner, mac);
    return memcmp(mac, mac_expected, sizeof(mac_expected)) == 0;
}

/* ---- HMAC-SHA-256: RFC 4231, test case 2 ---- */

static const uint8_t hmac_expected[DRNG_HMAC_LEN] = {
    0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
    0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43,
};

static bool test_hmac(void)
{
    static const char message[] = "what do ya want for nothing?";
    struct drng_hmac hmac;
    uint8_t digest[DRNG_HMAC_LEN];
    drng_hmac_begin(&hmac, (const uint8_t *)"Jefe", 4);
    drng_hmac_update(&hmac, message, sizeof(message) - 1);
    drng_hmac_end(&hmac, digest);
    return memcmp(digest, hmac_expected, sizeof(digest)) == 0;
}

/* ---- CTR_DRBG: every mechanism function (SP 800-90A Rev. 1, 11.3) ---- */

static bool test_uninstantiate(struct drng_ctr_drbg *drbg, struct drng_bytes entropy)
{
    const struct drng_bytes none = {NULL, 0};
    uint8_t out[DRNG_ANSWER_LEN] = {1};
    drng_ctr_drbg_uninstantiate(drbg);
    return drng_is_wiped(drbg, sizeof(*drbg)) &&
           drng_ctr_drbg_generate(drbg, out, sizeof(out), none, NULL) == DRNG_RESEED_NEEDED &&
           drng_is_wiped(out, sizeof(out)) && drng_ctr_drbg_reseed(drbg, entropy, none, 0) == DRNG_RESEED_NEEDED;
}

static bool test_drbg(const struct drng_aes *aes, const struct drng_drbg_answer *answer)
{
    const struct drng_bytes entropy = {answer->entropy, answer->entropy_len};
    const struct drng_bytes nonce = {answer->nonce, answer->nonce_len};
    const struct drng_bytes personalization = {answer->personalization, answer->input_len};
    const struct drng_bytes entropy_reseed = {answer->entropy_reseed, answer->entropy_len};
    const struct drng_bytes too_short = {answer->entropy_reseed, answer->entropy_len - 1U};
    const struct drng_bytes input_reseed = {answer->input_reseed, answer->input_len};
    const struct drng_bytes input_a = {answer->input_a, answer->input_len};
    const struct drng_bytes input_b = {answer->input_b, answer->input_len};
    struct drng_ctr_drbg drbg;
    uint8_t out[DRNG_ANSWER_LEN];
    return drng_ctr_drbg_instantiate(&drbg, aes, answer->key_len, answer->use_df, too_short, nonce, personalization,
                                     0) == DRNG_BAD_LENGTH &&
           drng_ctr_drbg_instantiate(&drbg, aes, answer->key_len, answer->use_df, entropy, nonce, personalization, 0) ==
               DRNG_OK &&
           drng_ctr_drbg_reseed(&drbg, too_short, input_reseed, 0) == DRNG_BAD_LENGTH &&
           drng_ctr_drbg_reseed(&drbg, entropy_reseed, input_reseed, 0) == DRNG_OK &&
           drng_ctr_drbg_generate(&drbg, out, sizeof(out), input_a, NULL) == DRNG_OK &&
           drng_ctr_drbg_generate(&drbg, out, sizeof(out), input_b, NULL) == DRNG_OK &&
           memcmp(out, answer->returned, sizeof(out)) == 0 && test_uninstantiate(&drbg, entropy);
}

static bool test_drbgs(const struct drng_aes *aes)
{
    for (size_t i = 0; i < sizeof(drng_drbg_answers) / sizeof(*drng_drbg_answers); i++) {
        if (!test_drbg(aes, &drng_drbg_answers[i])) {
            return false;
        }
    }
    return true;
}

enum drng_result drng_self_test(const struct drng_aes *aes, bool with_hmac, const char **what)
{
    *what = NULL;
    if (!test_aes(aes)) {
        *what = "AES";
    } else if (!test_cbc_mac(aes)) {
        *what = "AES-CBC-MAC";
    } else if (with_hmac && !test_hmac()) {
        *what = "HMAC-SHA-256";
    } else if (!test_drbgs(aes)) {
        *what = "CTR_DRBG";
    }
    return *what == NULL ? DRNG_OK : DRNG_SELF_TEST_FAILED;
}

const struct drng_aes *drng_self_test_choose(const struct drng_cpu *cpu, const char **what)
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    for (size_t i = drng_aes_all(cpu, all); i-- > 0;) {
        if (drng_self_test(all[i], false, what) == DRNG_OK) {
            return all[i];
        }
    }
    return NULL;
}
