/* The keys: defaults, every value, and values that are none. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/config.h"
#include "provider/errors.h"
#include "provider/masks.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/unit.h"

static bool read_with(struct drng_config *config, const char *key, const char *value)
{
    struct drng_core core;
    drng_core_init(&core, fake_handle, fake_core);
    fake_core_set(key, value);
    return drng_config_read(config, &core);
}

static void defaults_are_the_first_values(void)
{
    struct drng_config config;
    CU_ASSERT_TRUE(read_with(&config, NULL, NULL));
    CU_ASSERT_EQUAL(config.choice, DRNG_CHOICE_AUTO);
    CU_ASSERT_TRUE(config.fallback);
    CU_ASSERT_TRUE(config.os_mixing);
    CU_ASSERT_EQUAL(config.request_mixing, DRNG_AUTO);
    CU_ASSERT_EQUAL(config.conditioner, DRNG_CBC_MAC);
    CU_ASSERT_FALSE(config.batch);
    CU_ASSERT_EQUAL(config.reseed_bytes, 0);
}

static void every_value_is_understood(void)
{
    struct drng_config c;
    CU_ASSERT_TRUE(read_with(&c, "source", "auto") && c.choice == DRNG_CHOICE_AUTO);
    CU_ASSERT_TRUE(read_with(&c, "source", "rdseed") && c.choice == DRNG_RDSEED);
    CU_ASSERT_TRUE(read_with(&c, "source", "rdrand") && c.choice == DRNG_RDRAND);
    CU_ASSERT_TRUE(read_with(&c, "fallback", "yes") && c.fallback);
    CU_ASSERT_TRUE(read_with(&c, "fallback", "no") && !c.fallback);
    CU_ASSERT_TRUE(read_with(&c, "os_mixing", "yes") && c.os_mixing);
    CU_ASSERT_TRUE(read_with(&c, "os_mixing", "no") && !c.os_mixing);
    CU_ASSERT_TRUE(read_with(&c, "request_mixing", "auto") && c.request_mixing == DRNG_AUTO);
    CU_ASSERT_TRUE(read_with(&c, "request_mixing", "yes") && c.request_mixing == DRNG_YES);
    CU_ASSERT_TRUE(read_with(&c, "request_mixing", "no") && c.request_mixing == DRNG_NO);
    CU_ASSERT_TRUE(read_with(&c, "conditioner", "cbc-mac") && c.conditioner == DRNG_CBC_MAC);
    CU_ASSERT_TRUE(read_with(&c, "conditioner", "hmac-sha256") && c.conditioner == DRNG_HMAC_SHA256);
    CU_ASSERT_TRUE(read_with(&c, "batch", "no") && !c.batch);
    CU_ASSERT_TRUE(read_with(&c, "batch", "yes") && c.batch);
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "0") && c.reseed_bytes == 0);
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "1024") && c.reseed_bytes == 1024);
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "0016384") && c.reseed_bytes == 16384);
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "4294967295") && c.reseed_bytes == UINT32_MAX);
}

static void any_other_value_is_named_with_what_is_allowed(void)
{
    static const struct {
        const char *key;
        const char *value;
        const char *allowed;
    } cases[] = {
        {"source", "tpm", "auto, rdseed or rdrand"},
        {"source", "", "auto, rdseed or rdrand"},
        {"source", "RDSEED", "auto, rdseed or rdrand"},
        {"fallback", "maybe", "yes or no"},
        {"fallback", "auto", "yes or no"},
        {"os_mixing", "1", "yes or no"},
        {"request_mixing", "on", "auto, yes or no"},
        {"conditioner", "sha1", "cbc-mac or hmac-sha256"},
        {"batch", "auto", "no or yes"},
        {"reseed_bytes", "", "0 or a number from 1024 to 4294967295"},
        {"reseed_bytes", "1023", "0 or a number from 1024 to 4294967295"},
        {"reseed_bytes", "4294967296", "0 or a number from 1024 to 4294967295"},
        {"reseed_bytes", "99999999999999999999999999", "0 or a number from 1024 to 4294967295"},
        {"reseed_bytes", "16k", "0 or a number from 1024 to 4294967295"},
        {"reseed_bytes", "-1", "0 or a number from 1024 to 4294967295"},
        {"reseed_bytes", "0x4000", "0 or a number from 1024 to 4294967295"},
        {"fallback", "yes ", "yes or no"},
        {"fallback", "noo", "yes or no"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct drng_config config;
        char start[64];
        (void)snprintf(start, sizeof(start), "%s = %s: ", cases[i].key, cases[i].value);
        CU_ASSERT_FALSE(read_with(&config, cases[i].key, cases[i].value));
        CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_CONFIG_VALUE);
        CU_ASSERT_EQUAL(strncmp(fake_error_text, start, strlen(start)), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(fake_error_text, cases[i].allowed));
    }
}

static void a_key_of_openssls_own_is_ignored(void)
{
    struct drng_config config;
    CU_ASSERT_TRUE(read_with(&config, "activate", "1"));
    CU_ASSERT_TRUE(read_with(&config, "module", "drng.so"));
    CU_ASSERT_TRUE(read_with(&config, "claim", "certified")); /* one of 0.2.0's, which is gone */
}

/* ---- OPENSSL_ia32cap ---- */

static struct drng_evidence everything(void)
{
    return (struct drng_evidence){.cpu = {.has = {true, true}, .aes = true, .vaes256 = true, .vaes512 = true}};
}

