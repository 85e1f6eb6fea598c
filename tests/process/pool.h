/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the draws of many processes, in memory that they share: no draw may occur twice. */

#ifndef TEST_POOL_H
#define TEST_POOL_H

#include <stdbool.h>
#include <stddef.h>

enum { POOL_DRAW = 32, POOL_MAX = 1 << 16 };

/* Maps the pool, shared with every child. False: no memory. */
bool pool_open(void);
void pool_close(void);

/* Adds one draw; any of the processes may call it. False: the pool is full. */
bool pool_add(const unsigned char draw[POOL_DRAW]);

/* The number of draws, and how many of them are copies of another. pool_duplicates() empties the pool. */
size_t pool_size(void);
size_t pool_duplicates(void);

#endif
