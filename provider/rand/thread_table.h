/*
 * thread_table.h - the threads that have generators of their own, found by their owner.
 *
 * A hash table with open addressing, at most half full, in memory of the core. The caller holds a lock. Each change is
 * one store, so the table is consistent if the process forks in the middle.
 */

#ifndef DRNG_THREAD_TABLE_H
#define DRNG_THREAD_TABLE_H

#include <stdbool.h>

#include "provider/core.h"

struct drng_drbg;
struct drng_threads;
struct drng_thread_table;

/* The generators of one thread, made at its first request. Only that thread uses them. */
struct drng_thread {
    struct drng_threads *threads;
    const void *owner; /* an address that is unique among living threads */
    struct drng_drbg *drbg[2];
};

/* NULL: there is none. So it is of a table that is NULL. */
struct drng_thread *drng_thread_table_find(const struct drng_thread_table *table, const void *owner);

/* *place is the table, or NULL: then one is made, as a larger one is where that is needed. False: no memory. */
bool drng_thread_table_insert(const struct drng_core *core, struct drng_thread_table **place,
                              struct drng_thread *thread);

/* May put a smaller table in its place. The thread itself is not freed. */
void drng_thread_table_delete(const struct drng_core *core, struct drng_thread_table **place,
                              const struct drng_thread *thread);

/* Calls free_thread for each thread that is left. NULL does nothing. */
void drng_thread_table_free(const struct drng_core *core, struct drng_thread_table *table,
                            void (*free_thread)(struct drng_thread *thread));

#endif
