/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU that this runs on. */

#include "tests/collector/cpu.h"

#include <string.h>

const char collector_cpus[] = "hardware";

bool collector_cpu_choose(const char *name)
{
    return strcmp(name, "hardware") == 0;
}
