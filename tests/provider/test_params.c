/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OSSL_PARAM: every getter and setter beside libcrypto's own, on random values in data of the types and sizes that
 * libcrypto and its callers send. Every other entry is refused.
 *
 * Left out is what libcrypto's own do not survive or define: NULL as a getter's data.
 */

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "provider/params.h"
#include "tests/unit/unit.h"

#define KEY "key"

enum {
    MAX_SIZE = 20, /* bytes of data: more than any integer has */
    VALUES = 4000, /* random ones for each type, size and function */
};

static const unsigned number_types[] = {OSSL_PARAM_INTEGER, OSSL_PARAM_UNSIGNED_INTEGER, OSSL_PARAM_UTF8_STRING,
                                        OSSL_PARAM_OCTET_STRING};

enum { NUMBER_TYPES = sizeof(number_types) / sizeof(*number_types) };

/* ---- Random values: xorshift64*, the same at each run ---- */

static uint64_t state = 88172645463325252U;

static uint64_t random_word(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717U;
}

/* Of any length, positive or negative; often where one type ends and the next begins. */
static uint64_t random_value(void)
{
    static const uint64_t edges[] = {
        0,          0x7f,       0x80,       0xff,        0x100,      0x7fff,     0x8000,     0xffff,
        0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1ULL << 52, 1ULL << 53, 1ULL << 63, (1ULL << 63) - 1};
    const uint64_t choice = random_word();
    uint64_t value = random_word() >> (choice % 64);
    if (choice & 1 << 8) {
        value = edges[random_word() % (sizeof(edges) / sizeof(*edges))] + random_word() % 3 - 1;
    }
    return choice & 1 << 9 ? 0 - value : value;
}

