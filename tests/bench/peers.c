/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/peers.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>

#include "mixing/drbg/self_test.h"
#include "mixing/machine/cpu.h"
#include "provider/masks.h"
#include "tests/bench/crates.h"

/* ---- Through libcrypto, each in a library context of its own ---- */

static bool fill_rand_bytes(const void *arg, uint8_t *out, size_t len)
{
    OSSL_LIB_CTX *libctx = (OSSL_LIB_CTX *)arg;
    return RAND_bytes_ex(libctx, out, len, 0) == 1;
}

/*
 * Past RAND_bytes, whose lock all threads of a process share before OpenSSL 3.5: the thread's generator, looked up
 * once. Library contexts are not freed here, so what a thread remembers stays true.
 */
static bool fill_evp_rand(const void *arg, uint8_t *out, size_t len)
{
    static _Thread_local struct {
        const void *libctx;
        EVP_RAND_CTX *rand;
    } cache;
    if (cache.libctx != arg) {
        cache.rand = RAND_get0_public((OSSL_LIB_CTX *)arg);
        cache.libctx = arg;
    }
    return EVP_RAND_generate(cache.rand, out, len, 0, 0, NULL, 0) == 1;
}

static OSSL_LIB_CTX *failed(OSSL_LIB_CTX *libctx, const char *name)
{
    (void)fprintf(stderr, "%s is not there:\n", name);
    ERR_print_errors_fp(stderr);
    OSSL_LIB_CTX_free(libctx);
    return NULL;
}

static bool served_by(OSSL_LIB_CTX *libctx, const char *provider)
{
    uint8_t byte = 0;
    if (RAND_bytes_ex(libctx, &byte, sizeof(byte), 0) != 1) {
        return false;
    }
    EVP_RAND_CTX *rand = RAND_get0_public(libctx);
    return rand != NULL &&
           strcmp(OSSL_PROVIDER_get0_name(EVP_RAND_get0_provider(EVP_RAND_CTX_get0_rand(rand))), provider) == 0;
}

/* One of libcrypto's own. */
static OSSL_LIB_CTX *builtin(const char *name, const char *digest)
{
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    return libctx != NULL && RAND_set_DRBG_type(libctx, name, NULL, NULL, digest) == 1 && served_by(libctx, "default")
               ? libctx
               : failed(libctx, name);
}

/* drng as a program has it that is started with OPENSSL_CONF. */
static OSSL_LIB_CTX *configured(const char *config)
{
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    if (libctx == NULL || OSSL_PROVIDER_set_default_search_path(libctx, BENCH_MODULE_DIR) != 1 ||
        OSSL_LIB_CTX_load_config(libctx, config) != 1) {
        return failed(libctx, config);
    }
    return libctx;
}

static OSSL_LIB_CTX *with_drng(const char *config)
{
    OSSL_LIB_CTX *libctx = configured(config);
    return libctx == NULL || served_by(libctx, "drng") ? libctx : failed(libctx, config);
}

/* ---- By OpenSSL 3.5's random_provider, which no EVP_RAND tells of ---- */

static bool has_random_provider(void)
{
    enum { SINCE = 0x305 };
    return OpenSSL_version_num() >> 20 >= SINCE;
}

static bool fills(OSSL_LIB_CTX *libctx)
{
    uint8_t bytes[32] = {0};
    static const uint8_t zeros[sizeof(bytes)];
    return RAND_bytes_ex(libctx, bytes, sizeof(bytes), 0) == 1 && memcmp(bytes, zeros, sizeof(bytes)) != 0;
}

static uint64_t seeds_of(OSSL_PROVIDER *provider, const char *name)
{
    uint64_t number = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint64(name, &number), OSSL_PARAM_construct_end()};
    return OSSL_PROVIDER_get_params(provider, params) == 1 ? number : 0;
}

static int add_seeds(OSSL_PROVIDER *provider, void *seeds)
{
    if (strcmp(OSSL_PROVIDER_get0_name(provider), "drng") == 0) {
        *(uint64_t *)seeds += seeds_of(provider, "seeds-rdseed") + seeds_of(provider, "seeds-rdrand") +
                              seeds_of(provider, "seeds-fallback");
    }
    return 1;
}

/* Not by OSSL_PROVIDER_load(): the unload after it ends random_provider for this context, and EVP_RAND serves. */
static uint64_t seeds_so_far(OSSL_LIB_CTX *libctx)
{
    uint64_t seeds = 0;
    (void)OSSL_PROVIDER_do_all(libctx, add_seeds, &seeds);
    return seeds;
}

/*
 * RAND_bytes has made seeds, and has not made the generators that EVP_RAND has for a thread: those take their seeds
 * only here. The counters are the process's, so they are compared with what they were.
 */
static bool goes_past_evp_rand(OSSL_LIB_CTX *libctx)
{
    const uint64_t before = seeds_so_far(libctx);
    const bool filled = fills(libctx);
    const uint64_t drawn = seeds_so_far(libctx);
    return filled && drawn > before && RAND_get0_public(libctx) != NULL && seeds_so_far(libctx) > drawn;
}

static OSSL_LIB_CTX *random_provider(const char *config)
{
    OSSL_LIB_CTX *libctx = configured(config);
    return libctx == NULL || goes_past_evp_rand(libctx) ? libctx : failed(libctx, config);
}

/* ---- Past libcrypto ---- */

