/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entered.c - which functions of drng a draw enters: scripts/evidence/entered.py builds and runs it.
 *
 * The module is compiled with -finstrument-functions: each of its functions, inlined ones too, calls the two hooks
 * below as it begins and ends. The C library has empty ones; the dynamic linker finds those of the program first.
 *
 * Draws 32 bytes ROUNDS times in a process that has drawn before, and once in each of ROUNDS children, as their first.
 * Each draw is a line, "warm" or "child", and a line for each function that was entered: how deep it lies, and its
 * offset in drng.so.
 */

#define _GNU_SOURCE

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#define NOT_TRACED __attribute__((no_instrument_function))

/* A word that the instruction does not give at once is asked for again, by more functions: of so many, one was not. */
enum { ROUNDS = 16, DRAW = 32, MOST_ENTERED = 1 << 20 };

struct entered {
    void *function;
    unsigned depth;
};

/* ---- The hooks ---- */

static struct entered trace[MOST_ENTERED];
static size_t entered_count; /* also of those for which the trace had no place */
static unsigned depth;
static bool is_tracing;

void __cyg_profile_func_enter(void *function, void *caller) NOT_TRACED;
void __cyg_profile_func_exit(void *function, void *caller) NOT_TRACED;

void __cyg_profile_func_enter(void *function, void *caller)
{
    if (!is_tracing) {
        return;
    }
    depth++;
    if (entered_count < MOST_ENTERED) {
        trace[entered_count] = (struct entered){function, depth};
    }
    entered_count++;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    if (is_tracing) {
        depth--;
    }
}

/* ---- Draws ---- */

static int find_module(struct dl_phdr_info *info, size_t size, void *base)
{
    const char *name = strrchr(info->dlpi_name, '/');
    if (name == NULL || strcmp(name, "/drng.so") != 0) {
        return 0;
    }
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

static bool print_trace(const char *who)
{
    uintptr_t base = 0;
    if (dl_iterate_phdr(find_module, &base) == 0) {
        (void)fprintf(stderr, "drng.so is not loaded\n");
        return false;
    }
    if (entered_count > MOST_ENTERED || depth != 0) {
        (void)fprintf(stderr, "%zu functions were entered, %u not left\n", entered_count, depth);
        return false;
    }
    (void)printf("%s\n", who);
    for (size_t i = 0; i < entered_count; i++) {
        (void)printf("%u %#zx\n", trace[i].depth, (size_t)((uintptr_t)trace[i].function - base));
    }
    /* What stayed in the buffer would be printed by children too. */
    return fflush(stdout) == 0;
}

static bool draw(const char *who)
{
    unsigned char bytes[DRAW];
    entered_count = 0;
    is_tracing = true;
    const bool drawn = RAND_bytes(bytes, DRAW) == 1;
    is_tracing = false;
    if (!drawn) {
        (void)fprintf(stderr, "RAND_bytes() failed\n");
    }
    return drawn && print_trace(who);
}

static bool draw_in_child(void)
{
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(draw("child") ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

int main(void)
{
    unsigned char bytes[DRAW];
    /* OpenSSL 4.0 makes the first generators before it reads openssl.cnf, if RAND_bytes() is the first call. */
    (void)OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
    bool drawn = RAND_bytes(bytes, DRAW) == 1 && RAND_bytes(bytes, DRAW) == 1;
    for (unsigned i = 0; drawn && i < ROUNDS; i++) {
        drawn = draw("warm") && draw_in_child();
    }
    return drawn ? EXIT_SUCCESS : EXIT_FAILURE;
}
