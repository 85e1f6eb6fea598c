/*
 * cpu.h - the CPU that the collector reads: the real one (hardware.c), or a scripted one with a fault (scripted.c).
 */

#ifndef COLLECTOR_CPU_H
#define COLLECTOR_CPU_H

#include <stdbool.h>

/* Names those that collector_cpu_choose() takes, for a reader. */
extern const char collector_cpus[];

/* To be called first; false: there is no such CPU here. */
bool collector_cpu_choose(const char *name);

#endif
