/* SPDX-License-Identifier: Apache-2.0 */
/* The known answers, the tests that compare with them, and the choice among the implementations of AES. A program
 * waits for these tests whenever it starts, so each instruction of theirs has to be worth it. */

#include "mixing/drbg/self_test.h"

#include <endian.h>
#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/hmac.h"
#include "mixing/machine/wipe.h"

_Atomic(const char *) drng_failed_algorithm;

/*
 * The bytes that the standards write as this text, a multiple of four, which are put at `bytes`. Eight digits at a
 * time: the lowest four bits of a letter are its digit less 9, and its bit 6 is 1.
 */
static struct drng_bytes bytes_of(const char *text, uint8_t *bytes)
{
    const size_t len = strlen(text) / 2;
    for (size_t i = 0; i < len; i += 4) {
        uint64_t digits;
        memcpy(&digits, text + 2 * i, sizeof(digits));
        digits = be64toh(digits);
        digits = (digits & 0x0f0f0f0f0f0f0f0f) + 9 * (digits >> 6 & 0x0101010101010101);
        digits = (digits | digits >> 4) & 0x00ff00ff00ff00ff;
        digits = (digits | digits >> 8) & 0x0000ffff0000ffff;
        const uint32_t word = htobe32((uint32_t)(digits | digits >> 16));
        memcpy(bytes + i, &word, sizeof(word));
    }
    return (struct drng_bytes){bytes, len};
}

/* ---- AES: FIPS 197, appendix C: the keys are 00 01 02 ... ---- */

enum { CIPHERS = 3 };

/* AES-128, AES-192 and AES-256. */
static size_t cipher_of(size_t key_len)
{
    return key_len / 8 - 2;
}

/* Here and below: `flip` is 0, or 1 in the negative twin of a known answer, where a bit of the input is wrong. */
static bool test_aes(const struct drng_aes *aes, size_t key_len, uint8_t flip)
{
    static const char *const ciphertexts[CIPHERS] = {
        "69c4e0d86a7b0430d8cdb78070b4c55a",
        "dda97ca4864cdfe06eaf70a0ec0d7191",
        "8ea2b7ca516745bfeafc49904b496089",
    };
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t plaintext[16];
    uint8_t expected[16];
    uint8_t chain[16] = {0};
    uint8_t v[16];
    uint8_t block[16];
    bytes_of("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", key);
    bytes_of("00112233445566778899aabbccddeeff", plaintext);
    bytes_of(ciphertexts[cipher_of(key_len)], expected);
    plaintext[0] ^= flip;
    /* For one block, CBC with an IV of zeros is AES itself; so is CTR with V = plaintext - 1. */
    memcpy(v, plaintext, sizeof(v));
    v[15]--;
    aes->cbc(key, key_len, chain, NULL, plaintext, 1);
    aes->ctr(key, key_len, v, block, 1, NULL, 0);
    return memcmp(chain, expected, 16) == 0 && memcmp(block, expected, 16) == 0 && memcmp(v, plaintext, 16) == 0;
}

/* ---- CBC-MAC: SP 800-38A, F.2.1, with the IV added to the first block ---- */

/* A sum that any wrong bit changes: a multiplication carries it up, and the rotation brings it down again. */
static uint64_t sum_of(uint64_t sum, const void *data, size_t len)
{
    const uint8_t *bytes = data;
    uint64_t word = 0; /* of a text of less than a word the rest counts, too */
    for (; len >= sizeof(word); len -= sizeof(word), bytes += sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        sum = (sum ^ le64toh(word)) * UINT64_C(0x9e3779b97f4a7c15);
        sum = sum << 32 | sum >> 32;
    }
    word = htole64(len);
    memcpy(&word, bytes, len);
    return sum + le64toh(word);
}

