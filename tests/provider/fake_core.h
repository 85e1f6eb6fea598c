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

/* Sets the two keys with which short requests are batched, wherever this runs. */
void fake_core_set_batch(void);

/* The version that the core reports: at first one that no libcrypto has. NULL: it reports none. */
#define FAKE_VERSION "3.0.999"
extern const char *fake_version;

/* The reason and the text of the last error. */
extern unsigned fake_error_reason;
extern char fake_error_text[512];

/* Faults of the core: it returns a byte less than asked for; it cannot report the end of a thread. */
extern bool fake_entropy_short;
extern bool fake_thread_start_fails;

/* Called at the beginning of thread_start; NULL: nothing is. */
extern void (*fake_in_thread_start)(void);

/* Ends the calling thread as libcrypto does, by running the handlers that it registered. Returns their number. */
unsigned fake_thread_stop(void);

#endif
