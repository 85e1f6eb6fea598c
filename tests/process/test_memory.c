/* SPDX-License-Identifier: Apache-2.0 */
/* Where secrets lie, and that they are gone: pages, core dumps, free, unload, exit. */

#define _GNU_SOURCE

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "mixing/machine/wipe.h"
#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "provider/rand/drbg.h"
#include "tests/process/inside.h"
#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/maps.h"
#include "tests/unit/unit.h"

static const struct drng_bytes nothing = {NULL, 0};

static struct drng_provctx *provctx;

static void (*function_of(int id))(void)
{
    const OSSL_DISPATCH *at = drng_drbg_functions;
    while (at->function_id != id && at->function_id != 0) {
        at++;
    }
    return at->function;
}

static void free_drbg(struct drng_drbg *drbg)
{
    ((OSSL_FUNC_rand_freectx_fn *)function_of(OSSL_FUNC_RAND_FREECTX))(drbg);
}

/* A generator of the provider's, and so its secrets within reach. */
static struct drng_drbg *ready_drbg(void)
{
    struct drng_drbg *drbg = ((OSSL_FUNC_rand_newctx_fn *)function_of(OSSL_FUNC_RAND_NEWCTX))(provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_EQUAL_FATAL(drng_generator_instantiate(&drbg->generator, NULL, 0, false, nothing), DRNG_OK);
    return drbg;
}

UNIT_TEST("secrets lie in guarded pages")
{
    if (unit_emulated("it drops advice on memory")) {
        return;
    }
    struct drng_drbg *drbg = ready_drbg();
    const struct drng_ctr_drbg *secrets = inside_drbg(&drbg->generator);
    CU_ASSERT_TRUE(maps_has_flag(secrets, "dd"));
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || maps_has_flag(secrets, "wf"));
    struct rlimit limit;
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (limit.rlim_cur >= 1 << 20 && !kernel_is_instrumented()) { /* sanitizers lock nothing */
        CU_ASSERT_TRUE(maps_has_flag(secrets, "lo"));
    }
    /* The context itself, in ordinary memory, holds no byte of Key. */
    for (size_t i = 0; i + 16 <= sizeof(*drbg); i++) {
        CU_ASSERT_NOT_EQUAL(memcmp((unsigned char *)drbg + i, secrets->key, 16), 0);
    }
    free_drbg(drbg);
}

/* A seed on its way in lies beside Key and V, and is gone when it has been used. */
UNIT_TEST("seeds lie in guarded pages")
{
    if (unit_emulated("it drops advice on memory")) {
        return;
    }
    struct drng_drbg *drbg = ready_drbg();
    const uint8_t *entropy = inside_entropy(&drbg->generator);
    CU_ASSERT_TRUE(maps_has_flag(entropy, "dd"));
    CU_ASSERT_TRUE(bytes_are(entropy, DRNG_DRBG_MAX_SEEDLEN, 0));
    free_drbg(drbg);
}

UNIT_TEST("a freed generator leaves zeros")
{
    struct drng_drbg *drbg = ready_drbg();
    const void *slot = drbg->generator.place.slot;
    CU_ASSERT_FALSE(bytes_are(slot, DRNG_SLOT_SIZE, 0));
    free_drbg(drbg);
    CU_ASSERT_TRUE(bytes_are(slot, DRNG_SLOT_SIZE, 0));
}

/* ---- Core dumps ---- */

/* Key and V, told in blocks of 16 bytes. */
enum { SECRETS_LEN = DRNG_AES_MAX_KEY + DRNG_AES_BLOCK, MARKER_LEN = 32 };

struct crash {
    int tell; /* where the secrets go, and the marker */
    bool dump_secrets;
    bool at_exit;
    const char *directory;
};

/* In ordinary memory: what a core dump is sure to hold. Filled at run time, or the program's file would hold it too. */
static unsigned char marker[MARKER_LEN];

/* What happens at exit, after libcrypto's own handler: this one is registered first. */
static enum { NOTHING, LOOK, CRASH } at_exit;

static void handle_exit(void)
{
    if (at_exit == LOOK) {
        _exit(kernel_filled_slots() == 0 ? 0 : 5);
    }
    if (at_exit == CRASH) {
        abort();
    }
}

static bool allow_dump(const void *secret)
{
    const uintptr_t page = (uintptr_t)secret & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    return madvise((void *)page, 1, MADV_DODUMP) == 0;
}

/* Makes a generator, tells its state from where it lies, and dies: at once, or at an exit that has cleaned nothing up.
 */
static int crash_with_secrets(const struct crash *crash)
{
    struct rlimit core;
    struct drng_drbg *drbg = ready_drbg();
    const struct drng_ctr_drbg *secret = inside_drbg(&drbg->generator);
    if (drng_generator_generate(&drbg->generator, marker, sizeof(marker), 0, NULL) != DRNG_OK ||
        (crash->dump_secrets && !allow_dump(secret))) {
        return 1;
    }
    if (write(crash->tell, marker, sizeof(marker)) != sizeof(marker) ||
        write(crash->tell, secret->key, sizeof(secret->key)) != sizeof(secret->key) ||
        write(crash->tell, secret->v, sizeof(secret->v)) != sizeof(secret->v) || chdir(crash->directory) != 0 ||
        getrlimit(RLIMIT_CORE, &core) != 0) {
        return 2;
    }
    core.rlim_cur = core.rlim_max;
    if (setrlimit(RLIMIT_CORE, &core) != 0) {
        return 3;
    }
    if (crash->at_exit) {
        at_exit = CRASH;
        exit(0); // NOLINT(concurrency-mt-unsafe)
    }
    abort();
}

