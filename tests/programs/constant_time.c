/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant_time.c - secrets marked as undefined, so that valgrind's memcheck reports each branch and each address that
 * depends on one.
 *
 *     constant_time         lists the cases, a name a line
 *     constant_time CASE    runs one; memcheck's --error-exitcode is the verdict
 *
 * The cases planted-* do what the others must not. valgrind shows programs a CPU of its own, so AES is done here by
 * what that one has, and the compiler is the one that built this.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "mixing/aes/aes.h"
#include "mixing/drbg/ctr_drbg.h"
#include "mixing/drbg/df.h"
#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/hmac.h"
#include "mixing/machine/cpu.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    LONG = 1000, /* bytes: more than the longest run of blocks that AES-NI has in flight, and no whole blocks */
    UNCLEAR = 99,
};

static const size_t key_lens[] = {16, 24, 32};

/* ---- Secrets ---- */

static void fill_with_secret(void *out, size_t len)
{
    memset(out, 0x5a, len);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(out, len);
}

/* What comes of a secret is one as well; where it is not, memcheck has lost sight of it, and a clean run says nothing.
 */
static void must_be_secret(const void *data, size_t len)
{
    uint8_t undefined[64 * BLOCK] = {0};
    if (RUNNING_ON_VALGRIND && (len > sizeof(undefined) || VALGRIND_GET_VBITS(data, undefined, len) != 1)) {
        (void)fprintf(stderr, "memcheck does not say what is secret\n");
        exit(UNCLEAR);
    }
    for (size_t i = 0; RUNNING_ON_VALGRIND && i < len; i++) {
        if (undefined[i] == 0) {
            (void)fprintf(stderr, "memcheck takes byte %zu of %zu for public\n", i, len);
            exit(UNCLEAR);
        }
    }
    (void)VALGRIND_MAKE_MEM_DEFINED(data, len);
}

static void must_work(enum drng_result status)
{
    if (status != DRNG_OK) {
        (void)fprintf(stderr, "status %d\n", (int)status);
        exit(UNCLEAR);
    }
}

/* ---- The cases ---- */

static const struct drng_aes *aes;

static void ctr_of(const struct drng_aes *one)
{
    static const size_t lens[] = {1, 2, 4, 5, 8, 9, 16, 17, 64};
    uint8_t out[64 * BLOCK];
    uint8_t tail[4 * BLOCK];
    for (size_t k = 0; k < sizeof(key_lens) / sizeof(*key_lens); k++) {
        for (size_t l = 0; l < sizeof(lens) / sizeof(*lens); l++) {
            uint8_t key[DRNG_AES_MAX_KEY];
            uint8_t v[BLOCK];
            fill_with_secret(key, sizeof(key));
            fill_with_secret(v, sizeof(v));
            one->ctr(key, key_lens[k], v, out, lens[l], tail, 4);
            must_be_secret(out, lens[l] * BLOCK);
            must_be_secret(tail, sizeof(tail));
            must_be_secret(v, sizeof(v));
        }
    }
}

static void ctr(void)
{
    ctr_of(aes);
}

static void ctr_wide(void)
{
    if (__builtin_cpu_supports("avx2")) {
        ctr_of(&drng_aes_vaes256);
    }
}

static void request_of(const struct drng_aes *one)
{
    static const size_t lens[] = {1, 16, 32, 33, 80, 128, 250};
    uint8_t out[250];
    for (size_t k = 0; k < sizeof(key_lens) / sizeof(*key_lens); k++) {
        for (size_t l = 0; l < sizeof(lens) / sizeof(*lens) && lens[l] <= one->short_len; l++) {
            _Alignas(16) uint8_t key[DRNG_AES_MAX_KEY];
            uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN];
            uint8_t v[BLOCK];
            fill_with_secret(key, sizeof(key));
            fill_with_secret(v, sizeof(v));
            fill_with_secret(fresh, sizeof(fresh));
            one->request(key, key_lens[k], v, NULL, 0, NULL);
            one->request(key, key_lens[k], v, out, lens[l], fresh);
            must_be_secret(out, lens[l]);
            must_be_secret(key, key_lens[k]);
            must_be_secret(v, sizeof(v));
        }
    }
}

