/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/maps.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Read without stdio, whose buffer might be a mapping of its own. */
size_t maps_count(void)
{
    static char text[4096];
    size_t lines = 0;
    ssize_t got = 0;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            lines += text[i] == '\n';
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return lines;
}

bool maps_mention(const char *name)
{
    char line[1024];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
        found = strstr(line, name) != NULL;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return found;
}

static bool has_word(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    return at != NULL && at > line && at[-1] == ' ' && strchr(" \n", at[strlen(word)]) != NULL;
}

static bool is_flag_line(const char *line, const char *flag)
{
    return strncmp(line, "VmFlags:", 8) == 0 && has_word(line, flag);
}

size_t maps_with_flag(const char *flag)
{
    char line[1024];
    size_t count = 0;
    FILE *smaps = fopen("/proc/self/smaps", "re");
    while (smaps != NULL && fgets(line, sizeof(line), smaps) != NULL) {
        count += is_flag_line(line, flag);
    }
    if (smaps != NULL) {
        (void)fclose(smaps);
    }
    return count;
}

bool maps_has_flag(const void *address, const char *flag)
{
    char line[1024];
    bool inside = false;
    bool found = false;
    FILE *smaps = fopen("/proc/self/smaps", "re");
    while (smaps != NULL && fgets(line, sizeof(line), smaps) != NULL) {
        unsigned long from = 0;
        unsigned long to = 0;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
        }
        found = found || (inside && is_flag_line(line, flag));
    }
    if (smaps != NULL) {
        (void)fclose(smaps);
    }
    return found;
}
