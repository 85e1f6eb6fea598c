#include "provider/params.h"

#include <limits.h>
#include <string.h>

enum {
    SIGN_BIT = 0x80,      /* of the most significant byte */
    MANTISSA_BITS = 53,   /* of a double, with the hidden one */
    ALL_ONES = UCHAR_MAX, /* a byte of the sign extension of a negative number */
};

static const double two_to_the_63rd = 9223372036854775808.0;
static const double two_to_the_64th = 18446744073709551616.0;

/* An integer from -2^63 to 2^64 - 1. */
struct number {
    uint64_t bits; /* two's complement */
    bool negative;
};

static struct number from_signed(int64_t value)
{
    return (struct number){(uint64_t)value, value < 0};
}

static struct number from_unsigned(uint64_t value)
{
    return (struct number){value, false};
}

static const OSSL_PARAM *find(const OSSL_PARAM params[], const char *key)
{
    for (; params != NULL && params->key != NULL; params++) {
        if (strcmp(params->key, key) == 0) {
            return params;
        }
    }
    return NULL;
}

static OSSL_PARAM *find_writable(OSSL_PARAM params[], const char *key)
{
    return (OSSL_PARAM *)find(params, key);
}

/* ---- Integers of any size, in the byte order of the machine ---- */

/* The offset of byte i, where byte 0 is the least significant. */
static size_t place_of(size_t i, size_t size)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? size - 1 - i : i;
}

static uint8_t extension_of(struct number value)
{
    return value.negative ? ALL_ONES : 0;
}

/* Byte i of the number, sign-extended without end. */
static uint8_t byte_of(struct number value, size_t i)
{
    if (i >= sizeof(value.bits)) {
        return extension_of(value);
    }
    return (uint8_t)(value.bits >> (CHAR_BIT * i));
}

static bool fits(struct number value, size_t size, bool is_signed)
{
    const uint8_t sign = extension_of(value);
    for (size_t i = size; i < sizeof(value.bits); i++) {
        if (byte_of(value, i) != sign) {
            return false;
        }
    }
    return is_signed ? size > 0 && ((byte_of(value, size - 1) ^ sign) & SIGN_BIT) == 0 : !value.negative;
}

static void write_integer(uint8_t *out, size_t size, struct number value)
{
    for (size_t i = 0; i < size; i++) {
        out[place_of(i, size)] = byte_of(value, i);
    }
}

/* False if the number does not fit into 64 bits. */
static bool read_integer(const uint8_t *in, size_t size, bool is_signed, struct number *value)
{
    if (is_signed && size == 0) {
        return false;
    }
    const bool negative = is_signed && (in[place_of(size - 1, size)] & SIGN_BIT) != 0;
    *value = (struct number){0, negative};
    const uint8_t sign = extension_of(*value);
    for (size_t i = 0; i < sizeof(value->bits); i++) {
        const uint8_t byte = i < size ? in[place_of(i, size)] : sign;
        value->bits |= (uint64_t)byte << (CHAR_BIT * i);
    }
    for (size_t i = sizeof(value->bits); i < size; i++) {
        if (in[place_of(i, size)] != sign) {
            return false;
        }
    }
    return !negative || value->bits >> 63 == 1;
}

/* ---- Numbers as doubles ---- */

static bool read_double(const OSSL_PARAM *p, struct number *value)
{
    double d = 0;
    if (p->data_size != sizeof(d)) {
        return false;
    }
    memcpy(&d, p->data, sizeof(d));
    if (d >= 0 && d < two_to_the_64th) {
        *value = from_unsigned((uint64_t)d);
        return d == (double)value->bits;
    }
    if (d < 0 && d >= -two_to_the_63rd) {
        *value = from_signed((int64_t)d);
        return d == (double)(int64_t)value->bits;
    }
    return false;
}

static bool write_double(OSSL_PARAM *p, struct number value)
{
    const uint64_t magnitude = value.negative ? 0 - value.bits : value.bits;
    if (p->data_size != sizeof(double) || magnitude >> MANTISSA_BITS != 0) {
        return false;
    }
    const double d = value.negative ? -(double)magnitude : (double)magnitude;
    memcpy(p->data, &d, sizeof(d));
    return true;
}

/* ---- Setting ---- */

/*
 * own_size is the size of the value's type: return_size if the value does not fit, since libcrypto has a function for
 * each type.
 */
static bool set_number(OSSL_PARAM *p, struct number value, size_t own_size)
{
    if (p == NULL) {
        return true;
    }
    const bool is_signed = p->data_type == OSSL_PARAM_INTEGER;
    const bool is_real = p->data_type == OSSL_PARAM_REAL;
    p->return_size = 0;
    if (!is_signed && !is_real && (p->data_type != OSSL_PARAM_UNSIGNED_INTEGER || value.negative)) {
        return false;
    }
    p->return_size = is_real ? sizeof(double) : own_size;
    if (p->data == NULL) {
        return true;
    }
    if (is_real) {
        return write_double(p, value);
    }
    if (!fits(value, p->data_size, is_signed)) {
        return false;
    }
    write_integer(p->data, p->data_size, value);
    p->return_size = p->data_size;
    return true;
}

