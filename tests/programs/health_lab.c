/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the module does about each failure of an instruction, event by event, on the scripted CPU and its clock: from
 * load to the word that fails a test, to disabling, to who serves then. scripts/evidence/health-lab makes a log of it
 * that can be filed; scripts/evidence/tables.py puts a summary into docs/develop/tables.
 *
 * A scene is one failure of one instruction. Every event is a line: the time in microseconds on the scripted clock, the
 * instruction, how many words it had given, what happened, and details. Words are counted from 1.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/rand.h>

#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"

enum {
    LANES = 8,
    REQUESTS = 12,      /* of a scene at most; the slowest detection takes eight seeds */
    LATE_RDSEED = 160,  /* words before a failure that begins in use: 130 are start-up and key, 24 the first seed */
    LATE_RDRAND = 7000, /* of RDRAND the first seed takes more */
};

struct failure {
    const char *name;
    scripted_behaviour *behaviour;
    bool late;      /* begins in use, not with the first word */
    unsigned which; /* bit, byte or strength */
    unsigned step;  /* from lane to lane; 0: it is not of one lane */
};

static const struct failure failures[] = {
    {"no failure", scripted_good, false, 0, 0},
    {"all zeros", scripted_zeros, false, 0, 0},
    {"all ones", scripted_ones, false, 0, 0},
    {"repetition: one word for ever", scripted_constant, false, 0, 0},
    {"repetition: one word for ever", scripted_bad_words, true, 0, 0},
    {"repetition: one word twice", scripted_bad_word, true, 0, 0},
    {"two words in turn", scripted_alternating, false, 0, 0},
    {"a period of 64 words", scripted_period_64, false, 0, 0},
    {"counting", scripted_counting, false, 0, 0},
    {"bias: a bit is set in 3 of 4 words", scripted_biased, false, 2, 0},
    {"bias: a bit is set in 7 of 8 words", scripted_biased, false, 3, 0},
    {"bias: a bit is set in 15 of 16 words", scripted_biased, false, 4, 0},
    {"a bit stuck at 0", scripted_bit_at_0, false, 3, 8},
    {"a bit stuck at 1", scripted_bit_at_1, false, 3, 8},
    {"a bit stuck at 0", scripted_bit_at_0, true, 3, 8},
    {"a bit stuck at 1", scripted_bit_at_1, true, 3, 8},
    {"a byte stuck", scripted_byte_stuck, false, 0, 1},
    {"a byte stuck", scripted_byte_stuck, true, 0, 1},
    {"a byte of two values", scripted_byte_of_two, false, 0, 1},
    {"a byte of two values", scripted_byte_of_two, true, 0, 1},
    {"dry for ever", scripted_dry, false, 0, 0},
    {"dry", scripted_dry_from, true, 0, 0},
};

/* An instruction with a failure, and what has been said of it. */
struct watched {
    const struct failure *failure; /* NULL: it is good */
    struct scripted_instruction *cpu;
    struct drng_instruction *drng;
    const struct drng_noise *reader; /* that read it last */
    bool started;
    bool disabled;
    bool begun; /* the failure */
    unsigned health_failures;
    uint64_t since; /* words when the last event was */
    uint64_t executions;
    uint64_t last[2];
};

static struct watched watched[DRNG_INSTRUCTIONS];

/* ---- Readers ---- */

enum drng_result __real_drng_noise_attempt(struct drng_instruction *instruction, struct drng_noise *noise,
                                           uint64_t budget_ns, drng_noise_work *work, void *arg);
enum drng_result __wrap_drng_noise_attempt(struct drng_instruction *instruction, struct drng_noise *noise,
                                           uint64_t budget_ns, drng_noise_work *work, void *arg);

enum drng_result __wrap_drng_noise_attempt(struct drng_instruction *instruction, struct drng_noise *noise,
                                           uint64_t budget_ns, drng_noise_work *work, void *arg)
{
    watched[instruction == watched[DRNG_RDSEED].drng ? DRNG_RDSEED : DRNG_RDRAND].reader = noise;
    return __real_drng_noise_attempt(instruction, noise, budget_ns, work, arg);
}

/* ---- Events ---- */

/* When the last execution was over, or the last request. */
static uint64_t now_ns;

