/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/library_rig.h"

#include <string.h>

#include "mixing/state/clone.h"
#include "mixing/state/secmem.h"

void library_rig_set_up(scripted_behaviour *rdseed, scripted_behaviour *rdrand)
{
    scripted_reset(rdseed, rdrand);
    if (drng_library.root.slot != NULL) {
        scripted_unwatch();
        drng_place_free(&drng_library.root);
        drng_secmem_close();
    }
    memset(&drng_library, 0, sizeof(drng_library));
}
