/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/scripted/cpu.h"

#include "tests/scripted/os.h"

struct scripted_instruction scripted_rdrand;
struct scripted_instruction scripted_rdseed;
struct drng_cpu scripted_cpu;

enum { NORMAL_NS = 20 };

void scripted_reset(scripted_behaviour *rdseed, scripted_behaviour *rdrand)
{
    scripted_rdseed = (struct scripted_instruction){.behaviour = rdseed, .ns = NORMAL_NS, .state = 1};
    scripted_rdrand = (struct scripted_instruction){.behaviour = rdrand, .ns = NORMAL_NS, .state = 2};
    scripted_cpu = (struct drng_cpu){.vendor = "GenuineIntel", .family = 6, .model = 85, .has = {true, true}};
    scripted_os_reset();
}

/* ---- The seam ---- */

void __wrap_drng_cpu_identify(struct drng_cpu *cpu)
{
    *cpu = scripted_cpu;
}
