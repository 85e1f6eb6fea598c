/* Found in place of mixing/machine/instructions_x86.h: words_x86.c as it is shipped, reading from the scripted CPU. */

#ifndef DRNG_INSTRUCTIONS_X86_H
#define DRNG_INSTRUCTIONS_X86_H

#include "tests/scripted/cpu.h"

static inline bool drng_execute_rdrand(uint64_t *word)
{
    return scripted_execute(&scripted_rdrand, word);
}

static inline bool drng_execute_rdseed(uint64_t *word)
{
    return scripted_execute(&scripted_rdseed, word);
}

#endif
