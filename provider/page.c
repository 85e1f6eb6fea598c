#define _GNU_SOURCE

#include "provider/page.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "mixing/probes.h"
#include "provider/version.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41 /* Linux 5.17 */
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

struct drng_page drng_page;

/* Which cells have an owner, a bit each. In ordinary memory: a child inherits generators, and their cells with them. */
enum { WORD_BITS = 64, WORDS = DRNG_CELLS / WORD_BITS };
static _Atomic uint64_t taken[WORDS];

/* For the text in the head; in a slot, so that it is free in a child. */
static pthread_mutex_t *text_lock;

/* ---- The mapping ---- */

static size_t head_size(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (sizeof(struct drng_page_head) + page - 1) / page * page;
}

static size_t page_size(void)
{
    return head_size() + sizeof(struct drng_page_live);
}

/*
 * Gives the head a name in /proc/PID/maps. Private, so that a process writes to memory of its own and never to the
 * file. A refusal costs the name and nothing else.
 */
static void put_name(uint8_t *start)
{
    const size_t len = head_size();
    const int fd = memfd_create(DRNG_PAGE_NAME, MFD_CLOEXEC);
    const bool named = fd >= 0 && ftruncate(fd, (off_t)len) == 0 &&
                       mmap(start, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!named) {
        (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, len, DRNG_PAGE_NAME);
    }
}

static bool map(void)
{
    uint8_t *start = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return false;
    }
    put_name(start);
    drng_page.head = (struct drng_page_head *)(void *)start;
    drng_page.live = (struct drng_page_live *)(void *)(start + head_size());
    if (drng_secmem_kernel_wipes) {
        (void)madvise(drng_page.live, sizeof(*drng_page.live), MADV_WIPEONFORK);
    }
    return true;
}

static void copy_text(char *out, size_t size, const char *text)
{
    const size_t len = strnlen(text, size - 1);
    memcpy(out, text, len);
    memset(out + len, 0, size - len);
}

static void fill(const char *aes)
{
    struct drng_page_head *head = drng_page.head;
    head->live_offset = (uint32_t)head_size();
    head->cells_offset = DRNG_PAGE_CELLS;
    head->cell_count = DRNG_CELLS;
    head->cell_size = sizeof(struct drng_cell);
    atomic_store_explicit(&head->loaded, (uint64_t)time(NULL), memory_order_relaxed);
    atomic_store_explicit(&head->healthy, aes != NULL, memory_order_relaxed);
    copy_text(head->version, sizeof(head->version), DRNG_VERSION);
    copy_text(head->libcrypto, sizeof(head->libcrypto), OpenSSL_version(OPENSSL_VERSION));
    copy_text(head->aes, sizeof(head->aes), aes != NULL ? aes : "none");
    atomic_store_explicit(&drng_page.live->pid, (uint64_t)getpid(), memory_order_relaxed);
    atomic_store_explicit(&drng_page.live->begun, 1, memory_order_relaxed);
    memcpy(head->magic, DRNG_PAGE_MAGIC, sizeof(head->magic));
    atomic_store_explicit(&head->layout, DRNG_PAGE_LAYOUT, memory_order_release);
}

/* Here and not at the first draw, which may come in a sandbox: getpid() is a system call. */
static void in_forked_child(void)
{
    if (drng_page.live != NULL && drng_secmem_kernel_wipes) {
        atomic_store_explicit(&drng_page.live->pid, (uint64_t)getpid(), memory_order_relaxed);
    }
}

bool drng_page_open(const char *aes)
{
    static bool handler_registered;
    if (drng_page.head != NULL) {
        return true;
    }
    text_lock = drng_secmem_alloc();
    if (text_lock == NULL || !map()) {
        drng_secmem_free(text_lock);
        return false;
    }
    atomic_store(&taken[0], 1); /* the shared one */
    fill(aes);
    if (!handler_registered && pthread_atfork(NULL, NULL, in_forked_child) == 0) {
        handler_registered = true;
    }
    return true;
}

static bool cells_are_free(void)
{
    uint64_t others = atomic_load(&taken[0]) & ~UINT64_C(1);
    for (size_t i = 1; i < WORDS; i++) {
        others |= atomic_load(&taken[i]);
    }
    return others == 0;
}

/* A cell that somebody still holds keeps the mapping: better memory that stays than a pointer into none. */
void drng_page_close(void)
{
    if (cells_are_free()) {
        (void)munmap(drng_page.head, page_size());
        drng_page = (struct drng_page){NULL, NULL};
        drng_secmem_free(text_lock);
        text_lock = NULL;
    }
}

/* ---- Forks ---- */

/* Counts of other threads that come in between are lost. They are counts, and the kernel is one of before 2017. */
void drng_page_wipe_if_forked(void)
{
    struct drng_page_live *live = drng_page.live;
    uint64_t seen = atomic_load(&live->pid);
    const uint64_t self = (uint64_t)getpid();
    if (seen != self && atomic_compare_exchange_strong(&live->pid, &seen, self)) {
        memset((uint8_t *)live + offsetof(struct drng_page_live, begun), 0,
               sizeof(*live) - offsetof(struct drng_page_live, begun));
    }
}

void drng_page_begin(void)
{
    if (atomic_exchange(&drng_page.live->begun, 1) == 0) {
        const uint64_t forks = atomic_fetch_add(&drng_page.head->forks, 1) + 1;
        DRNG_PROBE1(fork, forks);
    }
}

/* ---- Text ---- */

void drng_page_explain(const char *disabled_reason, enum drng_source first_source)
{
    drng_secmem_check_fork();
    if (pthread_mutex_lock(text_lock) == 0) {
        struct drng_page_head *head = drng_page.head;
        head->first_source = first_source;
        copy_text(head->disabled_reason, sizeof(head->disabled_reason), disabled_reason);
        (void)pthread_mutex_unlock(text_lock);
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
