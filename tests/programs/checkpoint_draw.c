/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_draw.c - a process that is written to disk and restored twice: for the test that compares the copies.
 *
 * Draws once of each kind, says "ready" and lets go of its standard streams, so that nothing binds it to whoever
 * started it. SIGUSR1 makes it draw again, then in a child, then in itself once more, and end. FILE then has a
 * line for each draw: who drew ("copy", "child", "parent"), the kind, and the SHA-256 of 32 bytes. The last line is
 * "end".
 */

#define _GNU_SOURCE

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

enum { DRAW = 32, ROUNDS = 10 };

static EVP_RAND_CTX *own;
static OSSL_LIB_CTX *builtin;

static int draw_own(unsigned char *out, int length)
{
    return EVP_RAND_generate(own, out, (size_t)length, 0, 0, NULL, 0);
}

static int draw_builtin(unsigned char *out, int length)
{
    return RAND_bytes_ex(builtin, out, (size_t)length, 0);
}

static const struct kind {
    const char *name;
    int (*draw)(unsigned char *out, int length);
} kinds[] = {
    {"RAND_bytes", RAND_bytes},
    {"RAND_priv_bytes", RAND_priv_bytes},
    {"EVP_RAND", draw_own},
    {"built-in", draw_builtin},
};

static bool draw(int file, const char *who, const struct kind *kind)
{
    unsigned char bytes[DRAW];
    unsigned char digest[EVP_MAX_MD_SIZE];
    char hex[2 * DRAW + 1] = "";
    const bool drawn = kind->draw(bytes, DRAW) == 1 && EVP_Digest(bytes, DRAW, digest, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_cleanse(bytes, sizeof(bytes));
    for (size_t i = 0; i < DRAW; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    return drawn && (file < 0 || dprintf(file, "%s %s %s\n", who, kind->name, hex) > 0);
}

/* Into no file where it is -1. */
static bool draw_all(int file, const char *who, int rounds)
{
    bool good = true;
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
            good = draw(file, who, &kinds[i]) && good;
        }
    }
    return good;
}

static bool open_generators(void)
{
    (void)OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
    builtin = OSSL_LIB_CTX_new();
    EVP_RAND *rand = EVP_RAND_fetch(NULL, "CTR-DRBG", "provider=drng");
    own = EVP_RAND_CTX_new(rand, RAND_get0_primary(NULL));
    EVP_RAND_free(rand);
    return builtin != NULL && own != NULL && draw_all(-1, "", 1);
}

static bool say_ready_and_let_go(void)
{
    const bool said = write(STDOUT_FILENO, "ready\n", 6) == 6;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return said && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 &&
           close(null) == 0;
}

static void wait_for_the_signal(const sigset_t *signals)
{
    int number = 0;
    (void)sigwait(signals, &number);
}

static bool draw_in_a_child(int file)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        _exit(draw_all(file, "child", ROUNDS) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool draw_into(const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    return file >= 0 && draw_all(file, "copy", ROUNDS) && draw_in_a_child(file) && draw_all(file, "parent", ROUNDS) &&
           write(file, "end\n", 4) == 4 && close(file) == 0;
}

int main(int argc, char **argv)
{
    sigset_t signals;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: checkpoint_draw FILE\n");
        return EXIT_FAILURE;
    }
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGUSR1);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0 || !open_generators() || !say_ready_and_let_go()) {
        return EXIT_FAILURE;
    }
    wait_for_the_signal(&signals);
    return draw_into(argv[1]) ? EXIT_SUCCESS : EXIT_FAILURE;
}
