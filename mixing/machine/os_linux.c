/* Linux. */

#define _GNU_SOURCE

#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mixing/machine/cpuinfo.h"
#include "mixing/machine/os.h"
#include "mixing/memory/wipe.h"

/*
 * Requests of up to 256 bytes are served in full or not at all: random(7). The C library's getrandom() would be a
 * cancellation point: glibc 2.36 makes the cancellation type asynchronous in it, and then ends a thread whose
 * cancellation is disabled, if it was cancelled just before it disabled that.
 */
bool drng_os_random(uint8_t *out, size_t len)
{
    const bool whole = syscall(SYS_getrandom, out, len, GRND_NONBLOCK) == (long)len;
    if (!whole) {
        drng_wipe(out, len);
    }
    return whole;
}

uint64_t drng_os_clock_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

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
