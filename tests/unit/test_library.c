/* SPDX-License-Identifier: Apache-2.0 */
/* libdrng's seeds and generators: who serves under each choice, of what words, and what is left after a failure. */

#define _GNU_SOURCE

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/drbg/self_test.h"
#include "tests/unit/bytes.h"
#include "tests/unit/library_rig.h"
#include "tests/unit/seed_model.h"
#include "tests/unit/unit.h"

enum {
    KEY_AT = DRNG_STARTUP_WORDS,
    WINDOW_AT = KEY_AT + SEED_MODEL_KEY_WORDS,
    SEED_LEN = 48,
    TAKEN_BEFORE = 0xaa,
    KERNEL_BYTE = 0x5c,
    MAX_REQUEST = DRNG_DRBG_MAX_REQUEST,
    LIMIT = 1 << 16, /* requests on one seed */
};

static uint8_t out[3 * MAX_REQUEST];
static uint8_t model[3 * MAX_REQUEST];

/* ---- A system in which calls fail, and the time is what the test says ---- */

static bool mmap_fails;
static bool no_aes_passes;
static time_t now = 1000;
static time_t leap; /* what passes after each look at the clock */

void *__real_mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset)
{
    return mmap_fails ? MAP_FAILED : __real_mmap(address, len, protection, flags, fd, offset);
}

const struct drng_aes *__real_drng_self_test_choose(const struct drng_cpu *cpu, const char **what);
const struct drng_aes *__wrap_drng_self_test_choose(const struct drng_cpu *cpu, const char **what)
{
    return no_aes_passes ? NULL : __real_drng_self_test_choose(cpu, what);
}

static bool hmac_fails;

enum drng_result __real_drng_self_test(const struct drng_aes *aes, size_t key_len, bool with_hmac, const char **what);
enum drng_result __wrap_drng_self_test(const struct drng_aes *aes, size_t key_len, bool with_hmac, const char **what)
{
    return hmac_fails && with_hmac ? DRNG_SELF_TEST_FAILED : __real_drng_self_test(aes, key_len, with_hmac, what);
}

time_t __wrap_time(time_t *where)
{
    if (where != NULL) {
        *where = now;
    }
    now += leap;
    return now - leap;
}

/* ---- The rig ---- */

static drng *handle;

static void set_up(scripted_behaviour *rdseed, scripted_behaviour *rdrand)
{
    drng_close(handle);
    handle = NULL;
    library_rig_set_up(rdseed, rdrand);
    memset(out, TAKEN_BEFORE, sizeof(out));
}

static int seed(size_t len, enum drng_choice choice, struct drng_seed_info *info)
{
    return drng_conditioned_seed(out, len, choice, DRNG_BY_CBC_MAC, info);
}

static struct drng_info info(void)
{
    struct drng_info info = {.strength = 1};
    CU_ASSERT_EQUAL(drng_info(handle, &info), DRNG_SUCCESS);
    return info;
}

/* The first seed of a process, from good words. */
static void compute_seed(const struct scripted_instruction *cpu, enum drng_conditioner_kind kind, uint8_t *bytes,
                         size_t len)
{
    const size_t window = cpu == &scripted_rdseed ? DRNG_RDSEED_WORDS : DRNG_RDRAND_WORDS;
    CU_ASSERT_TRUE(seed_model_condition(kind, &cpu->log[KEY_AT], &cpu->log[WINDOW_AT], window, bytes, len));
}

/* ---- Before the first call, and without memory for it ---- */

/* A signal handler may make the first call, and opening allocates. */
UNIT_TEST("it is opened before main()")
{
    CU_ASSERT_EQUAL(atomic_load(&drng_library.ready), 1);
    CU_ASSERT_PTR_NOT_NULL(drng_library.root.slot);
}

UNIT_TEST("without memory nothing is served, and later it is")
{
    set_up(scripted_good, scripted_good);
    mmap_fails = true;
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_ANY), DRNG_E_MEMORY);
    CU_ASSERT_PTR_NULL(handle);
    CU_ASSERT_EQUAL(seed(32, DRNG_ANY, NULL), DRNG_E_MEMORY);
    CU_ASSERT_TRUE(bytes_are(out, 32, 0));
    out[0] = TAKEN_BEFORE;
    CU_ASSERT_EQUAL(drng_random_bytes(out, 32, 0), DRNG_E_MEMORY);
    CU_ASSERT_TRUE(bytes_are(out, 32, 0));
    const char *text = NULL;
    CU_ASSERT_EQUAL(drng_random_supported(&text), 0);
    CU_ASSERT_STRING_EQUAL(text, drng_strerror(DRNG_E_MEMORY));
    mmap_fails = false;
    /* A signal handler may make this call, and must not allocate. */
    CU_ASSERT_EQUAL(seed(32, DRNG_ANY, NULL), DRNG_E_MEMORY);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_ANY), DRNG_SUCCESS);
}

