/* SPDX-License-Identifier: Apache-2.0 */
/* late_faults.h - faults of RDSEED that begin when the parent of a family has had good words. */

#ifndef TEST_LATE_FAULTS_H
#define TEST_LATE_FAULTS_H

#include <stddef.h>

size_t late_fault_count(void);

/* From now on the scripted RDSEED has the fault; each reader, by its number, another one of its kind. */
void late_fault_begin(size_t fault, unsigned reader);

/* How many readers there are of each fault. */
unsigned late_fault_readers(void);

#endif
