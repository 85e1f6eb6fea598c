/* SPDX-License-Identifier: Apache-2.0 */
/* One opening for both adapters: in this order, since AES is chosen by what is left of the CPU. */

#include "mixing/drbg/open.h"

#include "mixing/drbg/self_test.h"
#include "mixing/machine/os.h"
#include "mixing/state/secmem.h"

bool drng_machine_open(struct drng_machine *machine, drng_machine_mask *mask, const char *libcrypto_version)
{
    struct drng_evidence *evidence = &machine->evidence;
    if (!drng_secmem_open()) {
        return false;
    }
    drng_cpu_identify(&evidence->cpu);
    if (drng_eligibility_asks_kernel(&evidence->cpu)) {
        drng_os_kernel_flags(&evidence->kernel);
    }
    if (mask != NULL) {
        mask(evidence, libcrypto_version);
    }
    machine->aes = drng_self_test_choose(&evidence->cpu, &machine->failed);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        machine->instructions[i].row = &drng_instruction_rows[i];
    }
    return true;
}