/* ---- Seeds ---- */

UNIT_TEST("a seed is made of the words of the first that serves")
{
    struct drng_seed_info said;
    for (enum drng_choice choice = DRNG_ANY; choice <= DRNG_SEED_GRADE_ONLY; choice++) {
        set_up(scripted_good, scripted_good);
        CU_ASSERT_EQUAL(seed(SEED_LEN, choice, &said), DRNG_SUCCESS);
        compute_seed(&scripted_rdseed, DRNG_CBC_MAC, model, SEED_LEN);
        CU_ASSERT_EQUAL(memcmp(out, model, SEED_LEN), 0);
        CU_ASSERT_EQUAL(out[SEED_LEN], TAKEN_BEFORE);
        CU_ASSERT_STRING_EQUAL(said.source, "RDSEED");
        CU_ASSERT_STRING_EQUAL(said.conditioner, "AES-128-CBC-MAC");
        CU_ASSERT_EQUAL(said.grade, DRNG_GRADE_SEED);
        CU_ASSERT_EQUAL(said.raw_words, 8);
        CU_ASSERT_EQUAL(said.claimed_bits, 256);
        CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    }
}

UNIT_TEST("the generator's instruction is next")
{
    struct drng_seed_info said;
    for (enum drng_choice choice = DRNG_ANY; choice <= DRNG_HARDWARE_ONLY; choice++) {
        set_up(scripted_dry, scripted_good);
        CU_ASSERT_EQUAL(drng_conditioned_seed(out, SEED_LEN, choice, DRNG_BY_HMAC_SHA256, &said), DRNG_SUCCESS);
        compute_seed(&scripted_rdrand, DRNG_HMAC_SHA256, model, SEED_LEN);
        CU_ASSERT_EQUAL(memcmp(out, model, SEED_LEN), 0);
        CU_ASSERT_STRING_EQUAL(said.source, "RDRAND");
        CU_ASSERT_STRING_EQUAL(said.conditioner, "HMAC-SHA-256");
        CU_ASSERT_EQUAL(said.grade, DRNG_GRADE_GENERATOR);
        CU_ASSERT_EQUAL(said.raw_words, 2052);
        CU_ASSERT_EQUAL(said.claimed_bits, 256);
    }
}

UNIT_TEST("the kernel is the last, and of one choice alone")
{
    struct drng_seed_info said;
    set_up(scripted_dry, scripted_dry);
    scripted_os_byte = KERNEL_BYTE;
    CU_ASSERT_EQUAL(seed(SEED_LEN, DRNG_ANY, &said), DRNG_SUCCESS);
    CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, KERNEL_BYTE));
    CU_ASSERT_STRING_EQUAL(said.source, "getrandom");
    CU_ASSERT_STRING_EQUAL(said.conditioner, "none");
    CU_ASSERT_EQUAL(said.grade, DRNG_GRADE_KERNEL);
    CU_ASSERT_EQUAL(said.raw_words + said.claimed_bits, 0);
    for (enum drng_choice choice = DRNG_HARDWARE_ONLY; choice <= DRNG_SEED_GRADE_ONLY; choice++) {
        set_up(scripted_dry, scripted_dry);
        CU_ASSERT_EQUAL(seed(SEED_LEN, choice, &said), DRNG_E_NOT_READY);
        CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, 0));
        CU_ASSERT_STRING_EQUAL(said.source, "none");
        CU_ASSERT_EQUAL(said.grade, DRNG_GRADE_NONE);
        CU_ASSERT_EQUAL(scripted_os_calls, 0);
    }
}

UNIT_TEST("seed-grade means that RDRAND is not asked")
{
    set_up(scripted_dry, scripted_good);
    CU_ASSERT_EQUAL(seed(SEED_LEN, DRNG_SEED_GRADE_ONLY, NULL), DRNG_E_NOT_READY);
    CU_ASSERT_TRUE(bytes_are(out, SEED_LEN, 0));
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_SEED_GRADE_ONLY), DRNG_E_NOT_READY);
    CU_ASSERT_PTR_NULL(handle);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
}

