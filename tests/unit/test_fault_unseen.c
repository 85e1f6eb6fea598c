/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no health test sees, or none soon: words that repeat themselves late, and words that hold little. Each reader
 * has passed its start-up tests with them. DRNG_FAULT_UNSEEN names a file for the result as a table, of a hundred
 * readers.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/entropy/health.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/unit.h"

enum { READERS = 100, SOON = 12600, LATE = 1 << 20 };

/* `at` is the reader's own: where its words begin, or the last of them. */

static bool period(struct scripted_instruction *in, uint64_t *word)
{
    in->state = in->at + in->words % in->which;
    return scripted_good(in, word);
}

static bool one_of(struct scripted_instruction *in, uint64_t *word)
{
    static struct scripted_instruction chosen;
    (void)scripted_good(in, word);
    chosen.state = in->at + (*word & (in->which - 1));
    return scripted_good(&chosen, word);
}

static bool shifted(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    in->at = (in->at << in->which | in->at >> (64 - in->which)) + (*word >> (64 - in->which));
    *word = in->at;
    return true;
}

static const struct {
    const char *name;
    scripted_behaviour *behaviour;
    unsigned which;
} faults[] = {
    {"a period of 1,000 words", period, 1000},  {"a period of 10,000 words", period, 10000},
    {"2^18 different words", one_of, 1 << 18},  {"the last word, rotated by 8 bits, plus 8 fresh bits", shifted, 8},
    {"a counter, encrypted", scripted_good, 0},
};

/* With which word of a reader a test failed; 0: with none. */
static uint64_t found_at(size_t fault, unsigned reader, uint64_t most)
{
    static struct scripted_instruction in;
    struct drng_health health = {0};
    struct drng_startup startup = {0};
    uint64_t word = 0;
    memset(&in, 0, sizeof(in));
    in.behaviour = faults[fault].behaviour;
    in.which = faults[fault].which;
    in.state = UINT64_C(0xd1b54a32d192ed03) * (reader + 1);
    (void)scripted_good(&in, &in.at);
    while (in.words < most) {
        (void)scripted_execute(&in, &word);
        if (!drng_health_passes(&health, word) ||
            (in.words <= DRNG_STARTUP_WORDS && !drng_startup_passes(&startup, word, &health.tests.failed))) {
            return in.words;
        }
    }
    return 0;
}

UNIT_TEST("hardly a reader finds these in its start-up tests")
{
    const unsigned readers = unit_table != NULL ? READERS : 10;
    const uint64_t most = unit_table != NULL ? LATE : SOON;
    for (size_t fault = 0; fault < sizeof(faults) / sizeof(*faults); fault++) {
        unsigned at_startup = 0;
        unsigned soon = 0;
        unsigned late = 0;
        for (unsigned reader = 0; reader < readers; reader++) {
            const uint64_t at = found_at(fault, reader, most);
            at_startup += at > 0 && at <= DRNG_STARTUP_WORDS;
            soon += at > 0 && at <= SOON;
            late += at > 0;
        }
        CU_ASSERT_TRUE(at_startup <= readers / 10);
        CU_ASSERT_TRUE(late < readers || faults[fault].behaviour == one_of);
        if (unit_table != NULL) {
            (void)fprintf(unit_table, "| %s | %u of %u | %u of %u | %u of %u |\n", faults[fault].name, at_startup,
                          readers, soon, readers, late, readers);
        }
    }
}

int main(void)
{
    return unit_run_table("fault_unseen", "DRNG_FAULT_UNSEEN",
                          "| words | found at start-up | in 12,600 words | in 2^20 words |\n"
                          "| --- | --- | --- | --- |\n");
}
