/* SPDX-License-Identifier: Apache-2.0 */
/* The flags line of /proc/cpuinfo, against a reader that goes line by line and word by word. */

#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/machine/os.h"
#include "tests/fuzz/fuzz.h"

/* A word is between blanks and colons. */
static bool line_has(const char *line, size_t len, const char *word)
{
    size_t start = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i == len || line[i] == ' ' || line[i] == '\t' || line[i] == ':') {
            if (i - start == strlen(word) && memcmp(line + start, word, i - start) == 0) {
                return true;
            }
            start = i + 1;
        }
    }
    return false;
}

static bool reference(const char *text, struct drng_kernel_flags *flags)
{
    const char *end = NULL;
    for (const char *line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const size_t len = (size_t)(end - line);
        if (len > 5 && memcmp(line, "flags", 5) == 0 && (line[5] == '\t' || line[5] == ' ' || line[5] == ':')) {
            flags->known = true;
            flags->has[DRNG_RDRAND] = line_has(line, len, "rdrand");
            flags->has[DRNG_RDSEED] = line_has(line, len, "rdseed");
            return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct drng_kernel_flags before = {.known = false, .has = {[DRNG_RDRAND] = true}};
    struct drng_kernel_flags expected = before;
    struct drng_kernel_flags flags = before;
    char *text = fuzz_text(data, len);
    FILE *file = fmemopen(text, strlen(text), "r");
    FUZZ_CHECK(file != NULL);
    FUZZ_CHECK(drng_os_read_flags(file, &flags) == reference(text, &expected));
    (void)fclose(file);
    FUZZ_CHECK(flags.known == expected.known);
    FUZZ_CHECK(flags.has[DRNG_RDRAND] == expected.has[DRNG_RDRAND]);
    FUZZ_CHECK(flags.has[DRNG_RDSEED] == expected.has[DRNG_RDSEED]);
    free(text);
    return 0;
}