/* Uncredited, by XOR; where the hardware alone was chosen the kernel is not asked. */
UNIT_TEST("the kernel's bytes are added under DRNG_ANY")
{
    set_up(scripted_good, scripted_good);
    scripted_os_byte = KERNEL_BYTE;
    CU_ASSERT_EQUAL(seed(SEED_LEN, DRNG_ANY, NULL), DRNG_SUCCESS);
    compute_seed(&scripted_rdseed, DRNG_CBC_MAC, model, SEED_LEN);
    for (unsigned i = 0; i < SEED_LEN; i++) {
        CU_ASSERT_EQUAL(out[i], model[i] ^ KERNEL_BYTE);
    }
    for (enum drng_choice choice = DRNG_HARDWARE_ONLY; choice <= DRNG_SEED_GRADE_ONLY; choice++) {
        set_up(scripted_good, scripted_good);
        scripted_os_byte = KERNEL_BYTE;
        CU_ASSERT_EQUAL(seed(SEED_LEN, choice, NULL), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(memcmp(out, model, SEED_LEN), 0);
        CU_ASSERT_EQUAL(scripted_os_calls, 0);
    }
}

/* In pieces of 64 bytes, of which each takes the first source that serves. */
UNIT_TEST("of a seed from two sources the weaker is named")
{
    struct drng_seed_info said;
    set_up(scripted_dry_from, scripted_good);
    scripted_rdseed.at = WINDOW_AT + 4 * DRNG_RDSEED_WORDS;
    CU_ASSERT_EQUAL(seed(128, DRNG_HARDWARE_ONLY, &said), DRNG_SUCCESS);
    CU_ASSERT_STRING_EQUAL(said.source, "RDRAND");
    CU_ASSERT_TRUE(scripted_rdseed.words > 0 && scripted_rdrand.words > 2052);
}

UNIT_TEST("every failure has its error, and leaves zeros")
{
    static const enum drng_choice hardware[] = {DRNG_HARDWARE_ONLY, DRNG_SEED_GRADE_ONLY};
    for (unsigned i = 0; i < 2; i++) {
        set_up(scripted_good, scripted_good);
        scripted_cpu.has[DRNG_RDSEED] = scripted_cpu.has[DRNG_RDRAND] = false;
        CU_ASSERT_EQUAL(seed(100, hardware[i], NULL), DRNG_E_UNSUPPORTED);
        CU_ASSERT_TRUE(bytes_are(out, 100, 0));
        CU_ASSERT_EQUAL(drng_open(&handle, hardware[i]), DRNG_E_UNSUPPORTED);

        set_up(scripted_zeros, scripted_zeros);
        CU_ASSERT_EQUAL(seed(100, hardware[i], NULL), DRNG_E_UNHEALTHY);
        CU_ASSERT_TRUE(bytes_are(out, 100, 0));
        CU_ASSERT_EQUAL(drng_open(&handle, hardware[i]), DRNG_E_UNHEALTHY);
    }
    set_up(scripted_dry, scripted_dry);
    scripted_os_ready = false;
    CU_ASSERT_EQUAL(seed(100, DRNG_ANY, NULL), DRNG_E_NO_SOURCE);
    CU_ASSERT_TRUE(bytes_are(out, 100, 0));
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_ANY), DRNG_E_NO_SOURCE);
}

/* The second piece of two cannot be had. */
UNIT_TEST("a part of a seed is none")
{
    set_up(scripted_dry_from, scripted_good);
    scripted_rdseed.at = WINDOW_AT + 4 * DRNG_RDSEED_WORDS;
    CU_ASSERT_EQUAL(seed(128, DRNG_SEED_GRADE_ONLY, NULL), DRNG_E_NOT_READY);
    CU_ASSERT_TRUE(bytes_are(out, 128, 0));

    /* Nor is it left to the caller to wipe it. */
    struct drng_counters counters = {0};
    struct drng_guard guard;
    set_up(scripted_dry_from, scripted_good);
    scripted_rdseed.at = WINDOW_AT + 4 * DRNG_RDSEED_WORDS;
    CU_ASSERT_EQUAL_FATAL(drng_library_open(false), DRNG_SUCCESS);
    struct drng_seed_policy policy = {.aes = drng_library.machine.aes, .counters = &counters};
    policy.instructions[DRNG_RDSEED] = &drng_library.machine.instructions[DRNG_RDSEED];
    struct drng_root root = {&drng_library.root, &policy, true, DRNG_SOURCE_FALLBACK, DRNG_SOURCE_FALLBACK};
    memset(out, 0xaa, 128);
    CU_ASSERT_TRUE_FATAL(drng_guard_enter(&guard));
    CU_ASSERT_EQUAL(drng_root_seed(&root, &guard, out, 128), DRNG_NO_FALLBACK);
    (void)drng_guard_note(guard.before);
    CU_ASSERT_EQUAL(root.last, DRNG_SOURCE_NONE);
    CU_ASSERT_EQUAL(root.serving, DRNG_SOURCE_FALLBACK);
    CU_ASSERT_TRUE(bytes_are(out, 128, 0));
}

