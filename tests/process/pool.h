/* pool.h - what many processes have drawn, in memory that they share: no draw may be there twice. */

#ifndef TEST_POOL_H
#define TEST_POOL_H

#include <stdbool.h>
#include <stddef.h>

enum { POOL_DRAW = 32, POOL_MAX = 1 << 16 };

/* Maps the pool, to be shared with every child; false: no memory. */
bool pool_open(void);
void pool_close(void);

/* Adds one draw, from whichever process; false: the pool is full. */
bool pool_add(const unsigned char draw[POOL_DRAW]);

/* How many draws there are, and how many of them are copies of another. Empties the pool. */
size_t pool_size(void);
size_t pool_duplicates(void);

#endif
