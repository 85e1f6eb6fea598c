/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of pages, and the slots in them: a bit of a word each, taken by one atomic operation. */

#define _GNU_SOURCE

#include "mixing/state/secmem.h"

#include <stdint.h>
#include <sys/mman.h>

#include "mixing/machine/wipe.h"
#include "mixing/state/fork.h"

enum {
    WORD_BITS = 64,
    FIRST_SLOTS = 64,
    MOST_SLOTS = 1024, /* in one chunk; each chunk is twice as large as the one before it, up to this */
    MOST_WORDS = MOST_SLOTS / WORD_BITS,
    WIDE = DRNG_WIDE_SLOT_SIZE / DRNG_SLOT_SIZE, /* slots in a row */
};

_Static_assert(WIDE == 4, "the masks for wide slots are those of four slots");

/*
 * Lies in ordinary memory, so a child knows which slots are in use. Every change is one atomic operation, so the data
 * is consistent at whatever instruction another thread forks. A slot that a thread was allocating at the fork stays in
 * use in the child: it is lost, and nothing else is.
 */
struct chunk {
    struct chunk *next;
    uint8_t *slots;
    size_t size; /* bytes */
    _Atomic uint64_t used[MOST_WORDS];
    struct {
        _Atomic uint64_t process, number;
    } objects[]; /* struct drng_object of each slot */
};

/* The newest, which is the largest, comes first. All of them stay mapped until they are closed. */
static _Atomic(struct chunk *) chunks;

/* ---- Chunks ---- */

/*
 * The slots lie inside a larger reservation, so that one inaccessible page is before them and one behind. Nothing is
 * ever mapped over it: where that fails for want of memory, older kernels leave a hole that anything may then fill.
 * What is reserved locked is locked when it becomes accessible.
 */
static bool map_slots(struct chunk *chunk, bool at_load)
{
    const size_t page = drng_page_size();
    const size_t whole = chunk->size + 2 * page;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    uint8_t *fence = mmap(NULL, whole, PROT_NONE, at_load ? flags | MAP_LOCKED : flags, -1, 0);
    if (at_load && fence == MAP_FAILED) {
        atomic_store(&drng_fork_page->memory_lock, DRNG_MEMORY_LIMITED);
        fence = mmap(NULL, whole, PROT_NONE, flags, -1, 0);
    }
    if (fence == MAP_FAILED) {
        return false;
    }
    chunk->slots = fence + page;
    if (mprotect(chunk->slots, chunk->size, PROT_READ | PROT_WRITE) != 0 ||
        !drng_fork_wipes(chunk->slots, chunk->size)) {
        (void)munmap(fence, whole);
        return false;
    }
    (void)madvise(chunk->slots, chunk->size, MADV_DONTDUMP);
    return true;
}

/* Of the chunk itself, without its slots: in whole pages, which need no allocator. */
static size_t record_size(size_t size)
{
    return drng_whole_pages(sizeof(struct chunk) + size / DRNG_SLOT_SIZE * sizeof(((struct chunk *)NULL)->objects[0]));
}

