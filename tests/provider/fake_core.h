/* SPDX-License-Identifier: Apache-2.0 */
/* fake_core.h - enough of libcrypto's core to call the provider without libcrypto. */

#ifndef TEST_FAKE_CORE_H
#define TEST_FAKE_CORE_H

#include <stdbool.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

/* The dispatch table and a handle for OSSL_provider_init(). Its functions for memory are libcrypto's. */
extern const OSSL_DISPATCH fake_core[];
extern const OSSL_CORE_HANDLE *const fake_handle;

/* Sets a key of the provider's section; a value of NULL removes it. */
void fake_core_set(const char *key, const char *value);

/* The version that the core reports: at first one that no libcrypto has. NULL: it reports none. */
#define FAKE_VERSION "3.0.999"
extern const char *fake_version;

/* The reason and the text of the last error. */
extern unsigned fake_error_reason;
extern char fake_error_text[512];

/* A fault of the core: it returns a byte less than asked for. */
extern bool fake_entropy_short;

/* How often its default seed source was called, and how often by a thread that could have been cancelled meanwhile. */
extern unsigned fake_entropy_calls, fake_entropy_cancellable;

#endif
