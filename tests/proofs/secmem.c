/*
 * Slots of memory for secrets: no slot is handed out twice, whatever the order of alloc and free, and wherever a child
 * of a signal handler comes between. The kernel gives two chunks' memory, or refuses.
 */

#include <string.h>

#include "mixing/memory/secmem.c"
#include "proof.h"

enum { STEPS = 4, ROOM = (FIRST_SLOTS + 2) * DRNG_SLOT_SIZE };

/* ---- The kernel and the C library ---- */

long sysconf(int name)
{
    (void)name;
    return 4096;
}

struct drng_fork_page page_of_fork;
struct drng_fork_page *drng_fork_page = &page_of_fork;
bool drng_fork_kernel_wipes = true;

static uint64_t generation = 1;
static bool locked;
static unsigned forks_left;

void drng_fork_open(void) {}

void drng_fork_watch(struct drng_fork_watcher *watcher)
{
    (void)watcher;
}

bool drng_fork_wipes(void *memory, size_t size)
{
    (void)memory;
    (void)size;
    return true;
}

uint64_t drng_fork_enter(void)
{
    return generation;
}

bool drng_lock(struct drng_lock *lock)
{
    (void)lock;
    CLAIM(!locked, "the lock is free");
    locked = true;
    /* A child is another process from here on: its page says so when it is looked at next. */
    if (forks_left > 0 && nondet_bool()) {
        forks_left--;
        generation++;
        page_of_fork.generation = generation;
    }
    return true;
}

void drng_unlock(struct drng_lock *lock)
{
    (void)lock;
    CLAIM(locked, "the lock is held");
    locked = false;
}

/* ---- Any order of alloc and free ---- */

static _Alignas(64) uint8_t memory[FIRST_SLOTS * DRNG_SLOT_SIZE];
static struct chunk first = {.slots = memory, .size = sizeof(memory)};

void *any_chunk(size_t slots)
{
    (void)slots;
    return NULL;
}

static unsigned bits_of(uint64_t word)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 64; i++) {
        count += (unsigned)(word >> i & 1);
    }
    return count;
}

/* One step from any chunk: a slot is free before it is handed out, and taken after. */
void prove_slots(void)
{
    const uint64_t used = nondet_u64();
    page_of_fork.generation = generation;
    forks_left = 1;
    first.used[0] = used;
    first.hint = used == UINT64_MAX && nondet_bool() ? 1 : 0;
    chunks = &first;

    uint8_t *slot = drng_secmem_alloc();

    const uint64_t after = first.used[0];
    if (slot == NULL) {
        CLAIM(after == UINT64_MAX, "a slot is refused when none is free");
        REACHED("no slot");
        return;
    }
    const size_t index = (size_t)(slot - memory) / DRNG_SLOT_SIZE;
    CLAIM(slot >= memory && (size_t)(slot - memory) % DRNG_SLOT_SIZE == 0 && index < FIRST_SLOTS,
          "a slot lies in its chunk");
    CLAIM((used >> index & 1) == 0, "no slot is handed out that somebody has");
    CLAIM((after >> index & 1) == 1 && (after & used) == used, "it is taken now, and so are those that were");
    CLAIM(bits_of(after) <= bits_of(used) + 2, "a fork in between costs one slot");
    CLAIM(!locked, "the lock is given back");

    slot[nondet_u8()] = 1;
    drng_secmem_free(slot);
    CLAIM(zero_at_any(slot, DRNG_SLOT_SIZE), "a slot is wiped when it is freed");
    CLAIM(first.used[0] == (after & ~(UINT64_C(1) << index)), "it is free again, and no other is");
    CLAIM(first.hint == 0, "and will be found");
    REACHED("a slot");
}