/* The loop that conditions RDRAND, with words that are known: it gives what CBC gives, under one key after another. */
static bool test_fused_mac(const struct drng_aes *aes)
{
    enum { BLOCKS = 4, KEYS = 8 };
    uint64_t words[2 * BLOCKS];
    uint8_t chain[DRNG_MAC_LEN] = {0};
    struct drng_cbc_mac mac = {.aes = aes};
    bool passed = true;
    for (unsigned i = 0; i < KEYS; i++) {
        struct drng_health health = {0};
        uint64_t retries = 0;
        memcpy(mac.key, chain, sizeof(mac.key));
        for (unsigned j = 0; j < 2 * BLOCKS; j++) {
            words[j] = sum_of(j, chain, sizeof(chain));
        }
        memset(mac.state, 0, sizeof(mac.state));
        memset(chain, 0, sizeof(chain));
        aes->cbc(mac.key, sizeof(mac.key), chain, NULL, (const uint8_t *)words, BLOCKS);
        passed &= drng_fused_mac(&mac, &health, BLOCKS, words, &retries) == DRNG_OK &&
                  memcmp(mac.state, chain, sizeof(chain)) == 0;
    }
    return passed;
}

static bool test_cbc_mac(const struct drng_aes *aes, uint8_t flip)
{
    struct drng_conditioner conditioner;
    uint8_t key[16];
    uint8_t message[64];
    uint8_t expected[16];
    uint8_t mac[DRNG_CONDITIONED_LEN];
    bytes_of("2b7e151628aed2a6abf7158809cf4f3c", key);
    bytes_of("6bc0bce12a459991e134741a7f9e1925ae2d8a571e03ac9c9eb76fac45af8e51"
             "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
             message);
    bytes_of("3ff1caa1681fac09120eca307586e1a7", expected);
    message[0] ^= flip;
    drng_conditioner_begin(&conditioner, DRNG_CBC_MAC, aes, key);
    drng_conditioner_update(&conditioner, message, 16);
    drng_conditioner_update(&conditioner, message + 16, 48);
    drng_conditioner_end(&conditioner, mac);
    return memcmp(mac, expected, sizeof(expected)) == 0 && (!aes->fuses || test_fused_mac(aes));
}

/* ---- HMAC-SHA-256: RFC 4231, test case 2 ---- */

static bool test_hmac(uint8_t flip)
{
    static const char message[] = "what do ya want for nothing?";
    const uint8_t key[] = {(uint8_t)('J' ^ flip), 'e', 'f', 'e'};
    struct drng_hmac hmac;
    uint8_t expected[DRNG_HMAC_LEN];
    uint8_t digest[DRNG_HMAC_LEN];
    bytes_of("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", expected);
    drng_hmac_begin(&hmac, key, sizeof(key));
    drng_hmac_update(&hmac, message, sizeof(message) - 1);
    drng_hmac_end(&hmac, digest);
    return memcmp(digest, expected, sizeof(digest)) == 0;
}

/* ---- CTR_DRBG: every mechanism function (SP 800-90A Rev. 1, 11.3) ---- */

/*
 * From CAVP's drbgvectors_pr_false: COUNT = 0 of one group for each key size, with and without df, that has every kind
 * of input (tests/vectors/ctr_drbg.rsp, a line each). The procedure is CAVP's: instantiate, reseed, generate
 * with the first additional input, generate again with the second.
 */
enum { ENTROPY, NONCE, PERSONALIZATION, ENTROPY_RESEED, INPUT_RESEED, INPUT_A, INPUT_B, RETURNED, TEXTS };
enum { ANSWER_LEN = 64 };

