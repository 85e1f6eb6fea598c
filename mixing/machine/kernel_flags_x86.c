/* Linux's verdict on the instructions of x86-64. */

#include <fcntl.h>
#include <unistd.h>

#include "mixing/machine/cpuinfo.h"
#include "mixing/machine/os.h"

/*
 * The first processor's flags are within the first pages of the file. On a large machine the file is megabytes long,
 * but the kernel generates only what is read.
 */
void drng_os_kernel_flags(struct drng_kernel_flags *flags)
{
    static char text[16384]; /* not on the stack, which may be small */
    size_t len = 0;
    ssize_t got = 0;

    *flags = (struct drng_kernel_flags){0};
    const int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    do {
        got = read(fd, text + len, sizeof(text) - 1 - len);
        len += got > 0 ? (size_t)got : 0;
        text[len] = '\0';
    } while (got > 0 && len < sizeof(text) - 1 && !drng_cpuinfo_parse(text, flags));
    (void)close(fd);
}
