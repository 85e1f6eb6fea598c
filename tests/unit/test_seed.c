/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds: who serves, what they are made of, and what is left when nobody serves. */

#define _GNU_SOURCE

#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum {
    KEY_AT = DRNG_STARTUP_WORDS,
    WINDOW_AT = KEY_AT + RIG_KEY_WORDS,
    SEED_LEN = 48,
    MAX_LEN = 64,
    TAKEN_BEFORE = 0xaa
};

static struct rig rig;
static uint8_t out[MAX_LEN];

static void set_up(scripted_behaviour *rdseed, scripted_behaviour *rdrand)
{
    rig_set_up(&rig, rdseed, rdrand);
    memset(out, TAKEN_BEFORE, sizeof(out));
}

static enum drng_result get(size_t len)
{
    return rig_seed(&rig, out, len);
}

/* Whether out is made of the words from `at` on of an instruction's log, under the key that was drawn at `key_at`. */
static bool is_seed_of(const struct scripted_instruction *cpu, size_t key_at, size_t at, size_t len)
{
    const size_t window = cpu == &scripted_rdseed ? DRNG_RDSEED_WORDS : DRNG_RDRAND_WORDS;
    uint8_t seed[MAX_LEN];
    return rig_condition(rig.policy.conditioner, &cpu->log[key_at], &cpu->log[at], window, seed, len) &&
           memcmp(out, seed, len) == 0;
}

/* The same for a first seed from good words. */
static bool is_first_seed_of(const struct scripted_instruction *cpu, size_t len)
{
    return is_seed_of(cpu, KEY_AT, WINDOW_AT, len);
}

static bool is_fallback(size_t len)
{
    return bytes_are(out, len, RIG_FALLBACK_BYTE);
}

/* ---- What a seed is made of ---- */

static const size_t lengths[] = {1, 15, 16, 17, SEED_LEN, MAX_LEN};
enum { LENGTHS = sizeof(lengths) / sizeof(*lengths) };

static void a_seed_takes_its_window_for_each_block(bool rdseed, const struct rig_way *way, size_t len)
{
    const struct scripted_instruction *cpu = rdseed ? &scripted_rdseed : &scripted_rdrand;
    const size_t window = rdseed ? DRNG_RDSEED_WORDS : DRNG_RDRAND_WORDS;
    set_up(scripted_good, scripted_good);
    rig_take_way(&rig, way);
    rig.policy.instructions[DRNG_RDSEED] = rdseed ? &rig.rdseed : NULL;
    CU_ASSERT_EQUAL(get(len), DRNG_OK);
    CU_ASSERT_TRUE(is_first_seed_of(cpu, len));
    CU_ASSERT_EQUAL(cpu->words, WINDOW_AT + rig_words_of(window, len));
    CU_ASSERT_EQUAL(out[len == MAX_LEN ? 0 : len], len == MAX_LEN ? out[0] : TAKEN_BEFORE);
}

UNIT_TEST("an RDSEED block is eight words conditioned")
{
    for (size_t i = 0; i < rig_way_count() * LENGTHS; i++) {
        a_seed_takes_its_window_for_each_block(true, &rig_ways[i / LENGTHS], lengths[i % LENGTHS]);
    }
}

UNIT_TEST("an RDRAND block is 2052 words conditioned")
{
    for (size_t i = 0; i < rig_way_count() * LENGTHS; i++) {
        a_seed_takes_its_window_for_each_block(false, &rig_ways[i / LENGTHS], lengths[i % LENGTHS]);
    }
    CU_ASSERT_EQUAL(rig_words_of(DRNG_RDRAND_WORDS, 17), 2 * 2052);
}

UNIT_TEST("the conditioners differ")
{
    uint8_t cbc_mac[SEED_LEN];
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    memcpy(cbc_mac, out, SEED_LEN);
    set_up(scripted_good, scripted_good);
    rig.policy.conditioner = DRNG_HMAC_SHA256;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_NOT_EQUAL(memcmp(cbc_mac, out, SEED_LEN), 0);
}

