/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/programs/rsp.h"

#include <string.h>

#include "tests/programs/hex.h"

enum { LINE_ROOM = 512 };

/* The fields' names, and where they go in a struct rsp_case. */
static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    {"EntropyInput", offsetof(struct rsp_case, entropy)},
    {"Nonce", offsetof(struct rsp_case, nonce)},
    {"PersonalizationString", offsetof(struct rsp_case, personalization)},
    {"AdditionalInputA", offsetof(struct rsp_case, additional_a)},
    {"AdditionalInputB", offsetof(struct rsp_case, additional_b)},
    {"AdditionalInputReseed", offsetof(struct rsp_case, additional_reseed)},
    {"EntropyInputReseed", offsetof(struct rsp_case, entropy_reseed)},
    {"EntropyInputPRA", offsetof(struct rsp_case, entropy_pra)},
    {"EntropyInputPRB", offsetof(struct rsp_case, entropy_prb)},
    {"ReturnedBits", offsetof(struct rsp_case, returned)},
};

/* Cuts the line end off; false for a line that is longer than any here may be, or cut short. */
static bool cut_line_end(char *line)
{
    const size_t len = strcspn(line, "\r\n");
    const bool complete = line[len] != '\0';
    line[len] = '\0';
    return complete;
}

/* [AES-256 use df], [PredictionResistance = True]: they hold until the next of their kind. */
static bool take_header(struct rsp *rsp, const char *line)
{
    static const struct {
        const char *text;
        size_t key_len;
        bool use_df;
    } mechanisms[] = {
        {"[AES-128 use df]", 16, true}, {"[AES-192 use df]", 24, true}, {"[AES-256 use df]", 32, true},
        {"[AES-128 no df]", 16, false}, {"[AES-192 no df]", 24, false}, {"[AES-256 no df]", 32, false},
    };
    for (size_t i = 0; i < sizeof(mechanisms) / sizeof(*mechanisms); i++) {
        if (strcmp(line, mechanisms[i].text) == 0) {
            rsp->key_len = mechanisms[i].key_len;
            rsp->use_df = mechanisms[i].use_df;
            return true;
        }
    }
    rsp->prediction_resistance = strcmp(line, "[PredictionResistance = True]") == 0;
    return rsp->prediction_resistance || strcmp(line, "[PredictionResistance = False]") == 0;
}

/* Name = digits; *at is where they went. */
static bool take_field(struct rsp_case *answer, const char *line, struct rsp_bytes **at)
{
    static const char equals[] = " = ";
    const char *middle = strstr(line, equals);
    if (middle == NULL) {
        return false;
    }
    const size_t name_len = (size_t)(middle - line);
    const char *digits = middle + sizeof(equals) - 1;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (strlen(fields[i].name) == name_len && memcmp(line, fields[i].name, name_len) == 0) {
            *at = (struct rsp_bytes *)(void *)((char *)answer + fields[i].offset);
            /* A field given twice would be two answers run into one. */
            return (*at)->len == 0 && hex_decode(digits, strlen(digits), (*at)->data, RSP_MAX_LEN, &(*at)->len) &&
                   (*at)->len > 0;
        }
    }
    return false;
}

bool rsp_open(struct rsp *rsp, const char *path)
{
    *rsp = (struct rsp){.file = fopen(path, "r")};
    return rsp->file != NULL;
}

void rsp_close(struct rsp *rsp)
{
    if (rsp->file != NULL) {
        (void)fclose(rsp->file);
    }
    *rsp = (struct rsp){0};
}

static bool is_skipped(const char *line)
{
    return line[0] == '\0' || line[0] == '#' || strcmp(line, "COUNT = 0") == 0;
}

enum rsp_result rsp_next(struct rsp *rsp, struct rsp_case *answer)
{
    char line[LINE_ROOM];
    bool begun = false;

    *answer = (struct rsp_case){0};
    while (fgets(line, sizeof(line), rsp->file) != NULL) {
        struct rsp_bytes *at = NULL;
        rsp->line++;
        if (!cut_line_end(line)) {
            return RSP_MALFORMED;
        }
        if (is_skipped(line)) {
            continue;
        }
        if (line[0] == '[' && !begun && take_header(rsp, line)) {
            continue;
        }
        if (rsp->key_len == 0 || !take_field(answer, line, &at)) {
            return RSP_MALFORMED;
        }
        begun = true;
        if (at == &answer->returned) {
            answer->line = rsp->line;
            answer->key_len = rsp->key_len;
            answer->use_df = rsp->use_df;
            answer->prediction_resistance = rsp->prediction_resistance;
            return RSP_CASE;
        }
    }
    return begun || ferror(rsp->file) != 0 ? RSP_MALFORMED : RSP_END;
}
