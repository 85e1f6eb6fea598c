/* fuzz.h - what the fuzz targets share: an input taken apart piece by piece, and checks that end the program. */

#ifndef DRNG_FUZZ_H
#define DRNG_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer calls the first once, where a target has it, and the second with one input after the other. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Where the input has ended, zeros come. */
struct fuzz_input {
    const uint8_t *data;
    size_t len;
};

uint8_t fuzz_byte(struct fuzz_input *input);
uint64_t fuzz_word(struct fuzz_input *input);

/* A length up to max, and often one beside a boundary of the DRBG: a block, a seed, a request. */
size_t fuzz_length(struct fuzz_input *input, size_t max);

/*
 * `len` bytes in a block of exactly that size, so that AddressSanitizer sees the first byte too many; free() it. The
 * first ones are the input's, the others a pattern.
 */
uint8_t *fuzz_buffer(struct fuzz_input *input, size_t len);

/* The same for what is to be written: full of FUZZ_PREFILL. */
enum { FUZZ_PREFILL = 0xaa };
uint8_t *fuzz_output(size_t len);

/* The input as a string of its own; free() it. */
char *fuzz_text(const uint8_t *data, size_t len);

bool fuzz_is_filled(const uint8_t *data, size_t len, uint8_t byte);

/* Ends the program with the condition that did not hold. */
void fuzz_check(bool holds, const char *condition, const char *file, int line);

#define FUZZ_CHECK(condition) fuzz_check((condition), #condition, __FILE__, __LINE__)

#endif