/* Not by child_forked(), which allows no core. */
static int status_of_crash(const struct crash *crash)
{
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(crash_with_secrets(crash));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* How often `what` stands in the file; its first 16 bytes will do for a state. */
static unsigned occurrences(const char *path, const unsigned char *what, size_t len)
{
    struct stat info;
    unsigned found = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CU_ASSERT_TRUE_FATAL(fd >= 0 && fstat(fd, &info) == 0);
    const size_t size = (size_t)info.st_size;
    unsigned char *core = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(core, MAP_FAILED);
    const unsigned char *at = core;
    while ((at = memmem(at, size - (size_t)(at - core), what, len)) != NULL) {
        found++;
        at++;
    }
    (void)munmap(core, size);
    (void)close(fd);
    return found;
}

/* How many of Key's halves and V are in the core of a process that dies with them in use. */
static unsigned secrets_in_core(bool dump_secrets, bool at_its_exit)
{
    char directory[] = "/tmp/drng-core-XXXXXX";
    char path[64];
    int tell[2];
    unsigned char told[MARKER_LEN + SECRETS_LEN];
    CU_ASSERT_TRUE_FATAL(mkdtemp(directory) != NULL && pipe(tell) == 0);
    const struct crash crash = {
        .tell = tell[1], .dump_secrets = dump_secrets, .at_exit = at_its_exit, .directory = directory};
    const int status = status_of_crash(&crash);
    CU_ASSERT_TRUE_FATAL(WIFSIGNALED(status) && WCOREDUMP(status));
    CU_ASSERT_EQUAL_FATAL(read(tell[0], told, sizeof(told)), sizeof(told));
    (void)snprintf(path, sizeof(path), "%s/core", directory);
    CU_ASSERT_TRUE(occurrences(path, told, MARKER_LEN) > 0);
    unsigned found = 0;
    for (size_t i = MARKER_LEN; i < sizeof(told); i += 16) {
        found += occurrences(path, told + i, 16) > 0;
    }
    (void)unlink(path);
    (void)rmdir(directory);
    (void)close(tell[0]);
    (void)close(tell[1]);
    return found;
}

/* Cores that go elsewhere than to a file "core" in the working directory are out of this test's reach. */
static bool cores_are_files(void)
{
    char pattern[64] = "";
    char uses_pid = '1';
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "re");
    const bool plain = file != NULL && fgets(pattern, sizeof(pattern), file) != NULL && strcmp(pattern, "core\n") == 0;
    FILE *with_pid = fopen("/proc/sys/kernel/core_uses_pid", "re");
    const bool known = with_pid != NULL && fread(&uses_pid, 1, 1, with_pid) == 1;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (with_pid != NULL) {
        (void)fclose(with_pid);
    }
    return plain && known && uses_pid == '0';
}

UNIT_TEST("a core dump holds no secrets")
{
    if (unit_emulated("the core is one of QEMU")) {
        return;
    }
    if (!cores_are_files() || kernel_is_instrumented()) {
        (void)printf("no core files here, skipped ");
        CU_PASS("a skip");
        return;
    }
    CU_ASSERT_EQUAL(secrets_in_core(false, false), 0);
    CU_ASSERT_EQUAL(secrets_in_core(true, false), SECRETS_LEN / 16);
    CU_ASSERT_EQUAL(secrets_in_core(false, true), 0);
    CU_ASSERT_EQUAL(secrets_in_core(true, true), SECRETS_LEN / 16);
}

/* ---- Exit ---- */

static int draw_and_exit(void *unused)
{
    unsigned char out[32];
    at_exit = LOOK;
    if (!evp_configure_default() || RAND_bytes(out, sizeof(out)) != 1 || RAND_priv_bytes(out, sizeof(out)) != 1) {
        return 1;
    }
    if (kernel_filled_slots() == 0) {
        return 2; /* the look sees nothing, and proves nothing */
    }
    exit(0); // NOLINT(concurrency-mt-unsafe)
}

UNIT_TEST("a normal exit leaves nothing")
{
    if (unit_emulated("memory is known by an advice, which it drops")) {
        return;
    }
    /* The kernel takes the memory back then; until it does, a dump of it holds no secrets: above. */
    if (OPENSSL_version_major() >= 4) {
        (void)printf("OpenSSL 4 tears nothing down, not even in OPENSSL_cleanup(), skipped ");
        CU_PASS("a skip");
        return;
    }
    CU_ASSERT_EQUAL(child_forked(draw_and_exit, NULL), 0);
}

/* Of this process: what is shared outlives it, and others may map it. */
static unsigned shared_mappings(void)
{
    char line[512];
    char flags[5] = "";
    unsigned found = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        found += sscanf(line, "%*s %4s", flags) == 1 && flags[3] == 's';
    }
    return maps != NULL && fclose(maps) == 0 && flags[0] != '\0' ? found : UINT_MAX;
}

static int draw_and_count_shared_mappings(void *unused)
{
    unsigned char out[32];
    const unsigned before = shared_mappings();
    if (!evp_configure_default() || RAND_bytes(out, sizeof(out)) != 1 || RAND_priv_bytes(out, sizeof(out)) != 1) {
        return 1;
    }
    _exit(shared_mappings() == before ? 0 : 4);
}

UNIT_TEST("nothing lies in shared memory")
{
    CU_ASSERT_EQUAL(child_forked(draw_and_count_shared_mappings, NULL), 0);
}

int main(void)
{
    if (atexit(handle_exit) != 0) {
        return 1;
    }
    provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL) {
        return 1;
    }
    const int result = unit_run("memory");
    drng_provctx_free(provctx);
    return result;
}
