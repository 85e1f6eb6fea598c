/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_draw.c - draws in a process, in two children and in a child of a child: for the tests that compare.
 *
 * One line for each draw: who drew, the SHA-256 of its 32 bytes, and how many generators had found themselves in a new
 * process by then. The bytes themselves are not printed. The argument says how children are made: fork, or clone for
 * the system call that no handler of the C library sees.
 */

#define _GNU_SOURCE

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>

#include "tests/unit/child.h"

enum { DRAW = 32, DIGEST = 32 };

static bool by_clone;

/* ---- Draws ---- */

/* drng's own count; false where drng is not there, so that no line can be another provider's. */
static bool fork_reseeds(unsigned long long *count)
{
    uint64_t value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint64("fork-reseeds", &value), OSSL_PARAM_construct_end()};
    OSSL_PROVIDER *provider = OSSL_PROVIDER_available(NULL, "drng") ? OSSL_PROVIDER_load(NULL, "drng") : NULL;
    const bool got = provider != NULL && OSSL_PROVIDER_get_params(provider, params) == 1;
    OSSL_PROVIDER_unload(provider);
    *count = value;
    return got;
}

/* One write a line: what stayed in a buffer would be printed by the children too. */
static bool print_line(const char *who, const char *generator, const unsigned char digest[DIGEST])
{
    char hex[2 * DIGEST + 1] = "";
    unsigned long long count = 0;
    for (size_t i = 0; i < DIGEST; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    return fork_reseeds(&count) && dprintf(STDOUT_FILENO, "%s %s %s %llu\n", who, generator, hex, count) > 0;
}

static bool draw_one(const char *who, const char *generator, int (*rand)(unsigned char *out, int len))
{
    unsigned char bytes[DRAW];
    unsigned char digest[DIGEST];
    const bool drawn = rand(bytes, DRAW) == 1 && EVP_Digest(bytes, DRAW, digest, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return drawn && print_line(who, generator, digest);
}

static bool draw(const char *who)
{
    return draw_one(who, "public", RAND_bytes) && draw_one(who, "private", RAND_priv_bytes);
}

/* ---- Processes ---- */

/* Runs `work` in a child and waits for its end; whether it was a good one. */
static bool in_child(bool (*work)(void))
{
    int status = -1;
    const pid_t pid = by_clone ? CHILD_RAW_CLONE(SIGCHLD) : fork();
    if (pid == 0) {
        _exit(work() ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool grandchild(void)
{
    return draw("grandchild") && draw("grandchild");
}

static bool first_child(void)
{
    return draw("first-child") && in_child(grandchild) && draw("first-child");
}

static bool second_child(void)
{
    return draw("second-child") && draw("second-child");
}

int main(int argc, char **argv)
{
    by_clone = argc == 2 && strcmp(argv[1], "clone") == 0;
    if (argc != 2 || (!by_clone && strcmp(argv[1], "fork") != 0)) {
        (void)fprintf(stderr, "usage: fork_draw fork|clone\n");
        return EXIT_FAILURE;
    }
    /* OpenSSL 4.0 makes the first generators before it reads openssl.cnf, if RAND_bytes() is the first call. */
    (void)OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
    return draw("parent") && in_child(first_child) && draw("parent") && in_child(second_child) && draw("parent")
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}
