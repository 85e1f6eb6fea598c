/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator sees of each way in which the instructions fail: the provider's parameters and its errors, on the
 * scripted CPU. scripts/evidence/faults.py puts it into docs/reliability.md.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/rand.h>

#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/fake_aes.h"

struct scene {
    const char *name;
    scripted_behaviour *rdseed; /* NULL: the CPU has no such instruction */
    scripted_behaviour *rdrand;
    const char *keys;
    bool self_test_fails;
};

static const struct scene scenes[] = {
    {"RDSEED starves", scripted_dry, scripted_good, "", false},
    {"RDSEED lies", scripted_constant, scripted_good, "", false},
    {"a bit of RDSEED sticks", scripted_bit_at_0, scripted_good, "", false},
    {"both lie", scripted_zeros, scripted_alternating, "", false},
    {"both lie, and fallback = no", scripted_zeros, scripted_alternating, "fallback = no\n", false},
    {"both starve, and fallback = no", scripted_dry, scripted_dry, "fallback = no\n", false},
    {"there is neither, and fallback = no", NULL, NULL, "fallback = no\n", false},
    {"AES gives a wrong answer", scripted_good, scripted_good, "", true},
};

/* A process that has seen nothing yet, on this CPU; whatever CPU it really runs on. */
static void set_up(const struct scene *scene)
{
    scripted_reset(scene->rdseed, scene->rdrand);
    scripted_cpu.has[DRNG_RDSEED] = scene->rdseed != NULL;
    scripted_cpu.has[DRNG_RDRAND] = scene->rdrand != NULL;
    drng_process.machine.evidence = (struct drng_evidence){.cpu = scripted_cpu};
    drng_process.machine.instructions[DRNG_RDSEED] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDSEED]};
    drng_process.machine.instructions[DRNG_RDRAND] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDRAND]};
}

static void print_errors(void)
{
    const char *data = NULL;
    int flags = 0;
    unsigned long error = 0;
    while ((error = ERR_get_error_all(NULL, NULL, NULL, &data, &flags)) != 0) {
        const bool has_data = (flags & ERR_TXT_STRING) != 0 && data[0] != '\0';
        if (ERR_GET_LIB(error) == ERR_LIB_RAND) {
            continue; /* libcrypto's own words about a generator that failed */
        }
        (void)printf("    %s%s%s\n", ERR_reason_error_string(error), has_data ? ": " : "", has_data ? data : "");
    }
}

static void print_parameters(OSSL_LIB_CTX *libctx)
{
    static const char *const counters[] = {"seeds-rdseed",    "seeds-rdrand",   "seeds-fallback", "seed-failures",
                                           "health-failures", "rdseed-retries", "rdrand-retries"};
    (void)printf("    active-source: %s\n", evp_text(libctx, "active-source"));
    (void)printf("    disabled-reason: %s\n", evp_text(libctx, "disabled-reason"));
    for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
        const uint64_t value = evp_counter(libctx, counters[i]);
        if (value > 0) {
            (void)printf("    %s: %" PRIu64 "\n", counters[i], value);
        }
    }
}

static void fail_self_test(OSSL_LIB_CTX *libctx)
{
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    const struct drng_aes *aes = drng_process.machine.aes;
    fake_aes_script = (struct fake_aes_script){.ctr_flips_key_len = 32};
    drng_process.machine.aes = &fake_aes;
    (void)OSSL_PROVIDER_self_test(provider);
    drng_process.machine.aes = aes;
    OSSL_PROVIDER_unload(provider);
}

static bool play(const struct scene *scene)
{
    unsigned char out[32];
    set_up(scene);
    OSSL_LIB_CTX *libctx = evp_context(scene->keys);
    if (libctx == NULL) {
        return false;
    }
    if (scene->self_test_fails) {
        fail_self_test(libctx);
    }
    const bool served = RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1;
    (void)printf("%s: RAND_bytes() %s\n", scene->name, served ? "succeeds" : "fails");
    print_parameters(libctx);
    print_errors();
    OSSL_LIB_CTX_free(libctx);
    return true;
}

int main(void)
{
    /* Looks at the real CPU once, so that set_up() has the last word on it. */
    bool played = drng_process_open(NULL);
    drng_process_close();
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes) && played; i++) {
        played = play(&scenes[i]);
    }
    return played ? EXIT_SUCCESS : EXIT_FAILURE;
}
