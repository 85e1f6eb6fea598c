#include "provider/ia32cap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

/* Bits of the two words: CPUID.1 EDX and ECX, then CPUID.7.0 EBX and ECX. */
enum {
    RDRAND = 62,
    AES_NI = 57,
    SSSE3 = 41,
    RDSEED = 18,
    AVX2 = 5,
    AVX512F = 16,
    VAES = 41,
};

static bool has(uint64_t word, int bit)
{
    return (word >> bit & 1) != 0;
}

/* The first two words of "OPENSSL_ia32cap=0x...:0x...", whatever follows them. */
static bool parse(const char *text, uint64_t *first, uint64_t *second)
{
    static const char name[] = "OPENSSL_ia32cap=";
    if (text == NULL || strncmp(text, name, sizeof(name) - 1) != 0) {
        return false;
    }
    const char *at = text + sizeof(name) - 1;
    char *end = NULL;
    *first = strtoull(at, &end, 16);
    if (end == at || *end != ':') {
        return false;
    }
    at = end + 1;
    *second = strtoull(at, &end, 16);
    return end != at;
}

void drng_ia32cap_apply_text(struct drng_evidence *evidence, const char *text)
{
    uint64_t first = 0;
    uint64_t second = 0;
    if (!parse(text, &first, &second)) {
        return;
    }
    struct drng_cpu *cpu = &evidence->cpu;
    evidence->masked[DRNG_RDRAND] = cpu->has[DRNG_RDRAND] && !has(first, RDRAND);
    evidence->masked[DRNG_RDSEED] = cpu->has[DRNG_RDSEED] && !has(second, RDSEED);
    cpu->aes = cpu->aes && has(first, AES_NI) && has(first, SSSE3);
    cpu->vaes256 = cpu->vaes256 && cpu->aes && has(second, AVX2) && has(second, VAES);
    cpu->vaes512 = cpu->vaes512 && cpu->aes && has(second, AVX512F) && has(second, VAES);
}

void drng_ia32cap_apply(struct drng_evidence *evidence)
{
    drng_ia32cap_apply_text(evidence, OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS));
}
