#include "mixing/aes/libcrypto.h"

#include <stdatomic.h>

#include <openssl/provider.h>

#include "mixing/memory/fork.h"
#include "mixing/memory/lock.h"

enum { KEY_SIZES = 3 };

/* Complete before it is published, and never changed after. */
struct fetched {
    OSSL_LIB_CTX *context;
    OSSL_PROVIDER *provider;
    EVP_CIPHER *ecb[KEY_SIZES];
    EVP_CIPHER *cbc[KEY_SIZES];
    EVP_MAC *hmac;
};

static struct fetched store;
static _Atomic(const struct fetched *) published;

static void release(struct fetched *f)
{
    for (int i = 0; i < KEY_SIZES; i++) {
        EVP_CIPHER_free(f->ecb[i]);
        EVP_CIPHER_free(f->cbc[i]);
    }
    EVP_MAC_free(f->hmac);
    if (f->provider != NULL) {
        OSSL_PROVIDER_unload(f->provider);
    }
    OSSL_LIB_CTX_free(f->context);
    *f = (struct fetched){0};
}

static int fetch(struct fetched *f)
{
    static const char *const ecb_names[KEY_SIZES] = {"AES-128-ECB", "AES-192-ECB", "AES-256-ECB"};
    static const char *const cbc_names[KEY_SIZES] = {"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"};

    f->context = OSSL_LIB_CTX_new();
    if (f->context == NULL) {
        return 0;
    }
    f->provider = OSSL_PROVIDER_load(f->context, "default");
    if (f->provider == NULL) {
        return 0;
    }
    for (int i = 0; i < KEY_SIZES; i++) {
        f->ecb[i] = EVP_CIPHER_fetch(f->context, ecb_names[i], NULL);
        f->cbc[i] = EVP_CIPHER_fetch(f->context, cbc_names[i], NULL);
        if (f->ecb[i] == NULL || f->cbc[i] == NULL) {
            return 0;
        }
    }
    f->hmac = EVP_MAC_fetch(f->context, "HMAC", NULL);
    return f->hmac != NULL;
}

static const struct fetched *fetched(void)
{
    const struct fetched *f = atomic_load_explicit(&published, memory_order_acquire);
    if (f != NULL) {
        return f;
    }
    drng_fork_open();
    if (!drng_lock(drng_process_lock(DRNG_LOCK_LIBCRYPTO))) {
        return NULL;
    }
    f = atomic_load_explicit(&published, memory_order_relaxed);
    if (f == NULL) {
        if (fetch(&store)) {
            f = &store;
            atomic_store_explicit(&published, f, memory_order_release);
        } else {
            release(&store);
        }
    }
    drng_unlock(drng_process_lock(DRNG_LOCK_LIBCRYPTO));
    return f;
}

static size_t key_index(size_t key_len)
{
    return key_len / 8 - 2;
}

EVP_CIPHER *drng_libcrypto_aes_ecb(size_t key_len)
{
    const struct fetched *f = fetched();
    return f != NULL ? f->ecb[key_index(key_len)] : NULL;
}

EVP_CIPHER *drng_libcrypto_aes_cbc(size_t key_len)
{
    const struct fetched *f = fetched();
    return f != NULL ? f->cbc[key_index(key_len)] : NULL;
}

EVP_MAC *drng_libcrypto_hmac(void)
{
    const struct fetched *f = fetched();
    return f != NULL ? f->hmac : NULL;
}

void drng_libcrypto_close(void)
{
    drng_fork_open();
    if (drng_lock(drng_process_lock(DRNG_LOCK_LIBCRYPTO))) {
        atomic_store_explicit(&published, NULL, memory_order_relaxed);
        release(&store);
        drng_unlock(drng_process_lock(DRNG_LOCK_LIBCRYPTO));
    }
}
