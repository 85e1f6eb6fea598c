/* SPDX-License-Identifier: Apache-2.0 */
/* aes_vaes256.c on a CPU without VAES: counters, carries and the order of the lanes are the product's own code. */

#include "tests/unit/aes_wide.h"
#include "tests/unit/lanes256.h"
#include "tests/unit/unit.h"

/* In place of the one in the library, which the linker then leaves there. */
#include "mixing/aes/aes_vaes256.c"

int main(void)
{
    const struct aes_wide subject = {&drng_aes_vaes256, LANE_BLOCKS, 0, &wide_rounds};
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    if (!cpu.aes || !(__builtin_cpu_supports("avx2"))) {
        return unit_skipped("this CPU has no AVX2");
    }
    return aes_wide_run(&subject);
}