// clang-format off
static const struct answer {
    uint8_t key_len;
    bool use_df;
    const char *texts[TEXTS];
} answers[] = {
    {16, true, {
        "e14ed7064a97814dd326b9a05bc44543",
        "876240c1f7de3dba",
        "26ccf56848a048721d0aad87d6fc65f0",
        "7ec4ac660fa0bbfa66ac3802e511901f",
        "8835d28e7f85a4e95087bdd1bb7ad57e",
        "2a9bd50bbb20fefe24649f5f80eede66",
        "f7ce3d5c6c381e56b25410c6909c1074",
        "d2f3130d309bed1da65545b9d793e035fd2564303d1fdcfb6c7fee019500d9f5"
        "d434fab2d3c8d15e39a25f965aaa804c7141407e90c4a86a6c8d303ce83bfb34"}},
    {16, false, {
        "289e5c8283cbd7dbe707255cb3cf2907d8a5ce5b347314966f9b2bebb1a1e200",
        "",
        "7f7b59f23510b976fe155d047525c94e2dacb30d77ac8b09281544dd815d5293",
        "98c522028f36fc6b85a8f3c003efd4b130dd90180ec81cf7c67d4c53d10f0022",
        "f7a0378328d939f0f8521e39409d7175d87319c7597a9050414f7adc392a328d",
        "19c286f5b36194d1cc62c0188140bc9d61d2a9c5d88bb5aebc224bfb04dfca83",
        "820650c3201d347f5b20d3d25d1c8c7bef4d9f66a5a04c7dd9d669e95182a0c4",
        "79a79d44edada58e3fc12a4e36ae900eeace290265f01262f40f2958a70dcbd4"
        "d4185f708c088ede7ff8c8375f44f4012f2512d38328a5df171a17029d90f185"}},
    {24, true, {
        "c4b1e6a99587eacd7ec8517f40f9433ca432cea8686433f0",
        "d03a29e548e58ca7cbf0ac707b1464e3",
        "0daaead21779b2a428d2b7fb12d9ab8316899edbe26b5460de1549c99e4781c9",
        "2229144c1b4efb79ab5fe079cda26bc33acbb2a0a87f642c",
        "f116a683ca485fda846a598b8d9b079e78c2828286ad530bf01f693cc8af9f84",
        "7c89de353298935bd26aa18517355313df0630da5f45ea0240e809179363080b",
        "e978b8fe56afc908bed129a46d57a8698d66034d4dbcc7aba3a33d5796fb7559",
        "8ce7e9589c2975fd6989a450aa65da9114e515777c97351da037ccb72d4987eb"
        "69c680411724ed602e6ac76cd2d085725616c92777a4664d43a59c3ae9946134"}},
    {24, false, {
        "4b58271b116237eedd4e9ff9360382a59f3e2a173d860f2bbd8b2bace142b2395c67cf5a513f06f3",
        "",
        "cf76c16cd5d270707ea9acc39744db69bfac63e566256fd6917bf9819679840f3fea2aa535d8df01",
        "1867f371a345eef98b2d70fc1960397892645b7b29a4ead252e8835e0b600618a9bd6ff99785d890",
        "6d44839aff8b7165deebd489ad088ecb7dcec11c32b1e747dba8f0e8a0b89f74a84ea8a05586fe9e",
        "42248fce0994e0e63504209d629a6943eb3e2ad512f03f79cbd5102928392bce1cacbba056ac6ca9",
        "bd529b600273329423a58d6f8a12be0f17989a02e73e347bc7d49d9169337a6cff7c07e8a807a80a",
        "02486d32cd55954f406ba55705f1460d384439592dede81a84fda221fd45c0d6"
        "51d67ec4a81a8b404151a643f331ad051cb004352289de37bca71e8cc0a6aeab"}},
    {32, true, {
        "174b46250051a9e3d80c56ae7163dafe7e54481a56cafd3b8625f99bbb29c442",
        "98ffd99c466e0e94a45da7e0e82dbc6b",
        "7095268e99938b3e042734b9176c9aa051f00a5f8d2a89ada214b89beef18ebf",
        "e88be1967c5503f65d23867bbc891bd679db03b4878663f6c877592df25f0d9a",
        "cdf6ad549e45b6aa5cd67d024931c33cd133d52d5ae500c3015020beb30da063",
        "c7228e90c62f896a09e11684530102f926ec90a3255f6c21b857883c75800143",
        "76a94f224178fe4cbf9e2b8acc53c9dc3e50bb613aac8936601453cda3293b17",
        "1a6d8dbd642076d13916e5e23038b60b26061f13dd4e006277e0268698ffb2c8"
        "7e453bae1251631ac90c701a9849d933995e8b0221fe9aca1985c546c2079027"}},
    {32, false, {
        "ae7ebe062971f5eb32e5b21444750785de816595ad2cbe80a209c8f8ab04b5468166de8c6ae522d8f10b56386a3b424f",
        "",
        "55860dae57fcac297087c137efb796878a75868f6e7681114e9b73ed0c67e3c62bfc9f5d77e8caa59bcdb223f4ffd247",
        "a42407931bfeca70e6ee5dd197021a129525051c07468e8b25587c5ad50abe9204e882fe847b8fd47cf7b4360e5aa034",
        "ee4c88d1eb05f4853663eada501d2fc4b4984b283a88db579af2113031e03d9bc570de943dd168918f3ba8065581fea7",
        "4b4b03ef19b0f259dca2b3ee3ae4cd86c3895a784b3d8eee043a2003c08289f8fffdad141e6b1ab2174d8d5d79c1e581",
        "3062b33f116b46e20fe3c354726ae9b2a3a4c51922c8107863cb86f1f0bdad7554075659d91c371e2b11b1e8106a1ed5",
        "0d270518baeafac160ff1cb28c11ef68712c764c0c01674e6c9ca2cc9c7e0e8a"
        "ccfd3c753635ee070081eee7628af6187fbc2854b3c204461a796cf3f3fcb092"}},
};
// clang-format on

