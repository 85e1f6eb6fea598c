/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the page of counters that drng-status reads from outside, and hands out counts of requests. */

#include "provider/observe/stats.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mixing/drbg/self_test.h"
#include "mixing/state/guard.h"
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

/* ---- Forks ---- */

static void wipe(void)
{
    memset(drng_stats.live, 0, sizeof(*drng_stats.live));
}

/* ---- Contents ---- */

void drng_stats_text(char *out, size_t size, const char *text)
{
    const size_t len = strnlen(text, size - 1);
    memcpy(out, text, len);
    memset(out + len, 0, size - len);
}

void drng_stats_note_self_tests(void)
{
    struct drng_stats_head *head = drng_stats.head;
    const enum drng_inside before = drng_guard_note(DRNG_INSIDE); /* a handler that drew might wait for this lock */
    (void)drng_lock(drng_process_lock(DRNG_LOCK_TEXT));
    head->self_tests_failed = drng_self_test_failed_count();
    drng_stats_text(head->self_test_failed, sizeof(head->self_test_failed), drng_self_test_failed_name());
    atomic_store_explicit(&head->healthy, atomic_load(&drng_failed_algorithm) == NULL, memory_order_relaxed);
    drng_unlock(drng_process_lock(DRNG_LOCK_TEXT));
    (void)drng_guard_note(before);
}

void drng_stats_open(const char *aes, const char *libcrypto_version)
{
    static struct drng_fork_watcher watcher = {.wipe = wipe};
    char libcrypto[sizeof(drng_stats.head->libcrypto)] = "unknown";
    if (libcrypto_version != NULL) {
        (void)snprintf(libcrypto, sizeof(libcrypto), "OpenSSL %s", libcrypto_version);
    }
    struct drng_stats_head *head = &drng_counters.head;
    struct drng_stats_live *live = (struct drng_stats_live *)(void *)drng_page_start(drng_counters.room);
    drng_stats = (struct drng_stats){.head = head, .live = live, .first_generation = drng_fork_generation()};
    (void)drng_fork_wipes(live, drng_whole_pages(sizeof(*live)));
    drng_fork_watch(&watcher);
    atomic_store(&live->memory_lock, atomic_load(&drng_fork_page->memory_lock));
    atomic_store(&taken[0], atomic_load(&taken[0]) | 1); /* the shared one */

    head->live_offset = (uint32_t)((uint8_t *)live - (uint8_t *)head);
    head->request_counts_offset = DRNG_STATS_REQUEST_COUNTS;
    head->family_offset = (int32_t)((uintptr_t)drng_family - (uintptr_t)head);
    head->request_counts_number = DRNG_REQUEST_COUNTS;
    head->request_counts_size = sizeof(struct drng_request_counts);
    atomic_store_explicit(&head->forks, 0, memory_order_relaxed);
    atomic_store_explicit(&head->loaded, (uint64_t)time(NULL), memory_order_relaxed);
    atomic_store_explicit(&head->tested, atomic_load(&head->loaded), memory_order_relaxed);
    drng_stats_text(head->version, sizeof(head->version), DRNG_VERSION);
    drng_stats_text(head->libcrypto, sizeof(head->libcrypto), libcrypto);
    drng_stats_text(head->aes, sizeof(head->aes), aes != NULL ? aes : "none");
    atomic_store_explicit(&live->begun, 1, memory_order_relaxed);
    head->instruction_count = DRNG_INSTRUCTIONS;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        drng_stats_text(head->instructions[i], sizeof(head->instructions[i]), drng_instruction_flag(i));
    }
    drng_stats_note_self_tests();
    memcpy(head->magic, DRNG_STATS_MAGIC, sizeof(head->magic));
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

/* The next instance starts to count from zero, unless a generator is still using its counts. */
void drng_stats_close(void)
{
    uint64_t others = atomic_load(&taken[0]) & ~UINT64_C(1);
    for (size_t i = 1; i < WORDS; i++) {
        others |= atomic_load(&taken[i]);
    }
    atomic_store(&drng_stats.head->layout, 0);
    if (others == 0) {
        wipe();
    }
}

/* ---- Counts of requests ---- */

struct drng_request_counts *drng_request_counts_acquire(void)
{
    for (size_t word = 0; word < WORDS; word++) {
        uint64_t used = atomic_load_explicit(&taken[word], memory_order_relaxed);
        while (used != UINT64_MAX) {
            const unsigned bit = (unsigned)__builtin_ctzll(~used);
            if (atomic_compare_exchange_weak_explicit(&taken[word], &used, used | UINT64_C(1) << bit,
                                                      memory_order_acquire, memory_order_relaxed)) {
                return &drng_stats.live->request_counts[word * WORD_BITS + bit];
            }
        }
    }
    return drng_request_counts_shared();
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
