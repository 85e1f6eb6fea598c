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
    NO_INSTRUCTION = -1,
};

/* ---- Which instruction ---- */

static int generator(void)
{
    return DRNG_HAS_GENERATOR != 0 ? DRNG_WORDS_INSTRUCTION : NO_INSTRUCTION;
}

/* The first that may be used; if none may, the first. */
static int seed_grade(void)
{
    int first = NO_INSTRUCTION;
    for (int i = 0; i < (int)DRNG_INSTRUCTIONS; i++) {
        if (drng_instruction_rows[i].seed_grade && drng_library_denied((unsigned)i) == NULL) {
            return i;
        }
        first = first == NO_INSTRUCTION && drng_instruction_rows[i].seed_grade ? i : first;
    }
    return first;
}

/* ---- Whether it may be used ---- */

static int supported(int (*which)(void), const char **text)
{
    const int error = drng_library_open(false);
    const int instruction = error == DRNG_SUCCESS ? which() : NO_INSTRUCTION;
    const char *denied = error != DRNG_SUCCESS ? drng_strerror(error) : "this architecture has no such instruction";
    const char *said = denied;
    if (instruction != NO_INSTRUCTION) {
        denied = drng_library_denied((unsigned)instruction);
        said = denied != NULL ? denied : drng_instruction_rows[instruction].name;
    }
    if (text != NULL) {
        *text = said;
    }
    return denied == NULL;
}

int drng_random_supported(const char **text)
{
    return supported(generator, text);
}

int drng_seed_supported(const char **text)
{
    return supported(seed_grade, text);
}

/* ---- Words ---- */

struct reading {
    unsigned instruction;
    uint8_t *out;
    size_t len;
    unsigned tries;
};

/* The caller's number of retries bounds the time, and no budget does. */
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

static int fill(int (*which)(void), void *out, size_t len, unsigned retries)
{
    if (len > PTRDIFF_MAX || (out == NULL && len > 0)) {
        return DRNG_E_ARGUMENT;
    }
    int error = len > 0 ? drng_library_open(false) : DRNG_SUCCESS;
    if (error == DRNG_SUCCESS && len > 0) {
        const int instruction = which();
        error = DRNG_E_UNSUPPORTED;
        if (instruction != NO_INSTRUCTION && drng_library.eligibility.words[instruction] == DRNG_ALLOWED) {
            struct reading reading = {(unsigned)instruction, out, len, retries < UINT_MAX ? retries + 1 : UINT_MAX};
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

static int fill_words(int (*which)(void), uint64_t *words, size_t count, unsigned retries)
{
    return count > PTRDIFF_MAX / WORD ? DRNG_E_ARGUMENT : fill(which, words, count * WORD, retries);
}

#define NUMBER(call, pointer, which)                                                                                   \
    int call(pointer number, unsigned retries)                                                                         \
    {                                                                                                                  \
        return fill(which, number, sizeof(*number), retries);                                                          \
    }
NUMBER(drng_random16, uint16_t *, generator)
NUMBER(drng_random32, uint32_t *, generator)
NUMBER(drng_random64, uint64_t *, generator)
NUMBER(drng_seed16, uint16_t *, seed_grade)
NUMBER(drng_seed32, uint32_t *, seed_grade)
NUMBER(drng_seed64, uint64_t *, seed_grade)

int drng_random_words(uint64_t *words, size_t count, unsigned retries)
{
    return fill_words(generator, words, count, retries);
}

int drng_seed_words(uint64_t *words, size_t count, unsigned retries)
{
    return fill_words(seed_grade, words, count, retries);
}

int drng_random_bytes(void *bytes, size_t len, unsigned retries)
{
    return fill(generator, bytes, len, retries);
}

int drng_seed_bytes(void *bytes, size_t len, unsigned retries)
{
    return fill(seed_grade, bytes, len, retries);
}
