/* SPDX-License-Identifier: Apache-2.0 */
/* RDRAND and CBC-MAC in one loop: the same words, tests and limits as without. */

#include <string.h>

#include "mixing/entropy/noise.h"
#include "tests/unit/bytes.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { BLOCKS = DRNG_RDRAND_WORDS / 2, SLOW_NS = 50000 };

static const uint8_t key[DRNG_MAC_KEY_LEN] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static struct rig rig;

static enum drng_result fused(struct drng_cbc_mac *mac, uint64_t budget_ns, size_t blocks)
{
    struct drng_budget budget = drng_budget_of(budget_ns);
    return drng_noise_mac(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND], &budget, mac, blocks);
}

static struct drng_cbc_mac begin(scripted_behaviour *rdrand, uint64_t at)
{
    struct drng_conditioner conditioner;
    rig_set_up(&rig, scripted_good, rdrand);
    scripted_rdrand.at = at;
    drng_conditioner_begin(&conditioner, DRNG_CBC_MAC, &drng_aes_portable, key);
    return conditioner.cbc_mac;
}

/* The MAC of `blocks` blocks read first and taken in afterwards, from the same CPU. */
static bool unfused(struct drng_cbc_mac *mac, size_t blocks)
{
    uint64_t words[DRNG_RDRAND_WORDS];
    struct drng_budget budget = drng_budget_of(DRNG_SEED_BUDGET_NS);
    if (drng_noise_read(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND], &budget, words, 2 * blocks) != DRNG_OK) {
        return false;
    }
    mac->aes->cbc(mac->key, sizeof(mac->key), mac->state, NULL, (const uint8_t *)words, blocks);
    return true;
}

UNIT_TEST("the MAC is that of the words")
{
    static const size_t lengths[] = {1, 2, 3, 4, 5, 67, 68, 69, BLOCKS};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct drng_cbc_mac separate = begin(scripted_good, 0);
        CU_ASSERT_TRUE(unfused(&separate, lengths[i]));
        struct drng_cbc_mac mac = begin(scripted_good, 0);
        CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, lengths[i]), DRNG_OK);
        CU_ASSERT_EQUAL(memcmp(mac.state, separate.state, sizeof(mac.state)), 0);
        CU_ASSERT_FALSE(bytes_are(mac.state, sizeof(mac.state), 0));
        CU_ASSERT_EQUAL(scripted_rdrand.words, 2 * lengths[i]);
        CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, 0);
    }
}

UNIT_TEST("the MAC goes on from call to call")
{
    struct drng_cbc_mac whole = begin(scripted_good, 0);
    CU_ASSERT_EQUAL(fused(&whole, DRNG_SEED_BUDGET_NS, 100), DRNG_OK);
    struct drng_cbc_mac parts = begin(scripted_good, 0);
    CU_ASSERT_EQUAL(fused(&parts, DRNG_SEED_BUDGET_NS, 33), DRNG_OK);
    CU_ASSERT_EQUAL(fused(&parts, DRNG_SEED_BUDGET_NS, 67), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(whole.state, parts.state, sizeof(whole.state)), 0);
}

/* At every word of a window but the first, which nothing comes before: the loop ends there, and the pair after it may
 * have been read. */
UNIT_TEST("a bad word anywhere ends the loop")
{
    for (uint64_t at = 1; at < DRNG_RDRAND_WORDS; at++) {
        struct drng_cbc_mac mac = begin(scripted_bad_word, at);
        CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_HEALTH_FAILED);
        CU_ASSERT_TRUE(scripted_rdrand.executions >= at + 1 && scripted_rdrand.executions <= at + 4);
        CU_ASSERT_EQUAL(rig.reader.noise[DRNG_RDRAND].health.tests.failed, DRNG_TEST_REPETITION);
    }
}

/* The tests know the words of the calls before: a word is bad for what it repeats, wherever that was read. */
UNIT_TEST("the tests go on from call to call")
{
    struct drng_cbc_mac mac = begin(scripted_bad_word, 2);
    CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, 1), DRNG_OK);
    CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, 1), DRNG_HEALTH_FAILED);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 4);
}

UNIT_TEST("dead words fail their tests")
{
    static const struct {
        scripted_behaviour *behaviour;
        enum drng_health_test failed;
    } dead[] = {{scripted_zeros, DRNG_TEST_STUCK},
                {scripted_ones, DRNG_TEST_STUCK},
                {scripted_constant, DRNG_TEST_REPETITION},
                {scripted_alternating, DRNG_TEST_PROPORTION},
                {scripted_period_64, DRNG_TEST_PROPORTION}};
    for (size_t i = 0; i < sizeof(dead) / sizeof(*dead); i++) {
        struct drng_cbc_mac mac = begin(dead[i].behaviour, 0);
        CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_HEALTH_FAILED);
        CU_ASSERT_EQUAL(rig.reader.noise[DRNG_RDRAND].health.tests.failed, dead[i].failed);
    }
}

