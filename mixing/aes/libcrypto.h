/*
 * libcrypto.h - libcrypto's own AES and HMAC, fetched from a private library context.
 *
 * Private, because the application's context may hold no provider but this module (`openssl rand -provider
 * drng`), and because libcrypto 3.0 holds locks of the application's context while it creates the generators.
 * The context is made when it is first asked for, which on a CPU with AES-NI may be never.
 */

#ifndef DRNG_LIBCRYPTO_H
#define DRNG_LIBCRYPTO_H

#include <stddef.h>

#include <openssl/evp.h>

/* AES-ECB and AES-CBC for a key of key_len bytes (16, 24, 32); NULL when libcrypto cannot give it. */
EVP_CIPHER *drng_libcrypto_aes_ecb(size_t key_len);
EVP_CIPHER *drng_libcrypto_aes_cbc(size_t key_len);

/* HMAC, the digest still to be set; NULL when libcrypto cannot give it. */
EVP_MAC *drng_libcrypto_hmac(void);

/* Frees the context and all that was fetched; the next call makes it anew. No other thread may be in here. */
void drng_libcrypto_close(void);

#endif
