/* SPDX-License-Identifier: Apache-2.0 */
/* OPENSSL_s390xcap(3). */

#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/masks.h"

enum {
    MSA_5 = 63 - 57, /* of the facilities: without it libcrypto does not ask PRNO for its functions */
    FIELD = 128,     /* the longest that libcrypto reads */
    FIELDS = 3,
};

static const struct drng_masks all = {{UINT64_MAX, UINT64_MAX}};

/* False: it is no number. "~" is a complement; hexadecimal, whether it says so or not; what follows is not read. */
static bool number_of(const char *field, uint64_t *number)
{
    const bool complement = *field == '~';
    char *end = NULL;
    const uint64_t read = strtoull(field + complement, &end, 16);
    *number = complement ? ~read : read;
    return end != field + complement;
}

/* "stfle:A:B:C", of which the last may be missing. */
static bool read_facilities(char fields[FIELDS][FIELD + 1], int count, struct drng_masks *left)
{
    uint64_t word = 0;
    for (int i = count; i-- > 0;) {
        if (!number_of(fields[i], &word)) {
            return false;
        }
    }
    left->word[0] = count > 0 ? word : left->word[0];
    return true;
}

/* "prno:A:B", or another instruction's two words, which have to be numbers, too. */
static bool read_functions(const char *name, char fields[FIELDS][FIELD + 1], struct drng_masks *left)
{
    static const char *const names[] = {"kimd", "klmd", "km",   "kmc", "kmac", "kmctr",
                                        "kmo",  "kmf",  "prno", "kma", "pcc",  "kdsa"};
    uint64_t word = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(name, names[i]) == 0) {
            const bool both = number_of(fields[0], &word) && number_of(fields[1], &word);
            left->word[1] = both && strcmp(name, "prno") == 0 ? word : left->word[1];
            return both;
        }
    }
    return false;
}

/* A model stands for all that it has. "nocex" is about no instruction. */
static bool read_model(const char *name, struct drng_masks *left)
{
    static const struct {
        const char *name;
        struct drng_masks has;
    } models[] = {
        {"z900", {{0, 0}}},
        {"z990", {{0, 0}}},
        {"z9", {{0, 0}}},
        {"z10", {{0, 0}}},
        {"z196", {{0, 0}}},
        {"zEC12", {{0, 0}}},
        {"z13", {{UINT64_MAX, 0}}},
        {"z14", {{UINT64_MAX, UINT64_MAX}}},
        {"z15", {{UINT64_MAX, UINT64_MAX}}},
        {"z16", {{UINT64_MAX, UINT64_MAX}}},
        {"z17", {{UINT64_MAX, UINT64_MAX}}},
    };
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        if (strcmp(name, models[i].name) == 0) {
            *left = models[i].has;
            return true;
        }
    }
    return strcmp(name, "nocex") == 0;
}

/* By the same formats as libcrypto, and so with the same spaces. */
static bool read_token(const char *token, struct drng_masks *left)
{
    char fields[FIELDS][FIELD + 1];
    char name[FIELD + 1];
    char more[2];
    if (token[strspn(token, " \t\n\v\f\r")] == '\0') {
        return true;
    }
    const int facilities = sscanf(token, " stfle : %128[^:] : %128[^:] : %128s ", fields[0], fields[1], fields[2]);
    if (facilities > 0) {
        return read_facilities(fields, facilities, left);
    }
    if (sscanf(token, " %128[a-z] : %128[^:] : %128s %1s", name, fields[0], fields[1], more) == 3) {
        return read_functions(name, fields, left);
    }
    return sscanf(token, " %128s %1s", name, more) == 1 && read_model(name, left);
}

/* Later tokens outdo earlier ones. Where one of them is wrong libcrypto ignores them all. */
struct drng_masks drng_masks_read(const char *value, bool keeps_empty)
{
    struct drng_masks left = all;
    char *next = NULL;
    char *copy = value != NULL ? strdup(value) : NULL;
    (void)keeps_empty;
    for (char *token = copy != NULL ? strtok_r(copy, ";", &next) : NULL; token != NULL;
         token = strtok_r(NULL, ";", &next)) {
        if (!read_token(token, &left)) {
            left = all;
            break;
        }
    }
    free(copy);
    return left;
}

void drng_masks_mask(struct drng_evidence *evidence, const struct drng_masks *left)
{
    const struct drng_masks known = {{left->word[0], drng_masks_leave(left, MSA_5) ? left->word[1] : 0}};
    drng_masks_mask_instructions(evidence, &known);
}

void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    (void)libcrypto_version;
    const struct drng_masks left = drng_masks_read(secure_getenv("OPENSSL_s390xcap"), false);
    drng_masks_mask(evidence, &left);
}
