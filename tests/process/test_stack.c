/* What handles keys leaves none on the stack. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/aes.h"
#include "mixing/aes_x86.h"
#include "mixing/ctr_drbg.h"
#include "mixing/libcrypto.h"
#include "tests/process/kernel.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { STACK = 1 << 20, BLOCKS = 40, PATTERN = 16 };

/* What the work runs on, and what is found there after it. */
static _Alignas(4096) uint8_t stack[STACK];
static uint8_t snapshot[STACK];

static const struct drng_aes *aes;
static size_t key_len;
static uint8_t key[DRNG_AES_MAX_KEY];
static uint8_t out[BLOCKS * DRNG_AES_BLOCK];
static struct drng_ctr_drbg drbg;
static size_t blocks; /* of a run */
static enum drng_status status;

static void *ctr(void *unused)
{
    uint8_t v[DRNG_AES_BLOCK] = {0};
    status = aes->ctr(key, key_len, v, out, blocks, NULL, 0);
    return unused;
}

static void *cbc(void *unused)
{
    uint8_t chain[DRNG_AES_BLOCK] = {0};
    status = aes->cbc(key, key_len, chain, out, NULL, BLOCKS);
    return unused;
}

static void *instantiate(void *unused)
{
    const struct drng_bytes none = {NULL, 0};
    status = drng_ctr_drbg_instantiate(&drbg, aes, key_len, true, (struct drng_bytes){key, key_len}, none, none, 0);
    return unused;
}

static void *generate(void *unused)
{
    const struct drng_bytes additional = {key, key_len};
    status = drng_ctr_drbg_generate(&drbg, out, sizeof(out) - 1, additional, NULL);
    return unused;
}

static void *leave_the_key(void *unused)
{
    uint8_t copy[DRNG_AES_MAX_KEY];
    memcpy(copy, key, sizeof(copy));
    __asm__ volatile("" : : "r"(copy) : "memory");
    return unused;
}

/*
 * Deep down, so that what is called next does not reach there. Which byte is touched is for nobody to know beforehand,
 * or the compiler would keep no more than that one; and it is touched again, or the call could leave this frame.
 */
static void run_below(void *(*work)(void *))
{
    volatile uint8_t depth[1 << 15];
    depth[key[0]] = 0;
    (void)work(NULL);
    (void)depth[key[0]];
}

static void take_snapshot(void)
{
    const volatile uint8_t *from = stack;
    for (size_t i = 0; i < sizeof(stack); i++) {
        snapshot[i] = from[i];
    }
}

/* While the thread is alive: the C library gives the pages of an ended one back. */
static void *work_and_look(void *work)
{
    run_below(*(void *(**)(void *))work);
    take_snapshot();
    return NULL;
}

static void run(void *(*work)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    memset(stack, 0, sizeof(stack));
    status = DRNG_OK;
    CU_ASSERT_EQUAL_FATAL(pthread_attr_init(&attributes), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_attr_setstack(&attributes, stack, sizeof(stack)), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, &attributes, work_and_look, (void *)&work), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(pthread_attr_destroy(&attributes), 0);
    CU_ASSERT_EQUAL(status, DRNG_OK);
}

static bool on_stack(const uint8_t *pattern)
{
    for (size_t i = 0; i + PATTERN <= sizeof(snapshot); i++) {
        if (memcmp(snapshot + i, pattern, PATTERN) == 0) {
            return true;
        }
    }
    return false;
}

static void what_is_left_is_found(void)
{
    run(leave_the_key);
    CU_ASSERT_TRUE(on_stack(key));
}

DRNG_AES_TARGET static void expand(struct drng_schedule *schedule)
{
    drng_aes_expand(schedule, key, key_len);
}

/* The first round keys are the key itself. */
static bool round_key_is_left(void)
{
    struct drng_schedule schedule;
    expand(&schedule);
    for (unsigned i = 0; i <= schedule.rounds; i++) {
        if (on_stack((const uint8_t *)&schedule.rk[i])) {
            return true;
        }
    }
    return false;
}

/* Each length takes other registers than the one before it; what does not fit into them is on the stack. */
static void no_schedule_is_left(void)
{
    static const size_t key_lens[] = {16, 24, 32};
    static const size_t lengths[] = {4, 8, 12, 20, 31, BLOCKS};
    for (size_t i = 0; i < 3; i++) {
        key_len = key_lens[i];
        for (size_t j = 0; j < sizeof(lengths) / sizeof(*lengths); j++) {
            blocks = lengths[j];
            run(ctr);
            CU_ASSERT_FALSE(round_key_is_left());
        }
        run(cbc);
        CU_ASSERT_FALSE(round_key_is_left());
    }
}

static void no_state_is_left(void)
{
    static const size_t key_lens[] = {16, 24, 32};
    for (size_t i = 0; i < 3; i++) {
        key_len = key_lens[i];
        run(instantiate);
        CU_ASSERT_FALSE(on_stack(drbg.key));
        CU_ASSERT_FALSE(on_stack(drbg.v));
        uint8_t before[DRNG_AES_BLOCK];
        memcpy(before, drbg.key, sizeof(before));
        run(generate);
        CU_ASSERT_FALSE(on_stack(before));
        CU_ASSERT_FALSE(on_stack(drbg.key));
        CU_ASSERT_FALSE(on_stack(drbg.v));
    }
}

static const struct unit_test tests[] = {
    {"what is left is found", what_is_left_is_found},
    {"no schedule is left", no_schedule_is_left},
    {"no state is left", no_state_is_left},
};

/* With every implementation but libcrypto's, which answers for itself. */
int main(void)
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    uint64_t state = 31;
    int result = EXIT_SUCCESS;

    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    if (kernel_is_instrumented() || count == 1) {
        (void)printf("skipped: %s\n",
                     count == 1 ? "this CPU has no AES-NI" : "sanitizers and valgrind make copies of their own");
        return UNIT_SKIPPED;
    }
    bytes_random(&state, key, sizeof(key));
    for (size_t i = 1; i < count && result == EXIT_SUCCESS; i++) {
        aes = all[i];
        result = unit_run(aes->name, tests, sizeof(tests) / sizeof(*tests));
    }
    return result;
}