static void print_event(const struct watched *w, const char *event)
{
    (void)printf("%12.2f  %-6s  %6" PRIu64 "  %-22s  ", (double)now_ns / 1000, w != NULL ? w->drng->row->name : "-",
                 w != NULL ? w->cpu->words : 0, event);
}

static void note_health_failure(struct watched *w)
{
    const unsigned test = atomic_load(&w->drng->failed_test);
    print_event(w, "health test failed");
    (void)printf("%s, failure %u; the word 0x%016" PRIx64 " after 0x%016" PRIx64 "\n",
                 drng_health_test_name((enum drng_health_test)test), ++w->health_failures, w->last[1], w->last[0]);
}

/* Says what has changed about an instruction since the last look. */
static void look_at(struct watched *w)
{
    const uint64_t before = w->since;
    if (atomic_load(&w->drng->failures) != w->health_failures) {
        note_health_failure(w);
        w->started = false;
        w->since = w->cpu->words;
    }
    if (atomic_load(&w->drng->disabled) != w->disabled) {
        w->disabled = true;
        print_event(w, "disabled");
        (void)printf("for the life of the process\n");
    }
    if (w->reader != NULL && drng_noise_has_started(w->drng, w->reader) && !w->started) {
        w->started = true;
        print_event(w, "start-up tests passed");
        (void)printf("words %" PRIu64 " to %" PRIu64 ", discarded\n", before + 1, w->cpu->words);
        w->since = w->cpu->words;
    }
}

static void look(uint64_t now)
{
    now_ns = now;
    look_at(&watched[DRNG_RDSEED]);
    look_at(&watched[DRNG_RDRAND]);
}

/* Stands for the behaviour of either instruction. The execution under way shows what came of the one before. */
static bool watch(struct scripted_instruction *cpu, uint64_t *word)
{
    struct watched *w = &watched[cpu == &scripted_rdseed ? DRNG_RDSEED : DRNG_RDRAND];
    look(scripted_clock_ns - cpu->ns);
    if (w->failure != NULL && !w->begun && cpu->words >= cpu->at) {
        w->begun = true;
        print_event(w, "failure begins");
        (void)printf("with word %" PRIu64 "\n", cpu->words + 1);
    }
    if (!(w->failure != NULL ? w->failure->behaviour : scripted_good)(cpu, word)) {
        return false;
    }
    w->last[0] = w->last[1];
    w->last[1] = *word;
    return true;
}

/* ---- Requests ---- */

static void note_errors(void)
{
    const char *data = NULL;
    int flags = 0;
    unsigned long error = 0;
    while ((error = ERR_get_error_all(NULL, NULL, NULL, &data, &flags)) != 0) {
        if (ERR_GET_LIB(error) != ERR_LIB_RAND) { /* libcrypto's own words about a generator that failed */
            (void)printf("%s%s%s", ERR_reason_error_string(error), data[0] != '\0' ? ": " : "", data);
            ERR_clear_error();
        }
    }
}

static void note_dry_reads(struct watched *w)
{
    const uint64_t dry = w->cpu->executions - w->cpu->words - w->executions;
    w->executions += dry;
    if (dry > 0) {
        print_event(w, "gave no word");
        (void)printf("on %" PRIu64 " executions\n", dry);
    }
}

static void note_seed(OSSL_LIB_CTX *libctx, bool served)
{
    const char *source = evp_text(libctx, "active-source");
    struct watched *w = &watched[strcmp(source, "rdseed") == 0 ? DRNG_RDSEED : DRNG_RDRAND];
    look(scripted_clock_ns);
    note_dry_reads(&watched[DRNG_RDSEED]);
    note_dry_reads(&watched[DRNG_RDRAND]);
    if (!served) {
        print_event(NULL, "request refused");
        note_errors();
        (void)printf("\n");
        return;
    }
    print_event(w, "seed");
    (void)printf("words %" PRIu64 " to %" PRIu64 "\n", w->since + 1, w->cpu->words);
    w->since = w->cpu->words;
}

static bool seed_once(OSSL_LIB_CTX *libctx, bool first)
{
    unsigned char out[32];
    EVP_RAND_CTX *primary = first ? NULL : RAND_get0_primary(libctx);
    const bool served = first             ? RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1
                        : primary != NULL ? EVP_RAND_reseed(primary, 0, NULL, 0, NULL, 0) == 1
                                          : false;
    note_seed(libctx, served);
    return served;
}

