/* SPDX-License-Identifier: Apache-2.0 */
/* One opening for both adapters: in this order, since AES is chosen by what is left of the CPU. */

#include "mixing/drbg/open.h"

#include "mixing/drbg/self_test.h"
#include "mixing/machine/os.h"
#include "mixing/state/family.h"
#include "mixing/state/secmem.h"

bool drng_open_machine(struct drng_evidence *evidence, drng_machine_mask *mask, const char *libcrypto_version,
                       struct drng_instruction instructions[DRNG_INSTRUCTIONS], const struct drng_aes **aes,
                       const char **failed)
{
    if (!drng_secmem_open()) {
        return false;
    }
    drng_family_open();
    drng_cpu_identify(&evidence->cpu);
    if (drng_eligibility_asks_kernel(&evidence->cpu)) {
        drng_os_kernel_flags(&evidence->kernel);
    }
    if (mask != NULL) {
        mask(evidence, libcrypto_version);
    }
    *aes = drng_self_test_choose(&evidence->cpu, failed);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        instructions[i].row = &drng_instruction_rows[i];
    }
    return true;
}
