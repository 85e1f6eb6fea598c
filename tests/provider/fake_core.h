/* fake_core.h - just enough of libcrypto's core to call the provider without it. */

#ifndef TEST_FAKE_CORE_H
#define TEST_FAKE_CORE_H

#include <stdbool.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

/* The dispatch table, its memory libcrypto's, to hand to OSSL_provider_init(), and a handle for it. */
extern const OSSL_DISPATCH fake_core[];
extern const OSSL_CORE_HANDLE *const fake_handle;

/* One key of the provider's section and its value; NULL for none. */
void fake_core_set(const char *key, const char *value);

/* What it says its version is: at first one that no libcrypto has. NULL: it does not say. */
#define FAKE_VERSION "3.0.999"
extern const char *fake_version;

/* The last error raised: its reason and its text. */
extern unsigned fake_error_reason;
extern char fake_error_text[512];

/* What the core does wrong: gives a byte less than it is asked for, or cannot tell a thread of its end. */
extern bool fake_entropy_short;
extern bool fake_thread_start_fails;

/* Called on the way into thread_start; NULL for nothing. */
extern void (*fake_in_thread_start)(void);

/* Ends the calling thread as libcrypto does: runs the handlers that it registered. Returns how many. */
unsigned fake_thread_stop(void);

#endif
