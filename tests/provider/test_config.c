/* SPDX-License-Identifier: Apache-2.0 */
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

UNIT_TEST("defaults are the first values")
{
    struct drng_config config;
    CU_ASSERT_TRUE(read_with(&config, NULL, NULL));
    CU_ASSERT_EQUAL(config.choice, DRNG_CHOICE_AUTO);
    CU_ASSERT_TRUE(config.fallback);
    CU_ASSERT_TRUE(config.os_mixing);
    CU_ASSERT_EQUAL(config.request_mixing, DRNG_AUTO);
    CU_ASSERT_EQUAL(config.conditioner, DRNG_CBC_MAC);
    CU_ASSERT_EQUAL(config.reseed_bytes, 0);
    CU_ASSERT_EQUAL(config.rdseed_words, 8);
}

UNIT_TEST("every value is understood")
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
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "0") && c.reseed_bytes == 0);
    CU_ASSERT_TRUE(read_with(&c, "rdseed_words", "8") && c.rdseed_words == 8);
    CU_ASSERT_TRUE(read_with(&c, "rdseed_words", "780") && c.rdseed_words == 780);
    CU_ASSERT_TRUE(read_with(&c, "rdseed_words", "2048") && c.rdseed_words == 2048);
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "1024") && c.reseed_bytes == 1024);
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "0016384") && c.reseed_bytes == 16384);
    CU_ASSERT_TRUE(read_with(&c, "reseed_bytes", "4294967295") && c.reseed_bytes == UINT32_MAX);
}

UNIT_TEST("any other value is named with what is allowed")
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
        {"reseed_bytes", "", "0 or a number from 1024 to 4294967295"},
        {"rdseed_words", "", "8 or an even number from 8 to 2048"},
        {"rdseed_words", "0", "8 or an even number from 8 to 2048"},
        {"rdseed_words", "6", "8 or an even number from 8 to 2048"},
        {"rdseed_words", "781", "8 or an even number from 8 to 2048"},
        {"rdseed_words", "2050", "8 or an even number from 8 to 2048"},
        {"rdseed_words", "780x", "8 or an even number from 8 to 2048"},
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

UNIT_TEST("a key of OpenSSL's own is ignored")
{
    struct drng_config config;
    CU_ASSERT_TRUE(read_with(&config, "activate", "1"));
    CU_ASSERT_TRUE(read_with(&config, "module", "drng.so"));
    CU_ASSERT_TRUE(read_with(&config, "claim", "certified")); /* one of 0.2.0's, which is gone */
}

/* ---- OPENSSL_ia32cap ---- */

static struct drng_evidence everything(void)
{
    return (struct drng_evidence){
        .cpu = {.has = {true, true}, .aes = true, .avx = true, .vaes256 = true, .vaes512 = true}};
}

static void mask(struct drng_evidence *evidence, const char *value)
{
    const struct drng_masks left = drng_masks_read(value, true);
    drng_masks_mask(evidence, &left);
}

UNIT_TEST("a full vector masks nothing")
{
    struct drng_evidence e = everything();
    mask(&e, "0xffffffffffffffff:0xffffffffffffffff");
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.aes && e.cpu.avx && e.cpu.vaes256 && e.cpu.vaes512);
}

UNIT_TEST("the kill switch masks both")
{
    struct drng_evidence e = everything();
    mask(&e, "0xbfffffffffffffff:0xfffffffffffbffff");
    CU_ASSERT_TRUE(e.masked[DRNG_RDRAND] && e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.has[DRNG_RDRAND] && e.cpu.has[DRNG_RDSEED] && e.cpu.aes);
}

UNIT_TEST("masked AES takes the wide ones with it")
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

UNIT_TEST("no variable means no mask")
{
    struct drng_evidence e = everything();
    mask(&e, NULL);
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
    CU_ASSERT_TRUE(e.cpu.aes && e.cpu.avx && e.cpu.vaes256 && e.cpu.vaes512);
}

/* As libcrypto has it: nothing, and no number, is 0. */
UNIT_TEST("what is no number masks all")
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

UNIT_TEST("an empty second word is skipped since 3.5")
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

UNIT_TEST("without FXSR there is no AES-NI")
{
    struct drng_evidence e = everything();
    mask(&e, "~0x1000000:~0");
    CU_ASSERT_FALSE(e.cpu.aes || e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
    e = everything();
    mask(&e, "0xfffffffffeffffff:0xffffffffffffffff");
    CU_ASSERT_TRUE(e.cpu.aes);
}

UNIT_TEST("what the CPU lacks is not masked")
{
    struct drng_evidence e = {0};
    mask(&e, "0x0:0x0");
    CU_ASSERT_FALSE(e.masked[DRNG_RDRAND] || e.masked[DRNG_RDSEED]);
}

UNIT_TEST("what the CPU lacks is not added")
{
    struct drng_evidence e = {.cpu = {.aes = true}};
    mask(&e, "0xffffffffffffffff:0xffffffffffffffff");
    CU_ASSERT_TRUE(e.cpu.aes && !e.cpu.vaes256 && !e.cpu.vaes512);
    e.cpu.aes = false;
    mask(&e, NULL);
    CU_ASSERT_FALSE(e.cpu.aes);
}

UNIT_MAIN("configuration")