static struct chunk *add_chunk(size_t slots)
{
    const size_t size = drng_whole_pages(slots * DRNG_SLOT_SIZE);
    struct chunk *chunk = mmap(NULL, record_size(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) {
        return NULL;
    }
    chunk->size = size;
    if (!map_slots(chunk, atomic_load(&chunks) == NULL)) {
        (void)munmap(chunk, record_size(size));
        return NULL;
    }
    chunk->next = atomic_load(&chunks);
    atomic_store(&chunks, chunk);
    return chunk;
}

static void wipe_all(void)
{
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = chunk->next) {
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

/* `count` slots in a row; WIDE of them begin at every fourth only. NULL: there are none in this chunk. */
static void *acquire_in(struct chunk *chunk, unsigned count)
{
    const uint64_t ones = (UINT64_C(1) << count) - 1;
    for (size_t word = 0; word < words_of(chunk); word++) {
        uint64_t used = atomic_load(&chunk->used[word]);
        for (;;) {
            const uint64_t pairs = ~used & ~used >> 1;
            const uint64_t places = count == WIDE ? pairs & pairs >> 2 & UINT64_C(0x1111111111111111) : ~used;
            if (places == 0) {
                break;
            }
            const unsigned bit = (unsigned)__builtin_ctzll(places);
            if (atomic_compare_exchange_weak(&chunk->used[word], &used, used | ones << bit)) {
                return chunk->slots + (word * WORD_BITS + bit) * DRNG_SLOT_SIZE;
            }
        }
    }
    return NULL;
}

/* The chunk of a slot, or NULL; *index is the slot's there. */
static struct chunk *chunk_of(const void *slot, size_t *index)
{
    struct chunk *chunk = atomic_load(&chunks);
    while (chunk != NULL && (uintptr_t)slot - (uintptr_t)chunk->slots >= chunk->size) {
        chunk = chunk->next;
    }
    *index = chunk != NULL ? ((uintptr_t)slot - (uintptr_t)chunk->slots) / DRNG_SLOT_SIZE : 0;
    return chunk;
}

/* At whatever instruction another thread forks, the child finds the old object, the new one, or none. */
void drng_secmem_name(void *slot, struct drng_object object)
{
    size_t index = 0;
    struct chunk *chunk = chunk_of(slot, &index);
    if (chunk != NULL) {
        atomic_store(&chunk->objects[index].number, 0);
        atomic_store(&chunk->objects[index].process, object.process);
        atomic_store(&chunk->objects[index].number, object.number);
    }
}

static void *acquire(unsigned count)
{
    void *slot = NULL;
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL && slot == NULL; chunk = chunk->next) {
        slot = acquire_in(chunk, count);
    }
    return slot;
}

/*
 * Under DRNG_LOCK_SLOTS. Of threads that find no slot at once the first maps a chunk, and the others take theirs from
 * it.
 */
static void *acquire_or_map(unsigned count)
{
    void *slot = acquire(count);
    for (struct chunk *newest = atomic_load(&chunks); newest != NULL && slot == NULL; slot = acquire(count)) {
        const size_t twice = 2 * words_of(newest) * WORD_BITS;
        newest = add_chunk(twice < MOST_SLOTS ? twice : MOST_SLOTS);
    }
    return slot;
}

void *drng_secmem_alloc(size_t size)
{
    const unsigned count = (unsigned)(size / DRNG_SLOT_SIZE);
    void *slot = acquire(count);
    if (slot == NULL && drng_lock(drng_process_lock(DRNG_LOCK_SLOTS))) {
        slot = acquire_or_map(count);
        drng_unlock(drng_process_lock(DRNG_LOCK_SLOTS));
    }
    return slot;
}

/* The number is read again behind the process: another thread may name the slot anew between the two. */
bool drng_secmem_is(const void *slot, struct drng_object object)
{
    size_t index = 0;
    struct chunk *chunk = chunk_of(slot, &index);
    return chunk != NULL && object.number != 0 && atomic_load(&chunk->objects[index].number) == object.number &&
           atomic_load(&chunk->objects[index].process) == object.process &&
           atomic_load(&chunk->objects[index].number) == object.number;
}

void drng_secmem_free(void *slot, size_t size)
{
    size_t index = 0;
    if (slot == NULL) {
        return;
    }
    drng_wipe(slot, size);
    drng_secmem_name(slot, (struct drng_object){0, 0});
    struct chunk *chunk = chunk_of(slot, &index);
    if (chunk != NULL) {
        const uint64_t ones = (UINT64_C(1) << size / DRNG_SLOT_SIZE) - 1;
        (void)atomic_fetch_and(&chunk->used[index / WORD_BITS], ~(ones << index % WORD_BITS));
    }
}

/* ---- Opening and closing ---- */

bool drng_secmem_open(void)
{
    static struct drng_fork_watcher watcher = {.wipe = wipe_all};
    if (!drng_fork_open()) {
        return false;
    }
    if (atomic_load(&chunks) == NULL) {
        drng_fork_watch(&watcher);
        atomic_store(&drng_fork_page->memory_lock, DRNG_MEMORY_LOCKED);
        (void)add_chunk(FIRST_SLOTS);
    }
    return atomic_load(&chunks) != NULL;
}

/* A slot that a caller still holds keeps all chunks: a leak is better than a pointer to unmapped memory. */
void drng_secmem_close(void)
{
    const size_t page = drng_page_size();
    uint64_t used = 0;
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = chunk->next) {
        for (size_t word = 0; word < words_of(chunk); word++) {
            used |= atomic_load(&chunk->used[word]);
        }
    }
    struct chunk *next = NULL;
    for (struct chunk *chunk = used == 0 ? atomic_exchange(&chunks, NULL) : NULL; chunk != NULL; chunk = next) {
        next = chunk->next;
        (void)munmap(chunk->slots - page, chunk->size + 2 * page);
        (void)munmap(chunk, record_size(chunk->size));
    }
}