static bool test_uninstantiate(struct drng_ctr_drbg *drbg, struct drng_bytes entropy)
{
    const struct drng_bytes none = {NULL, 0};
    uint8_t out[ANSWER_LEN] = {1};
    drng_ctr_drbg_uninstantiate(drbg);
    return drng_is_wiped(drbg, sizeof(*drbg)) &&
           drng_ctr_drbg_generate(drbg, out, sizeof(out), none, NULL) == DRNG_RESEED_NEEDED &&
           drng_is_wiped(out, sizeof(out)) && drng_ctr_drbg_reseed(drbg, entropy, none, 0) == DRNG_RESEED_NEEDED;
}

static bool test_drbg(const struct drng_aes *aes, const struct answer *answer, uint8_t flip)
{
    uint8_t bytes[TEXTS][ANSWER_LEN];
    struct drng_bytes of[TEXTS];
    for (size_t i = 0; i < TEXTS; i++) {
        of[i] = bytes_of(answer->texts[i], bytes[i]);
    }
    bytes[ENTROPY][0] ^= flip;
    const struct drng_bytes too_short = {of[ENTROPY].data, of[ENTROPY].len - 1};
    struct drng_ctr_drbg drbg;
    uint8_t out[ANSWER_LEN];
    return drng_ctr_drbg_instantiate(&drbg, aes, answer->key_len, answer->use_df, too_short, of[NONCE],
                                     of[PERSONALIZATION], 0) == DRNG_BAD_LENGTH &&
           drng_ctr_drbg_instantiate(&drbg, aes, answer->key_len, answer->use_df, of[ENTROPY], of[NONCE],
                                     of[PERSONALIZATION], 0) == DRNG_OK &&
           drng_ctr_drbg_reseed(&drbg, too_short, of[INPUT_RESEED], 0) == DRNG_BAD_LENGTH &&
           drng_ctr_drbg_reseed(&drbg, of[ENTROPY_RESEED], of[INPUT_RESEED], 0) == DRNG_OK &&
           drng_ctr_drbg_generate(&drbg, out, sizeof(out), of[INPUT_A], NULL) == DRNG_OK &&
           drng_ctr_drbg_generate(&drbg, out, sizeof(out), of[INPUT_B], NULL) == DRNG_OK &&
           memcmp(out, of[RETURNED].data, sizeof(out)) == 0 && test_uninstantiate(&drbg, of[ENTROPY]);
}