static bool cancellable;

static void note_whether_cancellable(void)
{
    int state = PTHREAD_CANCEL_ENABLE;
    int unused;
    CU_ASSERT_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
    CU_ASSERT_EQUAL(pthread_setcancelstate(state, &unused), 0);
    cancellable |= state == PTHREAD_CANCEL_ENABLE;
}

/* A source may come to a cancellation point, and the generator is locked meanwhile. The source looks at the clock. */
UNIT_TEST("a thread is not cancelled while its seed is made")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL_FATAL(drng_open(&handle, DRNG_ANY), DRNG_SUCCESS);
    cancellable = false;
    scripted_on_clock = note_whether_cancellable;
    CU_ASSERT_EQUAL(drng_reseed(handle), DRNG_SUCCESS);
    scripted_on_clock = NULL;
    CU_ASSERT_FALSE(cancellable);
    note_whether_cancellable();
    CU_ASSERT_TRUE(cancellable);
}

/* ---- Generators ---- */

static const struct drng_bytes nothing = {NULL, 0};

/* CTR_DRBG on the seed that the words make, and `requests` of len bytes each. */
static void compute_reads(const struct scripted_instruction *cpu, size_t len, unsigned requests)
{
    struct drng_ctr_drbg drbg;
    uint8_t entropy[SEED_LEN];
    compute_seed(cpu, DRNG_CBC_MAC, entropy, SEED_LEN);
    const struct drng_bytes personalization = {(const uint8_t *)"libdrng", sizeof("libdrng")};
    CU_ASSERT_EQUAL(drng_ctr_drbg_instantiate(&drbg, drng_library.machine.aes, 32, true,
                                              (struct drng_bytes){entropy, SEED_LEN}, nothing, personalization, 0),
                    DRNG_OK);
    for (unsigned i = 0; i < requests; i++) {
        CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, model + i * len, len, nothing, NULL), DRNG_OK);
    }
}

/* On a kernel that does not wipe, as under QEMU's user mode, each request takes in a word besides. */
static bool is_model(size_t len)
{
    return !drng_fork_kernel_wipes || memcmp(out, model, len) == 0;
}

