/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The health tests beside SP 800-90B, 4.4.1 and 4.4.2, written down as the standard has them, sample by sample.
 *
 * Each proof is one step from any two states that belong together: so it holds for sequences of any length. That the
 * initial states belong together is a claim, too.
 */

#include "mixing/entropy/health.h"
#include "proof.h"

/* ---- 4.4.1, Repetition Count Test ---- */

/* Steps 1 to 3: A is the most recent sample, B how often it has come in a row. */
struct model_rct {
    bool begun;
    uint64_t a;
    uint64_t b;
};

static bool model_rct_passes(struct model_rct *m, uint64_t x, uint64_t cutoff)
{
    if (m->begun && x == m->a) {
        m->b++;
        return m->b < cutoff;
    }
    m->begun = true;
    m->a = x;
    m->b = 1;
    return true;
}

static bool rct_belongs(const struct drng_rct *rct, const struct model_rct *m, unsigned cutoff)
{
    return m->begun ? rct->value == m->a && rct->run == m->b && m->b >= 1 && m->b < cutoff
                    : rct->value == 0 && rct->run == 0;
}

/* ---- 4.4.2, Adaptive Proportion Test ---- */

/* Steps 1 to 4: A begins the window, B counts it, i is how many samples of the window are left. */
struct model_apt {
    uint64_t a;
    uint64_t b;
    uint64_t left;
};

static bool model_apt_passes(struct model_apt *m, uint64_t x, uint64_t cutoff)
{
    if (m->left == 0) {
        m->a = x;
        m->b = 1;
        m->left = 512 - 1;
        return true;
    }
    m->left--;
    if (x == m->a) {
        m->b++;
    }
    return m->b < cutoff;
}

static bool apt_belongs(const struct drng_apt *apt, const struct model_apt *m, unsigned cutoff)
{
    return apt->value == m->a && apt->seen == m->b && apt->left == m->left && m->left < 512 && m->b < cutoff;
}

void prove_tests_of_the_standard(void)
{
    const uint64_t x = nondet_u64();
    const unsigned cutoff = nondet_unsigned();
    struct drng_rct rct;
    struct model_rct model_rct;
    struct drng_apt apt;
    struct model_apt model_apt;
    ASSUME(cutoff >= 2 && cutoff <= 512); /* 4.4.1 and 4.4.2: C is at least 2; APT's is at most W */

    const struct drng_rct first_rct = {0};
    const struct model_rct first_model_rct = {0};
    const struct drng_apt first_apt = {0};
    const struct model_apt first_model_apt = {0};
    CLAIM(rct_belongs(&first_rct, &first_model_rct, cutoff) && apt_belongs(&first_apt, &first_model_apt, cutoff),
          "zeros are the state before the first sample");

    ANY(rct);
    ANY(model_rct);
    ANY(apt);
    ANY(model_apt);
    ASSUME(rct_belongs(&rct, &model_rct, cutoff) && apt_belongs(&apt, &model_apt, cutoff));
    const bool rct_passed = drng_rct_passes(&rct, x, cutoff);
    CLAIM(rct_passed == model_rct_passes(&model_rct, x, cutoff), "4.4.1: passes and fails as the standard does");
    CLAIM(!rct_passed || rct_belongs(&rct, &model_rct, cutoff), "4.4.1: the same for the next sample");
    const bool apt_passed = drng_apt_passes(&apt, x, cutoff);
    CLAIM(apt_passed == model_apt_passes(&model_apt, x, cutoff), "4.4.2: passes and fails as the standard does");
    CLAIM(!apt_passed || apt_belongs(&apt, &model_apt, cutoff), "4.4.2: the same for the next sample");
    if (rct_passed && apt_passed) {
        REACHED("a sample that passes");
    } else if (!rct_passed) {
        REACHED("a repetition");
    } else {
        REACHED("a proportion");
    }
}

/* ---- The continuous tests of words ---- */

static bool is_passing_state(const struct drng_health *health)
{
    return health->tests.rct.run < DRNG_WORD_RCT_CUTOFF && health->tests.apt.seen < DRNG_WORD_APT_CUTOFF &&
           health->tests.apt.left < DRNG_APT_WINDOW && health->tests.stuck.seen < DRNG_STUCK_CUTOFF &&
           health->tests.recurring.seen < DRNG_PRINT_CUTOFF;
}

/* Every state in which words leave the tests: no word has failed since it was zero. */
static struct drng_health any_passing_state(void)
{
    struct drng_health health;
    ANY(health);
    ASSUME(is_passing_state(&health));
    return health;
}

