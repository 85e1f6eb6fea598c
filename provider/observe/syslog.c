#include "provider/observe/syslog.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "provider/version.h"

enum { LINE_SIZE = 1024 };

void drng_syslog(const char *text)
{
    static const struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
    const int errno_before = errno;
    char line[LINE_SIZE];
    const int len =
        snprintf(line, sizeof(line), "<%d>%s[%d]: %s", LOG_AUTHPRIV | LOG_WARNING, DRNG_NAME, (int)getpid(), text);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && len > 0) {
        const size_t sent = (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1;
        (void)sendto(fd, line, sent, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&log, sizeof(log));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = errno_before;
}
