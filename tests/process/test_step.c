/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork, and a signal handler that draws, after every instruction of a request and of a seed.
 *
 * After each instruction of the provider's own children are made, by fork() and by the bare system call; loops are
 * sampled, at the first executions of each instruction and then at powers of two. The child finishes the work that it
 * was forked in, draws once more, and leaves both outputs in shared memory. No 16 bytes of any process may be
 * another's.
 *
 * Linked with kernel_copied.c the children stand for copies of the machine.
 *
 * One exception is no duplicate: a child forked after the request's last look at memory that is wiped in a child holds
 * what its parent holds, since the request has been served and the output lies with the caller. So these children must
 * be those of the last instructions, without a gap; the first of them must be forked right after an instruction that
 * reads such memory (or, where the kernel does not wipe, after getpid()), and at each of them the output must have been
 * complete.
 */

#define _GNU_SOURCE

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/core_dispatch.h>
#include <openssl/err.h>
#include <openssl/rand.h>

#include "mixing/machine/wipe.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/init.h"
#include "tests/process/kernel.h"
#include "tests/process/scene.h"
#include "tests/process/step.h"
#include "tests/provider/evp.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/unit.h"

enum {
    DRAW = 64,
    BLOCK = 16,
    CHILDREN = 16384,
    AT_ONCE = 24,    /* children that are not waited for yet */
    EVERY = 3,       /* executions of an instruction that are all taken: the last look may be the third of its own, */
    EVERY_COPY = 12, /* or, at the device, the twelfth */
    LEFT = 80,       /* the provider's instructions behind its last look, which provider-drng(7) has as "40 or so" */
    OUTSIDE = 97,    /* of the others' instructions one in so many */
    CHILD_WATCHDOG = 30, /* seconds */
    ROUNDS = 4,          /* of requests with a signal handler that draws */
    SELDOM = 16,         /* of these draws one in so many is itself interrupted, after each instruction */
};

enum outcome { LOST, REFUSED, SERVED };

struct record {
    _Atomic(enum outcome) outcome;
    pid_t pid;
    int status; /* as waitpid() gives it */
    bool bare;  /* made by clone(), of which the C library learns nothing */
    bool tail;  /* holds its parent's output, and may */
    size_t index;
    uintptr_t at;
    bool inside;
    long system_call;
    uintptr_t touched;
    unsigned char at_fork[DRAW]; /* the caller's memory, where the output was to be */
    unsigned char first[DRAW];   /* of the work that was interrupted, or the first draw after it */
    unsigned char second[DRAW];
};

static struct record *records;
static size_t count;

/* ---- The work ---- */

static OSSL_LIB_CTX *libctx;
static EVP_RAND_CTX *rand_ctx;
static unsigned char out[DRAW];
static bool done;

static bool draw_generate(unsigned char draw[DRAW])
{
    return EVP_RAND_generate(rand_ctx, draw, DRAW, 0, 0, NULL, 0) == 1;
}

static bool draw_rand_bytes(unsigned char draw[DRAW])
{
    return RAND_bytes_ex(libctx, draw, DRAW, 0) == 1;
}

typedef int random_bytes_fn(void *provctx, int which, void *buffer, size_t len, unsigned strength);

static random_bytes_fn *random_bytes;
static void *provctx;

static bool draw_random_bytes(unsigned char draw[DRAW])
{
    return random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, draw, DRAW, 0) == 1;
}

/* How the scene draws after its work. */
static bool (*draw)(unsigned char draw[DRAW]) = draw_generate;

static void work_draw(void)
{
    done = draw(out);
}

/* With a seed that is made for it. */
static void work_draw_anew(void)
{
    done = EVP_RAND_generate(rand_ctx, out, DRAW, 0, 1, NULL, 0) == 1;
}

static void work_reseed(void)
{
    done = EVP_RAND_reseed(rand_ctx, 0, NULL, 0, NULL, 0) == 1;
}

/* Public takes its seed from the primary, which makes one for it. */
static void work_reseed_with_prediction_resistance(void)
{
    done = EVP_RAND_reseed(rand_ctx, 1, NULL, 0, NULL, 0) == 1;
}

static void work_first_seed(void)
{
    done = EVP_RAND_instantiate(rand_ctx, 0, 0, NULL, 0, NULL) == 1;
}

/* ---- Preparations ---- */

