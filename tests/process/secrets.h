/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secrets.h - searches memory for secrets, by each of their windows of eight bytes, in both byte orders.
 *
 * A general register holds eight bytes: if a compiler moved a block in two halves, or reversed it to count with it,
 * either half is found.
 */

#ifndef TEST_SECRETS_H
#define TEST_SECRETS_H

#include <stddef.h>
#include <stdint.h>

enum { SECRETS_WINDOW = 8 };

/* Forgets all secrets, and makes room for this many bytes of new ones. */
void secrets_reset(size_t bytes);

/* Adds every window of data[0..len). `name` appears in the findings, and must outlive them. */
void secrets_add(const char *name, const void *data, size_t len);

/* Searches memory[0..len) at every offset, and calls found() for each window that belongs to a secret. */
void secrets_search(const uint8_t *memory, size_t len, void (*found)(const char *name, size_t offset));

#endif