UNIT_TEST("what is read is CTR_DRBG on a seed of the hardware")
{
    for (enum drng_choice choice = DRNG_ANY; choice <= DRNG_SEED_GRADE_ONLY; choice++) {
        set_up(scripted_good, scripted_good);
        CU_ASSERT_EQUAL(drng_open(&handle, choice), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(drng_read(handle, out, 100), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(drng_read(handle, out + 100, 100), DRNG_SUCCESS);
        compute_reads(&scripted_rdseed, 100, 2);
        CU_ASSERT_TRUE(is_model(200));
        CU_ASSERT_EQUAL(out[200], TAKEN_BEFORE);
        CU_ASSERT_STRING_EQUAL(info().source, "RDSEED");
        CU_ASSERT_EQUAL(info().grade, DRNG_GRADE_SEED);
        CU_ASSERT_EQUAL(info().strength, 256);
        CU_ASSERT_EQUAL(info().seeds, 1);
        CU_ASSERT_STRING_EQUAL(info().others, "");
    }
}

UNIT_TEST("a long read is made of several requests")
{
    set_up(scripted_dry, scripted_good);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_read(handle, out, 2 * MAX_REQUEST + 1), DRNG_SUCCESS);
    compute_reads(&scripted_rdrand, MAX_REQUEST, 2);
    CU_ASSERT_TRUE(is_model(2 * MAX_REQUEST));
    CU_ASSERT_EQUAL(out[2 * MAX_REQUEST + 1], TAKEN_BEFORE);
    CU_ASSERT_STRING_EQUAL(info().source, "RDRAND");
    CU_ASSERT_STRING_EQUAL(info().others, "RDSEED: too few words in its time");
}

UNIT_TEST("handles do not share their bytes")
{
    drng *other = NULL;
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_open(&other, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_read(handle, out, 32), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_read(other, out + 32, 32), DRNG_SUCCESS);
    CU_ASSERT_NOT_EQUAL(memcmp(out, out + 32, 32), 0);
    drng_close(other);
}

UNIT_TEST("a reseed takes a new seed")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    const uint64_t words = scripted_rdseed.words;
    CU_ASSERT_EQUAL(drng_reseed(handle), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(scripted_rdseed.words, words + 2 * DRNG_RDSEED_WORDS);
    CU_ASSERT_EQUAL(info().seeds, 2);
    CU_ASSERT_EQUAL(drng_read(handle, out, 32), DRNG_SUCCESS);
    compute_reads(&scripted_rdseed, 32, 1);
    CU_ASSERT_NOT_EQUAL(memcmp(out, model, 32), 0);
}

/* Of a read while the instructions are dry. Where the kernel does not wipe, each request takes in a word of theirs. */
static int without_words(void)
{
    return drng_fork_kernel_wipes ? DRNG_SUCCESS : DRNG_E_NOT_READY;
}

UNIT_TEST("a reseed that fails leaves the old seed")
{
    set_up(scripted_good, scripted_dry);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    scripted_rdseed.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(drng_reseed(handle), DRNG_E_NOT_READY);
    CU_ASSERT_EQUAL(drng_read(handle, out, 32), without_words());
    compute_reads(&scripted_rdseed, 32, 1);
    CU_ASSERT_TRUE(is_model(32));
    CU_ASSERT_EQUAL(info().seeds, 1);
    CU_ASSERT_STRING_EQUAL(info().source, "RDSEED");
    CU_ASSERT_EQUAL(info().grade, DRNG_GRADE_SEED);
    CU_ASSERT_STRING_EQUAL(info().others, "RDSEED: too few words in its time; RDRAND: too few words in its time");
}

UNIT_TEST("requests and time wear a seed out")
{
    if (unit_emulated("sixty thousand requests take a minute there")) {
        return;
    }
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    for (unsigned i = 1; i < LIMIT; i++) {
        CU_ASSERT_EQUAL_FATAL(drng_read(handle, out, 1), DRNG_SUCCESS);
    }
    CU_ASSERT_EQUAL(info().seeds, 1);
    CU_ASSERT_EQUAL(drng_read(handle, out, 1), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(info().seeds, 2);
    now += 419;
    CU_ASSERT_EQUAL(drng_read(handle, out, 1), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(info().seeds, 2);
    now += 1;
    CU_ASSERT_EQUAL(drng_read(handle, out, 1), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(info().seeds, 3);
}

UNIT_TEST("a read without the seed that is due leaves zeros")
{
    set_up(scripted_good, scripted_dry);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    now += 1000;
    scripted_rdseed.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(drng_read(handle, out, 2 * MAX_REQUEST), DRNG_E_NOT_READY);
    CU_ASSERT_TRUE(bytes_are(out, 2 * MAX_REQUEST, 0));
    scripted_rdseed.behaviour = scripted_good;
    CU_ASSERT_EQUAL(drng_read(handle, out, 32), DRNG_SUCCESS);
    CU_ASSERT_FALSE(bytes_are(out, 32, 0));
}

/* The first of two requests is served, the second needs a seed that does not come. */
UNIT_TEST("a part of a read is none")
{
    set_up(scripted_good, scripted_dry);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    scripted_rdseed.behaviour = scripted_dry;
    leap = 300;
    CU_ASSERT_EQUAL(drng_read(handle, out, 1), without_words());
    CU_ASSERT_EQUAL(drng_read(handle, out, 2 * MAX_REQUEST), DRNG_E_NOT_READY);
    leap = 0;
    CU_ASSERT_TRUE(bytes_are(out, 2 * MAX_REQUEST, 0));
}

UNIT_TEST("the kernel serves where no instruction can")
{
    set_up(scripted_good, scripted_good);
    scripted_cpu.has[DRNG_RDSEED] = scripted_cpu.has[DRNG_RDRAND] = false;
    scripted_os_byte = KERNEL_BYTE;
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_ANY), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_read(handle, out, 32), DRNG_SUCCESS);
    CU_ASSERT_STRING_EQUAL(info().source, "getrandom");
    CU_ASSERT_EQUAL(info().grade, DRNG_GRADE_KERNEL);
    CU_ASSERT_STRING_EQUAL(info().others, "RDSEED: not in this CPU; RDRAND: not in this CPU");
    CU_ASSERT_EQUAL(scripted_rdrand.executions + scripted_rdseed.executions, 0);
}

UNIT_TEST("the source that was left out is named")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_SEED_GRADE_ONLY), DRNG_SUCCESS);
    scripted_rdseed.behaviour = scripted_zeros;
    CU_ASSERT_EQUAL(drng_reseed(handle), DRNG_E_UNHEALTHY);
    CU_ASSERT_STRING_EQUAL(info().others, "RDSEED: its words failed the health tests; RDRAND: left out by the choice");
}

