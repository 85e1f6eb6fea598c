/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions' own words: drng_random...() and drng_seed...(). */

#include <limits.h>
#include <stdbool.h>

#include "library/drng.h"
#include "library/open.h"
#include "mixing/machine/wipe.h"

enum {
    WORD = sizeof(uint64_t),
    PIECE = 4096, /* bytes between two turns of the threads at the reader */
    GENERATOR = DRNG_WORDS_INSTRUCTION,
    SEED_GRADE = 0, /* stands first in the rows of every architecture */
};

/* ---- Whether an instruction may be used ---- */

static int supported(unsigned instruction, const char **text)
{
    const int error = drng_library_open(false);
    const char *denied = error != DRNG_SUCCESS ? drng_strerror(error) : drng_library_denied(instruction);
    if (text != NULL) {
        *text = denied != NULL ? denied : drng_instruction_rows[instruction].name;
    }
    return denied == NULL;
}

int drng_random_supported(const char **text)
{
    return supported(GENERATOR, text);
}

int drng_seed_supported(const char **text)
{
    return supported(SEED_GRADE, text);
}

/* ---- Words ---- */

struct reading {
    unsigned instruction;
    uint8_t *out;
    size_t len;
    unsigned tries;
};

/* The caller's number of retries bounds the time, and no budget does but that of the start-up tests. */
static enum drng_result read_all(void *vreading, const struct drng_guard *guard)
{
    const struct reading *r = vreading;
    struct drng_instruction *in = &drng_library.machine.instructions[r->instruction];
    enum drng_result status = DRNG_OK;
    for (size_t done = 0; done < r->len && status == DRNG_OK; done += PIECE) {
        struct drng_root_slot *slot = drng_root_take(&drng_library.root, guard);
        if (slot == NULL) {
            return DRNG_BUSY;
        }
        const size_t piece = r->len - done < PIECE ? r->len - done : (size_t)PIECE;
        status = drng_noise_fill(in, &slot->reader.noise[r->instruction], r->tries, false, r->out + done, piece);
        drng_root_give_back(&drng_library.root, guard, slot);
    }
    return status;
}

static int fill(unsigned instruction, void *out, size_t len, unsigned retries)
{
    if (len > PTRDIFF_MAX || (out == NULL && len > 0)) {
        return DRNG_E_ARGUMENT;
    }
    int error = len > 0 ? drng_library_open(false) : DRNG_SUCCESS;
    if (error == DRNG_SUCCESS && len > 0) {
        error = DRNG_E_UNSUPPORTED;
        if (drng_library.eligibility.words[instruction] == DRNG_ALLOWED) {
            struct reading reading = {instruction, out, len, retries < UINT_MAX ? retries + 1 : UINT_MAX};
            const enum drng_result status = drng_guard_run_piecewise(read_all, &reading);
            error = status == DRNG_OK                                 ? DRNG_SUCCESS
                    : status == DRNG_BUSY                             ? DRNG_E_BUSY
                    : status == DRNG_EXHAUSTED || status == DRNG_SLOW ? DRNG_E_NOT_READY
                                                                      : DRNG_E_UNHEALTHY;
        }
    }
    if (error != DRNG_SUCCESS) {
        drng_wipe(out, len);
    }
    return error;
}

static int fill_words(unsigned instruction, uint64_t *words, size_t count, unsigned retries)
{
    return count > PTRDIFF_MAX / WORD ? DRNG_E_ARGUMENT : fill(instruction, words, count * WORD, retries);
}

#define NUMBER(call, pointer, instruction)                                                                             \
    int call(pointer number, unsigned retries)                                                                         \
    {                                                                                                                  \
        return fill(instruction, number, sizeof(*number), retries);                                                    \
    }
NUMBER(drng_random16, uint16_t *, GENERATOR)
NUMBER(drng_random32, uint32_t *, GENERATOR)
NUMBER(drng_random64, uint64_t *, GENERATOR)
NUMBER(drng_seed16, uint16_t *, SEED_GRADE)
NUMBER(drng_seed32, uint32_t *, SEED_GRADE)
NUMBER(drng_seed64, uint64_t *, SEED_GRADE)

int drng_random_words(uint64_t *words, size_t count, unsigned retries)
{
    return fill_words(GENERATOR, words, count, retries);
}

int drng_seed_words(uint64_t *words, size_t count, unsigned retries)
{
    return fill_words(SEED_GRADE, words, count, retries);
}

int drng_random_bytes(void *bytes, size_t len, unsigned retries)
{
    return fill(GENERATOR, bytes, len, retries);
}

int drng_seed_bytes(void *bytes, size_t len, unsigned retries)
{
    return fill(SEED_GRADE, bytes, len, retries);
}
