#define _GNU_SOURCE

#include "mixing/memory/secmem.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mixing/memory/fork.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/pages.h"
#include "mixing/memory/wipe.h"

enum {
    WORD_BITS = 64,
    FIRST_SLOTS = 64,
    MOST_SLOTS = 1024, /* in one chunk; each chunk is twice as large as the one before it, up to this */
    MOST_WORDS = MOST_SLOTS / WORD_BITS,
    WIDE = DRNG_WIDE_SLOT_SIZE / DRNG_SLOT_SIZE, /* slots in a row */
};

_Static_assert(WIDE == 4, "the masks for wide slots are those of four slots");

/*
 * Lies in ordinary memory, so a child knows which slots are in use. Every change is one store, so the data is
 * consistent at whatever instruction the process forks. A slot that another thread was allocating at the fork stays in
 * use in the child: it is lost, and nothing else is.
 */
struct chunk {
    _Atomic(struct chunk *) next;
    uint8_t *slots;
    size_t size;   /* bytes */
    unsigned hint; /* every word of `used` below this index is full */
    _Atomic uint64_t used[MOST_WORDS];
};

/* Guarded by DRNG_LOCK_LOAD. */
static unsigned openings;

/* The first chunk stays mapped from the first open to the last close. */
static _Atomic(struct chunk *) chunks;

static atomic_uint_least64_t not_told;
static atomic_uint_least64_t *lock_state = &not_told;

/* ---- Whether the pages are locked in memory ---- */

void drng_secmem_note_lock_in(atomic_uint_least64_t *state)
{
    atomic_store(state, atomic_load(lock_state));
    lock_state = state;
}

static void note_lock(enum drng_memory_lock state)
{
    atomic_store_explicit(lock_state, state, memory_order_relaxed);
}

/* ---- Chunks ---- */

static bool map_at(uint8_t *start, size_t size, int lock)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | lock;
    return mmap(start, size, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
}

/* Maps the chunk inside a larger reservation, so that one inaccessible page lies before it and one behind it. */
static bool map_between_fences(struct chunk *chunk)
{
    const size_t page = drng_page_size();
    uint8_t *fence = mmap(NULL, chunk->size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fence == MAP_FAILED) {
        return false;
    }
    chunk->slots = fence + page;
    if (map_at(chunk->slots, chunk->size, MAP_LOCKED)) {
        return true;
    }
    note_lock(DRNG_MEMORY_LIMITED);
    if (map_at(chunk->slots, chunk->size, 0)) {
        return true;
    }
    (void)munmap(fence, chunk->size + 2 * page);
    return false;
}

static void unmap_chunk(struct chunk *chunk)
{
    const size_t page = drng_page_size();
    drng_wipe(chunk->slots, chunk->size);
    (void)munmap(chunk->slots - page, chunk->size + 2 * page);
    free(chunk);
}

static void unlink_chunk(struct chunk *before, struct chunk *chunk)
{
    atomic_store(&before->next, atomic_load(&chunk->next));
    unmap_chunk(chunk);
}

static struct chunk *map_chunk(size_t slots)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (chunk == NULL) {
        return NULL;
    }
    chunk->size = drng_whole_pages(slots * DRNG_SLOT_SIZE);
    if (!map_between_fences(chunk)) {
        free(chunk);
        return NULL;
    }
    if (!drng_fork_wipes(chunk->slots, chunk->size)) {
        unmap_chunk(chunk);
        return NULL;
    }
    (void)madvise(chunk->slots, chunk->size, MADV_DONTDUMP);
    return chunk;
}

static void wipe_all(void)
{
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = atomic_load(&chunk->next)) {
        drng_wipe(chunk->slots, chunk->size);
    }
}

/* ---- Slots ---- */

/* A page may have room for more slots than were asked for. Slots that do not fill a word of `used` stay unused. */
static size_t words_of(const struct chunk *chunk)
{
    const size_t slots = chunk->size / DRNG_SLOT_SIZE;
    return (slots < MOST_SLOTS ? slots : MOST_SLOTS) / WORD_BITS;
}

static uint64_t bits_of(unsigned count)
{
    return (UINT64_C(1) << count) - 1;
}

/* The bits of a word of `used` at which `count` free slots begin; a wide slot begins at every fourth only. */
static uint64_t free_in(uint64_t used, unsigned count)
{
    const uint64_t pairs = ~used & ~used >> 1;
    return count == WIDE ? pairs & pairs >> 2 & UINT64_C(0x1111111111111111) : ~used;
}

static void *acquire_in(struct chunk *chunk, unsigned count)
{
    const size_t words = words_of(chunk);
    while (chunk->hint < words && atomic_load(&chunk->used[chunk->hint]) == UINT64_MAX) {
        chunk->hint++;
    }
    for (size_t word = chunk->hint; word < words; word++) {
        const uint64_t used = atomic_load(&chunk->used[word]);
        const uint64_t places = free_in(used, count);
        if (places != 0) {
            const unsigned bit = (unsigned)__builtin_ctzll(places);
            atomic_store(&chunk->used[word], used | bits_of(count) << bit);
            return chunk->slots + (word * WORD_BITS + bit) * DRNG_SLOT_SIZE;
        }
    }
    return NULL;
}

static void *acquire_in_any(unsigned count)
{
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = atomic_load(&chunk->next)) {
        void *slot = acquire_in(chunk, count);
        if (slot != NULL) {
            return slot;
        }
    }
    return NULL;
}

