/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - the counters of this process, where they can be found and read from outside.
 *
 * The counters lie in the module's own data, in its one exported object, `drng_counters`. A process that may read this
 * one's memory finds drng.so in /proc/PID/maps, and the symbol in the module's symbol table, which is in memory, too.
 * So drng needs neither a system call nor a file for them.
 *
 * They have three parts. The head describes the process; a child inherits it. The live part counts events. A fork wipes
 * it (fork.h), so a child counts from zero, whether fork() or clone() made it. The family's part, struct drng_family,
 * is the same page in all descendants of the process that loaded the module (fork.h).
 *
 * They hold no secrets, no output of generators and no addresses. Numbers are in the byte order of the machine; texts
 * are ASCII and end with NUL. A change of the layout needs a new DRNG_STATS_LAYOUT, and a change of
 * scripts/drng/status/stats.py, which reads it.
 */

#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/counters.h"

#define DRNG_STATS_MAGIC "drngcnt" /* eight bytes, with the NUL */

enum {
    DRNG_STATS_LAYOUT = 8,
    DRNG_REQUEST_COUNTS = 1024, /* counts of requests; the first are shared by all generators that find no other free */
    DRNG_TEXT_SIZE = 256,       /* bytes of a reason */
    DRNG_CLONE_TEXT_SIZE = 128, /* bytes of the reason for the protection from clones */
    DRNG_FLAG_SIZE = 16,        /* bytes of an instruction's name */
    DRNG_STATS_REQUEST_COUNTS = 256, /* offset of the counts of requests in the live part */
};

/* Written when the provider loads, and where what it says changes. */
struct drng_stats_head {
    char magic[8];
    atomic_uint_least32_t layout;   /* DRNG_STATS_LAYOUT; 0: not filled yet; written last */
    uint32_t live_offset;           /* in bytes, from the head to the live part */
    uint32_t request_counts_offset; /* in bytes, from the live part to the counts of requests */
    uint32_t request_counts_number;
    uint32_t request_counts_size;
    uint32_t first_source;         /* enum drng_source: the source that is asked first for a seed */
    atomic_uint_least64_t loaded;  /* time of the load, in seconds since the Epoch */
    atomic_uint_least64_t forks;   /* from the process that loaded the module to the last descendant that drew */
    atomic_uint_least64_t healthy; /* 0: a self-test has failed, and nothing is served */
    atomic_uint_least64_t tested;  /* time of the last self-test, in seconds since the Epoch */
    uint32_t instruction_count;
    char version[32];   /* of drng */
    char libcrypto[64]; /* who loaded the module: "OpenSSL 3.0.19", "OpenSSL 3.0.19, 4.0.3" or "unknown" */
    char aes[32];       /* the name of the implementation in use */
    char disabled_reason[DRNG_TEXT_SIZE];
    uint32_t virtual_machine;               /* 1: the CPU says that it is a hypervisor's, or cannot say */
    atomic_uint_least32_t clone_protection; /* enum drng_clone_protection (report.h) */
    char clone_reason[DRNG_CLONE_TEXT_SIZE];
    char instructions[DRNG_INSTRUCTIONS]
                     [DRNG_FLAG_SIZE];   /* "rdseed": which instruction each set of counters belongs to */
    uint32_t self_tests_failed;          /* implementations of AES that failed a self-test */
    int32_t family_offset;               /* in bytes, from the head to the family's part */
    char self_test_failed[32];           /* the fastest of them, or "" */
    uint32_t denials[DRNG_INSTRUCTIONS]; /* enum drng_denial: why each may make no seeds */
};

/* All zero in a child that has not drawn yet. */
struct drng_stats_live {
    atomic_uint_least64_t memory_lock; /* enum drng_memory_lock */
    atomic_uint_least64_t begun;       /* 1: this process has loaded the module, or has drawn */
    struct drng_counters counters;
    _Alignas(DRNG_STATS_REQUEST_COUNTS) struct drng_request_counts request_counts[DRNG_REQUEST_COUNTS];
};

_Static_assert(offsetof(struct drng_stats_head, loaded) == 32 &&
                   offsetof(struct drng_stats_head, self_tests_failed) == 588 + DRNG_INSTRUCTIONS * DRNG_FLAG_SIZE &&
                   offsetof(struct drng_stats_head, denials) == 628 + DRNG_INSTRUCTIONS * DRNG_FLAG_SIZE,
               "the layout of the head has changed");
_Static_assert(offsetof(struct drng_stats_live, counters) == 16 &&
                   sizeof(struct drng_counters) == 80 + 40 * DRNG_INSTRUCTIONS &&
                   offsetof(struct drng_stats_live, request_counts) == DRNG_STATS_REQUEST_COUNTS &&
                   sizeof(struct drng_request_counts) == 64,
               "the layout of the live part has changed");
_Static_assert(offsetof(struct drng_family, instructions) == 8 && sizeof(struct drng_family_counters) == 32,
               "the layout of the family's part has changed");

/* Valid from the first open to the last close. */
struct drng_stats {
    struct drng_stats_head *head;
    struct drng_stats_live *live;
    uint64_t first_generation; /* of the process that loaded the module (fork.h) */
};

extern struct drng_stats drng_stats;

/*
 * Fills the head, but for what report.c explains, and the layout. The memory for secrets must be open. aes is the
 * implementation's name, NULL for none. libcrypto_version is that of the libcrypto that loads the provider, NULL if it
 * does not say.
 */
void drng_stats_open(const char *aes, const char *libcrypto_version);

/* Notes in the head which self-tests have failed so far. */
void drng_stats_note_self_tests(void);

/* Another libcrypto of this process has loaded the provider, too. Left out where there is no room, or no version. */
void drng_stats_add_libcrypto(const char *version);

void drng_stats_close(void);

/* Copies a text into the head: cut where there is no room, ends with NUL, zeros behind that. */
void drng_stats_text(char *out, size_t size, const char *text);

/* Counts for one generator, to be released; the shared ones if no others are free. */
struct drng_request_counts *drng_request_counts_acquire(void);

static inline struct drng_request_counts *drng_request_counts_shared(void)
{
    return &drng_stats.live->request_counts[0];
}

void drng_request_counts_release(const struct drng_request_counts *counts);

/* The sum over all generators. */
struct drng_requests {
    uint64_t requests;
    uint64_t bytes;
};

struct drng_requests drng_stats_requests(void);
