/* SPDX-License-Identifier: Apache-2.0 */
/* library_rig.h - libdrng in a process that has not called it yet, on the scripted CPU. */

#ifndef DRNG_LIBRARY_RIG_H
#define DRNG_LIBRARY_RIG_H

#include "library/drng.h"
#include "library/open.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"

/* Sets the CPU's behaviours, and forgets what the library knew. Handles that are open must have been closed. */
void library_rig_set_up(scripted_behaviour *rdseed, scripted_behaviour *rdrand);

#endif