/* Whether one more event is too many: it is the `cutoff`th in `window` words, of which the first has opened these. */
static bool is_too_many(const struct drng_rare *before, uint32_t now, uint32_t window, uint32_t cutoff)
{
    const bool inside = before->seen > 0 && (uint32_t)(now - before->since) < window;
    return (inside ? before->seen : 0) + 1 >= cutoff;
}

/* What each test says of this word, by its definition and by itself. */
void prove_words(void)
{
    struct drng_health health = any_passing_state();
    const struct drng_health before = health;
    const uint64_t word = nondet_u64();
    const struct drng_health zero = {0};
    CLAIM(is_passing_state(&zero), "zeros are a state in which words pass");

    const bool passed = drng_health_passes(&health, word);

    const bool whole = word == 0 || word == UINT64_MAX;
    const bool stuck =
        whole && is_too_many(&before.tests.stuck, before.tests.words, DRNG_STUCK_WINDOW, DRNG_STUCK_CUTOFF);
    const bool repeated =
        before.tests.rct.run > 0 && word == before.tests.rct.value && before.tests.rct.run + 1 >= DRNG_WORD_RCT_CUTOFF;
    const bool common = before.tests.apt.left > 0 && word == before.tests.apt.value &&
                        before.tests.apt.seen + 1 >= DRNG_WORD_APT_CUTOFF;
    /* Whatever the hash is: a word finds its print where it leaves no other one. */
    unsigned others = 0;
    for (unsigned i = 0; i < DRNG_PRINTS; i++) {
        others += health.prints[i] != before.prints[i];
    }
    const bool is_there = others == 0;
    const bool is_suspect = word == before.tests.suspect && !whole;
    const bool recurs =
        is_suspect || ((is_there || word == before.tests.suspect) &&
                       is_too_many(&before.tests.recurring, before.tests.words, DRNG_PRINT_WINDOW, DRNG_PRINT_CUTOFF));
    const uint32_t in_window = before.tests.words % DRNG_BITS_WINDOW;
    const uint64_t changed =
        in_window == 0 ? 0 : before.tests.changed | (before.tests.rct.run > 0 ? word ^ before.tests.rct.value : 0);
    const bool unchanging = in_window == DRNG_BITS_WINDOW - 1 && changed != UINT64_MAX;
    CLAIM(passed == !(stuck || repeated || common || recurs || unchanging),
          "a word fails by its tests, and never by what was left from before");
    CLAIM(passed || health.tests.failed == (stuck      ? DRNG_TEST_STUCK
                                            : repeated ? DRNG_TEST_REPETITION
                                            : common   ? DRNG_TEST_PROPORTION
                                            : recurs   ? DRNG_TEST_RECURRENCE
                                                       : DRNG_TEST_BITS),
          "the test that failed is named");
    CLAIM(!passed || is_passing_state(&health), "the same for the next word");
    CLAIM(health.tests.changed == changed, "a change counts in its own window");
    CLAIM(health.tests.words == before.tests.words + 1, "each word is counted");
    CLAIM(others <= 1, "a word leaves one print");
    CLAIM(!is_there || health.tests.suspect == word, "a word whose print was there is the suspect");
    if (passed) {
        REACHED("a word that passes");
    } else {
        REACHED("a word that fails");
    }
}

/* Two equal words, whatever came before. */
void prove_no_equal_words(void)
{
    struct drng_health health = any_passing_state();
    const uint64_t word = nondet_u64();
    bool passed = true;
    for (unsigned i = 0; i < DRNG_WORD_RCT_CUTOFF; i++) {
        passed = passed && drng_health_passes(&health, word);
    }
    CLAIM(!passed, "no run of `cutoff` equal words passes");
    REACHED("a run");
}

/* Two of zeros and ones with any good words between them, whatever came before. */
void prove_no_stuck_words(void)
{
    struct drng_health health = any_passing_state();
    bool passed = drng_health_passes(&health, nondet_bool() ? UINT64_MAX : 0);
    const struct drng_rare opened = health.tests.stuck;
    const uint32_t apart = nondet_u32();
    ASSUME(apart >= 1 && apart < DRNG_STUCK_WINDOW - (health.tests.words - 1 - opened.since));
    health = any_passing_state();
    health.tests.stuck = opened; /* good words leave it as it is */
    health.tests.words = opened.since + apart;
    passed = passed && drng_health_passes(&health, nondet_bool() ? UINT64_MAX : 0);
    CLAIM(!passed, "no two words that are all zeros or all ones pass in a window");
    REACHED("two of them");
}

/* ---- A bit that does not change ---- */