UNIT_TEST("no two blocks are alike")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        set_up(scripted_good, scripted_good);
        rig_take_way(&rig, &rig_ways[i]);
        rig.policy.instructions[DRNG_RDSEED] = NULL;
        CU_ASSERT_EQUAL(get(MAX_LEN), DRNG_OK);
        uint8_t first[MAX_LEN];
        memcpy(first, out, sizeof(first));
        CU_ASSERT_EQUAL(get(MAX_LEN), DRNG_OK);
        for (size_t a = 0; a < MAX_LEN; a += DRNG_CONDITIONED_LEN) {
            for (size_t b = 0; b < MAX_LEN; b += DRNG_CONDITIONED_LEN) {
                CU_ASSERT_NOT_EQUAL(memcmp(first + a, out + b, DRNG_CONDITIONED_LEN), 0);
                CU_ASSERT_TRUE(a == b || memcmp(out + a, out + b, DRNG_CONDITIONED_LEN) != 0);
            }
        }
    }
}

UNIT_TEST("the second seed draws no key")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    const size_t at = scripted_rdseed.log_len;
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdseed.words - at, DRNG_RDSEED_WORDS);
    CU_ASSERT_TRUE(is_seed_of(&scripted_rdseed, KEY_AT, at, 16));
}

/* As many as the policy says: any even number, of the seed-grade instruction alone. */
UNIT_TEST("a block takes as many words of RDSEED as are asked for")
{
    static const uint32_t windows[] = {8, 10, 780, 2046, 2048};
    for (size_t i = 0; i < rig_way_count() * sizeof(windows) / sizeof(*windows); i++) {
        const uint32_t window = windows[i / rig_way_count()];
        const struct rig_way *way = &rig_ways[i % rig_way_count()];
        uint8_t seed[SEED_LEN];
        set_up(scripted_good, scripted_good);
        rig_take_way(&rig, way);
        rig.policy.rdseed_words = window;
        CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
        CU_ASSERT_EQUAL(scripted_rdseed.words, WINDOW_AT + rig_words_of(window, SEED_LEN));
        CU_ASSERT_TRUE(rig_condition(way->conditioner, &scripted_rdseed.log[KEY_AT], &scripted_rdseed.log[WINDOW_AT],
                                     window, seed, sizeof(seed)));
        CU_ASSERT_EQUAL(memcmp(out, seed, sizeof(seed)), 0);
        rig.policy.instructions[DRNG_RDSEED] = NULL;
        CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
        CU_ASSERT_EQUAL(scripted_rdrand.words, WINDOW_AT + rig_words_of(DRNG_RDRAND_WORDS, SEED_LEN));
    }
}

/* Of what is kept between seeds nothing is the last word of one. */
UNIT_TEST("the last word of a seed is not kept")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        set_up(scripted_good, scripted_good);
        rig_take_way(&rig, &rig_ways[i]);
        for (unsigned source = 0; source < 2; source++) {
            const struct scripted_instruction *cpu = source == 0 ? &scripted_rdseed : &scripted_rdrand;
            const struct drng_noise *noise = &rig.reader.noise[source == 0 ? DRNG_RDSEED : DRNG_RDRAND];
            rig.policy.instructions[DRNG_RDSEED] = source == 0 ? &rig.rdseed : NULL;
            CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
            CU_ASSERT_EQUAL(cpu->log_len, cpu->words);
            CU_ASSERT_PTR_NULL(memmem(noise, sizeof(*noise), &cpu->log[cpu->log_len - 1], sizeof(*cpu->log)));
        }
    }
}

/* A forked child finds its reader all zero. */
UNIT_TEST("a wiped reader draws a new key")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    const size_t at = scripted_rdseed.log_len + DRNG_STARTUP_WORDS; /* it passes the start-up tests as the first did */
    memset(&rig.reader, 0, sizeof(rig.reader));
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdseed.words - at, RIG_KEY_WORDS + DRNG_RDSEED_WORDS);
    CU_ASSERT_EQUAL(
        memcmp(rig.reader.noise[DRNG_RDSEED].key, &scripted_rdseed.log[at], sizeof(rig.reader.noise[DRNG_RDSEED].key)),
        0);
    uint8_t seed[16];
    CU_ASSERT_TRUE(rig_condition(DRNG_CBC_MAC, &scripted_rdseed.log[at], &scripted_rdseed.log[at + RIG_KEY_WORDS],
                                 DRNG_RDSEED_WORDS, seed, sizeof(seed)));
    CU_ASSERT_EQUAL(memcmp(out, seed, sizeof(seed)), 0);
}