/* From anywhere in a window on: the loop ends within two windows of the test, and the MAC is not put out. */
UNIT_TEST("a stuck bit ends the loop")
{
    for (unsigned which = 0; which < 64; which++) {
        for (uint64_t at = which; at < 1100; at += 131) {
            struct drng_cbc_mac mac = begin(which % 2 == 0 ? scripted_bit_at_0 : scripted_bit_at_1, at);
            scripted_rdrand.which = which;
            CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_HEALTH_FAILED);
            CU_ASSERT_TRUE(scripted_rdrand.executions < at + 2 * DRNG_BITS_WINDOW + 3);
            CU_ASSERT_EQUAL(rig.reader.noise[DRNG_RDRAND].health.tests.failed, DRNG_TEST_BITS);
        }
    }
}

UNIT_TEST("a single zero anywhere is a word")
{
    for (uint64_t at = 0; at < 16; at++) {
        struct drng_cbc_mac mac = begin(scripted_single_zero, at);
        CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_OK);
        CU_ASSERT_EQUAL(scripted_rdrand.log[at], 0);
    }
}

UNIT_TEST("each word has ten tries")
{
    struct drng_cbc_mac mac = begin(scripted_every, DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, DRNG_RDRAND_TRIES * DRNG_RDRAND_WORDS);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, scripted_rdrand.executions - DRNG_RDRAND_WORDS);
}

UNIT_TEST("a dry word is given up after ten tries")
{
    struct drng_cbc_mac mac = begin(scripted_every, DRNG_RDRAND_TRIES + 1);
    CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_EXHAUSTED);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, DRNG_RDRAND_TRIES);
    /* As many as drng_noise_read() counts: noise.h, "executions that ended with CF = 0". */
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, DRNG_RDRAND_TRIES);
}

UNIT_TEST("running dry anywhere ends the loop")
{
    for (uint64_t at = 0; at < DRNG_RDRAND_WORDS; at += 13) {
        struct drng_cbc_mac mac = begin(scripted_dry_from, at);
        CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_EXHAUSTED);
        CU_ASSERT_EQUAL(scripted_rdrand.executions, at + DRNG_RDRAND_TRIES);
    }
}

UNIT_TEST("a slow RDRAND is given up by time")
{
    struct drng_cbc_mac mac = begin(scripted_good, 0);
    scripted_rdrand.ns = SLOW_NS;
    const uint64_t before = scripted_clock_ns;
    CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_SLOW);
    CU_ASSERT_TRUE(scripted_clock_ns - before >= DRNG_SEED_BUDGET_NS);
    CU_ASSERT_TRUE(scripted_clock_ns - before <= DRNG_SEED_BUDGET_NS + DRNG_GAP_CAP_NS);
}

UNIT_TEST("a time that ends with the last block is enough")
{
    static const struct {
        size_t blocks;
        enum drng_result result;
    } ends[] = {{1, DRNG_OK}, {2, DRNG_SLOW}};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        struct drng_cbc_mac mac = begin(scripted_good, 0);
        scripted_rdrand.ns = SLOW_NS;
        CU_ASSERT_EQUAL(fused(&mac, SLOW_NS, ends[i].blocks), ends[i].result);
    }
}

static bool slow_from(struct scripted_instruction *in, uint64_t *word)
{
    in->ns = in->words >= in->at ? SLOW_NS : in->ns;
    return scripted_good(in, word);
}

/* Looks at the clock are far apart once RDRAND has been quick: one long part is the worst that comes of it. */
UNIT_TEST("an RDRAND that becomes slow is given up by time")
{
    const uint64_t one_part = 128 * SLOW_NS;
    for (uint64_t at = 1; at < DRNG_RDRAND_WORDS - 200; at += 7) {
        struct drng_cbc_mac mac = begin(slow_from, at);
        const uint64_t before = scripted_clock_ns;
        CU_ASSERT_EQUAL(fused(&mac, DRNG_SEED_BUDGET_NS, BLOCKS), DRNG_SLOW);
        CU_ASSERT_TRUE(scripted_clock_ns - before <= DRNG_SEED_BUDGET_NS + one_part);
    }
}

int main(void)
{
    return rig_has_aes_ni() ? unit_run("noise_mac") : unit_skipped("no AES-NI");
}
