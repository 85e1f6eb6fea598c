/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guest_port.h - the port by which a guest speaks to whoever runs it, and learns which machine it is.
 *
 * What is written has left the guest when port_write() returns, and is in no snapshot that is taken later. What is read
 * is set by whoever starts the machine and is part of no snapshot: a clone reads another value from its first
 * instruction on.
 */

#ifndef DRNG_TESTS_GUEST_PORT_H
#define DRNG_TESTS_GUEST_PORT_H

#include <stdbool.h>
#include <stddef.h>

/* Needed once, by root. Threads and children may use the port then. */
bool port_open(void);

void port_write(const char *text, size_t length);

unsigned port_read(void);

#endif