/* As many words as the start-up takes, of which one bit is always the same. */
void prove_no_stuck_bit(void)
{
    struct drng_health health = any_passing_state();
    const uint64_t bit = UINT64_C(1) << (nondet_unsigned() & 63);
    const uint64_t stuck_at = nondet_bool() ? bit : 0;
    uint64_t last = nondet_u64();
    bool passed = true;
    for (unsigned i = 0; i < DRNG_STARTUP_WORDS; i++) {
        const uint64_t word = nondet_u64();
        ASSUME((word & bit) == stuck_at);
        passed = passed && drng_bits_pass(&health.tests, word ^ last);
        last = word;
        health.tests.words++;
    }
    CLAIM(!passed, "no stuck bit passes start-up");
    REACHED("128 words");
}

/* ---- Start-up ---- */

struct model_startup {
    struct model_rct rct;
    struct model_apt apt;
    bool lanes_begun;
    uint64_t opening;
    uint64_t seen[8];
};

static bool model_bytes_pass(struct model_startup *m, uint64_t word)
{
    bool passed = true;
    for (unsigned i = 0; i < 8 && passed; i++) {
        const uint64_t byte = word >> 8 * i & 0xff;
        passed = model_rct_passes(&m->rct, byte, DRNG_BYTE_RCT_CUTOFF) &&
                 model_apt_passes(&m->apt, byte, DRNG_BYTE_APT_CUTOFF);
    }
    return passed;
}

/* 4.4.2 with a window as long as the start-up, for each lane. */
static bool model_lanes_pass(struct model_startup *m, uint64_t word)
{
    bool passed = true;
    m->opening = m->lanes_begun ? m->opening : word;
    m->lanes_begun = true;
    for (unsigned i = 0; i < 8; i++) {
        m->seen[i] += (word >> 8 * i & 0xff) == (m->opening >> 8 * i & 0xff);
        passed = passed && m->seen[i] < DRNG_LANE_APT_CUTOFF;
    }
    return passed;
}

static bool lanes_belong(const struct drng_startup *s, const struct model_startup *m)
{
    if (!m->lanes_begun) {
        return s->lanes == 0;
    }
    bool belong = s->opening == m->opening;
    for (unsigned i = 0; i < 8; i++) {
        belong =
            belong && (s->lanes >> 8 * i & 0xff) == m->seen[i] && m->seen[i] >= 1 && m->seen[i] < DRNG_LANE_APT_CUTOFF;
    }
    return belong;
}

static bool startup_belongs(const struct drng_startup *s, const struct model_startup *m)
{
    return rct_belongs(&s->rct, &m->rct, DRNG_BYTE_RCT_CUTOFF) && apt_belongs(&s->apt, &m->apt, DRNG_BYTE_APT_CUTOFF) &&
           lanes_belong(s, m);
}

void prove_startup(void)
{
    struct drng_startup s = {0};
    struct model_startup m = {.lanes_begun = false};
    enum drng_health_test failed = DRNG_TEST_NONE;
    for (unsigned i = 0; i < 8; i++) {
        m.seen[i] = 0;
    }
    CLAIM(startup_belongs(&s, &m), "zeros are the state before the first word");
    ANY(s);
    ANY(m);
    ASSUME(startup_belongs(&s, &m) &&
           (m.lanes_begun || (m.seen[0] == 0 && m.seen[1] == 0 && m.seen[2] == 0 && m.seen[3] == 0 && m.seen[4] == 0 &&
                              m.seen[5] == 0 && m.seen[6] == 0 && m.seen[7] == 0)));
    ASSUME(s.words < DRNG_STARTUP_WORDS);
    const unsigned words = s.words;
    const uint64_t word = nondet_u64();

    const bool passed = drng_startup_passes(&s, word, &failed);

    const char *name = drng_health_test_name((enum drng_health_test)at_most(DRNG_TEST_LANES));
    CLAIM(name != NULL && name[0] != '\0', "every test has a name");
    const bool bytes = model_bytes_pass(&m, word);
    const bool lanes = bytes && model_lanes_pass(&m, word);
    CLAIM(passed == (bytes && lanes), "the bytes of start-up pass and fail as the standard has it");
    CLAIM(!passed || (startup_belongs(&s, &m) && s.words == words + 1), "the same for the next word");
    CLAIM(passed ||
              (bytes ? failed == DRNG_TEST_LANES : failed == DRNG_TEST_REPETITION || failed == DRNG_TEST_PROPORTION),
          "the test that failed is named");
    if (passed) {
        REACHED("a word that passes");
    } else if (bytes) {
        REACHED("a lane that fails");
    } else {
        REACHED("a byte that fails");
    }
}
