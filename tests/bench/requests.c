/* requests.c - so many requests of one size through RAND_bytes, for a profile: requests SIZE COUNT */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/err.h>
#include <openssl/rand.h>

enum { MAX_SIZE = 1 << 16 };

int main(int argc, char **argv)
{
    static uint8_t out[MAX_SIZE];
    const long size = argc == 3 ? strtol(argv[1], NULL, 10) : -1;
    const long count = argc == 3 ? strtol(argv[2], NULL, 10) : -1;
    if (size < 0 || size > MAX_SIZE || count < 0) {
        (void)fprintf(stderr, "usage: requests SIZE COUNT, SIZE at most %d\n", MAX_SIZE);
        return 2;
    }
    for (long i = 0; i < count; i++) {
        if (RAND_bytes(out, (int)size) != 1) {
            ERR_print_errors_fp(stderr);
            return 1;
        }
    }
    return 0;
}
