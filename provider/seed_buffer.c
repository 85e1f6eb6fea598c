#include "provider/seed_buffer.h"

#include <openssl/crypto.h>

#include "mixing/secmem.h"

size_t drng_seed_buffer_len(int entropy, size_t min_len, size_t max_len)
{
    const size_t wanted = entropy > 0 ? ((size_t)entropy + 7) / 8 : 0;
    const size_t len = wanted > min_len ? wanted : min_len;
    return len <= max_len ? len : 0;
}

unsigned char *drng_seed_buffer_new(size_t len)
{
    return len <= DRNG_SLOT_SIZE ? drng_secmem_alloc() : OPENSSL_secure_malloc(len);
}

void drng_seed_buffer_free(unsigned char *buffer, size_t len)
{
    if (len <= DRNG_SLOT_SIZE) {
        drng_secmem_free(buffer);
    } else {
        OPENSSL_secure_clear_free(buffer, len);
    }
}
