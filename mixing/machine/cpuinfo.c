#include "mixing/machine/cpuinfo.h"

#include <stddef.h>
#include <string.h>

static const char *flags_line(const char *text)
{
    while (text != NULL) {
        if (strncmp(text, "flags", 5) == 0 && strchr("\t :", text[5]) != NULL) {
            return text;
        }
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    return NULL;
}

/* Whether `word` stands between `line` and `end` as a whole word. */
static bool has_word(const char *line, const char *end, const char *word)
{
    const size_t len = strlen(word);
    const char *at = strstr(line, word);
    for (; at != NULL && at < end; at = strstr(at + 1, word)) {
        if (strchr(" \t:", at[-1]) != NULL && strchr(" \t\n", at[len]) != NULL) {
            return true;
        }
    }
    return false;
}

bool drng_cpuinfo_parse(const char *text, struct drng_kernel_flags *flags)
{
    const char *line = flags_line(text);
    const char *end = line != NULL ? strchr(line, '\n') : NULL;
    if (end == NULL) {
        return false;
    }
    flags->known = true;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        flags->has[i] = has_word(line, end, drng_instruction_flag(i));
    }
    return true;
}