/* The seed went into Key and V; it is of no use to anybody else. */
UNIT_TEST("no entropy input is kept")
{
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    compute_seed(&scripted_rdseed, DRNG_CBC_MAC, model, SEED_LEN);
    const uint8_t *slots = (const uint8_t *)((uintptr_t)drng_library.root.slot & ~(uintptr_t)4095);
    CU_ASSERT_PTR_NULL(memmem(slots, 4096, model, 16));
    CU_ASSERT_EQUAL(drng_reseed(handle), DRNG_SUCCESS);
    CU_ASSERT_TRUE(seed_model_condition(DRNG_CBC_MAC, &scripted_rdseed.log[KEY_AT],
                                        &scripted_rdseed.log[WINDOW_AT + 3 * DRNG_RDSEED_WORDS], DRNG_RDSEED_WORDS,
                                        model, 32));
    CU_ASSERT_PTR_NULL(memmem(slots, 4096, model, 16));
    /* what is looked for would be found */
    memcpy(drng_library.root.slot, model, 16);
    CU_ASSERT_PTR_NOT_NULL(memmem(slots, 4096, model, 16));
    memset(drng_library.root.slot, 0, 16);
}

/* ---- Interruptions: what a signal handler does, done by the instruction that a request executes ---- */

enum { INNER = 32 };
static uint8_t inner[INNER];
static int inner_read;
static int inner_reseed;
static uint8_t inner_bytes[INNER + sizeof(uint64_t)];
static int inner_seed;
static int inner_word;
static pid_t forked;

/* Once, at the first word: request mixing asks for it in the middle of a request. */
static bool interrupting(struct scripted_instruction *cpu, uint64_t *word)
{
    cpu->behaviour = scripted_good;
    inner_read = drng_read(handle, inner, INNER);
    inner_reseed = drng_reseed(handle);
    inner_seed = drng_conditioned_seed(inner_bytes, INNER, DRNG_HARDWARE_ONLY, DRNG_BY_CBC_MAC, NULL);
    inner_word = drng_seed_bytes(inner_bytes + INNER, sizeof(uint64_t), 0);
    return scripted_good(cpu, word);
}

static bool forking(struct scripted_instruction *cpu, uint64_t *word)
{
    cpu->behaviour = scripted_good;
    forked = fork();
    return scripted_good(cpu, word);
}

static void open_in_a_virtual_machine(scripted_behaviour *rdrand)
{
    set_up(scripted_good, rdrand);
    scripted_cpu.hypervisor = true;
    CU_ASSERT_EQUAL_FATAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
}

UNIT_TEST("a handler that interrupts its thread is refused")
{
    open_in_a_virtual_machine(interrupting);
    const uint64_t words = scripted_rdseed.words;
    CU_ASSERT_EQUAL(drng_read(handle, out, INNER), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(inner_read, DRNG_E_BUSY);
    CU_ASSERT_EQUAL(inner_reseed, DRNG_E_BUSY);
    CU_ASSERT_EQUAL(inner_seed, DRNG_E_BUSY);
    CU_ASSERT_EQUAL(inner_word, DRNG_E_BUSY);
    CU_ASSERT_TRUE(bytes_are(inner, INNER, 0) && bytes_are(inner_bytes, sizeof(inner_bytes), 0));
    CU_ASSERT_EQUAL(scripted_rdseed.words, words);
    CU_ASSERT_EQUAL(info().seeds, 1);
    CU_ASSERT_FALSE(bytes_are(out, INNER, 0));
    CU_ASSERT_EQUAL(drng_read(handle, inner, INNER), DRNG_SUCCESS);
    CU_ASSERT_NOT_EQUAL(memcmp(out, inner, INNER), 0);
}

static pthread_t other;
static bool other_waits;

static void *read_in_thread(void *failed)
{
    return drng_read(handle, inner, INNER) == DRNG_SUCCESS ? NULL : failed;
}

/* In the middle of a read: the other thread, which does the same, does not come to its end. */
static bool with_another_thread(struct scripted_instruction *cpu, uint64_t *word)
{
    struct timespec deadline;
    cpu->behaviour = scripted_good;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, read_in_thread, &handle), 0);
    (void)clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec++;
    other_waits = pthread_timedjoin_np(other, NULL, &deadline) == ETIMEDOUT;
    return scripted_good(cpu, word);
}

