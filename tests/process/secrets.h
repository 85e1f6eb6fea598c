/*
 * secrets.h - secrets by their windows of eight bytes, in both byte orders, and what of them is found in memory.
 *
 * Eight bytes are what a general register holds: a block that a compiler moved in two halves, or turned round to count
 * with, is found by either half.
 */

#ifndef TEST_SECRETS_H
#define TEST_SECRETS_H

#include <stddef.h>
#include <stdint.h>

enum { SECRETS_WINDOW = 8 };

/* Forgets them all, and makes room for so many bytes of new ones. */
void secrets_reset(size_t bytes);

/* Every window of data[0..len). `name` says in a finding what it was, and has to outlive it. */
void secrets_add(const char *name, const void *data, size_t len);

/* Goes through memory[0..len) at every offset, and calls found() with each window that is one of a secret's. */
void secrets_search(const uint8_t *memory, size_t len, void (*found)(const char *name, size_t offset));

#endif
