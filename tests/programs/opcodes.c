/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opcodes.c - loads drng.so with one byte of its code changed at a time, and says what became of it: for
 * scripts/evidence/opcodes.py.
 *
 *     opcodes MODULE NI AVX VAES256 VAES512 FUSED INIT < CHANGES
 *
 * The others are the offsets of drng_aes_ni, drng_aes_avx, drng_aes_vaes256, drng_aes_vaes512, drng_fused_mac and
 * OSSL_provider_init in the module. A change is a line, "OFFSET BYTE" in hexadecimal. For each and for each
 * implementation of AES, chosen by OPENSSL_ia32cap, there is a line: the offset, the implementation, and "found" where
 * the module did not load or chose another one, or refused a cipher or chose another one for it, "harmless" where each
 * output is what it was, or "survives". Each trial is a process. What this CPU cannot run is left out and named on
 * standard error.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include "mixing/aes/aes.h"
#include "mixing/entropy/conditioner.h"

enum { MOST_BLOCKS = 100, MOST_BYTES = 272, SECONDS = 20, FOUND = 10, OTHER_OUTPUT, PAGE = 4096 };

static struct {
    const char *path;
    uint64_t fused, init;
} module;

enum { WAYS = 4 };

static struct way {
    const char *name;
    const char *implementation; /* what it calls itself */
    const char *mask;
    uint64_t aes; /* its offset */
    uint64_t right;
    bool runs; /* on this CPU */
} ways[WAYS] = {
    {"AES-NI", "AES-NI", "~0x1000000000000000:~0x20000000000", 0, 0, false},
    {"AES-NI,AVX", "AES-NI", ":~0x20000000000", 0, 0, false},
    {"VAES-256", "VAES-256", ":~0xc0030000", 0, 0, false},
    {"VAES-512", "VAES-512", "~0:~0", 0, 0, false},
};

