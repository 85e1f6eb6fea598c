/*
 * Slots of memory for secrets: one step from any two chunks, so no order of alloc and free hands a slot out twice,
 * wherever a child of a signal handler comes between. The kernel gives another chunk, or refuses.
 *
 * The bytes of a slot are not moved: what is wiped is noted.
 */

#define OWN_MEMSET
#include "mixing/memory/secmem.c"
#include "proof.h"

/* ---- The kernel and the C library ---- */

long sysconf(int name)
{
    (void)name;
    return 4096;
}

static struct drng_fork_page page_of_fork;
struct drng_fork_page *drng_fork_page = &page_of_fork;
bool drng_fork_kernel_wipes = true;

static uint64_t generation = 1;
static bool locked;
static bool lock_is_refused; /* in a signal handler that interrupted its holder */
static unsigned forks_left;
static unsigned forks;

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
    if (lock_is_refused) {
        return false;
    }
    locked = true;
    /* A child is another process from here on: its page says so when it is looked at next. */
    if (forks_left > 0 && nondet_bool()) {
        forks_left--;
        forks++;
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

/* ---- Chunks ---- */

enum { SECOND_SLOTS = 2 * FIRST_SLOTS, WORDS = 4 };

static uint8_t first_slots[FIRST_SLOTS * DRNG_SLOT_SIZE];
static uint8_t second_slots[SECOND_SLOTS * DRNG_SLOT_SIZE];
static uint8_t third_slots[FIRST_SLOTS * DRNG_SLOT_SIZE];
static struct chunk first = {.slots = first_slots, .size = sizeof(first_slots)};
static struct chunk second = {.slots = second_slots, .size = sizeof(second_slots)};
static struct chunk third = {.slots = third_slots, .size = sizeof(third_slots)};
static bool has_second;
static bool has_third;

struct chunk *any_chunk(size_t slots)
{
    CLAIM(locked && slots <= MOST_SLOTS, "chunks are added under the lock, up to the largest");
    if ((has_second && has_third) || nondet_bool()) {
        return NULL;
    }
    if (!has_second) {
        has_second = true;
        return &second;
    }
    has_third = true;
    return &third;
}

void any_unmap(struct chunk *chunk)
{
    CLAIM(locked && is_empty(chunk), "no chunk is unmapped that somebody has a slot in");
    CLAIM(chunk == &second || chunk == &third, "the first chunk stays");
    if (chunk == &second) {
        has_second = false;
    } else {
        has_third = false;
    }
}

/* Which slots are in use: those of the first chunk, of the second, and of the third. */
struct slots {
    uint64_t used[WORDS];
};

static struct slots now(void)
{
    return (struct slots){{first.used[0], second.used[0], second.used[1], third.used[0]}};
}

static bool hints_are_right(void)
{
    return first.hint <= 1 && (first.hint == 0 || first.used[0] == UINT64_MAX) && third.hint <= 1 &&
           (third.hint == 0 || third.used[0] == UINT64_MAX) && second.hint <= 2 &&
           (second.hint == 0 || second.used[0] == UINT64_MAX) && (second.hint < 2 || second.used[1] == UINT64_MAX);
}

/* Any chunks as they are between two calls. One that is not mapped has no slots in use. */
static struct slots any_chunks(void)
{
    first.used[0] = nondet_u64();
    first.hint = nondet_unsigned();
    has_second = nondet_bool();
    has_third = has_second && nondet_bool();
    if (has_second) {
        first.next = &second;
        second.used[0] = nondet_u64();
        second.used[1] = nondet_u64();
        second.hint = nondet_unsigned();
    }
    if (has_third) {
        second.next = &third;
        third.used[0] = nondet_u64();
        third.hint = nondet_unsigned();
    }
    ASSUME(hints_are_right());
    chunks = &first;
    page_of_fork.generation = generation;
    return now();
}

/* The place of a slot: a word, and a bit in it. */
struct place {
    size_t word;
    unsigned bit;
};

static struct place place_of(const uint8_t *slot)
{
    const bool in_first = __CPROVER_same_object(slot, first_slots);
    const bool in_second = __CPROVER_same_object(slot, second_slots);
    const size_t offset = (size_t)__CPROVER_POINTER_OFFSET(slot);
    CLAIM(in_first || (has_second && in_second) || (has_third && __CPROVER_same_object(slot, third_slots)),
          "a slot lies in a chunk that is mapped");
    CLAIM(offset % DRNG_SLOT_SIZE == 0 && offset < (in_second ? sizeof(second_slots) : sizeof(first_slots)),
          "a slot begins where slots do");
    const size_t index = offset / DRNG_SLOT_SIZE;
    return (struct place){(in_first ? 0 : in_second ? 1 : 3) + index / WORD_BITS, (unsigned)(index % WORD_BITS)};
}

/* ---- Wiping ---- */

static const void *wiped;
static size_t wiped_len;
static struct slots used_at_wiping;

void *memset(void *data, int value, size_t len)
{
    CLAIM(value == 0 && __CPROVER_w_ok(data, len), "zeros where there is memory");
    wiped = data;
    wiped_len = len;
    used_at_wiping = now();
    return data;
}

/* ---- A step ---- */

static bool is_same_but(const struct slots *a, const struct slots *b, struct place place, uint64_t bits)
{
    bool same = true;
    for (size_t i = 0; i < WORDS; i++) {
        same = same && ((a->used[i] ^ b->used[i]) & ~(i == place.word ? bits : 0)) == 0;
    }
    return same;
}

static bool none_is_lost(const struct slots *before, const struct slots *after)
{
    bool none = true;
    for (size_t i = 0; i < WORDS; i++) {
        none = none && (before->used[i] & ~after->used[i]) == 0;
    }
    return none;
}

static bool is_full(const struct slots *slots)
{
    return slots->used[0] == UINT64_MAX && (!has_second || (slots->used[1] & slots->used[2]) == UINT64_MAX) &&
           (!has_third || slots->used[3] == UINT64_MAX);
}

static uint64_t word_at(const struct slots *slots, size_t word)
{
    return word == 0 ? slots->used[0] : word == 1 ? slots->used[1] : word == 2 ? slots->used[2] : slots->used[3];
}

void prove_alloc(void)
{
    const struct slots before = any_chunks();
    const bool wide = nondet_bool();
    const uint64_t ones = wide ? 0xf : 1;
    forks_left = 1;
    lock_is_refused = nondet_bool();

    const uint8_t *slot = wide ? drng_secmem_alloc_wide() : drng_secmem_alloc();

    const struct slots after = now();
    CLAIM(!locked, "the lock is given back");
    CLAIM(none_is_lost(&before, &after), "slots that are in use stay so");
    CLAIM(hints_are_right(), "each word below a hint is full");
    if (slot == NULL) {
        CLAIM(wide || lock_is_refused || is_full(&after), "a slot is refused when none is free");
        REACHED("no slot");
        return;
    }
    const struct place place = place_of(slot);
    CLAIM(!wide || place.bit % 4 == 0, "a wide slot begins at every fourth");
    CLAIM((word_at(&before, place.word) & ones << place.bit) == 0, "no slot is handed out that somebody has");
    CLAIM((word_at(&after, place.word) & ones << place.bit) == ones << place.bit, "it is in use now");
    CLAIM(forks > 0 || is_same_but(&before, &after, place, ones << place.bit), "and no other, but in a child");
    REACHED("a slot");
}

void prove_free(void)
{
    const struct slots before = any_chunks();
    const bool wide = nondet_bool();
    const uint64_t ones = wide ? 0xf : 1;
    const bool in_second = has_second && nondet_bool();
    const bool in_third = has_third && nondet_bool();
    const size_t index = at_most(in_second ? SECOND_SLOTS - 1 : FIRST_SLOTS - 1);
    uint8_t *slot = (in_second ? second_slots : in_third ? third_slots : first_slots) + index * DRNG_SLOT_SIZE;
    const struct place place = place_of(slot);
    ASSUME((word_at(&before, place.word) & ones << place.bit) == ones << place.bit && (!wide || place.bit % 4 == 0));
    lock_is_refused = nondet_bool();

    if (wide) {
        drng_secmem_free_wide(slot);
    } else {
        drng_secmem_free(slot);
    }

    const struct slots after = now();
    CLAIM(wiped == slot && wiped_len == (wide ? DRNG_WIDE_SLOT_SIZE : DRNG_SLOT_SIZE), "all of a slot is wiped");
    CLAIM(is_same_but(&before, &used_at_wiping, place, 0), "before anybody else can have it");
    CLAIM(!locked, "the lock is given back");
    CLAIM(is_same_but(&before, &after, place, ones << place.bit), "no other slot changes");
    CLAIM(hints_are_right(), "each word below a hint is full");
    if (lock_is_refused) {
        CLAIM((word_at(&after, place.word) & ones << place.bit) == ones << place.bit, "a slot that is lost stays so");
        REACHED("a lost slot");
    } else {
        CLAIM((word_at(&after, place.word) & ones << place.bit) == 0, "it is free again");
        REACHED("a free slot");
    }
    if (in_third && !has_third) {
        REACHED("an unmapped chunk");
    }
}
