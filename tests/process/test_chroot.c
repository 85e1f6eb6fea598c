/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/cpuinfo is read when the provider loads on a CPU for which the kernel decides, and on no other. In a chroot
 * without /proc, where it cannot be read, RDSEED of such a CPU makes no seeds.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "provider/process.h"
#include "provider/provctx.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { ASKED = 10, UNJUDGED, NOT_ASKED, NOT_LOADED, NO_CHROOT };

static bool is_zen5;
static unsigned opened;

/* Linked with --wrap. */
void __wrap_drng_cpu_identify(struct drng_cpu *cpu)
{
    *cpu = (struct drng_cpu){.vendor = "AuthenticAMD", .family = is_zen5 ? 0x1a : 0x19, .model = 1};
    cpu->has[DRNG_RDSEED] = cpu->has[DRNG_RDRAND] = true;
}

FILE *__real_fopen(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode)
{
    opened += strcmp(path, "/proc/cpuinfo") == 0;
    return __real_fopen(path, mode);
}

/* In a process that has not loaded it before. */
static int load(void *zen5)
{
    is_zen5 = *(const bool *)zen5;
    struct drng_provctx *provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL) {
        return NOT_LOADED;
    }
    const bool known = drng_process.machine.evidence.kernel.known;
    const bool unjudged = provctx->eligibility.seeds[DRNG_RDSEED] == DRNG_UNJUDGED;
    drng_provctx_free(provctx);
    return opened == 0 ? NOT_ASKED : opened == 1 && known && !unjudged ? ASKED : unjudged ? UNJUDGED : NOT_LOADED;
}

static int load_in_a_chroot(void *zen5)
{
    char path[] = "/tmp/drng-chroot-XXXXXX";
    const bool entered = mkdtemp(path) != NULL && chdir(path) == 0 && rmdir(path) == 0 && chroot(".") == 0;
    return entered ? load(zen5) : NO_CHROOT;
}

static int answer(child_work *work, bool zen5)
{
    const int status = child_forked(work, &zen5);
    CU_ASSERT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

UNIT_TEST("the kernel is asked where it decides")
{
    CU_ASSERT_EQUAL(answer(load, true), ASKED);
    CU_ASSERT_EQUAL(answer(load, false), NOT_ASKED);
}

UNIT_TEST("where it cannot be asked it allows nothing")
{
    CU_ASSERT_EQUAL(answer(load_in_a_chroot, true), UNJUDGED);
    CU_ASSERT_EQUAL(answer(load_in_a_chroot, false), NOT_ASKED);
}

int main(void)
{
    return geteuid() != 0 ? unit_skipped("only root may enter a chroot") : unit_run("a chroot");
}
