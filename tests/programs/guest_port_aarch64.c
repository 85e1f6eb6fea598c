/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semihosting, which QEMU can open to user space. The machine's number is its command line there.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programs/guest_port.h"

enum { WRITE0 = 0x04, GET_CMDLINE = 0x15 }; /* Arm's "Semihosting for AArch32 and AArch64", chapter 7 */

static uint64_t call(uint64_t operation, void *argument)
{
    register uint64_t x0 __asm__("x0") = operation;
    register void *x1 __asm__("x1") = argument;
    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

bool port_open(void)
{
    return true;
}

/* The machine writes and reads at addresses of this process, where pages must be present by then. */
void port_write(const char *text, size_t length)
{
    char line[256];
    const size_t most = length < sizeof(line) ? length : sizeof(line) - 1;
    memcpy(line, text, most);
    line[most] = '\0';
    (void)call(WRITE0, line);
}

unsigned port_read(void)
{
    char text[32] = "";
    uint64_t block[2] = {(uint64_t)(uintptr_t)text, sizeof(text)};
    return call(GET_CMDLINE, block) == 0 ? (unsigned)strtoul(text, NULL, 10) : 0;
}
