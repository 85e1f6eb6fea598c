/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - draws bytes as any program does and says, as JSON, who served: for the tests that start processes.
 *
 * The bytes themselves are not printed. openssl.cnf is read first, as the openssl command and everything with TLS do;
 * with "bytes" or "primary" it is not, and the first call is RAND_bytes() or RAND_get0_primary(). With "again" it is
 * read, a byte is drawn, and it is read once more, as by a program that calls CONF_modules_load_file() itself; with
 * "twice" it is read twice before the first byte.
 */

#include <stdio.h>
#include <string.h>

#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>

static void print_text(const char *text)
{
    (void)putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)putchar('\\');
        }
        (void)putchar(*text);
    }
    (void)putchar('"');
}

static void print_generator(const char *role, EVP_RAND_CTX *rand)
{
    (void)printf(", \"%s\": ", role);
    if (rand == NULL) {
        (void)printf("null");
        return;
    }
    const EVP_RAND *algorithm = EVP_RAND_CTX_get0_rand(rand);
    (void)printf("{\"name\": \"%s\", \"provider\": \"%s\", \"state\": %d}", EVP_RAND_get0_name(algorithm),
                 OSSL_PROVIDER_get0_name(EVP_RAND_get0_provider(algorithm)), EVP_RAND_get_state(rand));
}

static void print_param(OSSL_PROVIDER *provider, const OSSL_PARAM *known)
{
    char *text = NULL;
    uint64_t number = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint64(known->key, &number), OSSL_PARAM_construct_end()};
    if (known->data_type == OSSL_PARAM_UTF8_PTR) {
        params[0] = OSSL_PARAM_construct_utf8_ptr(known->key, &text, 0);
    }
    if (OSSL_PROVIDER_get_params(provider, params) != 1) {
        return;
    }
    (void)printf(", \"%s\": ", known->key);
    if (text != NULL) {
        print_text(text);
    } else {
        (void)printf("%llu", (unsigned long long)number);
    }
}

static void print_provider(void)
{
    (void)printf(", \"loaded\": %d", OSSL_PROVIDER_available(NULL, "drng"));
    if (!OSSL_PROVIDER_available(NULL, "drng")) {
        return;
    }
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(NULL, "drng");
    (void)printf(", \"drng\": {\"asked\": true");
    for (const OSSL_PARAM *p = OSSL_PROVIDER_gettable_params(provider); p != NULL && p->key != NULL; p++) {
        print_param(provider, p);
    }
    (void)printf("}");
    OSSL_PROVIDER_unload(provider);
}

static void print_errors(void)
{
    char line[1024];
    const char *separator = "";
    unsigned long error = 0;
    const char *data = NULL;
    int flags = 0;
    (void)printf(", \"errors\": [");
    while ((error = ERR_get_error_all(NULL, NULL, NULL, &data, &flags)) != 0) {
        const char *reason = ERR_reason_error_string(error);
        (void)snprintf(line, sizeof(line), "%s: %s", reason != NULL ? reason : "?",
                       (flags & ERR_TXT_STRING) != 0 ? data : "");
        (void)printf("%s", separator);
        print_text(line);
        separator = ", ";
    }
    (void)printf("]");
}

int main(int argc, char **argv)
{
    unsigned char bytes[32] = {0};
    if (argc > 1 && strcmp(argv[1], "primary") == 0) {
        (void)RAND_get0_primary(NULL);
    } else if (argc < 2 || strcmp(argv[1], "bytes") != 0) {
        (void)OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
        if (argc > 1 && strcmp(argv[1], "again") == 0) {
            (void)RAND_bytes(bytes, sizeof(bytes));
        }
        if (argc > 1) {
            (void)CONF_modules_load_file(NULL, NULL, 0);
        }
        ERR_clear_error(); /* what failed there is seen in who serves */
    }
    const int drawn = RAND_bytes(bytes, sizeof(bytes));
    (void)printf("{\"rand_bytes\": %d", drawn);
    print_errors();
    (void)printf(", \"rand_priv_bytes\": %d", RAND_priv_bytes(bytes, sizeof(bytes)));
    (void)printf(", \"rand_status\": %d", RAND_status());
    print_generator("primary", RAND_get0_primary(NULL));
    print_generator("public", RAND_get0_public(NULL));
    print_generator("private", RAND_get0_private(NULL));
    print_provider();
    (void)printf("}\n");
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return 0;
}
