/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes, entered after the first byte has been drawn: no file system, no file descriptors, no memory to lock, and
 * a filter that kills the process at any system call but a few. Hardware seeds go on.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "mixing/machine/instruction.h"
#include "tests/process/filter.h"
#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

/* read, write, exit, futex and, if it is asked for, getrandom. */
static bool filter(bool allow_getrandom)
{
    static const long allowed[] = {SYS_read, SYS_write, SYS_exit, SYS_futex, SYS_getrandom};
    return filter_allow_only(allowed, sizeof(allowed) / sizeof(*allowed) - !allow_getrandom);
}

static bool no_resources(void)
{
    const struct rlimit none = {0};
    return setrlimit(RLIMIT_MEMLOCK, &none) == 0 && setrlimit(RLIMIT_NOFILE, &none) == 0;
}

/* An empty root, without /dev and /proc. Only root may; others keep theirs, and the filter forbids open() anyway. */
static bool no_files(void)
{
    char path[] = "/tmp/drng-sandbox-XXXXXX";
    if (mkdtemp(path) == NULL || chdir(path) != 0 || rmdir(path) != 0) {
        return false;
    }
    return chroot(".") == 0 || errno == EPERM;
}

/* ---- What goes on inside ---- */

struct sandbox {
    const char *keys;
    bool allow_getrandom;
    size_t requests;
    bool reseed;
    bool breaks_out;
};

static bool draw(OSSL_LIB_CTX *libctx, size_t requests)
{
    unsigned char out[64];
    for (size_t i = 0; i < requests; i++) {
        if (RAND_bytes_ex(libctx, out, sizeof(out), 0) != 1 || RAND_priv_bytes_ex(libctx, out, sizeof(out), 0) != 1) {
            return false;
        }
    }
    return true;
}

/* The number of hardware seeds that were made, or 0. */
static bool reseed_all(OSSL_LIB_CTX *libctx)
{
    EVP_RAND_CTX *primary = RAND_get0_primary(libctx);
    const uint64_t before = evp_hardware_seeds(libctx);
    for (unsigned i = 0; i < 20; i++) {
        if (EVP_RAND_reseed(primary, 0, NULL, 0, NULL, 0) != 1 || !draw(libctx, 1)) {
            return false;
        }
    }
    return evp_hardware_seeds(libctx) == before + 20;
}

static int live_in(void *arg)
{
    const struct sandbox *sandbox = arg;
    OSSL_LIB_CTX *libctx = evp_context(sandbox->keys);
    if (libctx == NULL || !draw(libctx, 1) || !no_files() || !no_resources()) {
        return 1;
    }
    if (!filter(sandbox->allow_getrandom)) {
        return 2;
    }
    if (sandbox->breaks_out) {
        (void)syscall(SYS_getrandom, NULL, (size_t)0, 0U);
    }
    const bool served = draw(libctx, sandbox->requests) && (!sandbox->reseed || reseed_all(libctx));
    (void)syscall(SYS_exit, served ? 0 : 3); /* _exit() is another system call */
    return 4;
}

UNIT_TEST("hardware seeds go on")
{
    char sole[32];
    (void)snprintf(sole, sizeof(sole), "source = %s\n", drng_instruction_flag(DRNG_WORDS_INSTRUCTION));
    const char *const keys[] = {"", sole, "request_mixing = no\n", "os_mixing = no\n"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        struct sandbox sandbox = {.keys = keys[i], .allow_getrandom = true, .requests = 100, .reseed = true};
        CU_ASSERT_EQUAL(child_forked(live_in, &sandbox), 0);
    }
}

/* Between two seeds nothing but the processor is asked. */
UNIT_TEST("requests make no system call")
{
    static const char *const keys[] = {"request_mixing = yes\n", "request_mixing = no\n"};
    for (size_t i = 0; i < 2; i++) {
        struct sandbox sandbox = {.keys = keys[i], .requests = 60000};
        CU_ASSERT_EQUAL(child_forked(live_in, &sandbox), 0);
    }
}

/* Like a worker that enters its sandbox before it has drawn: what it has of generators is its parent's. */
static OSSL_LIB_CTX *inherited;

static int live_on_what_was_inherited(void *unused)
{
    if (!no_files() || !no_resources() || !filter(true)) {
        return 1;
    }
    (void)syscall(SYS_exit, draw(inherited, 100) ? 0 : 2);
    return 3;
}

UNIT_TEST("a child draws for the first time")
{
    inherited = evp_context("");
    CU_ASSERT_TRUE(draw(inherited, 1));
    CU_ASSERT_EQUAL(child_forked(live_on_what_was_inherited, NULL), 0);
    CU_ASSERT_EQUAL(child_cloned(live_on_what_was_inherited, NULL), 0);
    OSSL_LIB_CTX_free(inherited);
}

/* ---- Room for seeds ---- */

enum { MOST = 200 }; /* generators: past three chunks of slots, whatever else is in them */

static bool reseed_and_draw(EVP_RAND_CTX *rand)
{
    unsigned char out[64];
    return EVP_RAND_reseed(rand, 0, NULL, 0, NULL, 0) == 1 &&
           EVP_RAND_generate(rand, out, sizeof(out), 0, 1, NULL, 0) == 1;
}

/* So many generators; the last one is below the first, which makes a seed for it. */
static int reseed_each(void *vcount)
{
    static EVP_RAND_CTX *rands[MOST];
    const unsigned count = *(const unsigned *)vcount;
    OSSL_LIB_CTX *libctx = evp_context("fallback = no\n");
    for (unsigned i = 0; i < count; i++) {
        EVP_RAND_CTX *parent = i > 0 && i == count - 1 ? rands[0] : NULL;
        rands[i] = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
    }
    if (!filter(true)) {
        return 2;
    }
    bool served = true;
    for (unsigned i = 0; i < count; i++) {
        served = served && reseed_and_draw(rands[i]);
    }
    (void)syscall(SYS_exit, served ? 0 : 3);
    return 4;
}

UNIT_TEST("a seed finds its room made, however many generators there are")
{
    for (unsigned count = 1; count <= MOST; count++) {
        CU_ASSERT_EQUAL(child_forked(reseed_each, &count), 0);
    }
}

/* The control. Not OS mixing: with a C library of 2024 or later that need not be a system call. */
UNIT_TEST("the filter kills")
{
    struct sandbox sandbox = {.keys = "", .requests = 1, .breaks_out = true};
    const int status = child_forked(live_in, &sandbox);
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

int main(void)
{
    if (kernel_is_instrumented()) {
        return unit_skipped("sanitizers and valgrind make system calls of their own");
    }
    if (unit_emulated("the filter would be on QEMU's own system calls")) {
        return UNIT_SKIPPED;
    }
    OSSL_LIB_CTX *libctx = evp_context("");
    unsigned char out[1];
    (void)RAND_bytes_ex(libctx, out, sizeof(out), 0);
    const bool hardware = evp_hardware_seeds(libctx) > 0;
    OSSL_LIB_CTX_free(libctx);
    return hardware ? unit_run("sandboxes") : unit_skipped("this CPU has no instruction to seed from");
}