/* The value in native order, in more bytes or in fewer, extended with its sign, with zeros, or with what is neither. */
static void random_data(unsigned char *data, size_t size)
{
    static const unsigned char extensions[] = {0, 0xff, 0x80, 0x01};
    const uint64_t value = random_value();
    memset(data, extensions[random_word() % sizeof(extensions)], size);
    const size_t len = size < sizeof(value) ? size : sizeof(value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(data + size - len, (const unsigned char *)&value + sizeof(value) - len, len);
#else
    memcpy(data, &value, len);
#endif
}

/* ---- The functions, side by side ---- */

typedef int theirs_set(OSSL_PARAM *p, uint64_t value);
typedef bool ours_set(OSSL_PARAM params[], uint64_t value);
typedef int theirs_get(const OSSL_PARAM *p, uint64_t *value);
typedef bool ours_get(const OSSL_PARAM params[], uint64_t *value);

#define SETTERS(name, type, known, own)                                                                                \
    static int theirs_set_##name(OSSL_PARAM *p, uint64_t value)                                                        \
    {                                                                                                                  \
        return own(p, (type)value);                                                                                    \
    }                                                                                                                  \
    static bool ours_set_##name(OSSL_PARAM params[], uint64_t value)                                                   \
    {                                                                                                                  \
        const struct drng_answer answers[] = {DRNG_NUMBER(known(KEY, NULL), value)};                                   \
        return drng_params_answer(params, answers, 1);                                                                 \
    }

#define GETTERS(name, type, least, most, own)                                                                          \
    static int theirs_get_##name(const OSSL_PARAM *p, uint64_t *value)                                                 \
    {                                                                                                                  \
        type typed = (type)*value;                                                                                     \
        const int got = own(p, &typed);                                                                                \
        *value = (uint64_t)typed;                                                                                      \
        return got;                                                                                                    \
    }                                                                                                                  \
    static bool ours_get_##name(const OSSL_PARAM params[], uint64_t *value)                                            \
    {                                                                                                                  \
        int64_t number = (int64_t)*value;                                                                              \
        const bool got = drng_params_get_number(params, KEY, least, most, &number);                                    \
        *value = (uint64_t)number;                                                                                     \
        return got;                                                                                                    \
    }

SETTERS(int, int, OSSL_PARAM_int, OSSL_PARAM_set_int)
SETTERS(uint, unsigned, OSSL_PARAM_uint, OSSL_PARAM_set_uint)
SETTERS(uint64, uint64_t, OSSL_PARAM_uint64, OSSL_PARAM_set_uint64)
SETTERS(size, size_t, OSSL_PARAM_size_t, OSSL_PARAM_set_size_t)
SETTERS(time, time_t, OSSL_PARAM_time_t, OSSL_PARAM_set_time_t)
GETTERS(int, int, INT_MIN, INT_MAX, OSSL_PARAM_get_int)
GETTERS(uint, unsigned, 0, UINT_MAX, OSSL_PARAM_get_uint)
GETTERS(time, time_t, INT64_MIN, INT64_MAX, OSSL_PARAM_get_time_t)

static const struct setter {
    const char *name;
    theirs_set *theirs;
    ours_set *ours;
    uint64_t most; /* none of drng's numbers is negative */
} setters[] = {
    {"int", theirs_set_int, ours_set_int, INT_MAX},
    {"uint", theirs_set_uint, ours_set_uint, UINT_MAX},
    {"uint64", theirs_set_uint64, ours_set_uint64, INT64_MAX},
    {"size", theirs_set_size, ours_set_size, INT64_MAX},
    {"time", theirs_set_time, ours_set_time, INT64_MAX},
};

static const struct getter {
    const char *name;
    theirs_get *theirs;
    ours_get *ours;
} getters[] = {
    {"int", theirs_get_int, ours_get_int},
    {"uint", theirs_get_uint, ours_get_uint},
    {"time", theirs_get_time, ours_get_time},
};

/* An array whose second entry is the one, between others. */
struct array {
    OSSL_PARAM params[4];
    unsigned char data[MAX_SIZE + 1];
};

static void fill(struct array *array, unsigned type, const unsigned char *data, size_t size)
{
    memcpy(array->data, data, sizeof(array->data));
    array->params[0] = (OSSL_PARAM){"another", type, NULL, 0, OSSL_PARAM_UNMODIFIED};
    array->params[1] = (OSSL_PARAM){KEY, type, array->data, size, OSSL_PARAM_UNMODIFIED};
    array->params[2] = (OSSL_PARAM){KEY, type, NULL, 0, OSSL_PARAM_UNMODIFIED};
    array->params[3] = (OSSL_PARAM)OSSL_PARAM_END;
}

/* Integers of other sizes, which nobody sends. */
static bool is_left_out(unsigned type, size_t size)
{
    return (type == OSSL_PARAM_INTEGER || type == OSSL_PARAM_UNSIGNED_INTEGER) && size != 4 && size != 8;
}

/* OpenSSL 3.0's answers are drng's. Those of 3.5 are others where they fail, and nowhere else. */
static bool is_after_3_0(void)
{
    return OpenSSL_version_num() >= 0x30100000L;
}

/* After a failure return_size is how much is needed, says OSSL_PARAM(3). OpenSSL 3.5 has ways to fail without a word.
 */
static bool same_size(const OSSL_PARAM *ours, const OSSL_PARAM *theirs, int they_set)
{
    const bool silent = theirs->return_size == 0 || theirs->return_size == OSSL_PARAM_UNMODIFIED;
    return ours->return_size == theirs->return_size || (they_set != 1 && silent && is_after_3_0());
}

/* ---- Setting ---- */

static unsigned set_differs(const struct setter *setter, unsigned type, size_t size, bool has_data)
{
    unsigned char before[MAX_SIZE + 1];
    struct array theirs;
    struct array ours;
    const uint64_t value = random_value() & setter->most;
    memset(before, 0x5a, sizeof(before));
    fill(&theirs, type, before, size);
    fill(&ours, type, before, size);
    if (!has_data) {
        theirs.params[1].data = ours.params[1].data = NULL;
    }
    const int set = setter->theirs(&theirs.params[1], value);
    const bool same =
        setter->ours(ours.params, value) == (set == 1) && same_size(&ours.params[1], &theirs.params[1], set) &&
        memcmp(ours.data, theirs.data, sizeof(ours.data)) == 0 && ours.params[0].return_size == OSSL_PARAM_UNMODIFIED &&
        ours.params[2].return_size == OSSL_PARAM_UNMODIFIED;
    if (!same) {
        (void)printf("  set_%s(%#llx) of type %u, %zu bytes: %d and return_size %zu, libcrypto %d and %zu\n",
                     setter->name, (unsigned long long)value, type, size, !set, ours.params[1].return_size, set,
                     theirs.params[1].return_size);
    }
    return same ? 0 : 1;
}

UNIT_TEST("every number is set as by libcrypto")
{
    unsigned differing = 0;
    for (size_t s = 0; s < sizeof(setters) / sizeof(*setters); s++) {
        for (size_t t = 0; t < NUMBER_TYPES; t++) {
            for (size_t size = 0; size <= MAX_SIZE; size++) {
                for (unsigned i = 0; i < VALUES / 10 && !is_left_out(number_types[t], size); i++) {
                    differing += set_differs(&setters[s], number_types[t], size, true);
                }
            }
        }
        ERR_clear_error();
    }
    CU_ASSERT_EQUAL(differing, 0);
}

UNIT_TEST("without data only the size is asked")
{
    unsigned differing = 0;
    for (size_t s = 0; s < sizeof(setters) / sizeof(*setters); s++) {
        for (size_t t = 0; t < NUMBER_TYPES; t++) {
            for (unsigned i = 0; i < VALUES && true; i++) {
                differing += set_differs(&setters[s], number_types[t], i % MAX_SIZE, false);
            }
        }
        ERR_clear_error();
    }
    CU_ASSERT_EQUAL(differing, 0);
}

UNIT_TEST("what nobody sends is refused")
{
    unsigned char data[MAX_SIZE];
    for (size_t size = 0; size <= MAX_SIZE; size++) {
        for (unsigned type = 0; type <= OSSL_PARAM_OCTET_PTR; type++) {
            OSSL_PARAM params[] = {{KEY, type, data, size, OSSL_PARAM_UNMODIFIED}, OSSL_PARAM_END};
            const bool is_integer = type == OSSL_PARAM_INTEGER || type == OSSL_PARAM_UNSIGNED_INTEGER;
            int64_t number = 7;
            memset(data, 0, sizeof(data));
            if (!is_integer || is_left_out(type, size)) {
                CU_ASSERT_FALSE(ours_set_int(params, 1));
                CU_ASSERT_FALSE(ours_set_uint64(params, 1));
                CU_ASSERT_EQUAL(params[0].return_size, is_integer ? sizeof(uint64_t) : 0);
                CU_ASSERT_FALSE(drng_params_get_number(params, KEY, INT_MIN, INT_MAX, &number));
                CU_ASSERT_TRUE(number == 7 && memchr(data, 1, sizeof(data)) == NULL);
            }
        }
    }
}

UNIT_TEST("no counter is told negative")
{
    uint64_t natural = 0;
    int64_t integer = 0;
    OSSL_PARAM params[] = {{KEY, OSSL_PARAM_UNSIGNED_INTEGER, &natural, sizeof(natural), 0}, OSSL_PARAM_END};
    CU_ASSERT_TRUE(ours_set_uint64(params, UINT64_MAX) && natural == INT64_MAX);
    params[0] = (OSSL_PARAM){KEY, OSSL_PARAM_INTEGER, &integer, sizeof(integer), 0};
    CU_ASSERT_TRUE(ours_set_uint64(params, UINT64_MAX) && integer == INT64_MAX);
}

/* ---- Getting ---- */

static unsigned get_differs(const struct getter *getter, unsigned type, size_t size)
{
    unsigned char data[MAX_SIZE + 1] = {0};
    struct array array;
    uint64_t theirs = 12345;
    uint64_t ours = 12345;
    random_data(data, size);
    fill(&array, type, data, size);
    const int got = getter->theirs(&array.params[1], &theirs);
    const bool same =
        getter->ours(array.params, &ours) == (got == 1) && (got != 1 || ours == theirs) && (got == 1 || ours == 12345);
    if (!same) {
        (void)printf("  get_%s() of type %u, %zu bytes: %#llx, libcrypto %d and %#llx\n", getter->name, type, size,
                     (unsigned long long)ours, got, (unsigned long long)theirs);
    }
    return same ? 0 : 1;
}

UNIT_TEST("every number is got as by libcrypto")
{
    unsigned differing = 0;
    for (size_t g = 0; g < sizeof(getters) / sizeof(*getters); g++) {
        for (size_t t = 0; t < NUMBER_TYPES; t++) {
            for (size_t size = 0; size <= MAX_SIZE; size++) {
                for (unsigned i = 0; i < VALUES / 2 && !is_left_out(number_types[t], size); i++) {
                    differing += get_differs(&getters[g], number_types[t], size);
                }
            }
        }
        ERR_clear_error();
    }
    CU_ASSERT_EQUAL(differing, 0);
}

/* OpenSSL 3.0's own read address 0 there; later ones refuse. */
UNIT_TEST("a number without data is none")
{
    for (size_t t = 0; t < NUMBER_TYPES; t++) {
        const OSSL_PARAM params[] = {{KEY, number_types[t], NULL, sizeof(int), 0}, OSSL_PARAM_END};
        int64_t number = 7;
        CU_ASSERT_FALSE(drng_params_get_number(params, KEY, INT64_MIN, INT64_MAX, &number) || number != 7);
    }
}

/* ---- Texts ---- */

static const unsigned text_types[] = {OSSL_PARAM_UTF8_STRING, OSSL_PARAM_UTF8_PTR, OSSL_PARAM_OCTET_STRING,
                                      OSSL_PARAM_INTEGER};

static void fill_for_text(struct array *array, unsigned type, size_t size, bool has_data)
{
    static const unsigned char before[MAX_SIZE + 1] = "....................";
    fill(array, type, before, size);
    if (!has_data) {
        array->params[1].data = NULL;
    }
}

/* How long a text is, OpenSSL 3.5 does not tell an entry of another type. */
static bool only_they_refuse(const struct array *ours, bool set, int they_set)
{
    return set && they_set != 1 && ours->params[1].data == NULL && is_after_3_0();
}

static void check_texts(const struct array *ours, const struct array *theirs, bool set, int they_set)
{
    const bool same = (set == (they_set == 1) || only_they_refuse(ours, set, they_set)) &&
                      same_size(&ours->params[1], &theirs->params[1], they_set) &&
                      memcmp(ours->data, theirs->data, sizeof(ours->data)) == 0;
    CU_ASSERT_TRUE(same);
    if (!same) {
        (void)printf("  a text into type %u, %zu bytes: %d and return_size %zu, libcrypto %d and %zu\n",
                     ours->params[1].data_type, ours->params[1].data_size, set, ours->params[1].return_size, they_set,
                     theirs->params[1].return_size);
    }
}

static bool ours_set_text(OSSL_PARAM params[], const char *value)
{
    const struct drng_answer answers[] = {DRNG_TEXT(OSSL_PARAM_utf8_ptr(KEY, NULL, 0), value)};
    return drng_params_answer(params, answers, 1);
}

UNIT_TEST("every text is set as by libcrypto")
{
    static const char *const values[] = {"", "a", "twelve bytes", "more than twenty bytes"};
    for (size_t i = 0; i < 2 * sizeof(values) / sizeof(*values) * (MAX_SIZE + 1) * 4; i++) {
        const char *value = values[i / 8 % 4];
        const unsigned type = text_types[i % 4];
        const bool has_data = i / 4 % 2 != 0;
        const size_t size = i / 32;
        struct array theirs;
        struct array ours;
        fill_for_text(&theirs, type, size, has_data);
        fill_for_text(&ours, type, size, has_data);
        check_texts(&ours, &theirs, ours_set_text(ours.params, value),
                    type == OSSL_PARAM_UTF8_PTR ? OSSL_PARAM_set_utf8_ptr(&theirs.params[1], value)
                                                : OSSL_PARAM_set_utf8_string(&theirs.params[1], value));
    }
    ERR_clear_error();
}

UNIT_TEST("a text ends at its NUL or with its data")
{
    static char data[] = "AES\0-256";
    const char *text = NULL;
    size_t len = 0;
    for (size_t size = 0; size <= sizeof(data); size++) {
        const OSSL_PARAM params[] = {{KEY, OSSL_PARAM_UTF8_STRING, data, size, 0}, OSSL_PARAM_END};
        CU_ASSERT_TRUE(drng_params_get_utf8_string(params, KEY, &text, &len));
        CU_ASSERT_TRUE(text == data && len == (size < 3 ? size : 3));
    }
    const OSSL_PARAM pointer[] = {{KEY, OSSL_PARAM_UTF8_PTR, data, sizeof(data), 0}, OSSL_PARAM_END};
    const OSSL_PARAM nothing[] = {{KEY, OSSL_PARAM_UTF8_STRING, NULL, 0, 0}, OSSL_PARAM_END};
    CU_ASSERT_FALSE(drng_params_get_utf8_string(pointer, KEY, &text, &len));
    CU_ASSERT_FALSE(drng_params_get_utf8_string(nothing, KEY, &text, &len));
}

/* ---- What is not there ---- */

UNIT_TEST("what is not asked for is left alone")
{
    OSSL_PARAM other[] = {OSSL_PARAM_int("keys", NULL), OSSL_PARAM_int("ke", NULL), OSSL_PARAM_END};
    OSSL_PARAM *const arrays[] = {NULL, &other[2], other};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
        int64_t number = 7;
        const char *text = "text";
        size_t len = 4;
        CU_ASSERT_TRUE(ours_set_int(arrays[i], 1) && ours_set_text(arrays[i], "x"));
        CU_ASSERT_TRUE(drng_params_get_number(arrays[i], KEY, 0, 1, &number) && number == 7);
        CU_ASSERT_TRUE(drng_params_get_utf8_string(arrays[i], KEY, &text, &len) && strcmp(text, "text") == 0);
    }
    CU_ASSERT_TRUE(other[0].return_size == OSSL_PARAM_UNMODIFIED && other[1].return_size == OSSL_PARAM_UNMODIFIED);
}

