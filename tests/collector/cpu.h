/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - the CPU that the collector reads: the real one (hardware.c), or a scripted one with a fault (scripted.c).
 */

#ifndef COLLECTOR_CPU_H
#define COLLECTOR_CPU_H

#include <stdbool.h>

/* The names that collector_cpu_choose() accepts, as a text. */
extern const char collector_cpus[];

/* To be called first. False: this machine has no such CPU. */
bool collector_cpu_choose(const char *name);

#endif
