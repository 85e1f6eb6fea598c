/*
 * claim.h - what is claimed for the words of each instruction, by whom, and where that was read.
 *
 * drng counts in one of two ways. By design it assumes for each instruction what its row says (instruction.h), whoever
 * made the CPU. By certificate it counts only what the maker's Entropy Source Validation (ESV) certificate allows;
 * where no certificate is known, the instruction makes no seeds. docs/entropy.md shows the claims as a table.
 */

#ifndef DRNG_CLAIM_H
#define DRNG_CLAIM_H

#include <stddef.h>

#include "mixing/machine/claim_rows.h"
#include "mixing/machine/cpu.h"

/* NULL: nobody claims anything. */
const struct drng_claim *drng_claim_find(const struct drng_cpu *cpu, unsigned instruction);

/*
 * How many words a window takes for a block of 128 bits with full entropy: at least 192 bits by the certificate, which
 * are 64 more than the block has (SP 800-90C); never fewer words than by design. 0 if there is no certificate.
 */
size_t drng_claim_window_words(const struct drng_claim *claim);

/* The entropy of that many words by the certificate, in bits, rounded down. */
unsigned drng_claim_window_bits(const struct drng_claim *claim, size_t words);

#endif
