/* SPDX-License-Identifier: Apache-2.0 */
/* late_faults.h - faults of RDSEED that begin when the parent of a family has had good words. */

#ifndef TEST_LATE_FAULTS_H
#define TEST_LATE_FAULTS_H

#include <stddef.h>
#include <stdio.h>

/* How many there are, and the name of each. */
size_t late_fault_count(void);
const char *late_fault_name(size_t fault);

/* From now on the scripted RDSEED has the fault; each reader, by its number, another one of its kind. */
void late_fault_begin(size_t fault, unsigned reader);

/* How many readers there are of each fault: DRNG_FAULT_CHILDREN says it, for a table. */
unsigned late_fault_readers(void);

#endif