/* The words that failed left a key behind: what comes after them is conditioned under another. */
UNIT_TEST("a failed test forgets the key")
{
    for (size_t i = 0; i < rig_way_count() * 2; i++) {
        const bool rdseed = i % 2 == 0;
        struct scripted_instruction *cpu = rdseed ? &scripted_rdseed : &scripted_rdrand;
        set_up(scripted_bad_word, scripted_bad_word);
        scripted_rdseed.at = scripted_rdrand.at = UINT64_MAX;
        rig_take_way(&rig, &rig_ways[i / 2]);
        rig.policy.instructions[DRNG_RDSEED] = rdseed ? &rig.rdseed : NULL;
        CU_ASSERT_EQUAL(get(16), DRNG_OK);
        cpu->at = cpu->words + 1;
        CU_ASSERT_EQUAL(get(16), DRNG_OK);
        CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDSEED].health_failures +
                            rig.counters.instructions[DRNG_RDRAND].health_failures,
                        1);
        CU_ASSERT_EQUAL(rig.counters.source, rdseed ? SCRIPTED_SOURCE_RDSEED : SCRIPTED_SOURCE_RDRAND);
        const size_t key_at = cpu->at + 1 + DRNG_STARTUP_WORDS;
        CU_ASSERT_TRUE(is_seed_of(cpu, key_at, key_at + RIG_KEY_WORDS, 16));
    }
}

/* ---- Who serves ---- */

UNIT_TEST("RDSEED serves first")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDSEED);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    CU_ASSERT_EQUAL(rig.fallback_calls, 0);
}

UNIT_TEST("RDRAND serves where RDSEED does not")
{
    static scripted_behaviour *const useless[] = {scripted_dry, scripted_zeros, scripted_constant};
    for (size_t i = 0; i < sizeof(useless) / sizeof(*useless); i++) {
        set_up(useless[i], scripted_good);
        CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
        CU_ASSERT_TRUE(is_first_seed_of(&scripted_rdrand, SEED_LEN));
        CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDRAND);
        CU_ASSERT_EQUAL(rig.fallback_calls, 0);
    }
}

UNIT_TEST("the fallback serves where neither does")
{
    set_up(scripted_dry, scripted_zeros);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_fallback(SEED_LEN));
    CU_ASSERT_EQUAL(rig.counters.source, DRNG_SOURCE_FALLBACK);
    CU_ASSERT_EQUAL(rig.fallback_calls, 1);
}

UNIT_TEST("an instruction that is not allowed is not executed")
{
    set_up(scripted_good, scripted_good);
    rig.policy.instructions[DRNG_RDSEED] = NULL;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_first_seed_of(&scripted_rdrand, SEED_LEN));
    CU_ASSERT_EQUAL(scripted_rdseed.executions, 0);

    set_up(scripted_dry, scripted_good);
    rig.policy.instructions[DRNG_RDRAND] = NULL;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_fallback(SEED_LEN));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);

    set_up(scripted_good, scripted_good);
    rig.policy.instructions[DRNG_RDSEED] = rig.policy.instructions[DRNG_RDRAND] = NULL;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_fallback(SEED_LEN));
    CU_ASSERT_EQUAL(scripted_rdseed.executions + scripted_rdrand.executions, 0);
}

/* RDSEED dries up at every word of a seed in turn: RDRAND makes all of it, under a key of its own. */
UNIT_TEST("all of a seed comes from one source")
{
    const size_t end = WINDOW_AT + rig_words_of(DRNG_RDSEED_WORDS, SEED_LEN);
    for (size_t at = 0; at < end; at++) {
        set_up(scripted_dry_from, scripted_good);
        scripted_rdseed.at = at;
        CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
        CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDRAND);
        CU_ASSERT_TRUE(is_first_seed_of(&scripted_rdrand, SEED_LEN));
        CU_ASSERT_EQUAL(rig.reader.noise[DRNG_RDSEED].keyed, at >= WINDOW_AT);
    }
}

