/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t fuzz_byte(struct fuzz_input *input)
{
    if (input->len == 0) {
        return 0;
    }
    input->len--;
    return *input->data++;
}

uint64_t fuzz_word(struct fuzz_input *input)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < sizeof(word); i++) {
        word |= (uint64_t)fuzz_byte(input) << 8 * i;
    }
    return word;
}

size_t fuzz_length(struct fuzz_input *input, size_t max)
{
    static const size_t boundaries[] = {0,  1,  8,  12,  15,  16,  17,  24,  31,  32,   33,    40,    47,    48,
                                        49, 63, 64, 127, 128, 129, 255, 256, 512, 4096, 65535, 65536, 65537, 200000};
    enum { BOUNDARIES = sizeof(boundaries) / sizeof(*boundaries) };
    const uint8_t byte = fuzz_byte(input);
    const size_t len = byte < 8 * BOUNDARIES ? boundaries[byte % BOUNDARIES] : 4 * (size_t)fuzz_byte(input) + byte % 4;
    return len < max ? len : max;
}

uint8_t *fuzz_buffer(struct fuzz_input *input, size_t len)
{
    uint8_t *buffer = malloc(len);
    FUZZ_CHECK(buffer != NULL || len == 0);
    for (size_t i = 0; i < len; i++) {
        buffer[i] = input->len > 0 ? fuzz_byte(input) : (uint8_t)(i * 7);
    }
    return buffer;
}

uint8_t *fuzz_output(size_t len)
{
    uint8_t *output = malloc(len);
    FUZZ_CHECK(output != NULL || len == 0);
    if (len > 0) {
        memset(output, FUZZ_PREFILL, len);
    }
    return output;
}

char *fuzz_text(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1);
    FUZZ_CHECK(text != NULL);
    if (len > 0) {
        memcpy(text, data, len);
    }
    text[len] = '\0';
    return text;
}

bool fuzz_is_filled(const uint8_t *data, size_t len, uint8_t byte)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] != byte) {
            return false;
        }
    }
    return true;
}

void fuzz_check(bool holds, const char *condition, const char *file, int line)
{
    if (!holds) {
        (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
        abort();
    }
}
