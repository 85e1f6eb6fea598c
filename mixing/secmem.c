#define _GNU_SOURCE

#include "mixing/secmem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mixing/wipe.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14, whatever the headers are */
#endif

enum {
    SLOTS = 64, /* one bit each in `used` */
    CHUNK_SIZE = SLOTS * DRNG_SLOT_SIZE,
};

/*
 * Lives in ordinary memory, so a child still knows which slots are taken. Every change is one store, so it is
 * whole at whatever moment the process forks; what a vanished thread had under way is lost, not broken.
 */
struct chunk {
    _Atomic(struct chunk *) next;
    uint8_t *slots;
    _Atomic uint64_t used;
};

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned openings;
static bool handler_registered;

/* The first chunk stays mapped from the first open to the last close; its first slot is the lock of all. */
static _Atomic(struct chunk *) chunks;

bool drng_secmem_kernel_wipes;

/* Where the kernel does not wipe: the process that filled the slots, or minus the one that is wiping them. */
static atomic_int owner;

/* ---- Chunks ---- */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* An emulator that takes any advice for success (QEMU's user mode) would take this one too, and not follow it. */
static bool kernel_wipes(uint8_t *slots)
{
    const int no_such_advice = -1;
    return madvise(slots, CHUNK_SIZE, no_such_advice) != 0 && madvise(slots, CHUNK_SIZE, MADV_WIPEONFORK) == 0;
}

static struct chunk *map_chunk(void)
{
    const size_t page = page_size();
    const size_t body = (CHUNK_SIZE + page - 1) / page * page;
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (chunk == NULL) {
        return NULL;
    }
    uint8_t *fence = mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fence == MAP_FAILED) {
        free(chunk);
        return NULL;
    }
    chunk->slots = fence + page;
    if (mprotect(chunk->slots, body, PROT_READ | PROT_WRITE) != 0) {
        (void)munmap(fence, body + 2 * page);
        free(chunk);
        return NULL;
    }
    /* Neither is needed for correctness, and either may be refused. */
    (void)madvise(chunk->slots, body, MADV_DONTDUMP);
    (void)mlock(chunk->slots, body);
    return chunk;
}

static void unmap_chunk(struct chunk *chunk)
{
    const size_t page = page_size();
    const size_t body = (CHUNK_SIZE + page - 1) / page * page;
    drng_wipe(chunk->slots, CHUNK_SIZE);
    (void)munmap(chunk->slots - page, body + 2 * page);
    free(chunk);
}

/* ---- Forks ---- */

static void wipe_all(void)
{
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = atomic_load(&chunk->next)) {
        drng_wipe(chunk->slots, CHUNK_SIZE);
    }
}

/* Every thread of the new process comes through here before it uses a slot: one wipes, the others wait for it. */
void drng_secmem_wipe_if_forked(void)
{
    const int self = (int)getpid();
    int seen = atomic_load(&owner);
    while (seen != self) {
        if (seen == -self) {
            (void)sched_yield();
            seen = atomic_load(&owner);
        } else if (atomic_compare_exchange_weak(&owner, &seen, -self)) {
            wipe_all();
            atomic_store(&owner, self);
            seen = self;
        }
    }
}

/*
 * fork() alone calls this, and clone() does not, so nothing but the lock on the pages depends on it: locks are not
 * inherited.
 */
static void in_forked_child(void)
{
    drng_secmem_check_fork();
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = atomic_load(&chunk->next)) {
        (void)mlock(chunk->slots, CHUNK_SIZE);
    }
}

/* ---- Slots ---- */

static pthread_mutex_t *slot_lock(void)
{
    const struct chunk *first = atomic_load(&chunks);
    return first != NULL ? (pthread_mutex_t *)(void *)first->slots : NULL;
}

