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

#include "mixing/memory/fork.h"
#include "mixing/memory/secmem.h"
#include "mixing/memory/wipe.h"
#include "provider/rand/drbg.h"
#include "provider/rand/drbg_seed.h"
#include "provider/rand/store.h"
#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/maps.h"
#include "tests/unit/unit.h"

static struct drng_provctx *provctx;

/* A generator of the provider's, and so its secrets within reach. */
static struct drng_drbg *ready_drbg(void)
{
    struct drng_drbg *drbg = drng_drbg_newctx(provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_EQUAL_FATAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    return drbg;
}

static void secrets_lie_in_guarded_pages(void)
{
    if (unit_emulated("it drops advice on memory")) {
        return;
    }
    struct drng_drbg *drbg = ready_drbg();
    CU_ASSERT_TRUE(maps_has_flag(drbg->secrets, "dd"));
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || maps_has_flag(drbg->secrets, "wf"));
    struct rlimit limit;
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (limit.rlim_cur >= 1 << 20 && !kernel_is_instrumented()) { /* sanitizers lock nothing */
        CU_ASSERT_TRUE(maps_has_flag(drbg->secrets, "lo"));
    }
    /* The context itself, in ordinary memory, holds no byte of Key. */
    for (size_t i = 0; i + 16 <= sizeof(*drbg); i++) {
        CU_ASSERT_NOT_EQUAL(memcmp((unsigned char *)drbg + i, drbg->secrets->drbg.key, 16), 0);
    }
    drng_drbg_freectx(drbg);
}

/* A seed on its way in lies beside Key and V, and is gone when it has been used. */
static void seeds_lie_in_guarded_pages(void)
{
    if (unit_emulated("it drops advice on memory")) {
        return;
    }
    struct drng_drbg *drbg = ready_drbg();
    CU_ASSERT_TRUE(maps_has_flag(drbg->secrets->entropy, "dd"));
    CU_ASSERT_TRUE(bytes_are(drbg->secrets->entropy, sizeof(drbg->secrets->entropy), 0));
    drng_drbg_freectx(drbg);
}

static void a_freed_generator_leaves_zeros(void)
{
    struct drng_drbg *drbg = ready_drbg();
    const unsigned char *secrets = (const unsigned char *)drbg->secrets;
    CU_ASSERT_FALSE(bytes_are(secrets, DRNG_SLOT_SIZE, 0));
    drng_drbg_freectx(drbg);
    CU_ASSERT_TRUE(bytes_are(secrets, DRNG_SLOT_SIZE, 0));
}

/* ---- The store of a generator ---- */

/* A provider with `batch = yes`. */
static struct drng_provctx *batching;

static struct drng_drbg *ready_batch(void)
{
    struct drng_drbg *drbg = drng_drbg_newctx(batching, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_EQUAL_FATAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg->store);
    CU_ASSERT_TRUE(drng_is_wiped(drbg->store, DRNG_STORE_SIZE));
    return drbg;
}

/* Where the kernel does not wipe, every request takes in a word, so there is nothing to store. */
static bool has_no_stores(void)
{
    if (drng_fork_kernel_wipes) {
        return false;
    }
    struct drng_drbg *drbg = drng_drbg_newctx(batching, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_PTR_NULL(drbg->store);
    drng_drbg_freectx(drbg);
    return true;
}

static void take(struct drng_drbg *drbg, unsigned char *out, size_t len)
{
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, len, 0, 0, NULL, 0), 1);
}

static void a_store_lies_in_guarded_pages(void)
{
    if (has_no_stores()) {
        return;
    }
    struct drng_drbg *drbg = ready_batch();
    CU_ASSERT_TRUE(maps_has_flag(drbg->store, "dd"));
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || maps_has_flag(drbg->store, "wf"));
    CU_ASSERT_EQUAL(maps_has_flag(drbg->store, "lo"), maps_has_flag(drbg->secrets, "lo"));
    drng_drbg_freectx(drbg);
    drbg = ready_drbg();
    CU_ASSERT_PTR_NULL(drbg->store);
    drng_drbg_freectx(drbg);
}

/* Whatever the length is: blocks, and less. */
static void what_was_handed_out_is_erased_and_nothing_else(void)
{
    if (has_no_stores()) {
        return;
    }
    unsigned char out[64];
    struct drng_drbg *drbg = ready_batch();
    size_t gone = 0;
    for (size_t len = 1; len <= sizeof(out) && gone + len <= DRNG_STORE_SIZE; len++) {
        take(drbg, out, len);
        gone += len;
        CU_ASSERT_TRUE(drng_is_wiped(drbg->store, gone));
        CU_ASSERT_FALSE(drng_is_wiped(drbg->store + gone, 16));
        CU_ASSERT_EQUAL(drbg->secrets->stored, DRNG_STORE_SIZE - gone);
    }
    drng_drbg_freectx(drbg);
}

