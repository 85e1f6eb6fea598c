/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - system calls by name. */

#ifndef TEST_CALLS_H
#define TEST_CALLS_H

/* The name of the system call, or its number as a text, which the next call overwrites. */
const char *calls_name(long number);

/* -1: the table has no system call of this name. */
long calls_number(const char *name);

#endif
