/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/crates.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The name of the row, and of the function in tests/bench/crates/lib.rs. */
static const char *const names[BENCH_MAX_CRATES][2] = {
    {"AWS-LC", "bench_fill_aws_lc"},
    {"libsodium", "bench_fill_libsodium"},
    {"libsodium-internal", "bench_fill_libsodium_internal"},
    {"ThreadRng", "bench_fill_thread_rng"},
};

/* dlsym() returns an object's pointer, which C does not convert to a function's. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof(symbol));
    return symbol != NULL;
}

bool bench_crates(struct bench_peer peers[BENCH_MAX_CRATES], size_t *count)
{
    bool (*open)(void) = NULL;
    *count = 0;
    if (access(BENCH_CRATES, R_OK) != 0) {
        return true;
    }
    void *library = dlopen(BENCH_CRATES, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !find(library, "bench_open_crates", &open) || !open()) {
        (void)fprintf(stderr, "%s: %s\n", BENCH_CRATES, library == NULL ? dlerror() : "does not open");
        return false;
    }
    for (; *count < BENCH_MAX_CRATES; ++*count) {
        peers[*count] = (struct bench_peer){.name = names[*count][0]};
        if (!find(library, names[*count][1], &peers[*count].fill)) {
            (void)fprintf(stderr, "%s: %s is missing\n", BENCH_CRATES, names[*count][1]);
            return false;
        }
    }
    return true;
}
