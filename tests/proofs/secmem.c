/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of memory for secrets: one step from any state of a chunk, so no order of alloc and free hands a slot out
 * twice. A word changes in one operation, so steps of several threads come one after another. The kernel gives no other
 * chunk.
 *
 * The bytes of a slot are not moved: what is wiped is noted.
 */

#define OWN_MEMSET
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * One thread runs here. To CBMC the library's are stores of bytes somewhere in a chunk, after which it no longer knows
 * any field; words of `used` are therefore found by their address.
 */
#undef atomic_load
#undef atomic_store
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_compare_exchange_weak
#undef atomic_fetch_and
static uint64_t load_word(const void *word);
static void store_word(const void *word, uint64_t value);
static bool swap_word(const void *word, uint64_t *expected, uint64_t value);
static uint64_t keep_in_word(const void *word, uint64_t kept);

#define IS_WORD(object)                     __builtin_types_compatible_p(__typeof__(*(object)), _Atomic uint64_t)
#define atomic_load_explicit(object, order) (*(object))
#define atomic_load(object)                 __builtin_choose_expr(IS_WORD(object), load_word((const void *)(object)), *(object))
#define atomic_store(object, value)                                                                                    \
    (IS_WORD(object) ? store_word((object), (uint64_t)(value)) : (void)(*(object) = (value)))
#define atomic_compare_exchange_weak(object, expected, value)                                                          \
    swap_word((const void *)(object), (uint64_t *)(void *)(expected), (uint64_t)(value))
#define atomic_fetch_and(object, bits) keep_in_word((object), (bits))
#define __builtin_ctzll(word)          lowest_one(word)

#include "proof.h"

/* By its definition: CBMC's own becomes a formula that has no end. */
static unsigned lowest_one(uint64_t word)
{
    const unsigned bit = nondet_unsigned();
    CLAIM(word != 0, "there is a one to be found");
    ASSUME(bit < 64 && (word >> bit & 1) == 1 && (word & ((UINT64_C(1) << bit) - 1)) == 0);
    return bit;
}

#include "mixing/state/secmem.c"

/* ---- The kernel and the C library ---- */

long sysconf(int name)
{
    return 4096;
}

static struct drng_fork_page page_of_fork;
struct drng_fork_page *drng_fork_page = &page_of_fork;
bool drng_fork_kernel_wipes = true;

bool drng_fork_open(void)
{
    return true;
}

void drng_fork_watch(struct drng_fork_watcher *watcher) {}

bool drng_fork_wipes(void *memory, size_t size)
{
    return true;
}

uint64_t drng_fork_enter(void)
{
    return 1;
}

/* ---- A chunk ---- */

enum { WORDS = 2, SLOTS = WORDS * WORD_BITS };

static uint8_t *memory; /* of which nothing is read or written here */
static struct chunk only;

struct chunk *any_chunk(size_t slots)
{
    CLAIM(slots <= MOST_SLOTS, "chunks are added up to the largest");
    return NULL;
}

static uint64_t load_word(const void *word)
{
    CLAIM(word == &only.used[0] || word == &only.used[1], "a word of the chunk");
    return word == &only.used[0] ? only.used[0] : only.used[1];
}

static void store_word(const void *word, uint64_t value)
{
    CLAIM(word == &only.used[0] || word == &only.used[1], "a word of the chunk");
    if (word == &only.used[0]) {
        only.used[0] = value;
    } else {
        only.used[1] = value;
    }
}

/* Nobody comes between, so it is as it was expected. */
static bool swap_word(const void *word, uint64_t *expected, uint64_t value)
{
    CLAIM(load_word(word) == *expected, "the word was read before");
    store_word(word, value);
    return true;
}

static uint64_t keep_in_word(const void *word, uint64_t kept)
{
    const uint64_t before = load_word(word);
    store_word(word, before & kept);
    return before;
}

/* Which slots are in use. */
struct slots {
    uint64_t used[WORDS];
};

static struct slots now(void)
{
    return (struct slots){{only.used[0], only.used[1]}};
}

/* Any state between two calls. */
static struct slots any_state(void)
{
    memory = __CPROVER_allocate(SLOTS * DRNG_SLOT_SIZE, 0);
    only.slots = memory;
    only.size = SLOTS * DRNG_SLOT_SIZE;
    only.used[0] = nondet_u64();
    only.used[1] = nondet_u64();
    chunks = &only;
    page_of_fork.generation = 1;
    return now();
}

/* The place of a slot: a word, and a bit in it. */
struct place {
    size_t word;
    unsigned bit;
};

static struct place place_of(const uint8_t *slot)
{
    const size_t offset = (size_t)__CPROVER_POINTER_OFFSET(slot);
    CLAIM(__CPROVER_same_object(slot, memory) && offset % DRNG_SLOT_SIZE == 0 && offset < SLOTS * DRNG_SLOT_SIZE,
          "a slot begins where slots do");
    const size_t index = offset / DRNG_SLOT_SIZE;
    return (struct place){index / WORD_BITS, (unsigned)(index % WORD_BITS)};
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

static uint64_t word_at(const struct slots *slots, size_t word)
{
    return word == 0 ? slots->used[0] : slots->used[1];
}

/* One step of drng_secmem_alloc(). */
void prove_acquire(void)
{
    const struct slots before = any_state();
    const bool wide = IS_WIDE;
    const uint64_t ones = wide ? 0xf : 1;

    const uint8_t *slot = acquire_in(&only, wide ? WIDE : 1);

    const struct slots after = now();
    if (slot == NULL) {
        CLAIM(wide || (before.used[0] & before.used[1]) == UINT64_MAX, "a slot is refused when none is free");
        CLAIM(before.used[0] == after.used[0] && before.used[1] == after.used[1], "nothing changes then");
        REACHED("no slot");
        return;
    }
    const struct place place = place_of(slot);
    CLAIM(!wide || place.bit % 4 == 0, "a wide slot begins at every fourth");
    CLAIM((word_at(&before, place.word) & ones << place.bit) == 0, "no slot is handed out that somebody has");
    CLAIM((word_at(&after, place.word) & ones << place.bit) == ones << place.bit, "it is in use now");
    CLAIM(is_same_but(&before, &after, place, ones << place.bit), "and no other");
    REACHED("a slot");
}

/* It is of one slot alone; test_secmem.c has it. */
void name_of_nobody(void *slot, struct drng_object object)
{
    CLAIM(__CPROVER_same_object(slot, memory) && object.number == 0, "a free slot is nobody's");
}

void prove_free(void)
{
    const struct slots before = any_state();
    const bool wide = IS_WIDE;
    const uint64_t ones = wide ? 0xf : 1;
    const size_t index = at_most(SLOTS - 1);
    uint8_t *slot = memory + index * DRNG_SLOT_SIZE;
    const struct place place = place_of(slot);
    ASSUME((word_at(&before, place.word) & ones << place.bit) == ones << place.bit && (!wide || place.bit % 4 == 0));

    drng_secmem_free(slot, wide ? DRNG_WIDE_SLOT_SIZE : DRNG_SLOT_SIZE);

    const struct slots after = now();
    CLAIM(wiped == slot && wiped_len == (wide ? DRNG_WIDE_SLOT_SIZE : DRNG_SLOT_SIZE), "all of a slot is wiped");
    CLAIM(is_same_but(&before, &used_at_wiping, place, 0), "before anybody else can have it");
    CLAIM(is_same_but(&before, &after, place, ones << place.bit), "no other slot changes");
    CLAIM((word_at(&after, place.word) & ones << place.bit) == 0, "it is free again");
    REACHED("a free slot");
}
