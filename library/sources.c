/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the sources of seeds before any of them is asked: drng_source_at(). */

#include <string.h>

#include "library/drng.h"
#include "library/open.h"
#include "mixing/machine/os.h"

static void describe_instruction(unsigned instruction, struct drng_source_info *source)
{
    const struct drng_instruction_row *row = &drng_instruction_rows[instruction];
    const char *denied = drng_library_denied(instruction);
    source->name = row->name;
    source->text = denied != NULL ? denied : row->name;
    source->usable = denied == NULL;
    source->grade = drng_library_is_seed_grade(instruction) ? DRNG_GRADE_SEED : DRNG_GRADE_GENERATOR;
    source->raw_words = (unsigned)row->window_words;
    source->claimed_bits = row->window_bits;
}

static void describe_kernel(struct drng_source_info *source)
{
    uint8_t byte = 0;
    source->name = "getrandom";
    source->usable = drng_os_random(&byte, sizeof(byte)) ? 1 : 0;
    source->text = source->usable != 0 ? source->name : "getrandom: the kernel's generator has no bytes yet";
    source->grade = DRNG_GRADE_KERNEL;
}

int drng_source_at(unsigned place, struct drng_source_info *source)
{
    if (source == NULL || place > DRNG_INSTRUCTIONS) {
        return DRNG_E_ARGUMENT;
    }
    memset(source, 0, sizeof(*source));
    const int error = drng_library_open(false);
    if (error == DRNG_SUCCESS && place < DRNG_INSTRUCTIONS) {
        describe_instruction(place, source);
    } else if (error == DRNG_SUCCESS) {
        describe_kernel(source);
    }
    return error;
}
