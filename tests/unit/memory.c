#include "tests/unit/memory.h"

#include <stdlib.h>

#include <openssl/crypto.h>

static bool failing;
static unsigned left; /* allocations that succeed all the same */

static bool fails(void)
{
    if (failing && left > 0) {
        left--;
        return false;
    }
    return failing;
}

static void *allocate(size_t len, const char *file, int line)
{
    (void)file;
    (void)line;
    return fails() ? NULL : malloc(len);
}

static void *reallocate(void *data, size_t len, const char *file, int line)
{
    (void)file;
    (void)line;
    return fails() ? NULL : realloc(data, len);
}

static void release(void *data, const char *file, int line)
{
    (void)file;
    (void)line;
    free(data);
}

bool memory_install(void)
{
    return CRYPTO_set_mem_functions(allocate, reallocate, release) == 1;
}

void memory_fail(bool fail)
{
    failing = fail;
    left = 0;
}

void memory_fail_after(unsigned allocations)
{
    failing = true;
    left = allocations;
}