static uint64_t generate_requests_of(struct drng_drbg *drbg, unsigned draws)
{
    unsigned char out[16];
    take(drbg, out, sizeof(out));
    const uint64_t before = drbg->secrets->drbg.reseed_counter;
    for (unsigned i = 0; i < draws; i++) {
        take(drbg, out, sizeof(out));
    }
    return drbg->secrets->drbg.reseed_counter - before;
}

/* As if there had been no memory for it. */
static void without_a_store_every_request_is_a_generate_request(void)
{
    if (has_no_stores()) {
        return;
    }
    struct drng_drbg *drbg = ready_batch();
    CU_ASSERT_EQUAL(generate_requests_of(drbg, 10), 0);
    drng_secmem_free_wide(drbg->store);
    drbg->store = NULL;
    CU_ASSERT_EQUAL(generate_requests_of(drbg, 10), 10);
    drng_drbg_freectx(drbg);
}

static void reseed_store(struct drng_drbg *drbg)
{
    CU_ASSERT_TRUE(drng_drbg_seed_again(drbg, false, (struct drng_bytes){NULL, 0}, (struct drng_bytes){NULL, 0}));
}

/* Also where the seed does not come, the store is empty. */
static void fail_to_reseed_store(struct drng_drbg *drbg)
{
    const unsigned char short_entropy[1] = {0};
    const struct drng_bytes entropy = {short_entropy, sizeof(short_entropy)};
    CU_ASSERT_FALSE(drng_drbg_seed_again(drbg, false, entropy, (struct drng_bytes){NULL, 0}));
}

static void draw_with_additional_input(struct drng_drbg *drbg)
{
    static const unsigned char additional[1];
    unsigned char out[16];
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, sizeof(out), 0, 0, additional, sizeof(additional)), 1);
}

static void a_store_is_erased_when_its_bytes_are_outdated(void)
{
    if (has_no_stores()) {
        return;
    }
    static void (*const events[])(struct drng_drbg *) = {drng_drbg_forget, reseed_store, fail_to_reseed_store,
                                                         draw_with_additional_input};
    unsigned char out[16];
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        struct drng_drbg *drbg = ready_batch();
        take(drbg, out, sizeof(out));
        CU_ASSERT_FALSE(drng_is_wiped(drbg->store, DRNG_STORE_SIZE));
        events[i](drbg);
        CU_ASSERT_EQUAL(drbg->secrets->stored, 0);
        CU_ASSERT_TRUE(drng_is_wiped(drbg->store, DRNG_STORE_SIZE));
        drng_drbg_freectx(drbg);
    }
}

typedef int verify_fn(void *drbg);
typedef size_t get_seed_fn(void *drbg, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                           int prediction_resistance, const unsigned char *additional, size_t additional_len);
typedef void clear_seed_fn(void *drbg, unsigned char *seed, size_t len);

static void (*function_of(int id))(void)
{
    const OSSL_DISPATCH *at = drng_drbg_functions;
    while (at->function_id != id && at->function_id != 0) {
        at++;
    }
    return at->function;
}

static void zeroization_includes_the_store(void)
{
    if (has_no_stores()) {
        return;
    }
    verify_fn *verify = (verify_fn *)function_of(OSSL_FUNC_RAND_VERIFY_ZEROIZATION);
    struct drng_drbg *drbg = ready_batch();
    drng_drbg_forget(drbg);
    CU_ASSERT_EQUAL(verify(drbg), 1);
    drbg->store[DRNG_STORE_SIZE - 1] = 1;
    CU_ASSERT_EQUAL(verify(drbg), 0);
    drng_drbg_freectx(drbg);
}

/* It would be short enough for a piece. */
static void a_seed_for_a_child_is_no_piece(void)
{
    if (has_no_stores()) {
        return;
    }
    get_seed_fn *get_seed = (get_seed_fn *)function_of(OSSL_FUNC_RAND_GET_SEED);
    clear_seed_fn *clear_seed = (clear_seed_fn *)function_of(OSSL_FUNC_RAND_CLEAR_SEED);
    unsigned char out[16];
    unsigned char *seed = NULL;
    struct drng_drbg *drbg = ready_batch();
    take(drbg, out, sizeof(out));
    CU_ASSERT_EQUAL_FATAL(get_seed(drbg, &seed, 256, 32, 64, 0, NULL, 0), 32);
    CU_ASSERT_EQUAL(drbg->secrets->stored, DRNG_STORE_SIZE - sizeof(out));
    clear_seed(drbg, seed, 32);
    drng_drbg_freectx(drbg);
}