/* New chunks are inserted behind the first one, so the second is the newest and the largest. */
static bool add_chunk(void)
{
    struct chunk *first = atomic_load(&chunks);
    const struct chunk *largest = atomic_load(&first->next) != NULL ? atomic_load(&first->next) : first;
    const size_t slots = 2 * words_of(largest) * WORD_BITS;
    struct chunk *chunk = map_chunk(slots < MOST_SLOTS ? slots : MOST_SLOTS);
    if (chunk == NULL) {
        return false;
    }
    atomic_store(&chunk->next, atomic_load(&first->next));
    atomic_store(&first->next, chunk);
    return true;
}

static void *acquire(unsigned count)
{
    if (!drng_lock(drng_process_lock(DRNG_LOCK_SLOTS))) {
        return NULL;
    }
    void *slot = acquire_in_any(count);
    if (slot == NULL && add_chunk()) {
        slot = acquire_in_any(count);
    }
    drng_unlock(drng_process_lock(DRNG_LOCK_SLOTS));
    return slot;
}

/* If a signal handler forked in acquire(), its child may have allocated the same slot: the child tries again. */
static void *alloc(unsigned count)
{
    void *slot = NULL;
    uint64_t generation = 0;
    if (atomic_load(&chunks) == NULL) {
        return NULL;
    }
    do {
        generation = drng_fork_generation();
        slot = acquire(count);
    } while (!drng_fork_is_still(generation));
    return slot;
}

void *drng_secmem_alloc(void)
{
    return alloc(1);
}

void *drng_secmem_alloc_wide(void)
{
    return alloc(WIDE);
}

static bool is_empty(const struct chunk *chunk)
{
    uint64_t used = 0;
    for (size_t i = 0; i < words_of(chunk); i++) {
        used |= atomic_load(&chunk->used[i]);
    }
    return used == 0;
}

/*
 * One empty chunk stays mapped, so that a program that makes and frees one generator at a time does not map and unmap a
 * chunk each time.
 */
static bool another_is_empty(const struct chunk *chunk)
{
    struct chunk *first = atomic_load(&chunks);
    const struct chunk *other = atomic_load(&first->next);
    while (other != NULL && (other == chunk || !is_empty(other))) {
        other = atomic_load(&other->next);
    }
    return other != NULL;
}

static void release(struct chunk *before, struct chunk *chunk, size_t index, unsigned count)
{
    const size_t word = index / WORD_BITS;
    atomic_store(&chunk->used[word], atomic_load(&chunk->used[word]) & ~(bits_of(count) << index % WORD_BITS));
    chunk->hint = word < chunk->hint ? (unsigned)word : chunk->hint;
    if (before != NULL && is_empty(chunk) && another_is_empty(chunk)) {
        unlink_chunk(before, chunk);
    }
}

/*
 * In a signal handler that interrupted a holder of DRNG_LOCK_SLOTS the slot is wiped and lost: it is never allocated
 * again.
 */
static void wipe_and_release(void *slot, unsigned count)
{
    if (slot == NULL) {
        return;
    }
    drng_wipe(slot, (size_t)count * DRNG_SLOT_SIZE);
    if (!drng_lock(drng_process_lock(DRNG_LOCK_SLOTS))) {
        return;
    }
    struct chunk *before = NULL;
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = atomic_load(&chunk->next)) {
        const uintptr_t offset = (uintptr_t)slot - (uintptr_t)chunk->slots;
        if (offset < chunk->size) {
            release(before, chunk, offset / DRNG_SLOT_SIZE, count);
            break;
        }
        before = chunk;
    }
    drng_unlock(drng_process_lock(DRNG_LOCK_SLOTS));
}

void drng_secmem_free(void *slot)
{
    wipe_and_release(slot, 1);
}

void drng_secmem_free_wide(void *slot)
{
    wipe_and_release(slot, WIDE);
}

/* ---- Opening and closing ---- */

static bool open_first(void)
{
    static struct drng_fork_watcher watcher = {.wipe = wipe_all};
    drng_fork_watch(&watcher);
    note_lock(DRNG_MEMORY_LOCKED);
    struct chunk *first = map_chunk(FIRST_SLOTS);
    atomic_store(&chunks, first);
    return first != NULL;
}

bool drng_secmem_open(void)
{
    drng_fork_open();
    const bool opened = openings > 0 || open_first();
    openings += opened;
    return opened;
}

static void unmap_empty_chunks(struct chunk *first)
{
    struct chunk *before = first;
    for (struct chunk *chunk = atomic_load(&first->next); chunk != NULL; chunk = atomic_load(&before->next)) {
        if (is_empty(chunk)) {
            unlink_chunk(before, chunk);
        } else {
            before = chunk;
        }
    }
}

/*
 * If a caller still holds a slot, its chunk and the first one stay mapped: a leak is better than a pointer to unmapped
 * memory.
 */
static bool close_last(void)
{
    struct chunk *first = atomic_load(&chunks);
    unmap_empty_chunks(first);
    if (atomic_load(&first->next) != NULL || !is_empty(first)) {
        return false;
    }
    atomic_store(&chunks, NULL);
    unmap_chunk(first);
    return true;
}

void drng_secmem_close(void)
{
    if (openings > 1 || (openings == 1 && close_last())) {
        openings--;
    }
}
