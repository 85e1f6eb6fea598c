/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the fuzz targets share: taking an input apart piece by piece, and checks that end the program. */

#ifndef DRNG_FUZZ_H
#define DRNG_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer calls the first function once, if a target has it, and the second one for each input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* After the end of the input, zeros are read. */
struct fuzz_input {
    const uint8_t *data;
    size_t len;
};

uint8_t fuzz_byte(struct fuzz_input *input);
uint64_t fuzz_word(struct fuzz_input *input);

/* A length up to max, often one near a limit of the DRBG: a block, a seed, a request. */
size_t fuzz_length(struct fuzz_input *input, size_t max);

/*
 * Allocates exactly `len` bytes, so that AddressSanitizer sees an access to the first byte behind them; free() it. The
 * bytes are the input's, and after its end a pattern.
 */
uint8_t *fuzz_buffer(struct fuzz_input *input, size_t len);

/* The same for a buffer to be written to, filled with FUZZ_PREFILL. */
enum { FUZZ_PREFILL = 0xaa };
uint8_t *fuzz_output(size_t len);

/* Copies the input as a string; free() it. */
char *fuzz_text(const uint8_t *data, size_t len);

bool fuzz_is_filled(const uint8_t *data, size_t len, uint8_t byte);

/* If `holds` is false, prints the condition and ends the program. */
void fuzz_check(bool holds, const char *condition, const char *file, int line);

#define FUZZ_CHECK(condition) fuzz_check((condition), #condition, __FILE__, __LINE__)

#endif