bool drng_params_set_int(OSSL_PARAM params[], const char *key, int value)
{
    return set_number(find_writable(params, key), from_signed(value), sizeof(value));
}

bool drng_params_set_uint(OSSL_PARAM params[], const char *key, unsigned value)
{
    return set_number(find_writable(params, key), from_unsigned(value), sizeof(value));
}

bool drng_params_set_uint64(OSSL_PARAM params[], const char *key, uint64_t value)
{
    return set_number(find_writable(params, key), from_unsigned(value), sizeof(value));
}

bool drng_params_set_size(OSSL_PARAM params[], const char *key, size_t value)
{
    return set_number(find_writable(params, key), from_unsigned(value), sizeof(value));
}

bool drng_params_set_time(OSSL_PARAM params[], const char *key, time_t value)
{
    return set_number(find_writable(params, key), from_signed(value), sizeof(value));
}

static bool set_string(OSSL_PARAM *p, const char *value)
{
    p->return_size = 0;
    if (value == NULL) {
        return false;
    }
    const size_t len = strlen(value);
    p->return_size = len;
    if (p->data == NULL) {
        return true;
    }
    if (p->data_type != OSSL_PARAM_UTF8_STRING || p->data_size < len) {
        return false;
    }
    memcpy(p->data, value, p->data_size > len ? len + 1 : len);
    return true;
}

static bool set_ptr(OSSL_PARAM *p, const char *value)
{
    p->return_size = value != NULL ? strlen(value) : 0;
    if (p->data_type != OSSL_PARAM_UTF8_PTR) {
        return false;
    }
    if (p->data != NULL) {
        memcpy(p->data, &value, sizeof(value));
    }
    return true;
}

bool drng_params_set_utf8_string(OSSL_PARAM params[], const char *key, const char *value)
{
    OSSL_PARAM *p = find_writable(params, key);
    return p == NULL || set_string(p, value);
}

bool drng_params_set_utf8_ptr(OSSL_PARAM params[], const char *key, const char *value)
{
    OSSL_PARAM *p = find_writable(params, key);
    return p == NULL || set_ptr(p, value);
}

bool drng_params_set_text(OSSL_PARAM params[], const char *key, const char *value)
{
    OSSL_PARAM *p = find_writable(params, key);
    if (p == NULL) {
        return true;
    }
    return p->data_type == OSSL_PARAM_UTF8_PTR ? set_ptr(p, value) : set_string(p, value);
}

/* ---- Getting ---- */

static bool get_number(const OSSL_PARAM *p, struct number *value)
{
    if (p->data == NULL) {
        return false;
    }
    switch (p->data_type) {
    case OSSL_PARAM_INTEGER:
        return read_integer(p->data, p->data_size, true, value);
    case OSSL_PARAM_UNSIGNED_INTEGER:
        return read_integer(p->data, p->data_size, false, value);
    case OSSL_PARAM_REAL:
        return read_double(p, value);
    default:
        return false;
    }
}

/*
 * Stores the entry's number in *value; without such an entry *value stays. `size` is that of the type that will hold
 * the number.
 */
static bool get_integer(const OSSL_PARAM params[], const char *key, size_t size, bool is_signed, struct number *value)
{
    const OSSL_PARAM *p = find(params, key);
    return p == NULL || (get_number(p, value) && fits(*value, size, is_signed));
}

bool drng_params_get_int(const OSSL_PARAM params[], const char *key, int *value)
{
    struct number number = from_signed(*value);
    if (!get_integer(params, key, sizeof(*value), true, &number)) {
        return false;
    }
    *value = (int)(int64_t)number.bits;
    return true;
}

bool drng_params_get_uint(const OSSL_PARAM params[], const char *key, unsigned *value)
{
    struct number number = from_unsigned(*value);
    if (!get_integer(params, key, sizeof(*value), false, &number)) {
        return false;
    }
    *value = (unsigned)number.bits;
    return true;
}

bool drng_params_get_time(const OSSL_PARAM params[], const char *key, time_t *value)
{
    struct number number = from_signed(*value);
    if (!get_integer(params, key, sizeof(*value), true, &number)) {
        return false;
    }
    *value = (time_t)(int64_t)number.bits;
    return true;
}

bool drng_params_get_utf8_string(const OSSL_PARAM params[], const char *key, const char **text, size_t *len)
{
    const OSSL_PARAM *p = find(params, key);
    if (p == NULL) {
        return true;
    }
    if (p->data_type != OSSL_PARAM_UTF8_STRING || p->data == NULL) {
        return false;
    }
    *text = p->data;
    *len = strnlen(*text, p->data_size);
    return true;
}
