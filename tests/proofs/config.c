/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider's section of openssl.cnf: any text as the value of any key. The core sets a pointer to each value, or
 * none, or fails. The key that takes a number has a run of its own, since the prover takes too long for all together.
 */

#include "provider/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/params.h>

#include "proof.h"
#include "provider/errors.h"

enum {
    MOST = NUMBER != 0 ? 5 : 12, /* no allowed word is as long as 12 */
    VALUES = 7,
    ALLOWED_SIZE = 64,
};

static const char *const names[VALUES] = {"source",      "fallback",     "os_mixing",   "request_mixing",
                                          "conditioner", "reseed_bytes", "rdseed_words"};

static char value[VALUES][MOST + 1];
static bool is_set[VALUES];
static bool core_fails;
static unsigned errors;

/* ---- The core ---- */

static bool is_text(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] == b[i] && a[i] != '\0') {
        i++;
    }
    return a[i] == b[i];
}

static int any_params(const OSSL_CORE_HANDLE *handle, OSSL_PARAM params[])
{
    for (size_t i = 0; i < VALUES; i++) {
        CLAIM(is_text(params[i].key, names[i]) && params[i].data_type == OSSL_PARAM_UTF8_PTR,
              "the keys of drng.cnf(5)");
        if (is_set[i]) {
            *(char **)params[i].data = value[i];
        }
    }
    CLAIM(params[VALUES].key == NULL, "and no other");
    return !core_fails;
}

/* "%s%s" only; what it returns is the length that the text has, whatever room there is. */
int snprintf(char *text, size_t room, const char *format, ...)
{
    va_list pieces;
    size_t len = 0;
    CLAIM(is_text(format, "%s%s") && room > 0 && __CPROVER_w_ok(text, room), "a text goes where there is room");
    va_start(pieces, format);
    for (int i = 0; i < 2; i++) {
        for (const char *piece = va_arg(pieces, const char *); *piece != '\0'; piece++) {
            if (len + 1 < room) {
                text[len] = *piece;
            }
            len++;
        }
    }
    va_end(pieces);
    text[len < room ? len : room - 1] = '\0';
    return (int)len;
}

void drng_raise_at(const struct drng_core *core, const char *file, int line, const char *function,
                   enum drng_reason reason, const char *format, ...)
{
    va_list arguments;
    errors++;
    if (core_fails) {
        CLAIM(reason == DRNG_R_CORE, "a core that does not hand over the section is refused");
        return;
    }
    CLAIM(reason == DRNG_R_CONFIG_VALUE, "the reason is named");
    va_start(arguments, format);
    (void)va_arg(arguments, const char *);
    (void)va_arg(arguments, const char *);
    const char *allowed = va_arg(arguments, const char *);
    size_t len = 0;
    while (len < ALLOWED_SIZE && allowed[len] != '\0') {
        len++;
    }
    CLAIM(len > 0 && len < ALLOWED_SIZE - 1, "the allowed values are all there");
    va_end(arguments);
}

/* ---- Any section ---- */

static bool has(size_t i, const char *text)
{
    return is_set[i] && is_text(value[i], text);
}

static bool has_default(size_t i, const char *text)
{
    return !is_set[i] || is_text(value[i], text);
}

static bool is_source(const struct drng_config *config)
{
    return (has_default(0, "auto") && config->choice == DRNG_CHOICE_AUTO) ||
           (has(0, "rdseed") && config->choice == DRNG_RDSEED) || (has(0, "rdrand") && config->choice == DRNG_RDRAND);
}

static bool is_mixing(const struct drng_config *config)
{
    return (has_default(3, "auto") && config->request_mixing == DRNG_AUTO) ||
           (has(3, "yes") && config->request_mixing == DRNG_YES) || (has(3, "no") && config->request_mixing == DRNG_NO);
}

/* One of two values, the default first. */
static bool is_choice(size_t i, const char *first, const char *second, bool is_first)
{
    return is_first ? has_default(i, first) : has(i, second);
}

/* The number that a key has, or -1. What is larger than 32 bits is as large as the digits make it. */
static int64_t number(size_t key)
{
    const char *text = is_set[key] ? value[key] : key == 5 ? "0" : "8";
    uint64_t read = 0;
    size_t i = 0;
    for (; text[i] >= '0' && text[i] <= '9' && read <= UINT32_MAX; i++) {
        read = 10 * read + (uint64_t)(text[i] - '0');
    }
    const bool allowed =
        key == 5 ? read <= UINT32_MAX && (read == 0 || read >= 1024) : read >= 8 && read <= 2048 && read % 2 == 0;
    return i > 0 && text[i] == '\0' && allowed ? (int64_t)read : -1;
}

static bool all_are_allowed(void)
{
    return !core_fails && (has_default(0, "auto") || has(0, "rdseed") || has(0, "rdrand")) &&
           (has_default(1, "yes") || has(1, "no")) && (has_default(2, "yes") || has(2, "no")) &&
           (has_default(3, "auto") || has(3, "yes") || has(3, "no")) &&
           (has_default(4, "cbc-mac") || has(4, "hmac-sha256")) && number(5) >= 0 && number(6) >= 0;
}

void prove_config(void)
{
    struct drng_core core = {.get_params = any_params};
    struct drng_config config;
    ANY(value);
    core_fails = nondet_bool();
    for (size_t i = 0; i < VALUES; i++) {
        is_set[i] = (i >= 5) == (NUMBER != 0) && nondet_bool();
        value[i][MOST] = '\0';
    }

    const bool read = drng_config_read(&config, &core);

    CLAIM(read == all_are_allowed(), "a value that is not allowed is refused, and no other");
    CLAIM(errors == (read ? 0 : 1), "and it is told");
    if (!read) {
        REACHED("a refused value");
        return;
    }
    CLAIM(is_source(&config), "source");
    CLAIM(is_choice(1, "yes", "no", config.fallback), "fallback");
    CLAIM(is_choice(2, "yes", "no", config.os_mixing), "os_mixing");
    CLAIM(is_mixing(&config), "request_mixing");
    CLAIM(is_choice(4, "cbc-mac", "hmac-sha256", config.conditioner == DRNG_CBC_MAC), "conditioner");
    CLAIM(config.reseed_bytes == number(5), "reseed_bytes");
    CLAIM(config.rdseed_words == number(6), "rdseed_words");
    REACHED("a section");
}
