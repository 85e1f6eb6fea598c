/* SPDX-License-Identifier: Apache-2.0 */
/* A CPU with the machine's own instructions, which do what a test says. */

#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"

struct scripted_instruction scripted_rows[DRNG_INSTRUCTIONS];
struct drng_cpu scripted_cpu;

enum { NORMAL_NS = 20 };

void scripted_reset_rows(void)
{
    scripted_cpu = (struct drng_cpu){0};
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        scripted_rows[i] =
            (struct scripted_instruction){.behaviour = scripted_good, .ns = NORMAL_NS, .state = i + UINT64_C(1)};
        scripted_cpu.has[i] = true;
    }
    scripted_os_reset();
}

void __wrap_drng_cpu_identify(struct drng_cpu *cpu)
{
    *cpu = scripted_cpu;
}
