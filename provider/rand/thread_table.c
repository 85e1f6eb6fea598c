#include "provider/rand/thread_table.h"

#include <stddef.h>
#include <stdint.h>

struct drng_thread_table {
    size_t size;   /* a power of two */
    size_t filled; /* entries that are not NULL */
    size_t living; /* entries of threads that have not ended */
    struct drng_thread *entry[];
};

/* Replaces the entry of a thread that has ended. */
static struct drng_thread gone;

enum { SMALLEST_TABLE = 16 };

static bool lives(const struct drng_thread *entry)
{
    return entry != NULL && entry != &gone;
}

static size_t place_of(const struct drng_thread_table *table, const void *owner)
{
    const uint64_t spread = (uint64_t)(uintptr_t)owner * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(spread >> 32) & (table->size - 1);
}

/* The owner's entry, or else the first entry that is NULL. */
static size_t look_up(const struct drng_thread_table *table, const void *owner)
{
    size_t i = place_of(table, owner);
    while (table->entry[i] != NULL && table->entry[i]->owner != owner) {
        i = (i + 1) & (table->size - 1);
    }
    return i;
}

static struct drng_thread_table *new_table(const struct drng_core *core, size_t size)
{
    struct drng_thread_table *table = drng_zalloc(core, sizeof(*table) + size * sizeof(struct drng_thread *));
    if (table != NULL) {
        table->size = size;
    }
    return table;
}

/* Puts in its place a table with room for its living threads and one more. Ended threads are left out. */
static bool replace(const struct drng_core *core, struct drng_thread_table **place)
{
    struct drng_thread_table *table = *place;
    size_t size = SMALLEST_TABLE;
    while (table != NULL && size < 4 * (table->living + 1)) {
        size *= 2;
    }
    struct drng_thread_table *fitting = new_table(core, size);
    if (fitting == NULL) {
        return false;
    }
    for (size_t i = 0; table != NULL && i < table->size; i++) {
        if (lives(table->entry[i])) {
            fitting->entry[look_up(fitting, table->entry[i]->owner)] = table->entry[i];
            fitting->filled++;
            fitting->living++;
        }
    }
    *place = fitting;
    drng_free(core, table);
    return true;
}

struct drng_thread *drng_thread_table_find(const struct drng_thread_table *table, const void *owner)
{
    return table != NULL ? table->entry[look_up(table, owner)] : NULL;
}

bool drng_thread_table_insert(const struct drng_core *core, struct drng_thread_table **place,
                              struct drng_thread *thread)
{
    if ((*place == NULL || 2 * ((*place)->filled + 1) > (*place)->size) && !replace(core, place)) {
        return false;
    }
    struct drng_thread_table *table = *place;
    table->filled++;
    table->living++;
    table->entry[look_up(table, thread->owner)] = thread;
    return true;
}

void drng_thread_table_delete(const struct drng_core *core, struct drng_thread_table **place,
                              const struct drng_thread *thread)
{
    struct drng_thread_table *table = *place;
    const size_t i = look_up(table, thread->owner);
    if (table->entry[i] == thread) {
        table->entry[i] = &gone;
        table->living--;
    }
    if (table->size > SMALLEST_TABLE && table->size > 16 * (table->living + 1)) {
        (void)replace(core, place);
    }
}

void drng_thread_table_free(const struct drng_core *core, struct drng_thread_table *table,
                            void (*free_thread)(struct drng_thread *thread))
{
    for (size_t i = 0; table != NULL && i < table->size; i++) {
        if (lives(table->entry[i])) {
            free_thread(table->entry[i]);
        }
    }
    drng_free(core, table);
}
