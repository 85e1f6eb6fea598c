/* SPDX-License-Identifier: Apache-2.0 */
/* Linux. */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mixing/machine/os.h"
#include "mixing/machine/wipe.h"

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

bool drng_os_wait(uint64_t ns)
{
    const uint32_t word = 0;
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, word, &time, NULL, 0) != 0 && errno == ETIMEDOUT;
}

/* A file that is no device could be shortened, and then reading it would end the process. */
struct drng_vmclock *drng_os_map_vmclock(void)
{
    struct stat status;
    void *page = NULL;
    const int fd = open("/dev/vmclock0", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &status) == 0 && S_ISCHR(status.st_mode)) {
        page = mmap(NULL, drng_page_size(), PROT_READ, MAP_SHARED, fd, 0);
    }
    (void)close(fd);
    return page == MAP_FAILED ? NULL : page;
}

void drng_os_unmap_vmclock(struct drng_vmclock *page)
{
    (void)munmap(page, drng_page_size());
}

/* ---- /proc/cpuinfo ---- */

bool drng_os_read_flags(FILE *cpuinfo, struct drng_kernel_flags *flags)
{
    static const char name[] = "flags";
    const size_t len = sizeof(name) - 1;
    static const char between[] = " \t:\n";
    char *line = NULL;
    char *rest = NULL;
    size_t size = 0;
    bool found = false;
    while (!found && getdelim(&line, &size, '\n', cpuinfo) > 0) {
        found = strncmp(line, name, len) == 0 && strchr("\t :", line[len]) != NULL && strchr(line, '\n') != NULL;
    }
    if (found) {
        *flags = (struct drng_kernel_flags){.known = true};
        for (char *word = strtok_r(line, between, &rest); word != NULL; word = strtok_r(NULL, between, &rest)) {
            for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
                flags->has[i] |= strcmp(word, drng_instruction_flag(i)) == 0;
            }
        }
    }
    free(line);
    return found;
}

void drng_os_kernel_flags(struct drng_kernel_flags *flags)
{
    FILE *cpuinfo = fopen("/proc/cpuinfo", "re");
    *flags = (struct drng_kernel_flags){0};
    if (cpuinfo != NULL) {
        (void)drng_os_read_flags(cpuinfo, flags);
        (void)fclose(cpuinfo);
    }
}
