/*
 * draw.c - one of many processes that draw at once: draw GENERATOR REQUEST SECONDS SAMPLE [hex]
 *
 * Draws requests of REQUEST bytes from drng's GENERATOR for SECONDS and keeps the first SAMPLE bytes. Whoever starts it
 * paces it: "ready" comes on stderr; a byte on stdin starts the clock; "BYTES NANOSECONDS CPU-NANOSECONDS MISSED" comes
 * on stderr; and the end of stdin lets the sample out on stdout, when all the others have finished too: as it is, or as
 * lines of hexadecimal digits, where stdout is a terminal.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>

enum { MAX_REQUEST = 4096 };

struct sample {
    uint8_t *bytes;
    size_t len;
    size_t wanted;
};

struct drawn {
    uint64_t bytes;
    uint64_t missed; /* requests that failed */
    uint64_t ns;
    uint64_t cpu_ns;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static EVP_RAND_CTX *generator(const char *name)
{
    EVP_RAND *algorithm = EVP_RAND_fetch(NULL, name, "provider=drng");
    EVP_RAND_CTX *rand = algorithm != NULL ? EVP_RAND_CTX_new(algorithm, NULL) : NULL;
    EVP_RAND_free(algorithm);
    if (rand == NULL || EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL) != 1) {
        ERR_print_errors_fp(stderr);
        EVP_RAND_CTX_free(rand);
        return NULL;
    }
    return rand;
}

static void keep(struct sample *sample, const uint8_t *bytes, size_t len)
{
    const size_t room = sample->wanted - sample->len;
    const size_t part = len < room ? len : room;
    memcpy(sample->bytes + sample->len, bytes, part);
    sample->len += part;
}

static struct drawn draw(EVP_RAND_CTX *rand, size_t request, uint64_t duration_ns, struct sample *sample)
{
    uint8_t bytes[MAX_REQUEST];
    struct drawn drawn = {0};
    const uint64_t cpu_begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    do {
        if (EVP_RAND_generate(rand, bytes, request, 0, 0, NULL, 0) == 1) {
            drawn.bytes += request;
            keep(sample, bytes, request);
        } else {
            drawn.missed++;
            ERR_clear_error();
        }
        drawn.ns = clock_ns(CLOCK_MONOTONIC) - begin;
    } while (drawn.ns < duration_ns);
    drawn.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
    return drawn;
}

static bool wait_for_start(void)
{
    char byte = 0;
    (void)fputs("ready\n", stderr);
    return read(STDIN_FILENO, &byte, 1) == 1;
}

static bool wait_for_end_of_input(void)
{
    char byte = 0;
    return read(STDIN_FILENO, &byte, 1) == 0;
}

static bool write_hex(const struct sample *sample)
{
    enum { LINE = 32 };
    for (size_t i = 0; i < sample->len; i++) {
        (void)printf("%02x%s", sample->bytes[i], i % LINE == LINE - 1 || i + 1 == sample->len ? "\n" : "");
    }
    return fflush(stdout) == 0;
}

static bool write_sample(const struct sample *sample)
{
    return fwrite(sample->bytes, 1, sample->len, stdout) == sample->len && fflush(stdout) == 0;
}

static bool run(EVP_RAND_CTX *rand, size_t request, double seconds, struct sample *sample, bool hex)
{
    if (!wait_for_start()) {
        return false;
    }
    const struct drawn drawn = draw(rand, request, (uint64_t)(seconds * 1e9), sample);
    (void)fprintf(stderr, "%llu %llu %llu %llu\n", (unsigned long long)drawn.bytes, (unsigned long long)drawn.ns,
                  (unsigned long long)drawn.cpu_ns, (unsigned long long)drawn.missed);
    return wait_for_end_of_input() && (hex ? write_hex : write_sample)(sample);
}

int main(int argc, char **argv)
{
    const bool hex = argc == 6 && strcmp(argv[5], "hex") == 0;
    const size_t request = argc == 5 || hex ? strtoul(argv[2], NULL, 10) : 0;
    if (request == 0 || request > MAX_REQUEST) {
        (void)fprintf(stderr, "usage: draw GENERATOR REQUEST SECONDS SAMPLE [hex], REQUEST at most %d\n", MAX_REQUEST);
        return 2;
    }
    struct sample sample = {.wanted = strtoul(argv[4], NULL, 10)};
    sample.bytes = malloc(sample.wanted + 1);
    EVP_RAND_CTX *rand = generator(argv[1]);
    const bool done = sample.bytes != NULL && rand != NULL && run(rand, request, strtod(argv[3], NULL), &sample, hex);
    EVP_RAND_CTX_free(rand);
    free(sample.bytes);
    return done ? 0 : 1;
}