static void a_freed_store_leaves_zeros(void)
{
    if (has_no_stores()) {
        return;
    }
    unsigned char out[16];
    struct drng_drbg *drbg = ready_batch();
    const uint8_t *store = drbg->store;
    take(drbg, out, sizeof(out));
    drng_drbg_freectx(drbg);
    CU_ASSERT_TRUE(drng_is_wiped(store, DRNG_STORE_SIZE));
}

/* ---- Core dumps ---- */

/* Key and V, and the first bytes that wait in a store; told in blocks of 16 bytes. */
enum { SECRETS_LEN = DRNG_AES_MAX_KEY + 2 * DRNG_AES_BLOCK, MARKER_LEN = 32 };

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
    struct drng_drbg *drbg = ready_batch();
    const struct drng_ctr_drbg *secret = &drbg->secrets->drbg;
    (void)drng_drbg_generate(drbg, marker, sizeof(marker), 0, 0, NULL, 0);
    if (crash->dump_secrets && (!allow_dump(secret) || !allow_dump(drbg->store))) {
        return 1;
    }
    if (write(crash->tell, marker, sizeof(marker)) != sizeof(marker) ||
        write(crash->tell, secret->key, sizeof(secret->key)) != sizeof(secret->key) ||
        write(crash->tell, secret->v, sizeof(secret->v)) != sizeof(secret->v) ||
        write(crash->tell, drbg->store + sizeof(marker), DRNG_AES_BLOCK) != DRNG_AES_BLOCK ||
        chdir(crash->directory) != 0 || getrlimit(RLIMIT_CORE, &core) != 0) {
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

/* How many of Key's halves, V and a block of the store are in the core of a process that dies with them in use. */
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

static void a_core_dump_holds_no_secrets(void)
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
    (void)unused;
    at_exit = LOOK;
    if (!evp_configure_default() || RAND_bytes(out, sizeof(out)) != 1 || RAND_priv_bytes(out, sizeof(out)) != 1) {
        return 1;
    }
    if (kernel_filled_slots() == 0) {
        return 2; /* the look sees nothing, and proves nothing */
    }
    exit(0); // NOLINT(concurrency-mt-unsafe)
}

static void a_normal_exit_leaves_nothing(void)
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
    (void)unused;
    if (!evp_configure_default() || RAND_bytes(out, sizeof(out)) != 1 || RAND_priv_bytes(out, sizeof(out)) != 1) {
        return 1;
    }
    _exit(shared_mappings() == before ? 0 : 4);
}

static void nothing_lies_in_shared_memory(void)
{
    CU_ASSERT_EQUAL(child_forked(draw_and_count_shared_mappings, NULL), 0);
}

static const struct unit_test tests[] = {
    {"secrets lie in guarded pages", secrets_lie_in_guarded_pages},
    {"seeds lie in guarded pages", seeds_lie_in_guarded_pages},
    {"a freed generator leaves zeros", a_freed_generator_leaves_zeros},
    {"a store lies in guarded pages", a_store_lies_in_guarded_pages},
    {"what was handed out is erased and nothing else", what_was_handed_out_is_erased_and_nothing_else},
    {"without a store every request is a Generate request", without_a_store_every_request_is_a_generate_request},
    {"a store is erased when its bytes are outdated", a_store_is_erased_when_its_bytes_are_outdated},
    {"zeroization includes the store", zeroization_includes_the_store},
    {"a seed for a child is no piece", a_seed_for_a_child_is_no_piece},
    {"a freed store leaves zeros", a_freed_store_leaves_zeros},
    {"a core dump holds no secrets", a_core_dump_holds_no_secrets},
    {"a normal exit leaves nothing", a_normal_exit_leaves_nothing},
    {"nothing lies in shared memory", nothing_lies_in_shared_memory},
};

int main(void)
{
    if (atexit(handle_exit) != 0) {
        return 1;
    }
    provctx = drng_provctx_new(fake_handle, fake_core);
    fake_core_set_batch();
    batching = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL || batching == NULL) {
        return 1;
    }
    const int result = unit_run("memory", tests, sizeof(tests) / sizeof(*tests));
    drng_provctx_free(batching);
    drng_provctx_free(provctx);
    return result;
}
