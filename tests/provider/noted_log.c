/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/provider/noted_log.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

unsigned noted_lines;
char noted_last[1024];

ssize_t __wrap_sendto(int fd, const void *line, size_t len, int flags, const struct sockaddr *to, socklen_t to_len)
{
    char copy[sizeof(noted_last)];
    (void)snprintf(copy, sizeof(copy), "%.*s", (int)len, (const char *)line);
    const char *text = strstr(copy, "]: ");
    noted_lines++;
    (void)snprintf(noted_last, sizeof(noted_last), "%s", text != NULL ? text + 3 : "no line of drng's");
    return (ssize_t)len;
}