/* Each answer goes into the entry of its name, and one that does not fit ends them. */
UNIT_TEST("answers go to those who asked")
{
    int first = 0;
    char second[4] = "";
    unsigned third = 0;
    OSSL_PARAM params[] = {{"c", OSSL_PARAM_UNSIGNED_INTEGER, &third, sizeof(third), 0},
                           {"b", OSSL_PARAM_UTF8_STRING, second, sizeof(second), 0},
                           {"a", OSSL_PARAM_INTEGER, &first, sizeof(first), 0},
                           OSSL_PARAM_END};
    const struct drng_answer answers[] = {
        DRNG_NUMBER(OSSL_PARAM_int("a", NULL), 1) DRNG_TEXT(OSSL_PARAM_utf8_ptr("b", NULL, 0), "two")
            DRNG_NUMBER(OSSL_PARAM_uint("c", NULL), 3) DRNG_NUMBER(OSSL_PARAM_uint("d", NULL), 4)};
    CU_ASSERT_TRUE(drng_params_answer(params, answers, 4) && first == 1 && strcmp(second, "two") == 0 && third == 3);
    params[1].data_size = 2;
    third = 0;
    CU_ASSERT_TRUE(!drng_params_answer(params, answers, 4) && third == 0 && strcmp(second, "two") == 0);
}

UNIT_MAIN("parameters")
