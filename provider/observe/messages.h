/*
 * messages.h - messages to the system log, each kind once in a process.
 *
 * Written only while the program is probably not in its sandbox yet, and never under a system call filter: a filter may
 * kill a process that opens a socket.
 */

#ifndef DRNG_MESSAGES_H
#define DRNG_MESSAGES_H

#include "mixing/machine/instruction.h"
#include "provider/errors.h"

enum { DRNG_MESSAGE_SIZE = 768 };

enum drng_message {
    DRNG_SAYS_DOES_NOT_LOAD,
    DRNG_SAYS_FALLBACK_SERVES,
    DRNG_SAYS_CLONES,
    DRNG_SAYS_DISABLED, /* DRNG_SAYS_DISABLED + i: instruction i */
    DRNG_MESSAGES = DRNG_SAYS_DISABLED + DRNG_INSTRUCTIONS,
};

/* Writes the text, unless this process or an ancestor has already written a message of this kind. */
void drng_message_once(enum drng_message message, const char *text);

/* Reports that the provider does not load: raises an error like drng_raise(), and writes a message. */
void drng_raise_and_log_at(const struct drng_core *core, const char *file, int line, const char *function,
                           enum drng_reason reason, const char *format, ...) __attribute__((format(printf, 6, 7)));

#define drng_raise_and_log(core, reason, ...)                                                                          \
    drng_raise_and_log_at((core), __FILE__, __LINE__, __func__, (reason), __VA_ARGS__)

#endif
