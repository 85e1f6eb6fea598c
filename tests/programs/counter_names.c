/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the counters of the live part that drng-status reads, a line each: the offset in bytes and the name. Made of
 * the lists in mixing/machine/counters.h. drng-status reads by position: a test compares.
 */

#include <stddef.h>
#include <stdio.h>

#include "provider/observe/stats.h"

#define AT(member, name)             print(offsetof(struct drng_stats_live, member), "", name);
#define IN_COUNTERS(member, name)    AT(counters.member, name)
#define OF_INSTRUCTION(member, name) print(at + offsetof(struct drng_instruction_counters, member), flag, name);

static void print(size_t at, const char *before, const char *name)
{
    (void)printf("%zu %s%s\n", at, before, name);
}

int main(void)
{
    AT(memory_lock, "memory")
    AT(begun, "begun")
    IN_COUNTERS(source, "source")
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        print(offsetof(struct drng_stats_live, counters.seeds) + i * sizeof(uint64_t), "seeds-",
              drng_instruction_flag(i));
    }
    DRNG_SEED_COUNTERS(IN_COUNTERS)
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const size_t at =
            offsetof(struct drng_stats_live, counters.instructions) + i * sizeof(struct drng_instruction_counters);
        char flag[DRNG_FLAG_SIZE + 1];
        (void)snprintf(flag, sizeof(flag), "%s-", drng_instruction_flag(i));
        DRNG_INSTRUCTION_COUNTERS(OF_INSTRUCTION)
    }
    DRNG_OTHER_COUNTERS(IN_COUNTERS)
    return 0;
}
