/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_rand.c - preloaded into a server: counts what it draws from libcrypto, and how long that takes.
 *
 * Stands before libcrypto's generators as its RAND_METHOD, through which RAND_bytes() and RAND_priv_bytes() of libssl
 * and of libcrypto itself all go, and hands on to the generator that would have served. The counters lie in the file
 * that BENCH_TLS_COUNTERS names, for all processes of the server: calls, bytes, nanoseconds.
 */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/rand.h>

struct counters {
    atomic_uint_least64_t calls;
    atomic_uint_least64_t bytes;
    atomic_uint_least64_t ns;
};

static struct counters *counters;

static uint64_t now_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int draw(unsigned char *out, int len)
{
    const uint64_t start = now_ns();
    EVP_RAND_CTX *rand = RAND_get0_public(NULL);
    const int drawn = rand != NULL && len >= 0 ? EVP_RAND_generate(rand, out, (size_t)len, 0, 0, NULL, 0) : 0;
    atomic_fetch_add(&counters->ns, now_ns() - start);
    atomic_fetch_add(&counters->calls, 1);
    atomic_fetch_add(&counters->bytes, (uint64_t)len);
    return drawn;
}

static int status(void)
{
    return 1;
}

static const RAND_METHOD method = {.bytes = draw, .pseudorand = draw, .status = status};

__attribute__((constructor)) static void count(void)
{
    const char *path = getenv("BENCH_TLS_COUNTERS");
    const int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    void *map = mmap(NULL, sizeof(*counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (map != MAP_FAILED) {
        counters = map;
        (void)RAND_set_rand_method(&method);
    }
}
