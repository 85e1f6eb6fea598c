/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/provider/unmask.h"

#include "provider/process.h"
#include "tests/scripted/cpu.h"

bool unmask_instructions(void)
{
    scripted_reset(scripted_good, scripted_good);
    if (!drng_process_open(NULL)) {
        return false;
    }
    drng_process.machine.evidence.masked[DRNG_RDSEED] = false;
    drng_process.machine.evidence.masked[DRNG_RDRAND] = false;
    drng_process_close();
    return true;
}
