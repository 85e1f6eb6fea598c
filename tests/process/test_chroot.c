/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's verdict on the instructions: read from /proc/cpuinfo when the provider loads, and in a chroot without
 * /proc, where it cannot be read, left to CPUID.
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

enum { KNOWN = 10, UNKNOWN, NOT_LOADED, DENIED_BY_NOBODY, NO_CHROOT };

/* In a process that has not loaded it before. */
static int load(void)
{
    struct drng_provctx *provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL) {
        return NOT_LOADED;
    }
    const struct drng_evidence *evidence = &drng_process.evidence;
    const bool vetoed = provctx->eligibility.seeds[DRNG_RDRAND] == DRNG_VETOED ||
                        provctx->eligibility.seeds[DRNG_RDSEED] == DRNG_VETOED;
    const bool known = evidence->kernel.known;
    drng_provctx_free(provctx);
    return vetoed && !known ? DENIED_BY_NOBODY : known ? KNOWN : UNKNOWN;
}

static int load_here(void *unused)
{
    return load();
}

static int load_in_a_chroot(void *unused)
{
    char path[] = "/tmp/drng-chroot-XXXXXX";
    const bool entered = mkdtemp(path) != NULL && chdir(path) == 0 && rmdir(path) == 0 && chroot(".") == 0;
    return entered ? load() : NO_CHROOT;
}

static bool proc_has_flags(void)
{
    char line[4096];
    bool found = false;
    FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
    while (cpuinfo != NULL && !found && fgets(line, sizeof(line), cpuinfo) != NULL) {
        found = strncmp(line, "flags", 5) == 0;
    }
    if (cpuinfo != NULL) {
        (void)fclose(cpuinfo);
    }
    return found;
}

UNIT_TEST("the kernel is asked")
{
    const int status = child_forked(load_here, NULL);
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), proc_has_flags() ? KNOWN : UNKNOWN);
}

UNIT_TEST("where it cannot be, CPUID decides")
{
    const int status = child_forked(load_in_a_chroot, NULL);
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), UNKNOWN);
}

int main(void)
{
    return geteuid() != 0 ? unit_skipped("only root may enter a chroot") : unit_run("a chroot");
}