static void *take_slot(struct chunk *chunk)
{
    const uint64_t used = atomic_load(&chunk->used);
    if (used == UINT64_MAX) {
        return NULL;
    }
    const unsigned index = (unsigned)__builtin_ctzll(~used);
    atomic_store(&chunk->used, used | UINT64_C(1) << index);
    return chunk->slots + (size_t)index * DRNG_SLOT_SIZE;
}

static void *take_from_any(void)
{
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = atomic_load(&chunk->next)) {
        void *slot = take_slot(chunk);
        if (slot != NULL) {
            return slot;
        }
    }
    return NULL;
}

/* New chunks go behind the first, which holds the lock. */
static bool add_chunk(void)
{
    struct chunk *chunk = map_chunk();
    if (chunk == NULL) {
        return false;
    }
    if (drng_secmem_kernel_wipes && !kernel_wipes(chunk->slots)) {
        unmap_chunk(chunk);
        return false;
    }
    struct chunk *first = atomic_load(&chunks);
    atomic_store(&chunk->next, atomic_load(&first->next));
    atomic_store(&first->next, chunk);
    return true;
}

void *drng_secmem_alloc(void)
{
    drng_secmem_check_fork();
    pthread_mutex_t *lock = slot_lock();
    if (lock == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(lock);
    void *slot = take_from_any();
    if (slot == NULL && add_chunk()) {
        slot = take_from_any();
    }
    (void)pthread_mutex_unlock(lock);
    return slot;
}

static void give_back(struct chunk *before, struct chunk *chunk, uint64_t bit)
{
    const uint64_t used = atomic_load(&chunk->used) & ~bit;
    atomic_store(&chunk->used, used);
    if (used == 0 && before != NULL) {
        atomic_store(&before->next, atomic_load(&chunk->next));
        unmap_chunk(chunk);
    }
}

void drng_secmem_free(void *slot)
{
    if (slot == NULL) {
        return;
    }
    drng_secmem_check_fork();
    drng_wipe(slot, DRNG_SLOT_SIZE);
    pthread_mutex_t *lock = slot_lock();
    (void)pthread_mutex_lock(lock);
    struct chunk *before = NULL;
    for (struct chunk *chunk = atomic_load(&chunks); chunk != NULL; chunk = atomic_load(&chunk->next)) {
        const uintptr_t offset = (uintptr_t)slot - (uintptr_t)chunk->slots;
        if (offset < CHUNK_SIZE) {
            give_back(before, chunk, UINT64_C(1) << (offset / DRNG_SLOT_SIZE));
            break;
        }
        before = chunk;
    }
    (void)pthread_mutex_unlock(lock);
}

/* ---- Opening and closing ---- */

static bool open_first(void)
{
    struct chunk *first = map_chunk();
    if (first == NULL) {
        return false;
    }
    drng_secmem_kernel_wipes = kernel_wipes(first->slots);
    atomic_store(&owner, (int)getpid());
    if (!handler_registered && pthread_atfork(NULL, NULL, in_forked_child) == 0) {
        handler_registered = true;
    }
    atomic_store(&first->used, 1); /* the lock's slot */
    atomic_store(&chunks, first);
    return true;
}

bool drng_secmem_open(void)
{
    (void)pthread_mutex_lock(&open_lock);
    const bool opened = openings > 0 || open_first();
    openings += opened;
    (void)pthread_mutex_unlock(&open_lock);
    return opened;
}

/* A slot that somebody still holds keeps its chunks: better memory that stays than a pointer into none. */
static void close_last(void)
{
    struct chunk *first = atomic_load(&chunks);
    if (atomic_load(&first->next) == NULL && atomic_load(&first->used) == 1) {
        atomic_store(&chunks, NULL);
        unmap_chunk(first);
    } else {
        openings++;
    }
}

void drng_secmem_close(void)
{
    (void)pthread_mutex_lock(&open_lock);
    if (openings > 0 && --openings == 0) {
        close_last();
    }
    (void)pthread_mutex_unlock(&open_lock);
}
