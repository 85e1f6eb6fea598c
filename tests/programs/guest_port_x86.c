/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU's isa-debugcon. Its property `readback` is what reading gives.
 */

#include <sys/io.h>

#include "tests/programs/guest_port.h"

enum { PORT = 0xe9 };

bool port_open(void)
{
    return ioperm(PORT, 1, 1) == 0;
}

void port_write(const char *text, size_t length)
{
    outsb(PORT, text, length);
}

unsigned port_read(void)
{
    return inb(PORT);
}
