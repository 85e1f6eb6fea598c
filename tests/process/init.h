/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.h - the provider's entry point, for calling it without libcrypto. What is linked decides: init_module.c or
 * init_builtin.c.
 */

#ifndef TEST_INIT_H
#define TEST_INIT_H

#include <openssl/core.h>

/* NULL: the module cannot be opened. */
OSSL_provider_init_fn *init_function(void);

#endif
