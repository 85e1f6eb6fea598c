/* The five keys: defaults, every value, and values that are none. */

#include <stdio.h>
#include <string.h>

#include "provider/config.h"
#include "provider/errors.h"
#include "provider/ia32cap.h"
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
    CU_ASSERT_EQUAL(config.source, DRNG_CHOICE_AUTO);
    CU_ASSERT_TRUE(config.fallback);
    CU_ASSERT_TRUE(config.os_mixing);
    CU_ASSERT_EQUAL(config.request_mixing, DRNG_AUTO);
    CU_ASSERT_EQUAL(config.conditioner, DRNG_CBC_MAC);
}

static void every_value_is_understood(void)
{
    struct drng_config c;
    CU_ASSERT_TRUE(read_with(&c, "source", "auto") && c.source == DRNG_CHOICE_AUTO);
    CU_ASSERT_TRUE(read_with(&c, "source", "rdseed") && c.source == DRNG_RDSEED);
    CU_ASSERT_TRUE(read_with(&c, "source", "rdrand") && c.source == DRNG_RDRAND);
    CU_ASSERT_TRUE(read_with(&c, "fallback", "yes") && c.fallback);
    CU_ASSERT_TRUE(read_with(&c, "fallback", "no") && !c.fallback);
    CU_ASSERT_TRUE(read_with(&c, "os_mixing", "yes") && c.os_mixing);
    CU_ASSERT_TRUE(read_with(&c, "os_mixing", "no") && !c.os_mixing);
    CU_ASSERT_TRUE(read_with(&c, "request_mixing", "auto") && c.request_mixing == DRNG_AUTO);
    CU_ASSERT_TRUE(read_with(&c, "request_mixing", "yes") && c.request_mixing == DRNG_YES);
    CU_ASSERT_TRUE(read_with(&c, "request_mixing", "no") && c.request_mixing == DRNG_NO);
    CU_ASSERT_TRUE(read_with(&c, "conditioner", "cbc-mac") && c.conditioner == DRNG_CBC_MAC);
    CU_ASSERT_TRUE(read_with(&c, "conditioner", "hmac-sha256") && c.conditioner == DRNG_HMAC_SHA256);
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
}

/* ---- OPENSSL_ia32cap ---- */

static struct drng_evidence everything(void)
{
    return (struct drng_evidence){.cpu = {.has = {true, true}, .aes = true, .vaes256 = true, .vaes512 = true}};
}

static void a_full_vector_masks_nothing(void)
{
    struct drng_evidence e = everything();
    drng_ia32cap_apply_text(&e, "OPENSSL_ia32cap=0xffffffffffffffff:0xffffffffffffffff env:x");
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.aes && e.cpu.vaes256 && e.cpu.vaes512);
}

static void the_kill_switch_masks_both(void)
{
    struct drng_evidence e = everything();
    drng_ia32cap_apply_text(&e, "OPENSSL_ia32cap=0xbfffffffffffffff:0xfffffffffffbffff");
    CU_ASSERT_TRUE(e.masked[DRNG_RDRAND] && e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.has[DRNG_RDRAND] && e.cpu.has[DRNG_RDSEED] && e.cpu.aes);
}

static void masked_aes_takes_the_wide_ones_with_it(void)
{
    struct drng_evidence e = everything();
    drng_ia32cap_apply_text(&e, "OPENSSL_ia32cap=0xfdffffffffffffff:0xffffffffffffffff");
    CU_ASSERT_FALSE(e.cpu.aes || e.cpu.vaes256 || e.cpu.vaes512);
    e = everything();
    drng_ia32cap_apply_text(&e, "OPENSSL_ia32cap=0xffffffffffffffff:0xfffffdffffffffff:0x0");
    CU_ASSERT_TRUE(e.cpu.aes && !e.cpu.vaes256 && !e.cpu.vaes512);
    e = everything();
    drng_ia32cap_apply_text(&e, "OPENSSL_ia32cap=0xffffffffffffffff:0xfffffffffffeffff:0x0:0x0:0x0");
    CU_ASSERT_TRUE(e.cpu.vaes256 && !e.cpu.vaes512);
}

static void no_vector_means_no_mask(void)
{
    static const char *const texts[] = {NULL, "", "N/A", "OPENSSL_armcap=0xbd", "OPENSSL_ia32cap=0x12"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct drng_evidence e = everything();
        drng_ia32cap_apply_text(&e, texts[i]);
        CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
        CU_ASSERT_TRUE(e.cpu.aes && e.cpu.vaes512);
    }
}

static void what_the_cpu_lacks_is_not_masked(void)
{
    struct drng_evidence e = {0};
    drng_ia32cap_apply_text(&e, "OPENSSL_ia32cap=0x0:0x0");
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
}

static const struct unit_test tests[] = {
    {"defaults are the first values", defaults_are_the_first_values},
    {"every value is understood", every_value_is_understood},
    {"any other value is named with what is allowed", any_other_value_is_named_with_what_is_allowed},
    {"a key of OpenSSL's own is ignored", a_key_of_openssls_own_is_ignored},
    {"a full vector masks nothing", a_full_vector_masks_nothing},
    {"the kill switch masks both", the_kill_switch_masks_both},
    {"masked AES takes the wide ones with it", masked_aes_takes_the_wide_ones_with_it},
    {"no vector means no mask", no_vector_means_no_mask},
    {"what the CPU lacks is not masked", what_the_cpu_lacks_is_not_masked},
};

UNIT_MAIN("configuration", tests)
