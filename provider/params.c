/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and answers OSSL_PARAM arrays by type and size, as libcrypto's own functions do. */

#include "provider/params.h"

#include <string.h>

static const OSSL_PARAM *find(const OSSL_PARAM params[], const char *key)
{
    for (; params != NULL && params->key != NULL; params++) {
        if (strcmp(params->key, key) == 0) {
            return params;
        }
    }
    return NULL;
}

/* ---- Answering ---- */

/* own_size, that of the value's type, is return_size if the value does not fit, as in each of libcrypto's setters. */
static bool set_number(OSSL_PARAM *p, uint64_t number, size_t own_size)
{
    const int64_t value = number < INT64_MAX ? (int64_t)number : INT64_MAX;
    const bool is_signed = p->data_type == OSSL_PARAM_INTEGER;
    p->return_size = 0;
    if (!is_signed && p->data_type != OSSL_PARAM_UNSIGNED_INTEGER) {
        return false;
    }
    p->return_size = own_size;
    if (p->data == NULL) {
        return true;
    }
    if (p->data_size == sizeof(value)) {
        memcpy(p->data, &value, sizeof(value));
    } else if (p->data_size == sizeof(int32_t) && value <= (is_signed ? INT32_MAX : UINT32_MAX)) {
        const uint32_t low = (uint32_t)value;
        memcpy(p->data, &low, sizeof(low));
    } else {
        return false;
    }
    p->return_size = p->data_size;
    return true;
}

static bool set_text(OSSL_PARAM *p, const char *text)
{
    const size_t len = strlen(text);
    const bool is_ptr = p->data_type == OSSL_PARAM_UTF8_PTR;
    p->return_size = len;
    if (p->data == NULL) {
        return true;
    }
    if (is_ptr) {
        memcpy(p->data, &text, sizeof(text));
    } else if (p->data_type == OSSL_PARAM_UTF8_STRING && p->data_size >= len) {
        memcpy(p->data, text, p->data_size > len ? len + 1 : len);
    } else {
        return false;
    }
    return true;
}

bool drng_params_answer(OSSL_PARAM params[], const struct drng_answer answers[], size_t count)
{
    bool set = true;
    for (size_t i = 0; i < count && set; i++) {
        const struct drng_answer *answer = &answers[i];
        OSSL_PARAM *p = (OSSL_PARAM *)find(params, answer->known.key);
        if (p != NULL) {
            set = answer->text != NULL ? set_text(p, answer->text)
                                       : set_number(p, answer->number, answer->known.data_size);
        }
    }
    return set;
}

/* ---- Getting ---- */

bool drng_params_get_number(const OSSL_PARAM params[], const char *key, int64_t least, int64_t most, int64_t *value)
{
    const OSSL_PARAM *p = find(params, key);
    int64_t number = 0;
    if (p == NULL) {
        return true;
    }
    const bool is_signed = p->data_type == OSSL_PARAM_INTEGER;
    if (p->data == NULL || (!is_signed && p->data_type != OSSL_PARAM_UNSIGNED_INTEGER)) {
        return false;
    }
    if (p->data_size == sizeof(number)) {
        memcpy(&number, p->data, sizeof(number));
    } else if (p->data_size == sizeof(int32_t)) {
        uint32_t low = 0;
        memcpy(&low, p->data, sizeof(low));
        number = is_signed ? (int32_t)low : (int64_t)low;
    } else {
        return false;
    }
    if (number < least || number > most || (!is_signed && number < 0)) {
        return false;
    }
    *value = number;
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
