#include "provider/fallback.h"

#include <string.h>

#include "provider/core.h"

bool drng_has_default_seed_source(const struct drng_core *core)
{
    return core->get_entropy != NULL && core->cleanup_entropy != NULL;
}

/* The core may return more bytes than were asked for, and never fewer. */
bool drng_default_seed_source(void *arg, uint8_t *out, size_t len)
{
    const struct drng_core *core = arg;
    unsigned char *bytes = NULL;
    const size_t got = core->get_entropy(core->handle, &bytes, (int)(8 * len), len, len);
    const bool enough = got >= len;
    if (enough) {
        memcpy(out, bytes, len);
    }
    if (got > 0) {
        core->cleanup_entropy(core->handle, bytes, got);
    }
    return enough;
}
