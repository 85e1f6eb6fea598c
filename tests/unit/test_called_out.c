/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generator asks a foreign parent for its seed; a signal handler comes while the parent is called, and forks. The
 * child draws in the handler, which the guard lets in there, and returns into the call; once more a handler comes while
 * the parent is called, and draws. What the parent has given belongs to both processes: no draw of the child may be
 * made of it.
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mixing/drbg/generator.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { LEN = 32, FORKED_IN_GET = 1, FORKED_IN_RELEASE = 2, WATCHDOG = 60 /* seconds */ };

static struct drng_generator generator;
static struct drng_counters counters;
static int fork_in;
static bool in_handler, in_child;
static pid_t child;
static uint8_t given; /* what the parent gives next: in a child it would be the same */

/* Of the child, shared with it: its draws in handlers, and what the call gave it. */
static struct {
    uint8_t draw[8][LEN];
    unsigned count, refused;
    uint8_t out[LEN];
    enum drng_result result;
} * seen;

/* QEMU 7.2 begins a handler with a stack that is not aligned as the x86-64 ABI has it. */
#ifdef __x86_64__
__attribute__((force_align_arg_pointer))
#endif
static void
come(int unused)
{
    (void)unused;
    in_handler = true;
    if (!in_child) {
        child = fork();
        in_child = child == 0;
    }
    if (in_child && seen->count < 8) {
        uint8_t *draw = seen->draw[seen->count];
        memset(draw, 0xaa, LEN);
        const bool served = drng_generator_generate(&generator, draw, LEN, 0, NULL) == DRNG_OK;
        seen->refused += !served && bytes_are(draw, LEN, 0);
        seen->count += served;
    }
    in_handler = false;
}

/* As provider/rand/parent.c calls a function of the parent's. */
static void call_the_parent(bool handler_comes)
{
    const enum drng_inside before = drng_guard_note(DRNG_CALLS_OUT);
    if (handler_comes && !in_handler) {
        (void)raise(SIGUSR1);
    }
    (void)drng_guard_note(before);
}

/* What it gives is there before the handler comes. A handler's own draws are seeded otherwise. */
static enum drng_result get(void *arg, const struct drng_guard *guard, struct drng_entropy *entropy)
{
    (void)arg;
    (void)guard;
    memset(entropy->slot, in_handler || in_child ? 0x80 | given : given, entropy->min_len + entropy->nonce_len);
    uint8_t kept[DRNG_DRBG_MAX_SEEDLEN];
    const size_t len = entropy->min_len + entropy->nonce_len;
    memcpy(kept, entropy->slot, len);
    given++;
    call_the_parent(fork_in == FORKED_IN_GET && (!in_child || seen->count > 0));
    uint8_t *held = malloc(len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(held);
    memcpy(held, kept, len);
    entropy->held_seed = held;
    entropy->input = (struct drng_bytes){held, len};
    return DRNG_OK;
}

static void release(void *arg, struct drng_entropy *entropy)
{
    (void)arg;
    call_the_parent(in_child || fork_in == FORKED_IN_RELEASE);
    free(entropy->held_seed);
}

static unsigned seedings(void *arg)
{
    (void)arg;
    call_the_parent(in_child);
    return 7;
}

static const struct drng_entropy_source source = {.get = get, .release = release, .seedings = seedings};

static void fork_while_called_out(int where)
{
    uint8_t out[LEN];
    int status = -1;
    fork_in = where;
    in_child = false;
    child = -1;
    memset(seen, 0, sizeof(*seen));
    generator = (struct drng_generator){.source = &source,
                                        .aes = &drng_aes_portable,
                                        .counters = &counters,
                                        .config = {.key_len = DRNG_AES_MAX_KEY, .use_df = true}};
    CU_ASSERT_TRUE_FATAL(drng_generator_init(&generator));
    const enum drng_result result = drng_generator_generate(&generator, out, LEN, 0, NULL);
    fork_in = 0;
    if (in_child) {
        memcpy(seen->out, out, LEN);
        seen->result = result;
        _exit(0);
    }
    CU_ASSERT_EQUAL(result, DRNG_OK);
    CU_ASSERT_TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CU_ASSERT_TRUE(seen->result == DRNG_OK && seen->count > 0);
    CU_ASSERT_NOT_EQUAL(memcmp(seen->out, out, LEN), 0);
    for (unsigned i = 0; i < seen->count; i++) {
        CU_ASSERT_NOT_EQUAL(memcmp(seen->draw[i], out, LEN), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(seen->draw[i], seen->out, LEN), 0);
    }
    drng_generator_cleanup(&generator);
}

UNIT_TEST("a fork while the parent gives a seed")
{
    fork_while_called_out(FORKED_IN_GET);
}

UNIT_TEST("a fork while the parent takes it back")
{
    fork_while_called_out(FORKED_IN_RELEASE);
}

int main(void)
{
    (void)alarm(WATCHDOG);
    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED || signal(SIGUSR1, come) == SIG_ERR || !drng_secmem_open()) {
        return 1;
    }
    return unit_run("called out");
}
