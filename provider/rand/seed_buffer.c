#include "provider/rand/seed_buffer.h"

#include "provider/errors.h"

/* 0 if max_len is too small. */
static size_t length(int entropy, size_t min_len, size_t max_len)
{
    const size_t wanted = entropy > 0 ? ((size_t)entropy + 7) / 8 : 0;
    const size_t len = wanted > min_len ? wanted : min_len;
    return len <= max_len ? len : 0;
}

unsigned char *drng_seed_buffer_for(const struct drng_core *core, int entropy, size_t min_len, size_t max_len,
                                    size_t *len)
{
    *len = length(entropy, min_len, max_len);
    if (*len == 0) {
        drng_raise(core, DRNG_R_SEED_LENGTH, "%d bits in %zu to %zu bytes", entropy, min_len, max_len);
        return NULL;
    }
    unsigned char *buffer = drng_secure_malloc(core, *len);
    if (buffer == NULL) {
        drng_raise(core, DRNG_R_OUT_OF_MEMORY, NULL);
    }
    return buffer;
}

void drng_seed_buffer_free(const struct drng_core *core, unsigned char *buffer, size_t len)
{
    drng_secure_clear_free(core, buffer, len);
}