static void request(void)
{
    if (aes->request != NULL) {
        request_of(aes);
    }
}

static void request_wide(void)
{
    if (__builtin_cpu_supports("avx2")) {
        request_of(&drng_aes_vaes256);
    }
}

static void cbc(void)
{
    uint8_t in[16 * BLOCK];
    uint8_t out[sizeof(in)];
    fill_with_secret(in, sizeof(in));
    for (size_t k = 0; k < sizeof(key_lens) / sizeof(*key_lens); k++) {
        uint8_t key[DRNG_AES_MAX_KEY];
        uint8_t chain[BLOCK];
        fill_with_secret(key, sizeof(key));
        fill_with_secret(chain, sizeof(chain));
        aes->cbc(key, key_lens[k], chain, out, in, sizeof(in) / BLOCK);
        must_be_secret(out, sizeof(out));
        must_be_secret(chain, sizeof(chain));
    }
}

static void cbc_mac(void)
{
    struct drng_conditioner conditioner;
    uint8_t key[DRNG_MAC_KEY_LEN];
    uint8_t data[8 * BLOCK];
    fill_with_secret(key, sizeof(key));
    fill_with_secret(data, sizeof(data));
    drng_conditioner_begin(&conditioner, DRNG_CBC_MAC, aes, key);
    drng_conditioner_update(&conditioner, data, sizeof(data));
    must_be_secret(conditioner.cbc_mac.state, sizeof(conditioner.cbc_mac.state));
}

/* The words are tested, and tests branch: the key is the secret here. */
static void rdrand_mac(void)
{
    struct drng_health health = {0};
    struct drng_conditioner conditioner;
    struct drng_cpu cpu;
    uint8_t key[DRNG_MAC_KEY_LEN];
    uint64_t retries = 0;
    drng_cpu_identify(&cpu);
    if (!cpu.has[DRNG_RDRAND] || !cpu.aes) {
        return;
    }
    fill_with_secret(key, sizeof(key));
    drng_conditioner_begin(&conditioner, DRNG_CBC_MAC, aes, key);
    must_work(drng_fused_mac(&conditioner.cbc_mac, &health, 16, NULL, &retries));
    must_be_secret(conditioner.cbc_mac.state, sizeof(conditioner.cbc_mac.state));
}

static void hmac(void)
{
    uint8_t key[DRNG_HMAC_LEN];
    uint8_t data[LONG];
    uint8_t digest[DRNG_HMAC_LEN];
    struct drng_hmac mac;
    fill_with_secret(key, sizeof(key));
    fill_with_secret(data, sizeof(data));
    drng_hmac_begin(&mac, key, sizeof(key));
    drng_hmac_update(&mac, data, sizeof(data));
    drng_hmac_end(&mac, digest);
    must_be_secret(digest, sizeof(digest));
}

static void df(void)
{
    uint8_t input[LONG];
    uint8_t out[DRNG_DRBG_MAX_SEEDLEN];
    fill_with_secret(input, sizeof(input));
    const struct drng_bytes inputs[] = {{input, 48}, {input, 7}, {input, sizeof(input)}};
    for (size_t k = 0; k < sizeof(key_lens) / sizeof(*key_lens); k++) {
        drng_block_cipher_df(aes, key_lens[k], out, inputs, 3);
        must_be_secret(out, DRNG_DRBG_SEEDLEN(key_lens[k]));
    }
}

/* aes_arm.c, its AESE and AESMC done by AES-NI. */
static void as_on_arm(void)
{
    const struct drng_aes *here = aes;
    if (__builtin_cpu_supports("aes") && __builtin_cpu_supports("ssse3")) {
        aes = &drng_aes_arm;
        ctr();
        cbc();
        cbc_mac();
        df();
    }
    aes = here;
}