static uint64_t sum_of(uint64_t sum, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        sum = (sum ^ ((const uint8_t *)data)[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

static void any_bytes(uint8_t *bytes, size_t len, uint64_t from)
{
    for (size_t i = 0; i < len; i++) {
        from = from * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (uint8_t)(from >> 56);
    }
}

/* A counter whose low word wraps with block number `at`, or does not where that is 0. */
static void any_v(uint8_t v[16], size_t at, uint64_t from)
{
    any_bytes(v, 16, from);
    if (at > 0) {
        memset(v + 8, 0xff, 8);
        v[15] = (uint8_t)(0xff - (at - 1));
    }
}

/* The sum over everything that the kernels of this implementation, and the fused loop, give. */
static uint64_t outputs(const struct drng_aes *aes, __typeof__(&drng_fused_mac) fused)
{
    static uint8_t out[MOST_BLOCKS * 16];
    _Alignas(16) uint8_t key[32];
    uint8_t v[16];
    uint8_t tail[64];
    uint8_t fresh[8];
    uint64_t sum = 0;
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        for (size_t at = 0; at <= MOST_BLOCKS + 4; at++) {
            const size_t step = at % 8 == 0 ? 1 : 5;
            for (size_t blocks = at % step; blocks <= MOST_BLOCKS; blocks += step) {
                const size_t tails = (blocks + at) % (key_len == 16 ? 4 : 5); /* those of an Update, and one */
                any_bytes(key, key_len, blocks + at);
                any_v(v, at, blocks);
                memset(tail, 0, sizeof(tail));
                aes->ctr(key, key_len, v, out, blocks, tail, tails);
                sum = sum_of(sum_of(sum, out, 16 * blocks), tail, 16 * tails); /* nobody uses V after it */
            }
            for (size_t len = 1 + at % 7; len <= aes->short_len && at < 24; len += at == 0 ? 1 : 7) {
                any_bytes(key, 32, len + at);
                any_bytes(fresh, sizeof(fresh), len);
                any_v(v, at, len);
                aes->request(key, key_len, v, NULL, 0, NULL);
                aes->request(key, key_len, v, out, len, (len + at) % 2 == 0 ? NULL : fresh);
                sum = sum_of(sum_of(sum_of(sum, out, len), key, key_len), v, 16);
            }
        }
        for (size_t blocks = 1; blocks < 20; blocks++) {
            any_bytes(key, key_len, blocks);
            any_bytes(v, 16, blocks);
            any_bytes(out, sizeof(out), blocks);
            aes->cbc(key, key_len, v, blocks % 3 == 0 ? out : NULL, blocks % 4 == 0 ? NULL : out, blocks);
            sum = sum_of(sum_of(sum, v, 16), out, 16 * blocks);
        }
    }
    for (size_t blocks = 1; blocks < 40; blocks++) {
        struct drng_cbc_mac mac;
        struct drng_health health = {0};
        uint64_t words[80];
        uint64_t retries = 0;
        any_bytes((uint8_t *)words, sizeof(words), blocks);
        any_bytes(mac.key, sizeof(mac.key), blocks + 1);
        memset(mac.state, 0, sizeof(mac.state));
        if (fused(&mac, &health, blocks, words, &retries) != DRNG_OK) {
            sum++;
        }
        sum = sum_of(sum, mac.state, sizeof(mac.state));
    }
    return sum;
}

/* Where the module is loaded, before anything of it has run but its constructors. */
static uint8_t *base_of_module(void)
{
    Dl_info info;
    void *handle = dlopen(module.path, RTLD_NOW);
    void *init = handle != NULL ? dlsym(handle, "OSSL_provider_init") : NULL;
    if (init == NULL || dladdr(init, &info) == 0) {
        (void)fprintf(stderr, "%s: %s\n", module.path, dlerror());
        exit(1);
    }
    return (uint8_t *)init - module.init;
}

static void change(uint8_t *at, uint8_t byte)
{
    uint8_t *page = (uint8_t *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1));
    if (mprotect(page, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        exit(1);
    }
    *at = byte;
    (void)mprotect(page, 2 * (size_t)PAGE, PROT_READ | PROT_EXEC);
}

/* Uses the ciphers that are not tested at the load. False: one of them is refused, or an implementation has failed. */
static bool uses_the_others(OSSL_PROVIDER *provider)
{
    uint64_t skipped = 0;
    OSSL_PARAM ask[] = {
        OSSL_PARAM_construct_uint64("self-tests-failed", &skipped),
        OSSL_PARAM_END,
    };
    bool served = true;
    EVP_RAND *drbg = EVP_RAND_fetch(NULL, "DRNG-CTR-DRBG", NULL);
    for (unsigned bits = 128; bits < 256 && served; bits += 64) {
        char cipher[16];
        (void)snprintf(cipher, sizeof(cipher), "AES-%u-CTR", bits);
        const OSSL_PARAM params[] = {
            OSSL_PARAM_construct_utf8_string("cipher", cipher, 0),
            OSSL_PARAM_END,
        };
        EVP_RAND_CTX *rand = EVP_RAND_CTX_new(drbg, NULL);
        served = EVP_RAND_instantiate(rand, 0, 0, NULL, 0, params) == 1;
        EVP_RAND_CTX_free(rand);
    }
    EVP_RAND_free(drbg);
    return served && OSSL_PROVIDER_get_params(provider, ask) == 1 && skipped == 0;
}

/* Loads the module as it is now; the exit status says what became of it. *sum is that of its outputs. */
static int load(const struct way *way, uint8_t *base, uint64_t *sum)
{
    const char *chosen = NULL;
    OSSL_PARAM ask[] = {
        {"aes-implementation", OSSL_PARAM_UTF8_PTR, (void *)&chosen, sizeof(chosen), 0},
        OSSL_PARAM_END,
    };
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(NULL, module.path);
    if (provider == NULL || OSSL_PROVIDER_get_params(provider, ask) != 1 || strcmp(chosen, way->implementation) != 0) {
        return FOUND;
    }
    if (!uses_the_others(provider)) {
        return FOUND;
    }
    const struct drng_aes *aes = (const struct drng_aes *)(const void *)(base + way->aes);
    *sum = outputs(aes, (__typeof__(&drng_fused_mac))(uintptr_t)(base + module.fused));
    return *sum == way->right ? 0 : OTHER_OUTPUT;
}

/* In a process of its own, with the change, or without where offset is 0. Writes the sum to `to`. */
static int try_in_child(const struct way *way, uint64_t offset, uint8_t byte, uint64_t *shared)
{
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        static const struct rlimit no_core = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)alarm(SECONDS);
        (void)setenv("OPENSSL_ia32cap", way->mask, 1);
        uint8_t *base = base_of_module();
        if (offset != 0) {
            change(base + offset, byte);
        }
        _exit(load(way, base, shared));
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : FOUND; /* it died: nothing was served */
}

int main(int argc, char **argv)
{
    if (argc != 8) {
        (void)fprintf(stderr, "usage: opcodes MODULE NI AVX VAES256 VAES512 FUSED INIT\n");
        return 2;
    }
    module.path = argv[1];
    for (size_t i = 0; i < WAYS; i++) {
        ways[i].aes = strtoull(argv[2 + i], NULL, 16);
    }
    module.fused = strtoull(argv[6], NULL, 16);
    module.init = strtoull(argv[7], NULL, 16);
    uint64_t *sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < WAYS; i++) {
        if (try_in_child(&ways[i], 0, 0, sum) == FOUND) {
            (void)fprintf(stderr, "%s is not what this CPU chooses under OPENSSL_ia32cap=%s\n", ways[i].name,
                          ways[i].mask);
            continue;
        }
        ways[i].runs = true;
        ways[i].right = *sum;
    }
    const bool all_run = ways[0].runs && ways[1].runs && ways[2].runs && ways[3].runs;
    uint64_t offset = 0;
    unsigned byte = 0;
    while (scanf("%" SCNx64 " %x", &offset, &byte) == 2) {
        for (size_t i = 0; i < WAYS; i++) {
            if (!ways[i].runs) {
                continue;
            }
            const int result = try_in_child(&ways[i], offset, (uint8_t)byte, sum);
            (void)printf("%" PRIx64 " %s %s\n", offset, ways[i].name,
                         result == 0              ? "harmless"
                         : result == OTHER_OUTPUT ? "survives"
                                                  : "found");
        }
    }
    return all_run ? 0 : 77;
}