UNIT_TEST("a source that ran dry is asked again")
{
    set_up(scripted_dry, scripted_dry);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_fallback(SEED_LEN));
    scripted_rdrand.behaviour = scripted_good;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_first_seed_of(&scripted_rdrand, SEED_LEN));
    scripted_rdseed.behaviour = scripted_good;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDSEED);
    CU_ASSERT_TRUE(is_first_seed_of(&scripted_rdseed, SEED_LEN));
}

UNIT_TEST("a source that failed its tests is not asked again")
{
    set_up(scripted_zeros, scripted_good);
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    const uint64_t executions = scripted_rdseed.executions;
    scripted_rdseed.behaviour = scripted_good;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdseed.executions, executions);
    CU_ASSERT_EQUAL(rig.counters.seeds[DRNG_RDRAND], 2);
}

/* ---- When nobody serves ---- */

UNIT_TEST("without a fallback there is no seed")
{
    static scripted_behaviour *const useless[] = {scripted_dry, scripted_zeros, scripted_dry_from, scripted_bad_words};
    for (size_t i = 0; i < sizeof(useless) / sizeof(*useless); i++) {
        set_up(useless[i], useless[i]);
        scripted_rdseed.at = scripted_rdrand.at = WINDOW_AT + DRNG_RDSEED_WORDS + 1;
        rig.policy.fallback = NULL;
        CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_NO_FALLBACK);
        CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, 0));
        CU_ASSERT_EQUAL(rig.counters.source, DRNG_SOURCE_NONE);
        CU_ASSERT_EQUAL(rig.counters.seed_failures, 1);
    }
}

UNIT_TEST("without any source there is no seed")
{
    set_up(scripted_good, scripted_good);
    rig.policy.instructions[DRNG_RDSEED] = rig.policy.instructions[DRNG_RDRAND] = NULL;
    rig.policy.fallback = NULL;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_NO_FALLBACK);
    CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, 0));
    CU_ASSERT_EQUAL(rig.counters.seed_failures, 1);
}

UNIT_TEST("a fallback that fails puts out nothing")
{
    set_up(scripted_dry, scripted_dry);
    rig.fallback_works = false;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_FALLBACK_FAILED);
    CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, 0));
    CU_ASSERT_EQUAL(rig.counters.source, DRNG_SOURCE_NONE);
    CU_ASSERT_EQUAL(rig.counters.seeds_fallback, 0);
    CU_ASSERT_EQUAL(rig.counters.seed_failures, 1);
}

UNIT_TEST("after a failure the next call tries again")
{
    set_up(scripted_dry, scripted_dry);
    rig.fallback_works = false;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_FALLBACK_FAILED);
    rig.fallback_works = true;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_fallback(SEED_LEN));
    CU_ASSERT_EQUAL(rig.fallback_calls, 2);
    rig.policy.fallback = NULL;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_NO_FALLBACK);
    scripted_rdseed.behaviour = scripted_good;
    CU_ASSERT_EQUAL(get(SEED_LEN), DRNG_OK);
    CU_ASSERT_TRUE(is_first_seed_of(&scripted_rdseed, SEED_LEN));
}

UNIT_TEST("every seed is counted where it came from")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    scripted_rdseed.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    scripted_rdrand.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    CU_ASSERT_EQUAL(get(16), DRNG_OK);
    rig.fallback_works = false;
    CU_ASSERT_EQUAL(get(16), DRNG_FALLBACK_FAILED);
    CU_ASSERT_EQUAL(rig.counters.seeds[DRNG_RDSEED], 2);
    CU_ASSERT_EQUAL(rig.counters.seeds[DRNG_RDRAND], 1);
    CU_ASSERT_EQUAL(rig.counters.seeds_fallback, 3);
    CU_ASSERT_EQUAL(rig.counters.seed_failures, 1);
    CU_ASSERT_EQUAL(rig.counters.fork_reseeds, 0);
}

UNIT_MAIN("seed")