UNIT_TEST("threads take turns at a handle")
{
    void *failed = NULL;
    open_in_a_virtual_machine(with_another_thread);
    CU_ASSERT_EQUAL(drng_read(handle, out, INNER), DRNG_SUCCESS);
    CU_ASSERT_TRUE(other_waits);
    CU_ASSERT_TRUE(!other_waits || (pthread_join(other, &failed) == 0 && failed == NULL));
    CU_ASSERT_NOT_EQUAL(memcmp(out, inner, INNER), 0);
}

/* In the child the state of the generator is gone while it is being used. */
UNIT_TEST("a child that is born in a request starts it over")
{
    int status = -1;
    open_in_a_virtual_machine(forking);
    uint8_t *childs = mmap(NULL, INNER, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(childs, MAP_FAILED);
    const int error = drng_read(handle, out, INNER);
    if (forked == 0) {
        memcpy(childs, out, INNER);
        _exit(error == DRNG_SUCCESS && info().fork_reseeds == 1 ? 0 : 1);
    }
    CU_ASSERT_EQUAL(error, DRNG_SUCCESS);
    CU_ASSERT_EQUAL(waitpid(forked, &status, 0), forked);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_FALSE(bytes_are(childs, INNER, 0));
    CU_ASSERT_NOT_EQUAL(memcmp(childs, out, INNER), 0);
    CU_ASSERT_EQUAL(info().fork_reseeds, 0);
    (void)munmap(childs, INNER);
}

static bool forking_in_the_second_piece(struct scripted_instruction *cpu, uint64_t *word)
{
    if (cpu->words == WINDOW_AT + 4 * DRNG_RDSEED_WORDS + 2) {
        cpu->behaviour = scripted_good;
        forked = fork();
    }
    return scripted_good(cpu, word);
}

/* Its first piece is the parent's. */
UNIT_TEST("a child that is born in a seed starts it over")
{
    int status = -1;
    forked = -1;
    set_up(forking_in_the_second_piece, scripted_good);
    const int error = seed(128, DRNG_HARDWARE_ONLY, NULL);
    compute_seed(&scripted_rdseed, DRNG_CBC_MAC, model, SEED_LEN);
    const bool has_parents = memcmp(out, model, SEED_LEN) == 0;
    if (forked == 0) {
        _exit(error == DRNG_SUCCESS && !has_parents && !bytes_are(out, SEED_LEN, 0) ? 0 : 1);
    }
    CU_ASSERT_EQUAL(error, DRNG_SUCCESS);
    CU_ASSERT_TRUE(has_parents);
    CU_ASSERT_EQUAL(waitpid(forked, &status, 0), forked);
    CU_ASSERT_EQUAL(status, 0);
}

/* ---- Copies of a machine ---- */

UNIT_TEST("a virtual machine: every request takes a word")
{
    for (unsigned hypervisor = 0; hypervisor < 2; hypervisor++) {
        set_up(scripted_good, scripted_good);
        scripted_cpu.hypervisor = hypervisor != 0;
        CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
        for (unsigned i = 0; i < 10; i++) {
            CU_ASSERT_EQUAL(drng_read(handle, out, 32), DRNG_SUCCESS);
        }
        CU_ASSERT_EQUAL(scripted_rdrand.executions, drng_fork_kernel_wipes ? 10 * hypervisor : 10);
    }
}

/* The kernel's bytes and the time make the word where the kernel may be asked. */
UNIT_TEST("hardware alone serves no request without a word")
{
    for (enum drng_choice choice = DRNG_ANY; choice <= DRNG_SEED_GRADE_ONLY; choice++) {
        const bool any = choice == DRNG_ANY;
        set_up(scripted_good, scripted_good);
        scripted_cpu.hypervisor = true;
        CU_ASSERT_EQUAL(drng_open(&handle, choice), DRNG_SUCCESS);
        const uint64_t calls = scripted_os_calls;
        scripted_rdseed.behaviour = scripted_rdrand.behaviour = scripted_dry;
        CU_ASSERT_EQUAL(drng_read(handle, out, 32), any ? DRNG_SUCCESS : DRNG_E_NOT_READY);
        CU_ASSERT_EQUAL(bytes_are(out, 32, 0), !any);
        atomic_store(&drng_library.machine.instructions[DRNG_RDSEED].disabled, true);
        atomic_store(&drng_library.machine.instructions[DRNG_RDRAND].disabled, true);
        CU_ASSERT_EQUAL(drng_read(handle, out, 32), any ? DRNG_SUCCESS : DRNG_E_UNHEALTHY);
        CU_ASSERT_EQUAL(bytes_are(out, 32, 0), !any);
        CU_ASSERT_EQUAL(scripted_os_calls, calls + (any ? 2 : 0));
    }
}

static alignas(4096) uint8_t page[4096];
static struct drng_vmclock *const device = (struct drng_vmclock *)(void *)page;

/* Two changes: a copy, and a copy of it. The device is watched, so no request takes a word. */
UNIT_TEST("a copy takes a new seed")
{
    set_up(scripted_good, scripted_good);
    device->magic = htole32(DRNG_VMCLOCK_MAGIC);
    device->size = htole32(sizeof(page));
    device->version = htole16(DRNG_VMCLOCK_VERSION);
    scripted_vmclock = device;
    scripted_cpu.hypervisor = true;
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_HARDWARE_ONLY), DRNG_SUCCESS);
    for (unsigned copies = 0; copies < 3; copies++) {
        CU_ASSERT_EQUAL(drng_read(handle, out, 32), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(drng_read(handle, out, 32), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(info().seeds, 1 + copies);
        CU_ASSERT_EQUAL(info().clone_reseeds, copies);
        CU_ASSERT_EQUAL(info().fork_reseeds, 0);
        device->disruption_marker += htole64(1);
    }
    CU_ASSERT_EQUAL(scripted_rdrand.executions, drng_fork_kernel_wipes ? 0 : 6);
}

/* ---- Failures of the system, and arguments ---- */

UNIT_TEST("without AES nothing is served")
{
    set_up(scripted_good, scripted_good);
    no_aes_passes = true;
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_ANY), DRNG_E_SELF_TEST);
    CU_ASSERT_EQUAL(seed(32, DRNG_ANY, NULL), DRNG_E_SELF_TEST);
    CU_ASSERT_TRUE(bytes_are(out, 32, 0));
    CU_ASSERT_EQUAL(scripted_rdrand.executions + scripted_rdseed.executions, 0);
    no_aes_passes = false;
}

