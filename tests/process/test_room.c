/* SPDX-License-Identifier: Apache-2.0 */
/*
 * However many generators there are, a seed after a generator's first finds its room made: in a sandbox that kills at
 * every system call but getrandom() all of them reseed.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "tests/process/filter.h"
#include "tests/process/kernel.h"
#include "tests/process/scene.h"
#include "tests/provider/evp.h"
#include "tests/unit/unit.h"

enum { MOST = 200 }; /* generators: past three chunks of slots, whatever else is in them */

static const long allowed[] = {SYS_read, SYS_write, SYS_exit, SYS_futex, SYS_getrandom};

static bool draw(EVP_RAND_CTX *rand, bool prediction_resistance)
{
    unsigned char out[64];
    return EVP_RAND_generate(rand, out, sizeof(out), 0, prediction_resistance, NULL, 0) == 1;
}

/* The argument is how many generators there are; the last one is below the first, which makes a seed for it. */
static int play_room(void)
{
    static EVP_RAND_CTX *rands[MOST];
    const unsigned count = (unsigned)strtoul(scene_argument(), NULL, 10);
    OSSL_LIB_CTX *libctx = evp_context("fallback = no\n");
    for (unsigned i = 0; i < count && libctx != NULL; i++) {
        EVP_RAND_CTX *parent = i > 0 && i == count - 1 ? rands[0] : NULL;
        rands[i] = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
        if (rands[i] == NULL || !draw(rands[i], false)) {
            return 1;
        }
    }
    if (!filter_allow_only(allowed, sizeof(allowed) / sizeof(*allowed))) {
        return 2;
    }
    bool served = true;
    for (unsigned i = 0; i < count; i++) {
        served = served && EVP_RAND_reseed(rands[i], 0, NULL, 0, NULL, 0) == 1 && draw(rands[i], true);
    }
    (void)syscall(SYS_exit, served ? 0 : 3); /* _exit() is another system call */
    return 4;
}

UNIT_TEST("every number of generators")
{
    unsigned failed = 0;
    for (unsigned count = 1; count <= MOST; count++) {
        char argument[16];
        (void)snprintf(argument, sizeof(argument), "%u", count);
        const int status = scene_play("room", argument, SCENE_AS_IT_IS);
        if (status != 0) {
            failed++;
            (void)printf("\n  %u generators: status %#x", count, (unsigned)status);
        }
    }
    CU_ASSERT_EQUAL(failed, 0);
}

static const struct scene scenes[] = {{"room", play_room}};

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes, sizeof(scenes) / sizeof(*scenes));
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
    return hardware ? unit_run("room for seeds") : unit_skipped("this CPU has no instruction to seed from");
}
