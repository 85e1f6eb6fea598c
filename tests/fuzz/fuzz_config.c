/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider's section: each line of input is the value of a key, "=" before it if it is set. The provider loads
 * where all are allowed, and what it then does is what they say.
 */

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "provider/config.h"
#include "provider/errors.h"
#include "provider/process.h"
#include "tests/fuzz/fuzz.h"
#include "tests/provider/fake_core.h"
#include "tests/scripted/cpu.h"

extern OSSL_provider_init_fn OSSL_provider_init;

enum { RESEED_BYTES = 5, RDSEED_WORDS = 6, KEYS = 7, MAX_FUNCTIONS = 16 };

static const char *const names[KEYS] = {"source",      "fallback",     "os_mixing",   "request_mixing",
                                        "conditioner", "reseed_bytes", "rdseed_words"};
static const char *const allowed[KEYS][4] = {
    {"auto", "rdseed", "rdrand"}, {"yes", "no"}, {"yes", "no"}, {"auto", "yes", "no"}, {"cbc-mac", "hmac-sha256"}};

static const char *values[KEYS]; /* NULL: not set */

static int get_params(const OSSL_CORE_HANDLE *core, OSSL_PARAM params[])
{
    if (OSSL_PARAM_locate(params, OSSL_PROV_PARAM_CORE_VERSION) != NULL) {
        return 1; /* which it does not say */
    }
    for (unsigned i = 0; i < KEYS; i++) {
        OSSL_PARAM *p = OSSL_PARAM_locate(params, names[i]);
        FUZZ_CHECK(p != NULL);
        if (values[i] != NULL && !OSSL_PARAM_set_utf8_ptr(p, values[i])) {
            return 0;
        }
    }
    return 1;
}

/* The core of the other tests, but for the section. */
static const OSSL_DISPATCH *core_with_a_section(void)
{
    static OSSL_DISPATCH core[MAX_FUNCTIONS];
    unsigned count = 0;
    for (; fake_core[count].function_id != 0; count++) {
        core[count] = fake_core[count];
        if (core[count].function_id == OSSL_FUNC_CORE_GET_PARAMS) {
            core[count].function = (void (*)(void))get_params;
        }
    }
    FUZZ_CHECK(count < MAX_FUNCTIONS);
    return core;
}

/* Takes `text` apart. */
static void set_values(char *text)
{
    for (unsigned i = 0; i < KEYS; i++) {
        char *end = text != NULL ? strchr(text, '\n') : NULL;
        if (end != NULL) {
            *end = '\0';
        }
        values[i] = text != NULL && text[0] == '=' ? text + 1 : NULL;
        text = end != NULL ? end + 1 : NULL;
    }
}

/* The number that the value of this key is, its default where it is not set, or -1. */
static int64_t expected_number(unsigned key)
{
    const char *value = values[key] != NULL ? values[key] : key == RESEED_BYTES ? "0" : "8";
    const size_t zeros = strspn(value, "0");
    const size_t digits = strspn(value + zeros, "0123456789");
    const int64_t number = digits <= 10 ? strtoll(value, NULL, 10) : -1;
    const bool allowed_one = key == RESEED_BYTES ? number == 0 || (number >= 1024 && number <= UINT32_MAX)
                                                 : number >= 8 && number <= 2048 && number % 2 == 0;
    return zeros + digits > 0 && value[zeros + digits] == '\0' && allowed_one ? number : -1;
}

/* The place of the value among those allowed, 0 where it is not set, or -1. */
static int expected_place(unsigned key)
{
    if (key >= RESEED_BYTES) {
        return expected_number(key) < 0 ? -1 : 0;
    }
    for (int i = 0; i < 4 && values[key] != NULL && allowed[key][i] != NULL; i++) {
        if (strcmp(values[key], allowed[key][i]) == 0) {
            return i;
        }
    }
    return values[key] == NULL ? 0 : -1;
}

/* The first key whose value is not allowed, or KEYS. */
static unsigned first_wrong(void)
{
    unsigned key = 0;
    while (key < KEYS && expected_place(key) >= 0) {
        key++;
    }
    return key;
}

static void check_meaning(const struct drng_config *config)
{
    static const int choices[] = {DRNG_CHOICE_AUTO, DRNG_RDSEED, DRNG_RDRAND};
    static const enum drng_tristate tristates[] = {DRNG_AUTO, DRNG_YES, DRNG_NO};
    static const enum drng_conditioner_kind conditioners[] = {DRNG_CBC_MAC, DRNG_HMAC_SHA256};
    FUZZ_CHECK(config->choice == choices[expected_place(0)]);
    FUZZ_CHECK(config->fallback == (expected_place(1) == 0));
    FUZZ_CHECK(config->os_mixing == (expected_place(2) == 0));
    FUZZ_CHECK(config->request_mixing == tristates[expected_place(3)]);
    FUZZ_CHECK(config->conditioner == conditioners[expected_place(4)]);
    FUZZ_CHECK(config->reseed_bytes == expected_number(RESEED_BYTES));
    FUZZ_CHECK(config->rdseed_words == expected_number(RDSEED_WORDS));
}

static void check_error(unsigned key)
{
    FUZZ_CHECK(fake_error_reason == DRNG_R_CONFIG_VALUE);
    FUZZ_CHECK(strncmp(fake_error_text, names[key], strlen(names[key])) == 0);
    FUZZ_CHECK(strlen(values[key]) > 300 || strstr(fake_error_text, values[key]) != NULL);
}

static void load(bool wrong)
{
    const OSSL_DISPATCH *functions = NULL;
    void *provctx = NULL;
    FUZZ_CHECK(OSSL_provider_init(fake_handle, core_with_a_section(), &functions, &provctx) == !wrong);
    FUZZ_CHECK((provctx == NULL) == wrong);
    for (; functions != NULL && functions->function_id != 0; functions++) {
        if (functions->function_id == OSSL_FUNC_PROVIDER_TEARDOWN) {
            OSSL_FUNC_provider_teardown(functions)(provctx);
        }
    }
}

/* Held open, so that only the first load tests and maps. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    scripted_reset(scripted_good, scripted_good);
    FUZZ_CHECK(drng_process_open(NULL));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct drng_config config;
    struct drng_core core;
    char *text = fuzz_text(data, len);
    set_values(text);
    const unsigned wrong = first_wrong();
    drng_core_init(&core, fake_handle, core_with_a_section());
    FUZZ_CHECK(drng_config_read(&config, &core) == (wrong == KEYS));
    if (wrong == KEYS) {
        check_meaning(&config);
    } else {
        check_error(wrong);
    }
    load(wrong < KEYS);
    free(text);
    return 0;
}