/* The scene's argument is the way's name and the provider's key: "generate request_mixing = no". */
static const char *keys(void)
{
    const char *space = strchr(scene_argument(), ' ');
    return space != NULL ? space + 1 : "";
}

static bool open_context(void)
{
    libctx = kernel_before_load() ? evp_context(keys()) : NULL;
    /* A kernel that does not wipe shows no memory that it wipes: watched first. */
    return libctx != NULL && step_watch() && kernel_prepare();
}

static bool open_own(void)
{
    rand_ctx = open_context() ? evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL) : NULL;
    return rand_ctx != NULL;
}

static bool open_seed_source(void)
{
    rand_ctx = open_context() ? evp_rand_ready(libctx, "DRNG-SEED", "provider=drng", NULL) : NULL;
    return rand_ctx != NULL;
}

static bool open_public(void)
{
    rand_ctx = open_context() ? RAND_get0_public(libctx) : NULL;
    draw = draw_rand_bytes;
    return rand_ctx != NULL;
}

static bool open_primary(void)
{
    rand_ctx = open_context() ? RAND_get0_primary(libctx) : NULL;
    return rand_ctx != NULL;
}

/* Not instantiated yet, below the primary. */
static bool open_child_of_primary(void)
{
    rand_ctx = open_primary() ? evp_rand(libctx, "CTR-DRBG", "provider=drng", RAND_get0_primary(libctx)) : NULL;
    return rand_ctx != NULL;
}

static bool open_without_a_seed(void)
{
    rand_ctx = open_own() && EVP_RAND_uninstantiate(rand_ctx) == 1 ? rand_ctx : NULL;
    return rand_ctx != NULL;
}

/* The fake core's own gives a constant, which is what is looked for here. */
static size_t get_entropy(const OSSL_CORE_HANDLE *core, unsigned char **seed, int entropy, size_t min_len,
                          size_t max_len)
{
    *seed = malloc(min_len);
    return *seed != NULL && getrandom(*seed, min_len, 0) == (ssize_t)min_len ? min_len : 0;
}

