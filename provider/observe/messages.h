/*
 * messages.h - what goes to the system log: each kind of message once in a process.
 *
 * Only while a program is likely not to be in its sandbox yet, and never where a filter of system calls is on: nobody
 * expects a generator to open a socket.
 */

#ifndef DRNG_MESSAGES_H
#define DRNG_MESSAGES_H

#include "mixing/machine/instruction.h"
#include "provider/errors.h"

enum { DRNG_MESSAGE_SIZE = 768 };

enum drng_message {
    DRNG_SAYS_DOES_NOT_LOAD,
    DRNG_SAYS_FALLBACK_SERVES,
    DRNG_SAYS_DISABLED, /* the first instruction; DRNG_SAYS_DISABLED + i for the others */
    DRNG_MESSAGES = DRNG_SAYS_DISABLED + DRNG_INSTRUCTIONS,
};

/* Writes the text, unless a message of this kind has been written by this process or one that it descends from. */
void drng_message_once(enum drng_message message, const char *text);

/* Says that the provider does not load: an error, as by drng_raise(), and a message. */
void drng_raise_and_log_at(const struct drng_core *core, const char *file, int line, const char *function,
                           enum drng_reason reason, const char *format, ...) __attribute__((format(printf, 6, 7)));

#define drng_raise_and_log(core, reason, ...)                                                                          \
    drng_raise_and_log_at((core), __FILE__, __LINE__, __func__, (reason), __VA_ARGS__)

#endif