static void mask(struct drng_evidence *evidence, const char *value)
{
    const struct drng_masks left = drng_masks_read(value, true);
    drng_masks_mask(evidence, &left);
}

static void a_full_vector_masks_nothing(void)
{
    struct drng_evidence e = everything();
    mask(&e, "0xffffffffffffffff:0xffffffffffffffff");
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.aes && e.cpu.vaes256 && e.cpu.vaes512);
}

static void the_kill_switch_masks_both(void)
{
    struct drng_evidence e = everything();
    mask(&e, "0xbfffffffffffffff:0xfffffffffffbffff");
    CU_ASSERT_TRUE(e.masked[DRNG_RDRAND] && e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.has[DRNG_RDRAND] && e.cpu.has[DRNG_RDSEED] && e.cpu.aes);
}

static void masked_aes_takes_the_wide_ones_with_it(void)
{
    struct drng_evidence e = everything();
    mask(&e, "0xfdffffffffffffff:0xffffffffffffffff");
    CU_ASSERT_FALSE(e.cpu.aes || e.cpu.vaes256 || e.cpu.vaes512);
    e = everything();
    mask(&e, "0xffffffffffffffff:0xfffffdffffffffff:0x0");
    CU_ASSERT_TRUE(e.cpu.aes && !e.cpu.vaes256 && !e.cpu.vaes512);
    e = everything();
    mask(&e, "0xffffffffffffffff:0xfffffffffffeffff:0x0:0x0:0x0");
    CU_ASSERT_TRUE(e.cpu.vaes256 && !e.cpu.vaes512);
}

static void no_variable_means_no_mask(void)
{
    struct drng_evidence e = everything();
    mask(&e, NULL);
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.aes && e.cpu.vaes256 && e.cpu.vaes512);
}

/* As libcrypto has it: nothing, and no number, is 0. */
static void what_is_no_number_masks_all(void)
{
    static const char *const values[] = {"", "N/A", "x", "yes", " ", "-0", "0x", "0x:0x", "~", "0:~0"};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct drng_evidence e = everything();
        mask(&e, values[i]);
        CU_ASSERT_TRUE(e.masked[DRNG_RDSEED]);
        CU_ASSERT_EQUAL(e.masked[DRNG_RDRAND], values[i][0] != '~');
        CU_ASSERT_EQUAL(e.cpu.aes, values[i][0] == '~');
        CU_ASSERT_FALSE(e.cpu.vaes256 || e.cpu.vaes512);
    }
}

static void an_empty_second_word_is_skipped_since_3_5(void)
{
    static const struct {
        const char *libcrypto;
        bool masked;
    } cases[] = {{"3.0.19", true}, {"3.4.0", true}, {"3.5.0", false}, {"3.10.1", false},
                 {"4.0.2", false}, {NULL, false},   {"", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct drng_evidence e = everything();
        CU_ASSERT_EQUAL_FATAL(setenv("OPENSSL_ia32cap", "::0", 1), 0);
        drng_masks_apply(&e, cases[i].libcrypto);
        CU_ASSERT_EQUAL(e.masked[DRNG_RDSEED], cases[i].masked);
        CU_ASSERT_FALSE(e.masked[DRNG_RDRAND]);
    }
    CU_ASSERT_EQUAL(unsetenv("OPENSSL_ia32cap"), 0);
}

static void without_fxsr_there_is_no_aes_ni(void)
{
    struct drng_evidence e = everything();
    mask(&e, "~0x1000000:~0");
    CU_ASSERT_FALSE(e.cpu.aes || e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
    e = everything();
    mask(&e, "0xfffffffffeffffff:0xffffffffffffffff");
    CU_ASSERT_TRUE(e.cpu.aes);
}

static void what_the_cpu_lacks_is_not_masked(void)
{
    struct drng_evidence e = {0};
    mask(&e, "0x0:0x0");
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
}

static void what_the_cpu_lacks_is_not_added(void)
{
    struct drng_evidence e = {.cpu = {.aes = true}};
    mask(&e, "0xffffffffffffffff:0xffffffffffffffff");
    CU_ASSERT_TRUE(e.cpu.aes && !e.cpu.vaes256 && !e.cpu.vaes512);
    e.cpu.aes = false;
    mask(&e, NULL);
    CU_ASSERT_FALSE(e.cpu.aes);
}

static const struct unit_test tests[] = {
    {"defaults are the first values", defaults_are_the_first_values},
    {"every value is understood", every_value_is_understood},
    {"any other value is named with what is allowed", any_other_value_is_named_with_what_is_allowed},
    {"a key of OpenSSL's own is ignored", a_key_of_openssls_own_is_ignored},
    {"a full vector masks nothing", a_full_vector_masks_nothing},
    {"the kill switch masks both", the_kill_switch_masks_both},
    {"masked AES takes the wide ones with it", masked_aes_takes_the_wide_ones_with_it},
    {"no variable means no mask", no_variable_means_no_mask},
    {"what is no number masks all", what_is_no_number_masks_all},
    {"an empty second word is skipped since 3.5", an_empty_second_word_is_skipped_since_3_5},
    {"without FXSR there is no AES-NI", without_fxsr_there_is_no_aes_ni},
    {"what the CPU lacks is not masked", what_the_cpu_lacks_is_not_masked},
    {"what the CPU lacks is not added", what_the_cpu_lacks_is_not_added},
};

UNIT_MAIN("configuration", tests)
