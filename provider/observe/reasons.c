#include "provider/observe/reasons.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "provider/process.h"

/* Appends to a list in `text`, which always ends with NUL. */
static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    const char *separator = used > 0 ? "; " : "";
    const int len = snprintf(text + used, size - used, "%s", separator);
    va_list args;
    va_start(args, format);
    if (len >= 0 && (size_t)len < size - used) {
        (void)vsnprintf(text + used + len, size - used - (size_t)len, format, args);
    }
    va_end(args);
}

static bool disabled(const struct drng_instruction *in)
{
    return atomic_load_explicit(&in->disabled, memory_order_relaxed);
}

/* "not in this CPU" suggests another CPU; of some architectures there is none. */
static const char *denial_text(const struct drng_instruction *in, enum drng_denial denial)
{
    return denial == DRNG_ABSENT && in->row->lack != NULL ? in->row->lack : drng_denial_text(denial);
}

static void append_disabled(char *text, size_t size, const struct drng_instruction *in, enum drng_denial denial)
{
    if (denial != DRNG_ALLOWED) {
        append(text, size, "%s: %s", in->row->name, denial_text(in, denial));
    } else if (disabled(in)) {
        const unsigned test = atomic_load_explicit(&in->failed_test, memory_order_relaxed);
        append(text, size, "%s: disabled after two failed health tests, the last the %s", in->row->name,
               drng_health_test_name((enum drng_health_test)test));
    }
}

static void append_dry(char *text, size_t size, const struct drng_instruction *in, enum drng_denial denial)
{
    if (denial == DRNG_ALLOWED && !disabled(in)) {
        append(text, size, "%s: too few words in its time, the next request tries again", in->row->name);
    }
}

void drng_reasons_disabled(const struct drng_eligibility *eligibility, char text[DRNG_TEXT_SIZE])
{
    text[0] = '\0';
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        append_disabled(text, DRNG_TEXT_SIZE, &drng_process.instructions[i], eligibility->seeds[i]);
    }
}

void drng_reasons_unserved(const struct drng_eligibility *eligibility, char text[DRNG_WHY_SIZE])
{
    drng_reasons_disabled(eligibility, text);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        append_dry(text, DRNG_WHY_SIZE, &drng_process.instructions[i], eligibility->seeds[i]);
    }
}
