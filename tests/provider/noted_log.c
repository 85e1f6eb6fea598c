#include "tests/provider/noted_log.h"

#include <stdio.h>

#include "provider/observe/syslog.h"

unsigned noted_lines;
char noted_last[1024];

void __wrap_drng_syslog(const char *text);

void __wrap_drng_syslog(const char *text)
{
    noted_lines++;
    (void)snprintf(noted_last, sizeof(noted_last), "%s", text);
}
