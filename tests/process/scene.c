/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/process/scene.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WATCHDOG = 120 }; /* seconds, of a scene that takes a few where nothing else runs */

#if defined(__x86_64__)
/* OpenSSL's own switch: RDRAND is bit 62 of the first word, RDSEED bit 18 of the second. */
static const char variable[] = "OPENSSL_ia32cap";
static const char masked[] = "~0x4000000000000000:~0x40000";
#else
/* Of QEMU's user mode: a CPU without such instructions. The hardware itself has no switch. */
static const char variable[] = "QEMU_CPU";
#if defined(__aarch64__)
static const char masked[] = "cortex-a72";
#else
static const char masked[] = "rv64";
#endif
#endif

static const char *name = "";
static const char *argument = "";

void scene_enter(int argc, char **argv, const struct scene *scenes, unsigned count)
{
    if (argc < 2) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(scenes[i].name, argv[1]) == 0) {
            const struct rlimit no_core = {0};
            name = argv[1];
            argument = argc > 2 ? argv[2] : "";
            (void)setrlimit(RLIMIT_CORE, &no_core);
            (void)alarm(WATCHDOG);
            exit(scenes[i].work());
        }
    }
    (void)fprintf(stderr, "%s: there is no scene %s\n", argv[0], argv[1]);
    exit(2);
}

/* Under QEMU's user mode the kernel does not know what to do with this program. */
static void start_again(const char *scene, const char *with)
{
    char self[PATH_MAX] = "";
    const char *emulator = getenv("DRNG_TEST_EMULATOR");
    if (emulator == NULL) {
        (void)execl("/proc/self/exe", "scene", scene, with, (char *)NULL);
    } else if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0) {
        (void)execl(emulator, emulator, self, scene, with, (char *)NULL);
    }
}

int scene_play(const char *scene, const char *with, enum scene_cpu cpu)
{
    int status = -1;
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        if (cpu == SCENE_MASKED) {
            (void)setenv(variable, masked, 1);
        }
        start_again(scene, with);
        _exit(126);
    }
    pid_t done = -1;
    do {
        done = pid > 0 ? waitpid(pid, &status, 0) : -1;
    } while (done < 0 && errno == EINTR);
    return done == pid && pid > 0 ? status : -1;
}

const char *scene_argument(void)
{
    return argument;
}

bool scene_is_masked(void)
{
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, masked) == 0;
}

bool scene_says(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "  %s %.*s: ", name, (int)strcspn(argument, "\n"), argument);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return false;
}
