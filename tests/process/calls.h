/* calls.h - system calls by name. */

#ifndef TEST_CALLS_H
#define TEST_CALLS_H

/* The name, or its number in text that the next call overwrites. */
const char *calls_name(long number);

/* -1: none of ours has this name. */
long calls_number(const char *name);

#endif