static void use_drbg(struct drng_ctr_drbg *drbg, struct drng_bytes entropy, struct drng_bytes additional)
{
    static const size_t lens[] = {0, 1, 16, 32, 48, LONG};
    const struct drng_bytes nothing = {NULL, 0};
    uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN];
    uint8_t out[LONG];
    fill_with_secret(fresh, sizeof(fresh));
    for (size_t l = 0; l < sizeof(lens) / sizeof(*lens); l++) {
        must_work(drng_ctr_drbg_generate(drbg, out, lens[l], nothing, NULL));
        must_work(drng_ctr_drbg_generate(drbg, out, lens[l], nothing, fresh));
        must_work(drng_ctr_drbg_generate(drbg, out, lens[l], additional, fresh));
        must_work(drng_ctr_drbg_reseed(drbg, entropy, additional, 0));
        if (lens[l] > 0) {
            must_be_secret(out, lens[l]);
        }
    }
    must_be_secret(drbg->key, drbg->key_len);
    must_be_secret(drbg->v, sizeof(drbg->v));
}

static void ctr_drbg(void)
{
    const struct drng_bytes nothing = {NULL, 0};
    uint8_t secret[DRNG_DRBG_MAX_SEEDLEN];
    struct drng_ctr_drbg drbg;
    fill_with_secret(secret, sizeof(secret));
    for (size_t k = 0; k < sizeof(key_lens) / sizeof(*key_lens); k++) {
        const struct drng_bytes seed = {secret, DRNG_DRBG_SEEDLEN(key_lens[k])};
        must_work(drng_ctr_drbg_instantiate(&drbg, aes, key_lens[k], true, seed, seed, nothing, 0));
        use_drbg(&drbg, seed, seed);
        must_work(drng_ctr_drbg_instantiate(&drbg, aes, key_lens[k], false, seed, nothing, nothing, 0));
        use_drbg(&drbg, seed, seed);
    }
}

/* ---- What must be caught ---- */

static volatile unsigned seen;

static void planted_branch(void)
{
    uint8_t key[16];
    fill_with_secret(key, sizeof(key));
    if ((key[3] & 1) != 0) {
        seen++;
    }
}

static void planted_index(void)
{
    static const volatile uint8_t table[256] = {1};
    uint8_t key[16];
    fill_with_secret(key, sizeof(key));
    seen += table[key[3]];
}

/* The same after AES, so that it is the product's results that memcheck has kept an eye on. */
static void planted_behind_aes(void)
{
    uint8_t key[32];
    uint8_t v[BLOCK] = {0};
    uint8_t out[BLOCK];
    fill_with_secret(key, sizeof(key));
    aes->ctr(key, sizeof(key), v, out, 1, NULL, 0);
    if ((out[0] & 1) != 0) {
        seen++;
    }
}

/* ---- Which AES, which case ---- */

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"ctr", ctr},
    {"ctr-wide", ctr_wide},
    {"request", request},
    {"request-wide", request_wide},
    {"arm", as_on_arm},
    {"cbc", cbc},
    {"cbc-mac", cbc_mac},
    {"rdrand-mac", rdrand_mac},
    {"hmac", hmac},
    {"df", df},
    {"ctr-drbg", ctr_drbg},
    {"planted-branch", planted_branch},
    {"planted-index", planted_index},
    {"planted-behind-aes", planted_behind_aes},
};

/* With each implementation. */
static void run(void (*run_case)(void))
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    for (size_t i = 0; i < count; i++) {
        aes = all[i];
        (void)printf("%s\n", aes->name);
        run_case();
    }
}

int main(int argc, char **argv)
{
    bool known = false;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (argc == 1) {
            (void)puts(cases[i].name);
        } else if (strcmp(argv[1], cases[i].name) == 0) {
            known = true;
            run(cases[i].run);
        }
    }
    return argc == 1 || known ? EXIT_SUCCESS : 2;
}
