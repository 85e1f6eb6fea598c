/* SPDX-License-Identifier: Apache-2.0 */
/* rand_engine.c - an ENGINE that takes RAND_bytes() over, for the test that wants it noticed. Gives libcrypto's own. */

#include <openssl/engine.h>
#include <openssl/rand.h>

static int bind(ENGINE *engine, const char *id)
{
    static RAND_METHOD method;
    method = *RAND_OpenSSL();
    return ENGINE_set_id(engine, "rand_engine") == 1 && ENGINE_set_name(engine, "a test's") == 1 &&
           ENGINE_set_RAND(engine, &method) == 1;
}

IMPLEMENT_DYNAMIC_BIND_FN(bind)
IMPLEMENT_DYNAMIC_CHECK_FN()
