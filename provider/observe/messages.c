#include "provider/observe/messages.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "mixing/machine/filter.h"
#include "provider/observe/syslog.h"

void drng_message_once(enum drng_message message, const char *text)
{
    static atomic_uint said[DRNG_MESSAGES]; /* no bool: not every RISC-V can exchange a byte */
    if (drng_filter_lets_us_call() && !atomic_exchange_explicit(&said[message], true, memory_order_relaxed)) {
        drng_syslog(text);
    }
}

void drng_raise_and_log_at(const struct drng_core *core, const char *file, int line, const char *function,
                           enum drng_reason reason, const char *format, ...)
{
    char data[DRNG_MESSAGE_SIZE];
    char text[DRNG_MESSAGE_SIZE + 64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(data, sizeof(data), format, args);
    va_end(args);
    drng_raise_at(core, file, line, function, reason, "%s", data);
    (void)snprintf(text, sizeof(text), "the provider does not load: %s", data);
    drng_message_once(DRNG_SAYS_DOES_NOT_LOAD, text);
}
