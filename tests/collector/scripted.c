/* SPDX-License-Identifier: Apache-2.0 */
/* Scripted CPUs, one sound and the others not: what a battery is worth shows on these. */

#include "tests/collector/cpu.h"

#include <string.h>

#include "tests/scripted/cpu.h"

const char collector_cpus[] = "good, biased, counting or repeating";

/* Each bit is set with a chance of 9/16: it is where one random bit is, or three others all are. */
static bool biased(struct scripted_instruction *in, uint64_t *word)
{
    uint64_t a = 0;
    uint64_t b = 0;
    uint64_t c = 0;
    uint64_t d = 0;
    (void)scripted_good(in, &a);
    (void)scripted_good(in, &b);
    (void)scripted_good(in, &c);
    (void)scripted_good(in, &d);
    *word = d | (a & b & c);
    return true;
}

/* A period of 1,000 words: longer than the window of any health test. */
static bool repeating(struct scripted_instruction *in, uint64_t *word)
{
    if (in->words % 1000 == 0) {
        in->state = 0;
    }
    return scripted_good(in, word);
}

bool collector_cpu_choose(const char *name)
{
    static const struct {
        const char *name;
        scripted_behaviour *behaviour;
    } cpus[] = {{"good", scripted_good}, {"biased", biased}, {"counting", scripted_counting}, {"repeating", repeating}};

    for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
        if (strcmp(name, cpus[i].name) == 0) {
            scripted_reset(cpus[i].behaviour, cpus[i].behaviour);
            return true;
        }
    }
    return false;
}
