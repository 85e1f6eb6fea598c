/*
 * page.h - the counters of this process, where they can be found and read from outside.
 *
 * They lie in the module's own data, under its one exported object, `drng_counters`: whoever may read this process's
 * memory finds drng.so in /proc/PID/maps and the symbol in the module's symbol table, in memory too. That takes no
 * system call here, and no file there. They have two parts. The head says what is known of the process; a child
 * inherits it. The live part counts what has happened; a fork wipes it (fork.h), so that a child's counts begin at zero
 * whoever made it.
 *
 * No secrets, no output of generators, no addresses. Numbers are in the byte order of the machine, texts are ASCII and
 * end with NUL. Whoever changes the layout raises DRNG_PAGE_LAYOUT; scripts/drng_status/page.py reads it.
 */

#ifndef DRNG_PAGE_H
#define DRNG_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/counters.h"

#define DRNG_PAGE_MAGIC "drngcnt" /* eight bytes with its NUL */

enum {
    DRNG_PAGE_LAYOUT = 3,
    DRNG_CELLS = 1024,     /* the first is shared by all who find no other free */
    DRNG_TEXT_SIZE = 256,  /* of a reason */
    DRNG_FLAG_SIZE = 16,   /* of the name of an instruction */
    DRNG_PAGE_CELLS = 128, /* where the cells begin in the live part */
};

/* Written when the provider loads, and again when an instruction is disabled or a self-test fails. */
struct drng_page_head {
    char magic[8];
    atomic_uint_least32_t layout; /* DRNG_PAGE_LAYOUT; 0: being filled */
    uint32_t live_offset;         /* from the start of the head to the live part, in bytes */
    uint32_t cells_offset;        /* from there to the cells */
    uint32_t cell_count;
    uint32_t cell_size;
    uint32_t first_source;         /* enum drng_source: who is first in line for a seed */
    atomic_uint_least64_t loaded;  /* when, in seconds since the Epoch */
    atomic_uint_least64_t forks;   /* between the process that loaded the module and the last one that drew */
    atomic_uint_least64_t healthy; /* 0: a self-test has failed, and nothing is served */
    uint32_t filter;               /* enum drng_filter: whether one of system calls was on at the load */
    uint32_t instruction_count;
    char version[32];   /* drng's own */
    char libcrypto[64]; /* who loaded the module: "OpenSSL 3.0.19", "OpenSSL 3.0.19, 4.0.3" or "unknown" */
    char aes[32];       /* the implementation in use */
    char disabled_reason[DRNG_TEXT_SIZE];
    char instructions[DRNG_INSTRUCTIONS][DRNG_FLAG_SIZE]; /* "rdseed": whose counters are in which place */
};

/*
 * Requests that one generator has served. Its thread is the only one that writes, so a request costs two plain
 * additions and no shared cache line. A cell keeps its counts when its generator goes, and the next owner adds to them.
 */
struct drng_cell {
    _Alignas(64) atomic_uint_least64_t requests;
    atomic_uint_least64_t bytes;
};

/* All zero in a child that has not drawn yet. */
struct drng_page_live {
    atomic_uint_least64_t memory_lock; /* enum drng_memory_lock */
    atomic_uint_least64_t begun;       /* 1: this process has loaded the module, or drawn */
    struct drng_counters counters;
    _Alignas(DRNG_PAGE_CELLS) struct drng_cell cells[DRNG_CELLS];
};

_Static_assert(offsetof(struct drng_page_head, loaded) == 32 &&
                   sizeof(struct drng_page_head) == 448 + DRNG_INSTRUCTIONS * DRNG_FLAG_SIZE,
               "the layout of the head has changed");
_Static_assert(offsetof(struct drng_page_live, counters) == 16 &&
                   sizeof(struct drng_counters) == 48 + 24 * DRNG_INSTRUCTIONS &&
                   offsetof(struct drng_page_live, cells) == DRNG_PAGE_CELLS && sizeof(struct drng_cell) == 64,
               "the layout of the live part has changed");

/* There from the first open to the last close. */
struct drng_page {
    struct drng_page_head *head;
    struct drng_page_live *live;
};

extern struct drng_page drng_page;

/*
 * Fills the head, the memory for secrets being open. aes: the implementation's name, NULL for none; libcrypto_version:
 * of the one that loads the provider, NULL if it does not say.
 */
void drng_page_open(const char *aes, const char *libcrypto_version);

/* Another libcrypto of this process has loaded the provider, too. Left out where there is no room, or no version. */
void drng_page_add_libcrypto(const char *version);

void drng_page_close(void);

/* Notes why instructions do not serve, and who is first in line. */
void drng_page_explain(const char *disabled_reason, enum drng_source first_source);

/* A cell for a generator, to be given back; the shared one if no other is free. */
struct drng_cell *drng_cell_take(void);
void drng_cell_give_back(const struct drng_cell *cell);

/* ---- Counting ---- */

static inline void drng_add_single_writer(atomic_uint_least64_t *counter, uint64_t add)
{
    const uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + add, memory_order_relaxed);
}

static inline struct drng_cell *drng_shared_cell(void)
{
    return &drng_page.live->cells[0];
}

/* One request of len bytes. */
static inline void drng_cell_count(struct drng_cell *cell, size_t len)
{
    if (__builtin_expect(cell == drng_shared_cell(), 0)) {
        atomic_fetch_add_explicit(&cell->requests, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&cell->bytes, len, memory_order_relaxed);
    } else {
        drng_add_single_writer(&cell->requests, 1);
        drng_add_single_writer(&cell->bytes, len);
    }
}

/* The sum over all cells. */
struct drng_requests {
    uint64_t requests;
    uint64_t bytes;
};

struct drng_requests drng_page_requests(void);

#endif
