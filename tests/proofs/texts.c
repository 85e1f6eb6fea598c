/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What drng reads of others' texts and parameters: any bytes, up to the lengths below, and no access out of bounds.
 * What is longer goes through the same loops again.
 */

#include <limits.h>
#include <string.h>

#include <openssl/params.h>

#include "proof.h"
#include "provider/masks.h"
#include "provider/params.h"

#ifndef MOST
#define MOST 9
#endif

/* A text of any bytes, at most MOST of them; nothing behind its NUL may be read. */
static char text[MOST + 1];

static void any_text(void)
{
    ANY(text);
    const size_t len = at_most(MOST);
    text[len] = '\0';
}

/* CBMC's library does not have it. */
size_t strnlen(const char *s, size_t most)
{
    size_t len = 0;
    while (len < most && s[len] != '\0') {
        len++;
    }
    return len;
}

/* ---- OPENSSL_ia32cap ---- */

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RDSEED] = {.mask_bit = 64 + 18}, [DRNG_RDRAND] = {.mask_bit = 62}};

void prove_ia32cap(void)
{
    struct drng_evidence evidence;
    ANY(evidence);
    const struct drng_cpu before = evidence.cpu;
    any_text();
    const struct drng_masks left = drng_masks_read(nondet_bool() ? text : NULL, nondet_bool());
    drng_masks_mask(&evidence, &left);
    CLAIM((before.aes || !evidence.cpu.aes) && (before.avx || !evidence.cpu.avx) &&
              (before.vaes256 || !evidence.cpu.vaes256) && (before.vaes512 || !evidence.cpu.vaes512),
          "the variable adds nothing to what the CPU has");
    CLAIM((before.has[DRNG_RDRAND] || !evidence.masked[DRNG_RDRAND]), "what is not there is not masked");
    REACHED("a value");
}

/* ---- OSSL_PARAM ---- */

enum { MOST_DATA = 10 };

/* An array of one entry, or of none. */
struct any_params {
    OSSL_PARAM param[2];
    uint8_t data[MOST_DATA];
    size_t room;
};

static struct any_params p;

static void any_param(void)
{
    ANY(p);
    p.room = at_most(MOST_DATA - 1);
    p.param[0] = (OSSL_PARAM){.key = nondet_bool()   ? "k"
                                     : nondet_bool() ? "other"
                                                     : NULL,
                              .data_type = nondet_unsigned(),
                              .data = nondet_bool() ? p.data : NULL,
                              .data_size = p.room,
                              .return_size = OSSL_PARAM_UNMODIFIED};
    p.param[1] = (OSSL_PARAM){.key = NULL};
}

static bool is_there(void)
{
    return p.param[0].key != NULL && p.param[0].key[0] == 'k';
}

/* What is set is read again as it was set, or is refused. */
void prove_set_and_get(void)
{
    any_param();
    const uint8_t behind = p.data[p.room];
    const struct drng_answer answer = {.known = OSSL_PARAM_int("k", NULL), .number = nondet_u64()};
    const int64_t value = answer.number < INT64_MAX ? (int64_t)answer.number : INT64_MAX;
    int64_t back = 0;
    const bool set = drng_params_answer(p.param, &answer, 1);
    CLAIM(p.data[p.room] == behind, "nothing is written behind the data");
    const bool got = drng_params_get_number(p.param, "k", 0, INT64_MAX, &back);
    if (is_there() && set && p.param[0].data != NULL) {
        CLAIM(got && back == value, "a number comes back as it was");
        REACHED("a number");
    } else if (!set) {
        CLAIM(p.param[0].return_size != OSSL_PARAM_UNMODIFIED || !is_there(), "a refusal is told");
        REACHED("a refusal");
    } else {
        CLAIM(!is_there() || p.param[0].data == NULL, "a number is set where there is data");
        REACHED("no data");
    }
}

void prove_get(void)
{
    any_param();
    int64_t number = 7;
    const char *read = NULL;
    size_t len = 0;
    const bool got = drng_params_get_number(p.param, "k", 0, UINT_MAX, &number);
    CLAIM(got || number == 7, "a failure leaves the value as it was");
    if (drng_params_get_utf8_string(p.param, "k", &read, &len) && read != NULL) {
        CLAIM(read == (const char *)p.data && len <= p.room, "a text ends within its data");
        REACHED("a text");
    }
    if (got && number != 7) {
        REACHED("a number");
    }
}

void prove_set_text(void)
{
    any_param();
    any_text();
    const uint8_t behind = p.data[p.room];
    ASSUME(p.param[0].data_type != OSSL_PARAM_UTF8_PTR || p.param[0].data == NULL);
    const struct drng_answer answer = {.known = OSSL_PARAM_utf8_string("k", NULL, 0), .text = text};
    const bool set = drng_params_answer(p.param, &answer, 1);
    CLAIM(p.data[p.room] == behind, "nothing is written behind the data");
    if (set && is_there() && p.param[0].data != NULL) {
        CLAIM(strlen(text) <= p.room, "a text that is longer than its data is refused");
        REACHED("a text");
    } else {
        REACHED("nothing set");
    }
}