/* With and without df. */
static bool test_drbgs(const struct drng_aes *aes, size_t key_len)
{
    const struct answer *both = &answers[2 * cipher_of(key_len)];
    return test_drbg(aes, &both[0], 0) && test_drbg(aes, &both[1], 0);
}

/*
 * ---- Requests of every length that a kernel treats by itself ----
 *
 * Lengths use other registers, other parts of them and other ends: QEMU 7.2 (Debian 12) computes VAES wrong, and only
 * long runs show it. Eight of them for each kernel, with a V from whose low word a carry comes each time in another
 * place. Some take a fresh word and the last an additional input, too: their Update comes before the output and makes
 * another V. All output, and Key and V after each request, go into a sum. tests/unit/test_self_test.c has the
 * same sums from OpenSSL's AES; scripts/evidence/opcodes.py says what they find.
 */
static const uint16_t request_lengths[][8] = {
    {1, 16, 7, 16, 8, 12, 15, 16},             /* AES-NI: a block */
    {17, 32, 20, 24, 28, 29, 31, 32},          /* two */
    {59, 64, 80, 40, 48, 72, 33, 56},          /* five */
    {81, 104, 128, 144, 96, 112, 137, 120},    /* nine; VAES: eight */
    {144, 160, 183, 240, 253, 256, 137, 200},  /* VAES: sixteen; AES-NI: long requests */
    {272, 304, 400, 489, 257, 330, 455, 500},  /* VAES-256: long requests */
    {512, 960, 544, 529, 976, 977, 700, 1000}, /* VAES-512: the same; only where registers are wide */
};
enum { KERNELS = sizeof(request_lengths) / sizeof(*request_lengths), SHORT_KERNELS = 5, LONGEST_REQUEST = 1000 };

/* The number of the block before which the carry comes: where a lane, a group and the Update begin, and between. */
static size_t carry_of(unsigned run, size_t len)
{
    const size_t blocks = (len + DRNG_AES_BLOCK - 1) / DRNG_AES_BLOCK;
    const size_t carries[8] = {0, 28, 4, 12, blocks, blocks / 2, blocks + 1, 1};
    return carries[run];
}

/* The kernels of long requests have no Update of their own, and every V counts in them. */
static bool is_fresh(unsigned run)
{
    return run < 8 * SHORT_KERNELS ? run % 2 == 1 : run % 8 == 5 || run % 8 == 7;
}

/* Of each key size without the last eight, and with them. */
static const uint64_t request_sums[CIPHERS][2] = {
    {UINT64_C(0x9d9b4062d9ef17e2), UINT64_C(0xeb96fbc5a3e1dfe1)},
    {UINT64_C(0x76acb9227a8b591d), UINT64_C(0xf06d74b72d62a78b)},
    {UINT64_C(0x9a0a753ce4cc10b0), UINT64_C(0xfb6ae666de2a51ad)},
};

static bool test_requests(const struct drng_aes *aes, size_t key_len)
{
    struct drng_ctr_drbg drbg = {.aes = aes, .key_len = (uint8_t)key_len, .reseed_counter = 1};
    const struct drng_bytes none = {NULL, 0};
    uint8_t out[LONGEST_REQUEST];
    uint8_t input[DRNG_DRBG_MAX_SEEDLEN];
    uint64_t sum = key_len;
    memset(out, 0x5a, sizeof(out)); /* no input has zeros, which would go through OR as through XOR */
    for (unsigned i = 0; i < 8 * (aes->wide ? KERNELS : KERNELS - 1); i++) {
        const size_t len = request_lengths[i / 8][i % 8];
        memset(drbg.v + 8, 0xff, 8);
        drbg.v[15] = (uint8_t)(0xff - carry_of(i % 8, len));
        memcpy(input, out, sizeof(input));
        const struct drng_bytes additional = {input, DRNG_DRBG_SEEDLEN(key_len)};
        const enum drng_result result =
            drng_ctr_drbg_generate(&drbg, out, len, i % 8 == 7 ? additional : none, is_fresh(i) ? input : NULL);
        sum = sum_of(sum + (uint64_t)result, out, len);
        sum = sum_of(sum_of(sum, drbg.key, key_len), drbg.v, sizeof(drbg.v));
    }
    return sum == request_sums[cipher_of(key_len)][aes->wide];
}

