/* aes_wide.h - the tests of a VAES file whose AES rounds are done lane by lane, on a CPU without VAES. */

#ifndef DRNG_AES_WIDE_H
#define DRNG_AES_WIDE_H

#include "mixing/aes/aes.h"

enum { AES_WIDE_SKIPPED = 77 }; /* exit status of a program that this CPU cannot run */

struct aes_wide {
    const struct drng_aes *aes;
    unsigned blocks;             /* in one register */
    const unsigned long *rounds; /* how often a register has gone through a round, the last rounds not counted */
};

/* All of aes_cases.h, and when the wide registers are used; to be returned from main(). */
int aes_wide_run(const struct aes_wide *wide);

#endif
