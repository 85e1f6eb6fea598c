/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, where the tests have the instructions of x86-64 and the machine is another: they stay as they are. */

#include "mixing/machine/cpu.h"

void drng_cpu_clear_vectors(void) {}