/* Whether a negative twin passes: then the tests do not tell right answers from wrong ones. */
static bool a_twin_passes(const struct drng_aes *aes, size_t key_len)
{
    const struct answer *both = &answers[2 * cipher_of(key_len)];
    return test_aes(aes, key_len, 1) || test_cbc_mac(aes, 1) || test_hmac(1) || test_drbg(aes, &both[0], 1) ||
           test_drbg(aes, &both[1], 1);
}

enum drng_result drng_self_test(const struct drng_aes *aes, size_t key_len, bool whole, const char **what)
{
    *what = NULL;
    if (!test_aes(aes, key_len, 0)) {
        *what = "AES";
    } else if (!test_cbc_mac(aes, 0)) {
        *what = "AES-CBC-MAC";
    } else if (whole && !test_hmac(0)) {
        *what = "HMAC-SHA-256";
    } else if (!test_drbgs(aes, key_len) || !test_requests(aes, key_len)) {
        *what = "CTR_DRBG";
    } else if (whole && a_twin_passes(aes, key_len)) {
        *what = "the comparison with known answers";
    }
    return *what == NULL ? DRNG_OK : DRNG_SELF_TEST_FAILED;
}

/* ---- The choice ---- */

/* Set by drng_self_test_choose(): those that the CPU can run, the slowest first. */
static const struct drng_aes *all[DRNG_AES_KINDS];
static size_t count;

/* Threads that choose at the same time write the same. */
static _Atomic(const struct drng_aes *) chosen[CIPHERS]; /* NULL: nobody has asked for this key size yet */
static atomic_uint failed;                               /* bit i: all[i] has failed a test */

unsigned drng_self_test_failed_count(void)
{
    return (unsigned)__builtin_popcount(atomic_load(&failed));
}

const char *drng_self_test_failed_name(void)
{
    const unsigned bits = atomic_load(&failed);
    return bits != 0 ? all[31 - __builtin_clz(bits)]->name : "";
}

static const struct drng_aes *choose(size_t key_len, const char **what)
{
    for (size_t i = count; i-- > 0;) {
        if ((atomic_load(&failed) >> i & 1) == 0 && drng_self_test(all[i], key_len, false, what) == DRNG_OK) {
            atomic_store(&chosen[cipher_of(key_len)], all[i]);
            return all[i];
        }
        atomic_fetch_or(&failed, 1U << i);
    }
    return NULL;
}

const struct drng_aes *drng_self_test_choose(const struct drng_cpu *cpu, const char **what)
{
    count = drng_aes_all(cpu, all);
    atomic_store(&failed, 0);
    for (size_t i = 0; i < CIPHERS; i++) {
        atomic_store(&chosen[i], NULL);
    }
    return choose(DRNG_AES_MAX_KEY, what);
}

const struct drng_aes *drng_self_test_aes(size_t key_len)
{
    const char *what = "AES"; /* where another thread's tests have left none to be tested */
    const struct drng_aes *aes = atomic_load(&chosen[cipher_of(key_len)]);
    if (aes == NULL && atomic_load(&drng_failed_algorithm) == NULL && (aes = choose(key_len, &what)) == NULL) {
        atomic_store(&drng_failed_algorithm, what);
    }
    return aes;
}