/* ---- Scenes ---- */

static void watch_instruction(unsigned i, struct scripted_instruction *cpu, const struct failure *failure)
{
    drng_process.instructions[i] = (struct drng_instruction){.row = &drng_instruction_rows[i]};
    watched[i] = (struct watched){.failure = failure, .cpu = cpu, .drng = &drng_process.instructions[i]};
}

/* A process that has seen nothing yet. RDSEED fails while RDRAND is good; RDRAND fails where there is no RDSEED. */
static void set_up(const struct failure *failure, unsigned which, bool of_rdseed)
{
    scripted_reset(watch, watch);
    scripted_clock_ns = now_ns = 0;
    scripted_cpu.has[DRNG_RDSEED] = of_rdseed;
    drng_process.evidence = (struct drng_evidence){.cpu = scripted_cpu};
    const struct failure *any = failure->behaviour != scripted_good ? failure : NULL;
    watch_instruction(DRNG_RDSEED, &scripted_rdseed, of_rdseed ? any : NULL);
    watch_instruction(DRNG_RDRAND, &scripted_rdrand, of_rdseed ? NULL : any);
    struct scripted_instruction *failing = of_rdseed ? &scripted_rdseed : &scripted_rdrand;
    failing->which = which;
    failing->at = !failure->late ? 0 : of_rdseed ? LATE_RDSEED : LATE_RDRAND;
}

static void print_title(const struct failure *failure, unsigned which, bool of_rdseed)
{
    static unsigned number = 0;
    (void)printf("\nscene %u: %s, %s", ++number, of_rdseed ? "RDSEED" : "RDRAND", failure->name);
    if (failure->step > 0) {
        (void)printf(", lane %u", failure->step > 1 ? which / LANES : which);
    }
    (void)printf(", %s\n", failure->late ? "in use" : "from the first word on");
}

static void print_end(OSSL_LIB_CTX *libctx)
{
    print_event(NULL, "end");
    (void)printf("active-source %s", evp_text(libctx, "active-source"));
    const char *reason = evp_text(libctx, "disabled-reason");
    (void)printf("; disabled-reason %s", reason[0] != '\0' ? reason : "-");
    (void)printf("; health-failures %" PRIu64 ", seeds-rdseed %" PRIu64 ", seeds-rdrand %" PRIu64
                 ", seed-failures %" PRIu64 "\n",
                 evp_counter(libctx, "health-failures"), evp_counter(libctx, "seeds-rdseed"),
                 evp_counter(libctx, "seeds-rdrand"), evp_counter(libctx, "seed-failures"));
}

static bool play(const struct failure *failure, unsigned which, bool of_rdseed)
{
    const struct watched *failing = &watched[of_rdseed ? DRNG_RDSEED : DRNG_RDRAND];
    set_up(failure, which, of_rdseed);
    print_title(failure, which, of_rdseed);
    OSSL_LIB_CTX *libctx = evp_context("fallback = no\n");
    if (libctx == NULL) {
        return false;
    }
    print_event(NULL, "loaded");
    (void)printf("fallback = no%s\n", of_rdseed ? "; RDRAND is good" : "; this CPU has no RDSEED");
    bool served = true;
    for (unsigned i = 0; i < REQUESTS && served && !failing->disabled; i++) {
        served = seed_once(libctx, i == 0);
    }
    if (served && failing->disabled) {
        (void)seed_once(libctx, false);
    }
    print_end(libctx);
    OSSL_LIB_CTX_free(libctx);
    return true;
}

static bool play_lanes(const struct failure *failure, bool of_rdseed)
{
    bool played = true;
    for (unsigned lane = 0; lane < (failure->step > 0 ? LANES : 1) && played; lane++) {
        played = play(failure, failure->which + lane * failure->step, of_rdseed);
    }
    return played;
}

int main(void)
{
    /* Looks at the real CPU once, so that set_up() has the last word on it. */
    bool played = drng_process_open(NULL);
    drng_process_close();
    for (size_t i = 0; i < 2 * sizeof(failures) / sizeof(*failures) && played; i++) {
        played = play_lanes(&failures[i / 2], i % 2 == 0);
    }
    return played ? EXIT_SUCCESS : EXIT_FAILURE;
}
