#include "provider/observe/stats.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mixing/machine/filter.h"
#include "mixing/machine/probes.h"
#include "mixing/memory/fork.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/pages.h"
#include "mixing/memory/secmem.h"
#include "provider/version.h"

/*
 * The object that drng-status looks for. The live part starts at the first page boundary in `room`, since the kernel
 * wipes whole pages. Protected: no other object of this name in the process replaces it.
 */
struct drng_counters_object {
    struct drng_stats_head head;
    uint8_t room[(sizeof(struct drng_stats_live) + DRNG_LARGEST_PAGE - 1) / DRNG_LARGEST_PAGE * DRNG_LARGEST_PAGE +
                 DRNG_LARGEST_PAGE];
};

extern struct drng_counters_object drng_counters;
__attribute__((visibility("protected"))) struct drng_counters_object drng_counters;

struct drng_stats drng_stats;

/* Which counts have an owner, a bit each. In ordinary memory, since a child inherits generators and their counts. */
enum { WORD_BITS = 64, WORDS = DRNG_REQUEST_COUNTS / WORD_BITS };
static _Atomic uint64_t taken[WORDS];

/* ---- Location ---- */

static size_t live_size(void)
{
    return drng_whole_pages(sizeof(struct drng_stats_live));
}

static void find_room(void)
{
    drng_stats.head = &drng_counters.head;
    drng_stats.live = (struct drng_stats_live *)(void *)drng_page_start(drng_counters.room);
}

/* ---- Forks ---- */

static void wipe(void)
{
    memset(drng_stats.live, 0, sizeof(*drng_stats.live));
}

/* The generation of the process that loaded the module. */
static uint64_t first_generation;

static void entered(void)
{
    const uint64_t forks = drng_fork_generation() - first_generation;
    atomic_store(&drng_stats.live->begun, 1);
    atomic_store(&drng_stats.head->forks, forks);
    DRNG_PROBE1(fork, forks);
}

/* ---- Contents ---- */

static void copy_text(char *out, size_t size, const char *text)
{
    const size_t len = strnlen(text, size - 1);
    memcpy(out, text, len);
    memset(out + len, 0, size - len);
}

static void fill(const char *aes, const char *libcrypto)
{
    struct drng_stats_head *head = drng_stats.head;
    head->live_offset = (uint32_t)((uint8_t *)drng_stats.live - (uint8_t *)head);
    head->request_counts_offset = DRNG_STATS_REQUEST_COUNTS;
    head->request_counts_number = DRNG_REQUEST_COUNTS;
    head->request_counts_size = sizeof(struct drng_request_counts);
    head->filter = drng_filter_at_load();
    first_generation = drng_fork_generation();
    atomic_store_explicit(&head->forks, 0, memory_order_relaxed);
    atomic_store_explicit(&head->loaded, (uint64_t)time(NULL), memory_order_relaxed);
    atomic_store_explicit(&head->healthy, aes != NULL, memory_order_relaxed);
    copy_text(head->version, sizeof(head->version), DRNG_VERSION);
    copy_text(head->libcrypto, sizeof(head->libcrypto), libcrypto);
    copy_text(head->aes, sizeof(head->aes), aes != NULL ? aes : "none");
    atomic_store_explicit(&drng_stats.live->begun, 1, memory_order_relaxed);
    head->instruction_count = DRNG_INSTRUCTIONS;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        copy_text(head->instructions[i], sizeof(head->instructions[i]), drng_instruction_flag(i));
    }
    memcpy(head->magic, DRNG_STATS_MAGIC, sizeof(head->magic));
    atomic_store_explicit(&head->layout, DRNG_STATS_LAYOUT, memory_order_release);
}

void drng_stats_open(const char *aes, const char *libcrypto_version)
{
    char libcrypto[sizeof(drng_stats.head->libcrypto)] = "unknown";
    if (libcrypto_version != NULL) {
        (void)snprintf(libcrypto, sizeof(libcrypto), "OpenSSL %s", libcrypto_version);
    }
    static struct drng_fork_watcher watcher = {.wipe = wipe, .entered = entered};
    find_room();
    (void)drng_fork_wipes(drng_stats.live, live_size());
    drng_fork_watch(&watcher);
    drng_secmem_note_lock_in(&drng_stats.live->memory_lock);
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

void drng_stats_add_libcrypto(const char *version)
{
    char *list = drng_stats.head->libcrypto;
    const size_t room = sizeof(drng_stats.head->libcrypto);
    const size_t len = strnlen(list, room - 1);
    if (version == NULL || version[0] == '\0' || is_listed(list, version) || len + 2 + strlen(version) >= room) {
        return;
    }
    (void)snprintf(list + len, room - len, ", %s", version);
}

static bool counts_are_free(void)
{
    uint64_t others = atomic_load(&taken[0]) & ~UINT64_C(1);
    for (size_t i = 1; i < WORDS; i++) {
        others |= atomic_load(&taken[i]);
    }
    return others == 0;
}

/* The next instance starts to count from zero, unless a generator is still using its counts. */
void drng_stats_close(void)
{
    atomic_store(&drng_stats.head->layout, 0);
    if (counts_are_free()) {
        wipe();
    }
}

/* ---- Text ---- */

void drng_stats_explain(const struct drng_stats_account *account)
{
    if (drng_lock(drng_process_lock(DRNG_LOCK_TEXT))) {
        struct drng_stats_head *head = drng_stats.head;
        head->first_source = account->first_source;
        head->virtual_machine = account->virtual_machine;
        copy_text(head->disabled_reason, sizeof(head->disabled_reason), account->disabled_reason);
        copy_text(head->clone_reason, sizeof(head->clone_reason), account->clone_reason);
        head->certified = account->certified;
        copy_text(head->claim_source, sizeof(head->claim_source), account->claim_source);
        atomic_store_explicit(&head->clone_protection, account->clone_protection, memory_order_relaxed);
        drng_unlock(drng_process_lock(DRNG_LOCK_TEXT));
    }
}

/* ---- Counts of requests ---- */

static bool acquire_in_word(size_t word, size_t *index)
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

struct drng_request_counts *drng_request_counts_acquire(void)
{
    size_t index = 0;
    bool found = false;
    for (size_t word = 0; word < WORDS && !found; word++) {
        found = acquire_in_word(word, &index);
    }
    return &drng_stats.live->request_counts[index];
}

void drng_request_counts_release(const struct drng_request_counts *counts)
{
    const size_t index = (size_t)(counts - drng_stats.live->request_counts);
    if (index != 0) {
        atomic_fetch_and_explicit(&taken[index / WORD_BITS], ~(UINT64_C(1) << index % WORD_BITS), memory_order_release);
    }
}

struct drng_requests drng_stats_requests(void)
{
    struct drng_requests sum = {0};
    for (size_t i = 0; i < DRNG_REQUEST_COUNTS; i++) {
        struct drng_request_counts *counts = &drng_stats.live->request_counts[i];
        sum.requests += atomic_load_explicit(&counts->requests, memory_order_relaxed);
        sum.bytes += atomic_load_explicit(&counts->bytes, memory_order_relaxed);
    }
    return sum;
}