static void set_error(const OSSL_CORE_HANDLE *core, uint32_t reason, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* As libcrypto has it: room for the longest text, of which what is left over goes back. */
static void set_error(const OSSL_CORE_HANDLE *core, uint32_t reason, const char *format, va_list args)
{
    enum { ROOM = 1024 };
    static char *text;
    free(text);
    text = malloc(ROOM);
    const int len = text != NULL && format != NULL ? vsnprintf(text, ROOM, format, args) : 0;
    char *const fitting = realloc(text, (size_t)len + 1);
    text = fitting != NULL ? fitting : text;
}

/* Past libcrypto, as OpenSSL 3.5 does with random_provider. */
static bool open_random_bytes(void)
{
    static OSSL_DISPATCH core[16];
    const OSSL_DISPATCH *functions = NULL;
    size_t i = 0;
    for (; fake_core[i].function_id != 0; i++) {
        core[i] = fake_core[i];
        if (core[i].function_id == OSSL_FUNC_GET_ENTROPY) {
            core[i].function = (void (*)(void))get_entropy;
        } else if (core[i].function_id == OSSL_FUNC_CORE_VSET_ERROR) {
            core[i].function = (void (*)(void))set_error;
        }
    }
    fake_core_set("request_mixing", strstr(keys(), "yes") != NULL ? "yes" : "no");
    if (!kernel_before_load() || init_function()(fake_handle, core, &functions, &provctx) != 1 || !step_watch() ||
        !kernel_prepare()) {
        return false;
    }
    for (; functions->function_id != 0; functions++) {
        if (functions->function_id == OSSL_FUNC_PROVIDER_RANDOM_BYTES) {
            random_bytes = (random_bytes_fn *)functions->function;
        }
    }
    draw = draw_random_bytes;
    return random_bytes != NULL;
}

static const struct way {
    const char *name;
    bool (*open)(void);
    void (*work)(void);
    bool draws; /* the work puts out what the children are to differ in */
    bool warm;  /* one draw comes before */
} ways[] = {
    {"generate", open_own, work_draw, true, true},
    {"generate-anew", open_own, work_draw_anew, true, true},
    {"generate-public", open_public, work_draw, true, true},
    {"generate-primary", open_primary, work_draw, true, true},
    {"random-bytes", open_random_bytes, work_draw, true, true},
    {"seed-source", open_seed_source, work_draw, true, true},
    {"reseed", open_own, work_reseed, false, true},
    {"reseed-public", open_public, work_reseed_with_prediction_resistance, false, true},
    {"first-seed", open_without_a_seed, work_first_seed, false, false},
    {"first-seed-child", open_child_of_primary, work_first_seed, false, false},
};

enum { WAYS = sizeof(ways) / sizeof(*ways) };

static const struct way *way;

static bool prepare(void)
{
    unsigned char warm[DRAW];
    for (size_t i = 0; i < WAYS; i++) {
        const size_t len = strlen(ways[i].name);
        if (strncmp(ways[i].name, scene_argument(), len) == 0 && scene_argument()[len] == ' ') {
            way = &ways[i];
        }
    }
    if (way == NULL || !way->open() || !step_open((const void *)(uintptr_t)init_function())) {
        return false;
    }
    records = mmap(NULL, CHILDREN * sizeof(*records), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    /* Twice: what is made at the first use is made by then. */
    return records != MAP_FAILED && (!way->warm || (draw(warm) && draw(warm)));
}

/* The result of the work, and what is drawn after it. */
static void finish(struct record *record)
{
    const bool first = done && (way->draws || draw(out));
    memcpy(record->first, out, DRAW);
    const bool second = first && draw(out);
    memcpy(record->second, out, DRAW);
    atomic_store(&record->outcome, second ? SERVED : REFUSED);
}

/* ---- Children ---- */

static struct record *born; /* in a child: its own */
static unsigned running;

static bool is_power_of_two(unsigned n)
{
    return (n & (n - 1)) == 0;
}

static bool is_taken(const struct step *step)
{
    if (count == CHILDREN) {
        return false;
    }
    if (step->inside) {
        return step->visit <= (kernel_copies() ? EVERY_COPY : EVERY) || is_power_of_two(step->visit);
    }
    return step->system_call >= 0 || step->index % OUTSIDE == 0;
}

static void wait_for(unsigned most)
{
    int status = 0;
    pid_t pid = -1;
    while (running > most && (pid = waitpid(-1, &status, 0)) > 0) {
        for (size_t i = count; i > 0; i--) {
            if (records[i - 1].pid == pid) {
                records[i - 1].status = status;
                break;
            }
        }
        running--;
    }
}

/* In the child `born` is its record then. */
static void make_child(const struct step *step, bool bare)
{
    struct record *record = &records[count];
    record->bare = bare;
    record->index = step->index;
    record->at = step->at;
    record->inside = step->inside;
    record->system_call = step->system_call;
    record->touched = step->touched;
    memcpy(record->at_fork, out, DRAW);
    const pid_t pid = bare ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    if (pid == 0) {
        (void)alarm(CHILD_WATCHDOG);
        born = record;
        step_stop();
        kernel_born();
        return;
    }
    record->pid = pid;
    count++;
    running += pid > 0;
    wait_for(AT_ONCE);
}

/*
 * By clone() and by fork(), of a seed by both in turns; a copy of the machine runs no handlers of fork(), so by
 * clone(). Where the kernel does not wipe, the handler of fork() does. The handlers that fork() runs are not made for
 * every moment of libcrypto's and of libc's: malloc()'s locks.
 */
static void fork_here(const struct step *step)
{
    if (!is_taken(step)) {
        return;
    }
    const bool forks = step->inside && !kernel_copies() && (way->draws || count % 2 == 0 || !kernel_wipes_clones());
    const bool clones = (way->draws || !forks) && (kernel_wipes_clones() || kernel_copies());
    if (forks) {
        make_child(step, false);
    }
    if (clones && born == NULL) {
        make_child(step, true);
    }
}

/* ---- What must not be ---- */

struct block {
    unsigned char bytes[BLOCK];
    size_t child; /* CHILDREN: the parent */
};

static struct block *blocks;
static size_t block_count;

static void add_blocks(const unsigned char bytes[DRAW], size_t child)
{
    for (size_t i = 0; i < DRAW; i += BLOCK) {
        memcpy(blocks[block_count].bytes, bytes + i, BLOCK);
        blocks[block_count++].child = child;
    }
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, BLOCK);
}

/* AES-256 of the counter 1 under a zero key: what a generator puts out that was wiped behind its own back. */
static const unsigned char of_zero_key[BLOCK] = {0x53, 0x0f, 0x8a, 0xfb, 0xc7, 0x45, 0x36, 0xb9,
                                                 0xa9, 0x63, 0xb4, 0xf1, 0xc4, 0xcb, 0x73, 0x8b};

static const char *child_text(size_t child)
{
    static char text[2][128];
    static unsigned which;
    which = !which;
    if (child >= count) {
        return "the parent";
    }
    (void)snprintf(text[which], sizeof(text[which]), "the child after instruction %zu at %#lx%s", records[child].index,
                   (unsigned long)records[child].at, records[child].inside ? "" : " (not the provider's)");
    return text[which];
}

/* Also against the zeros and the constant; returns how many are wrong, and says the first few. */
static size_t duplicates(void)
{
    static const unsigned char zeros[BLOCK];
    size_t wrong = 0;
    qsort(blocks, block_count, sizeof(*blocks), compare);
    for (size_t i = 0; i < block_count; i++) {
        const bool twice = i > 0 && compare(&blocks[i - 1], &blocks[i]) == 0;
        const bool zero = memcmp(blocks[i].bytes, zeros, BLOCK) == 0;
        const bool constant = memcmp(blocks[i].bytes, of_zero_key, BLOCK) == 0;
        if (!twice && !zero && !constant) {
            continue;
        }
        if (wrong++ < 3) {
            (void)scene_says("%s has %s%s", child_text(blocks[i].child),
                             zero       ? "zeros"
                             : constant ? "AES under a zero key"
                                        : "the same output as ",
                             zero || constant ? "" : child_text(blocks[i - 1].child));
        }
    }
    return wrong;
}

static bool all_are_served(void)
{
    size_t lost = 0;
    size_t refused = 0;
    for (size_t i = 0; i < count; i++) {
        const enum outcome outcome = atomic_load(&records[i].outcome);
        lost += outcome == LOST;
        refused += outcome == REFUSED;
        if (outcome != SERVED && lost + refused <= 3) {
            (void)scene_says("%s %s, status %#x", child_text(i), outcome == LOST ? "was lost" : "was refused",
                             (unsigned)records[i].status);
        }
    }
    return lost + refused == 0 ||
           scene_says("of %zu children %zu were lost and %zu were refused", count, lost, refused);
}

/*
 * The children by fork(), or those by clone(), that hold their parent's output: the last ones, from the last look on.
 */
static bool only_the_last_hold_the_same(const unsigned char parents[DRAW], bool bare)
{
    const struct record *first = NULL;
    size_t left = 0;
    for (size_t i = count; i > 0; i--) {
        struct record *record = &records[i - 1];
        if (record->bare != bare) {
            continue;
        }
        if (memcmp(record->first, parents, DRAW) != 0) {
            break;
        }
        if (memcmp(record->at_fork, parents, DRAW) != 0) {
            return scene_says("%s holds its parent's output before that was complete", child_text(i - 1));
        }
        first = record;
        left += record->inside;
        record->tail = true;
    }
    if (first == NULL) {
        return scene_says("no child after the request's end holds what its parent holds");
    }
    if (!first->inside || first->touched == 0) {
        return scene_says("%s is the first to hold its parent's output, and nothing was looked at",
                          child_text((size_t)(first - records)));
    }
    (void)printf(
        "  %s by %s: %zu children in all; the last look is %zu instructions of the provider's before the end\n",
        way->name, bare ? "clone()" : "fork()", count, left);
    return left <= LEFT || scene_says("the last look is %zu instructions before the end", left);
}

/* The scene's result. */
static int judge(const struct record *parent)
{
    bool good = atomic_load(&parent->outcome) == SERVED || scene_says("the parent was not served");
    good = all_are_served() && good;
    if (way->draws) {
        good =
            ((!kernel_wipes_clones() && !kernel_copies()) || only_the_last_hold_the_same(parent->first, true)) && good;
        good = (kernel_copies() || only_the_last_hold_the_same(parent->first, false)) && good;
    }
    blocks = calloc((count + 1) * 2 * DRAW / BLOCK, sizeof(*blocks));
    if (blocks == NULL) {
        return 1;
    }
    add_blocks(parent->first, CHILDREN);
    add_blocks(parent->second, CHILDREN);
    for (size_t i = 0; i < count; i++) {
        if (atomic_load(&records[i].outcome) == SERVED) {
            if (!records[i].tail) {
                add_blocks(records[i].first, i);
            }
            add_blocks(records[i].second, i);
        }
    }
    const size_t wrong = duplicates();
    if (wrong > 0) {
        good = scene_says("%zu blocks of %zu are another's, or of a known key", wrong, block_count);
    }
    if (count < 100 || count == CHILDREN) {
        good = scene_says("%zu children say little", count);
    }
    return good ? 0 : 3;
}

/* ---- The scenes ---- */

static int play_forks(void)
{
    static struct record parent;
    if (!prepare()) {
        ERR_print_errors_fp(stderr);
        return 1;
    }
    if (!way->draws) {
        step_unwatch();
    }
    step_run(way->work, fork_here);
    if (born != NULL) {
        finish(born);
        _exit(0);
    }
    step_unwatch();
    finish(&parent);
    wait_for(0);
    return judge(&parent);
}

/* ---- A signal handler that draws ---- */

static size_t round_number;
static size_t refused;
static size_t not_zeros; /* of those that were refused */
static size_t on_top;    /* draws of handlers that interrupted another */

/* While a generator gets its first seed the handler draws from public, which is there: it has none to give before. */
static bool draw_in_handler(unsigned char bytes[DRAW])
{
    return way->warm ? draw(bytes) : draw_rand_bytes(bytes);
}

static const struct step *interrupted;

/* In the middle of another a draw is refused: better than to wait for itself, or to put out the same. */
static void draw_once(void)
{
    struct record *record = &records[count++];
    record->index = interrupted->index;
    record->at = interrupted->at;
    record->inside = true;
    memset(record->first, 0xaa, DRAW);
    const bool served = draw_in_handler(record->first);
    refused += !served;
    not_zeros += !served && !drng_is_wiped(record->first, DRAW);
    atomic_store(&record->outcome, served ? SERVED : REFUSED);
}

static bool is_interrupted(const struct step *step, size_t one_of)
{
    interrupted = step;
    return step->inside && is_taken(step) && step->index % one_of == round_number;
}

static void draw_here(const struct step *step)
{
    if (is_interrupted(step, ROUNDS)) {
        draw_once();
    }
}

/* A second handler, on top of the first: the first may be in libcrypto or in malloc() then. */
static void draw_on_top(const struct step *unused)
{
    unsigned char bytes[DRAW];
    memset(bytes, 0xaa, sizeof(bytes));
    const bool served = draw_in_handler(bytes);
    on_top++;
    refused += !served;
    not_zeros += !served && !drng_is_wiped(bytes, DRAW);
    if (served && count < CHILDREN) {
        struct record *record = &records[count++];
        *record = (struct record){.index = interrupted->index, .at = interrupted->at, .inside = true};
        memcpy(record->first, bytes, DRAW);
        atomic_store(&record->outcome, SERVED);
    }
}

static void draw_here_and_on_top(const struct step *step)
{
    if (is_interrupted(step, ROUNDS * SELDOM)) {
        step_run_inside(draw_once, draw_on_top);
    }
}

static int play_handlers(step_visitor *handler)
{
    if (!prepare()) {
        return 1;
    }
    step_unwatch();
    blocks = calloc((size_t)(CHILDREN + 2 * ROUNDS) * 2 * DRAW / BLOCK, sizeof(*blocks));
    bool good = blocks != NULL && (way->warm || draw_rand_bytes(out));
    for (round_number = 0; round_number < ROUNDS && good; round_number++) {
        static struct record parent;
        if (!way->warm && round_number > 0) {
            good = EVP_RAND_uninstantiate(rand_ctx) == 1;
        }
        done = false;
        step_run(way->work, handler);
        finish(&parent);
        if (atomic_load(&parent.outcome) != SERVED) {
            ERR_print_errors_fp(stderr);
            good = scene_says("round %zu: the interrupted work was not done, or no request was served after it",
                              round_number);
        }
        add_blocks(parent.first, CHILDREN);
        add_blocks(parent.second, CHILDREN);
    }
    for (size_t i = 0; i < count && good; i++) {
        if (atomic_load(&records[i].outcome) == SERVED) {
            add_blocks(records[i].first, i);
        }
    }
    const size_t wrong = good ? duplicates() : 0;
    if (wrong > 0) {
        good = scene_says("%zu blocks of %zu are another's, or of a known key", wrong, block_count);
    }
    if (refused == 0 || not_zeros > 0) {
        good = scene_says("%zu of %zu refused draws have put out something", not_zeros, refused);
    }
    (void)printf("  %s: %zu draws in a signal handler and %zu on top of one, %zu refused\n", way->name, count, on_top,
                 refused);
    return good ? 0 : 3;
}

static int play_signals(void)
{
    return play_handlers(draw_here);
}

static int play_two_signals(void)
{
    return play_handlers(draw_here_and_on_top);
}

static const struct scene scenes[] = {
    {"forks", play_forks}, {"signals", play_signals}, {"two signals", play_two_signals}};

/*
 * On another kernel the provider executes the same instructions: what is new there is what a child inherits. A copy
 * without RDSEED waits for the kernel, and the kernel is not copied here.
 */
static bool is_meant(const char *scene, enum scene_cpu cpu)
{
    return kernel_wipes_clones() || (strcmp(scene, "forks") == 0 && cpu == SCENE_AS_IT_IS);
}

#define MIXING "request_mixing = yes"

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

/*
 * Each way on both CPUs, and none twice through the same instructions: where the instructions are masked it is the
 * seeds and the words of request mixing that come in another way.
 */
static bool is_of(const char *name, const char *line, enum scene_cpu cpu)
{
    static const char *const seeds[] = {"seed-source", "reseed", "first-seed", NULL};
    static const char *const seeds_by_request[] = {"reseed-public", "first-seed-child", NULL};
    if (strcmp(line, MIXING) == 0) {
        return !is_one_of(name, seeds) && (cpu == SCENE_MASKED || !is_one_of(name, seeds_by_request));
    }
    return cpu == SCENE_AS_IT_IS || is_one_of(name, seeds);
}

/*
 * What another compiler may put into another order: what serves a request and what makes a seed, once each. Each line
 * on one CPU: where the words of the requests tell nobody apart, on the one whose seeds take more steps.
 */
static bool is_sampled(const char *name, const char *line, enum scene_cpu cpu)
{
    static const char *const sample[] = {"generate", "random-bytes", "seed-source", "first-seed", NULL};
    return is_one_of(name, sample) && (strcmp(line, MIXING) == 0) == (cpu == SCENE_MASKED);
}

static void play_way(const char *scene, const char *name, enum scene_cpu cpu)
{
    static const char *const lines[] = {"request_mixing = no", MIXING};
    const size_t count_of_lines = kernel_copies() ? 1 : 2; /* the device is to do it alone */
    for (size_t i = 0; i < count_of_lines; i++) {
        char argument[128];
        (void)snprintf(argument, sizeof(argument), "%s %s\n", name, lines[i]);
        if (is_of(name, lines[i], cpu) && (!unit_samples() || is_sampled(name, lines[i], cpu))) {
            CU_ASSERT_EQUAL(scene_play(scene, argument, cpu), 0);
        }
    }
}

static void plays(const char *scene, enum scene_cpu cpu)
{
    for (size_t i = 0; i < WAYS && is_meant(scene, cpu); i++) {
        play_way(scene, ways[i].name, cpu);
    }
}

UNIT_TEST("a fork at every instruction")
{
    plays("forks", SCENE_AS_IT_IS);
}

UNIT_TEST("and without the instructions")
{
    plays("forks", SCENE_MASKED);
}

UNIT_TEST("a draw in a signal handler at every instruction")
{
    plays("signals", SCENE_AS_IT_IS);
}

/* Past libcrypto alone: EVP_RAND_generate() raises an error of its own, which allocates, when a provider refuses. */
UNIT_TEST("a second one on top, at every instruction of the first")
{
    if (is_meant("two signals", SCENE_AS_IT_IS)) {
        play_way("two signals", "random-bytes", SCENE_AS_IT_IS);
    }
}

UNIT_TEST("and that without the instructions")
{
    plays("signals", SCENE_MASKED);
}

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes, sizeof(scenes) / sizeof(*scenes));
    if (kernel_is_instrumented()) {
        (void)printf("skipped: not every instruction is the provider's under sanitizers and valgrind\n");
        return UNIT_SKIPPED;
    }
    return unit_run("every instruction");
}