/* The system call. Not getrandom(): from glibc 2.41 on, that function does not always make it. */
static ssize_t call_getrandom(void *out, size_t len, unsigned flags)
{
    return syscall(SYS_getrandom, out, len, flags);
}

typedef ssize_t get_random(void *out, size_t len, unsigned flags);

static get_random *const by_call = call_getrandom;
static get_random *const by_libc = getrandom;

static bool fill_getrandom(const void *arg, uint8_t *out, size_t len)
{
    get_random *const *function = arg;
    while (len > 0) {
        const ssize_t got = (*function)(out, len, 0);
        if (got < 0 && errno != EINTR) {
            return false;
        }
        out += got > 0 ? got : 0;
        len -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Word by word, with as many tries a word as its maker advises. */
static bool fill_words(const void *vrow, uint8_t *out, size_t len)
{
    const struct drng_instruction_row *row = vrow;
    uint64_t failed = 0;
    for (size_t done = 0; done < len; done += sizeof(uint64_t)) {
        uint64_t word = 0;
        if (!drng_try_word(row->read, row->tries, &failed, &word)) {
            return false;
        }
        const size_t left = len - done;
        memcpy(out + done, &word, left < sizeof(word) ? left : sizeof(word));
    }
    return true;
}

/* AES-256 in CTR mode and nothing else, by the instructions that drng has: the key is expanded, no more. */
static bool fill_aes_ctr(const void *arg, uint8_t *out, size_t len)
{
    static const uint8_t key[32] = {1};
    const struct drng_aes *aes = arg;
    uint8_t v[DRNG_AES_BLOCK] = {0};
    aes->ctr(key, sizeof(key), v, out, len / DRNG_AES_BLOCK, NULL, 0);
    return true;
}

/* ---- All of them ---- */

static struct drng_evidence evidence;
static const struct drng_aes *chosen_aes;

static bool choose_aes(void)
{
    const char *what = NULL;
    drng_cpu_identify(&evidence.cpu);
    drng_masks_apply(&evidence, NULL);
    chosen_aes = drng_self_test_choose(&evidence.cpu, &what);
    return chosen_aes != NULL;
}

const char *bench_aes_name(void)
{
    return chosen_aes->name;
}

struct list {
    struct bench_peer *peers;
    size_t count;
    bool complete;
};

static void add(struct list *list, const char *name, bool (*fill)(const void *, uint8_t *, size_t), const void *arg)
{
    list->peers[list->count++] = (struct bench_peer){name, fill, arg};
}

static void add_context(struct list *list, const char *name, const char *evp_name, OSSL_LIB_CTX *libctx)
{
    if (libctx == NULL) {
        list->complete = false;
        return;
    }
    add(list, name, fill_rand_bytes, libctx);
    if (evp_name != NULL) {
        add(list, evp_name, fill_evp_rand, libctx);
    }
}

static bool add_crates(struct list *list)
{
    struct bench_peer crates[BENCH_MAX_CRATES];
    size_t count = 0;
    const bool loaded = bench_crates(crates, &count);
    for (size_t i = 0; i < count; i++) {
        list->peers[list->count++] = crates[i];
    }
    return loaded;
}

/* Since glibc 2.41, whose getrandom() asks the vDSO of Linux 6.11 and later. */
static bool libc_asks_vdso(void)
{
    enum { SINCE_MAJOR = 2, SINCE_MINOR = 41, DECIMAL = 10 };
    char *rest = NULL;
    const long major = strtol(gnu_get_libc_version(), &rest, DECIMAL);
    return major > SINCE_MAJOR || (major == SINCE_MAJOR && strtol(rest + 1, NULL, DECIMAL) >= SINCE_MINOR);
}

size_t bench_peers(struct bench_peer peers[BENCH_MAX_PEERS])
{
    struct list list = {.peers = peers, .complete = choose_aes()};
    if (!list.complete) {
        return 0;
    }
    add_context(&list, "CTR-DRBG", "CTR-DRBG-evp", builtin("CTR-DRBG", NULL));
    add_context(&list, "HASH-DRBG", NULL, builtin("HASH-DRBG", "SHA256"));
    add_context(&list, "HMAC-DRBG", NULL, builtin("HMAC-DRBG", "SHA256"));
    add_context(&list, "drng", "drng-evp", with_drng(BENCH_CONF_DIR "/drng.cnf"));
    add_context(&list, "drng-mixing", NULL, with_drng(BENCH_CONF_DIR "/drng-mixing.cnf"));
    if (has_random_provider()) {
        add_context(&list, "random_provider", NULL, random_provider(BENCH_CONF_DIR "/random-provider.cnf"));
        add_context(&list, "random_provider-mixing", NULL,
                    random_provider(BENCH_CONF_DIR "/random-provider-mixing.cnf"));
    }
    add(&list, "getrandom", fill_getrandom, (const void *)&by_call);
    if (libc_asks_vdso()) {
        add(&list, "getrandom-vdso", fill_getrandom, (const void *)&by_libc);
    }
    list.complete = add_crates(&list) && list.complete;
    if (DRNG_HAS_GENERATOR && evidence.cpu.has[DRNG_WORDS_INSTRUCTION]) {
        add(&list, DRNG_WORDS_NAME, fill_words, &drng_instruction_rows[DRNG_WORDS_INSTRUCTION]);
    }
    add(&list, "AES-256-CTR", fill_aes_ctr, chosen_aes);
    return list.complete ? list.count : 0;
}
