#include "provider/provctx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "provider/errors.h"
#include "provider/process.h"
#include "provider/random_bytes.h"
#include "provider/report.h"

/* ---- The fallback ---- */

/* OpenSSL's default seed source. It may give more than was asked for, never less. */
static bool default_seed_source(void *arg, uint8_t *out, size_t len)
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

/* ---- Reasons ---- */

/* Appends to a list in text; always NUL-terminated. */
static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    const char *separator = used > 0 ? "; " : "";
    const int len = snprintf(text + used, size - used, "%s", separator);
    va_list args;
    va_start(args, format);
    if (len >= 0 && (size_t)len < size - used) {
        (void)vsnprintf(text + used + len, size - used - (size_t)len, format, args);
    }
    va_end(args);
}

static bool disabled(const struct drng_instruction *in)
{
    return atomic_load_explicit(&in->disabled, memory_order_relaxed);
}

static void append_disabled(char *text, size_t size, const struct drng_instruction *in, enum drng_denial denial)
{
    if (denial != DRNG_ALLOWED) {
        append(text, size, "%s: %s", in->name, drng_denial_text(denial));
    } else if (disabled(in)) {
        const unsigned test = atomic_load_explicit(&in->failed_test, memory_order_relaxed);
        append(text, size, "%s: disabled after two failed health tests, the last the %s", in->name,
               drng_health_test_name((enum drng_health_test)test));
    }
}

static void append_dry(char *text, size_t size, const struct drng_instruction *in, enum drng_denial denial)
{
    if (denial == DRNG_ALLOWED && !disabled(in)) {
        append(text, size, "%s: too few words in its time, the next request tries again", in->name);
    }
}

/* Under the root's lock, since two threads may ask at once; written only where it says something new. */
const char *drng_provctx_disabled_reason(struct drng_provctx *provctx)
{
    char text[DRNG_TEXT_SIZE] = "";
    append_disabled(text, sizeof(text), &drng_process.rdseed, provctx->eligibility.rdseed);
    append_disabled(text, sizeof(text), &drng_process.rdrand, provctx->eligibility.rdrand);
    if (drng_lock(&provctx->root->lock)) {
        if (strcmp(text, provctx->disabled_reason) != 0) {
            memcpy(provctx->disabled_reason, text, sizeof(text));
        }
        drng_unlock(&provctx->root->lock);
    }
    return provctx->disabled_reason;
}

void drng_provctx_why(struct drng_provctx *provctx, char text[DRNG_WHY_SIZE])
{
    (void)snprintf(text, DRNG_WHY_SIZE, "%s", drng_provctx_disabled_reason(provctx));
    append_dry(text, DRNG_WHY_SIZE, &drng_process.rdseed, provctx->eligibility.rdseed);
    append_dry(text, DRNG_WHY_SIZE, &drng_process.rdrand, provctx->eligibility.rdrand);
}

void drng_provctx_raise_seed(struct drng_provctx *provctx, enum drng_status status)
{
    char why[DRNG_WHY_SIZE];
    drng_provctx_why(provctx, why);
    if (status == DRNG_FALLBACK_FAILED) {
        drng_raise(&provctx->core, DRNG_R_FALLBACK_FAILED, "%s; check that the process may call getrandom()", why);
    } else {
        drng_raise(&provctx->core, DRNG_R_NO_SEED_SOURCE,
                   "%s; allow the default seed source with fallback = yes, or use a CPU that can", why);
    }
}

/* ---- Life ---- */

static void settle_policy(struct drng_provctx *provctx)
{
    const struct drng_config *config = &provctx->config;
    const struct drng_cpu *cpu = &drng_process.evidence.cpu;
    const bool has_default_source = provctx->core.get_entropy != NULL && provctx->core.cleanup_entropy != NULL;

    provctx->eligibility = drng_eligibility_decide(&drng_process.evidence, config->source);
    provctx->policy = (struct drng_seed_policy){
        .rdseed = provctx->eligibility.rdseed == DRNG_ALLOWED ? &drng_process.rdseed : NULL,
        .rdrand = provctx->eligibility.rdrand == DRNG_ALLOWED ? &drng_process.rdrand : NULL,
        .aes = drng_process.aes,
        .fused = drng_process.aes != &drng_aes_evp,
        .conditioner = config->conditioner,
        .os_mixing = config->os_mixing,
        .fallback = config->fallback && has_default_source ? default_seed_source : NULL,
        .fallback_arg = &provctx->core,
        .counters = &drng_page.live->counters,
    };
    provctx->fresh = provctx->eligibility.fresh == DRNG_ALLOWED ? &drng_process.rdrand : NULL;
    provctx->mixes_requests =
        config->request_mixing == DRNG_YES || (config->request_mixing == DRNG_AUTO && cpu->hypervisor);
}

static bool allocate(struct drng_provctx *provctx)
{
    provctx->root = drng_secmem_alloc();
    provctx->threads = drng_threads_new();
    if (provctx->root == NULL || provctx->threads == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        return false;
    }
    return true;
}

/* Everything but HMAC was tested when AES was chosen; HMAC is where it conditions. */
static bool test(const struct drng_provctx *provctx)
{
    const char *failed = NULL;
    const bool with_hmac = provctx->config.conditioner == DRNG_HMAC_SHA256;
    if (!drng_process_healthy() || with_hmac) {
        if (!drng_process_self_test(with_hmac, &failed)) {
            drng_refuse(&provctx->core, DRNG_R_SELF_TEST_FAILED, "%s gave a wrong answer: CPU or libcrypto is broken",
                        failed);
            return false;
        }
    }
    return true;
}

struct drng_provctx *drng_provctx_new(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in)
{
    struct drng_core core;
    drng_core_init(&core, handle, in);

    struct drng_provctx *provctx = OPENSSL_zalloc(sizeof(*provctx));
    if (provctx == NULL) {
        drng_raise(&core, DRNG_R_OUT_OF_MEMORY, NULL);
        return NULL;
    }
    provctx->core = core;
    if (!drng_config_read(&provctx->config, &provctx->core)) {
        OPENSSL_free(provctx);
        return NULL;
    }
    if (!drng_process_open()) {
        drng_raise(&core, DRNG_R_OUT_OF_MEMORY, NULL);
        OPENSSL_free(provctx);
        return NULL;
    }
    settle_policy(provctx);
    if (!allocate(provctx) || !test(provctx)) {
        drng_provctx_free(provctx);
        return NULL;
    }
    drng_report_loaded(provctx);
    return provctx;
}

void drng_provctx_free(struct drng_provctx *provctx)
{
    drng_threads_free(provctx->threads);
    drng_secmem_free(provctx->root);
    drng_process_close();
    OPENSSL_free(provctx);
}
