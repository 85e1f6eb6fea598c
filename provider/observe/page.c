#include "provider/observe/page.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mixing/machine/filter.h"
#include "mixing/machine/probes.h"
#include "mixing/memory/fork.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/secmem.h"
#include "provider/version.h"

enum { LARGEST_PAGE = 1 << 16 };

/*
 * What drng-status looks for. The live part begins with the first whole page in `room`, since whole pages are what the
 * kernel wipes. Protected: no other object of this name in the process takes its place.
 */
struct drng_counters_object {
    struct drng_page_head head;
    uint8_t room[(sizeof(struct drng_page_live) + LARGEST_PAGE - 1) / LARGEST_PAGE * LARGEST_PAGE + LARGEST_PAGE];
};

extern struct drng_counters_object drng_counters;
__attribute__((visibility("protected"))) struct drng_counters_object drng_counters;

struct drng_page drng_page;

/* Which cells have an owner, a bit each. In ordinary memory: a child inherits generators, and their cells with them. */
enum { WORD_BITS = 64, WORDS = DRNG_CELLS / WORD_BITS };
static _Atomic uint64_t taken[WORDS];

/* ---- Where it is ---- */

static size_t live_size(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (sizeof(struct drng_page_live) + page - 1) / page * page;
}

static void find_room(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *room = drng_counters.room;
    room += (page - (uintptr_t)room % page) % page;
    drng_page.head = &drng_counters.head;
    drng_page.live = (struct drng_page_live *)(void *)room;
}

/* ---- Forks ---- */

static void wipe(void)
{
    memset(drng_page.live, 0, sizeof(*drng_page.live));
}

/* Of the process that loaded the module. */
static uint64_t first_generation;

static void entered(void)
{
    const uint64_t forks = drng_fork_generation() - first_generation;
    atomic_store(&drng_page.live->begun, 1);
    atomic_store(&drng_page.head->forks, forks);
    DRNG_PROBE1(fork, forks);
}

/* ---- What it says ---- */

static void copy_text(char *out, size_t size, const char *text)
{
    const size_t len = strnlen(text, size - 1);
    memcpy(out, text, len);
    memset(out + len, 0, size - len);
}

static void fill(const char *aes, const char *libcrypto)
{
    struct drng_page_head *head = drng_page.head;
    head->live_offset = (uint32_t)((uint8_t *)drng_page.live - (uint8_t *)head);
    head->cells_offset = DRNG_PAGE_CELLS;
    head->cell_count = DRNG_CELLS;
    head->cell_size = sizeof(struct drng_cell);
    head->filter = drng_filter_at_load();
    first_generation = drng_fork_generation();
    atomic_store_explicit(&head->forks, 0, memory_order_relaxed);
    atomic_store_explicit(&head->loaded, (uint64_t)time(NULL), memory_order_relaxed);
    atomic_store_explicit(&head->healthy, aes != NULL, memory_order_relaxed);
    copy_text(head->version, sizeof(head->version), DRNG_VERSION);
    copy_text(head->libcrypto, sizeof(head->libcrypto), libcrypto);
    copy_text(head->aes, sizeof(head->aes), aes != NULL ? aes : "none");
    atomic_store_explicit(&drng_page.live->begun, 1, memory_order_relaxed);
    head->instruction_count = DRNG_INSTRUCTIONS;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        copy_text(head->instructions[i], sizeof(head->instructions[i]), drng_instruction_flag(i));
    }
    memcpy(head->magic, DRNG_PAGE_MAGIC, sizeof(head->magic));
    atomic_store_explicit(&head->layout, DRNG_PAGE_LAYOUT, memory_order_release);
}

void drng_page_open(const char *aes, const char *libcrypto_version)
{
    char libcrypto[sizeof(drng_page.head->libcrypto)] = "unknown";
    if (libcrypto_version != NULL) {
        (void)snprintf(libcrypto, sizeof(libcrypto), "OpenSSL %s", libcrypto_version);
    }
    static struct drng_fork_watcher watcher = {.wipe = wipe, .entered = entered};
    find_room();
    (void)drng_fork_wipes(drng_page.live, live_size());
    drng_fork_watch(&watcher);
    drng_secmem_note_lock_in(&drng_page.live->memory_lock);
    atomic_store(&taken[0], atomic_load(&taken[0]) | 1); /* the shared one */
    fill(aes, libcrypto);
}

/* "3.5.8" in "OpenSSL 3.0.19, 3.5.8", and not "3.0.1". */
static bool is_listed(const char *list, const char *version)
{
    const size_t len = strlen(version);
    for (const char *at = strstr(list, version); at != NULL; at = strstr(at + 1, version)) {
        if (at != list && at[-1] == ' ' && (at[len] == ',' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

void drng_page_add_libcrypto(const char *version)
{
    char *list = drng_page.head->libcrypto;
    const size_t room = sizeof(drng_page.head->libcrypto);
    const size_t len = strnlen(list, room - 1);
    if (version == NULL || version[0] == '\0' || is_listed(list, version) || len + 2 + strlen(version) >= room) {
        return;
    }
    (void)snprintf(list + len, room - len, ", %s", version);
}

static bool cells_are_free(void)
{
    uint64_t others = atomic_load(&taken[0]) & ~UINT64_C(1);
    for (size_t i = 1; i < WORDS; i++) {
        others |= atomic_load(&taken[i]);
    }
    return others == 0;
}

/* What is loaded next counts from zero, unless a generator has outlived this. */
void drng_page_close(void)
{
    atomic_store(&drng_page.head->layout, 0);
    if (cells_are_free()) {
        wipe();
    }
}

/* ---- Text ---- */

void drng_page_explain(const char *disabled_reason, enum drng_source first_source)
{
    if (drng_lock(drng_process_lock(DRNG_LOCK_TEXT))) {
        struct drng_page_head *head = drng_page.head;
        head->first_source = first_source;
        copy_text(head->disabled_reason, sizeof(head->disabled_reason), disabled_reason);
        drng_unlock(drng_process_lock(DRNG_LOCK_TEXT));
    }
}

/* ---- Cells ---- */

static bool take_from(size_t word, size_t *index)
{
    uint64_t used = atomic_load_explicit(&taken[word], memory_order_relaxed);
    while (used != UINT64_MAX) {
        const unsigned bit = (unsigned)__builtin_ctzll(~used);
        if (atomic_compare_exchange_weak_explicit(&taken[word], &used, used | UINT64_C(1) << bit, memory_order_acquire,
                                                  memory_order_relaxed)) {
            *index = word * WORD_BITS + bit;
            return true;
        }
    }
    return false;
}

struct drng_cell *drng_cell_take(void)
{
    size_t index = 0;
    bool found = false;
    for (size_t word = 0; word < WORDS && !found; word++) {
        found = take_from(word, &index);
    }
    return &drng_page.live->cells[index];
}

void drng_cell_give_back(const struct drng_cell *cell)
{
    const size_t index = (size_t)(cell - drng_page.live->cells);
    if (index != 0) {
        atomic_fetch_and_explicit(&taken[index / WORD_BITS], ~(UINT64_C(1) << index % WORD_BITS), memory_order_release);
    }
}

struct drng_requests drng_page_requests(void)
{
    struct drng_requests sum = {0};
    for (size_t i = 0; i < DRNG_CELLS; i++) {
        struct drng_cell *cell = &drng_page.live->cells[i];
        sum.requests += atomic_load_explicit(&cell->requests, memory_order_relaxed);
        sum.bytes += atomic_load_explicit(&cell->bytes, memory_order_relaxed);
    }
    return sum;
}
