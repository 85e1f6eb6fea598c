/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE

#include "tests/process/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct pool {
    atomic_size_t size;
    unsigned char draws[POOL_MAX][POOL_DRAW];
};

static struct pool *pool;

bool pool_open(void)
{
    void *memory = mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pool = memory != MAP_FAILED ? memory : NULL;
    return pool != NULL;
}

void pool_close(void)
{
    (void)munmap(pool, sizeof(*pool));
    pool = NULL;
}

bool pool_add(const unsigned char draw[POOL_DRAW])
{
    const size_t place = atomic_fetch_add(&pool->size, 1);
    if (place >= POOL_MAX) {
        return false;
    }
    memcpy(pool->draws[place], draw, POOL_DRAW);
    return true;
}

size_t pool_size(void)
{
    return atomic_load(&pool->size);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, POOL_DRAW);
}

size_t pool_duplicates(void)
{
    const size_t size = pool_size() < POOL_MAX ? pool_size() : POOL_MAX;
    size_t duplicates = 0;
    qsort(pool->draws, size, POOL_DRAW, compare);
    for (size_t i = 1; i < size; i++) {
        duplicates += compare(pool->draws[i - 1], pool->draws[i]) == 0;
    }
    atomic_store(&pool->size, 0);
    return duplicates;
}
