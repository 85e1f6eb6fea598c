/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.c - fills a buffer with random bytes, and says who served.
 *
 *     cc fill.c -o fill $(pkg-config --cflags --libs drng) && ./fill
 */

#include <drng.h>
#include <stdio.h>

static void print(const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

int main(void)
{
    unsigned char key[32];
    struct drng_info info;
    drng *generator;

    int error = drng_open(&generator, DRNG_ANY);
    if (error != DRNG_SUCCESS) {
        fprintf(stderr, "fill: %s\n", drng_strerror(error));
        return 1;
    }
    error = drng_read(generator, key, sizeof(key));
    if (error == DRNG_SUCCESS) {
        error = drng_info(generator, &info);
    }
    drng_close(generator);
    if (error != DRNG_SUCCESS) {
        fprintf(stderr, "fill: %s\n", drng_strerror(error));
        return 1;
    }
    printf("seeded by %s", info.source);
    printf(info.others[0] != '\0' ? ", since %s\n" : "\n", info.others);
    print(key, sizeof(key));

    /* The same from the instruction itself, where this machine has one: eight words, each with ten retries. */
    uint64_t words[8];
    const char *text;
    if (!drng_random_supported(&text)) {
        printf("no words: %s\n", text);
        return 0;
    }
    error = drng_random_words(words, 8, DRNG_RETRIES);
    if (error != DRNG_SUCCESS) {
        fprintf(stderr, "fill: %s: %s\n", text, drng_strerror(error));
        return 1;
    }
    printf("words of %s\n", text);
    print((const unsigned char *)words, sizeof(words));
    return 0;
}