UNIT_TEST("without HMAC nothing is served")
{
    set_up(scripted_good, scripted_good);
    hmac_fails = true;
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_ANY), DRNG_E_SELF_TEST);
    hmac_fails = false;
}

UNIT_TEST("wrong arguments are refused")
{
    drng *none = (drng *)(void *)out;
    set_up(scripted_good, scripted_good);
    CU_ASSERT_EQUAL(drng_open(NULL, DRNG_ANY), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_open(&none, (enum drng_choice)0), DRNG_E_ARGUMENT);
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_EQUAL(drng_open(&none, (enum drng_choice)(DRNG_SEED_GRADE_ONLY + 1)), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(seed(1, (enum drng_choice)0, NULL), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_conditioned_seed(out, 1, DRNG_ANY, (enum drng_conditioning)0, NULL), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_conditioned_seed(NULL, 1, DRNG_ANY, DRNG_BY_CBC_MAC, NULL), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(seed(SIZE_MAX, DRNG_ANY, NULL), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_conditioned_seed(NULL, 0, DRNG_ANY, DRNG_BY_CBC_MAC, NULL), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_read(NULL, out, 1), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_reseed(NULL), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_info(NULL, &(struct drng_info){.seeds = 0}), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(scripted_rdrand.executions + scripted_rdseed.executions, 0);
    CU_ASSERT_EQUAL(drng_open(&handle, DRNG_ANY), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_read(handle, NULL, 1), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_read(handle, out, SIZE_MAX), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_read(handle, NULL, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_info(handle, NULL), DRNG_E_ARGUMENT);
    CU_ASSERT_TRUE(bytes_are(out, 100, TAKEN_BEFORE));
    drng_close(NULL);
}

UNIT_TEST("every error has a text of its own")
{
    for (int error = DRNG_SUCCESS; error <= DRNG_E_BUSY + 1; error++) {
        for (int before = DRNG_SUCCESS; before < error; before++) {
            CU_ASSERT_STRING_NOT_EQUAL(drng_strerror(error), drng_strerror(before));
        }
    }
    CU_ASSERT_STRING_EQUAL(drng_strerror(-1), drng_strerror(DRNG_E_BUSY + 1));
}

UNIT_MAIN("library")
