/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE

#include "tests/process/kernel.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mixing/state/secmem.h"

#ifndef MADV_KEEPONFORK
#define MADV_KEEPONFORK 19
#endif

enum { LINE = 512 };

#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

bool kernel_is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
}

bool kernel_is_instrumented(void)
{
    return SANITIZED || kernel_is_under_valgrind();
}

/*
 * Ours by its flags: wiped in a child (wf), and not what the kernel may drop at any time (dp), where a C library that
 * has getrandom() without a system call keeps its state.
 */
static bool is_wiped(const char *line)
{
    return strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " wf") != NULL && strstr(line, " dp") == NULL;
}

/* Work on one mapping whose pages are wiped in a child; false ends the walk. */
typedef bool mapping_work(uint8_t *start, size_t len, void *arg);

/* Those that have this flag too, in the form of /proc/PID/smaps; "" for all. */
static bool for_each_wiped_mapping(const char *flag, mapping_work *work, void *arg)
{
    FILE *smaps = fopen("/proc/self/smaps", "r");
    char line[LINE];
    uintptr_t start = 0;
    uintptr_t end = 0;
    bool done = smaps != NULL;
    while (done && fgets(line, sizeof(line), smaps) != NULL) {
        uintptr_t first = 0;
        uintptr_t last = 0;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &last) == 2) {
            start = first;
            end = last;
        } else if (is_wiped(line) && strstr(line, flag) != NULL) {
            done = work((uint8_t *)start, end - start, arg);
        }
    }
    if (smaps != NULL) {
        (void)fclose(smaps);
    }
    return done;
}

static bool keep(uint8_t *start, size_t len, void *unused)
{
    return madvise(start, len, MADV_KEEPONFORK) == 0;
}

bool kernel_keep_on_fork(void)
{
    return for_each_wiped_mapping("", keep, NULL);
}

static bool count_one(uint8_t *start, size_t len, void *arg)
{
    ++*(unsigned *)arg;
    return true;
}

unsigned kernel_wiped_mappings(void)
{
    unsigned count = 0;
    return for_each_wiped_mapping("", count_one, &count) ? count : UINT_MAX;
}

/* The walk ends where the address is. */
static bool is_elsewhere(uint8_t *start, size_t len, void *address)
{
    return (uintptr_t)address - (uintptr_t)start >= len;
}

bool kernel_wipes_address(const void *address)
{
    return !for_each_wiped_mapping("", is_elsewhere, (void *)(uintptr_t)address);
}

/* Slots are aligned to their size, and mappings to a multiple of it. Secrets are left out of core dumps, counters not.
 */
static bool count_filled(uint8_t *start, size_t len, void *arg)
{
    static const uint8_t zeros[DRNG_SLOT_SIZE];
    unsigned *filled = arg;
    for (size_t i = 0; i < len; i += sizeof(zeros)) {
        *filled += memcmp(start + i, zeros, sizeof(zeros)) != 0;
    }
    return true;
}

unsigned kernel_filled_slots(void)
{
    unsigned filled = 0;
    return for_each_wiped_mapping(" dd", count_filled, &filled) ? filled : UINT_MAX;
}
