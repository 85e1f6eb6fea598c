/* Registers of a processor that is not known here: they stay as they are. */

#include "mixing/machine/cpu.h"

void drng_cpu_clear_vectors(void) {}
