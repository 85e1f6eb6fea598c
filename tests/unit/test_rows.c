/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's own instructions: every fault on each of its rows, with the other rows good, dry, or as bad.
 *
 * Who serves, what is counted, what is disabled, how long it takes, and that nothing of a bad source is put out.
 */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mixing/drbg/request_entropy.h"
#include "mixing/entropy/seed.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"
#include "tests/unit/bytes.h"
#include "tests/unit/faults.h"
#include "tests/unit/seed_model.h"
#include "tests/unit/unit.h"

enum { SEED_LEN = FAULTS_SEED_LEN, TAKEN_BEFORE = 0xaa, FALLBACK_BYTE = 0xfb, MOST_ROWS = 8 };
_Static_assert((int)DRNG_INSTRUCTIONS <= (int)MOST_ROWS, "more rows than there is room for");

static struct drng_instruction instructions[DRNG_INSTRUCTIONS];
static struct drng_counters counters;
static struct drng_family family;
static struct drng_seed_policy policy;
static struct drng_seed_reader reader;
static unsigned fallback_calls;

static bool fall_back(void *arg, uint8_t *out, size_t len)
{
    fallback_calls++;
    memset(out, FALLBACK_BYTE, len);
    return true;
}

/* A new process, on a CPU whose instructions are all good. */
static uint64_t last; /* the word of the last request */

static void set_up(void)
{
    last = 0;
    scripted_reset_rows();
    memset(&counters, 0, sizeof(counters));
    memset(&reader, 0, sizeof(reader));
    memset(&family, 0, sizeof(family));
    fallback_calls = 0;
    policy = (struct drng_seed_policy){.aes = &drng_aes_portable, .fallback = fall_back, .counters = &counters};
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        instructions[i] = (struct drng_instruction){
            .row = &drng_instruction_rows[i], .counters = &counters.instructions[i], .family = &family.instructions[i]};
        policy.instructions[i] = &instructions[i];
    }
}

/* ---- A row alone ---- */

UNIT_TEST("rows have the names that the keys have")
{
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const char *name = drng_instruction_rows[i].name;
        const char *flag = drng_instruction_flag(i);
        CU_ASSERT_EQUAL_FATAL(strlen(name), strlen(flag));
        for (size_t at = 0; name[at] != '\0'; at++) {
            CU_ASSERT_EQUAL(tolower((unsigned char)name[at]), flag[at]);
        }
    }
    CU_ASSERT_STRING_EQUAL(drng_instruction_rows[DRNG_WORDS_INSTRUCTION].name, DRNG_WORDS_NAME);
}

/* Else a new instruction would ignore what the user masks. */
UNIT_TEST("rows have the bit of the variable that masks them")
{
    const bool is_there = strstr(DRNG_MASKED_TEXT, "OPENSSL_") != NULL;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        CU_ASSERT_EQUAL(drng_instruction_rows[i].mask_bit != 0, is_there);
    }
}

static bool garbage_and_a_failure(struct scripted_instruction *in, uint64_t *word)
{
    *word = 0x1234;
    return false;
}

UNIT_TEST("a failed read leaves no word")
{
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        uint64_t word = 1;
        uint64_t failed = 0;
        set_up();
        scripted_rows[i].behaviour = garbage_and_a_failure;
        CU_ASSERT_FALSE(drng_try_word(drng_instruction_rows[i].read, 2, &failed, &word));
        CU_ASSERT_EQUAL(word, 0);
    }
}

/* A flag or a condition code says whether there is a word: 0 is one like any other. */
UNIT_TEST("zero is a word")
{
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        uint64_t word = 1;
        set_up();
        scripted_rows[i].behaviour = scripted_zeros;
        CU_ASSERT_TRUE(drng_instruction_rows[i].read(&word));
        CU_ASSERT_EQUAL(word, 0);
    }
}

/* A request takes one word, and does not wait for an instruction that has none: then the kernel is asked. */
UNIT_TEST("a request takes one word")
{
    uint64_t fresh[1];
    struct scripted_instruction *cpu = &scripted_rows[DRNG_WORDS_INSTRUCTION];
    const struct drng_request_words words = {{&instructions[DRNG_WORDS_INSTRUCTION], NULL}};
    set_up();
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &last, &counters, fresh), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(fresh, &cpu->log[0], sizeof(fresh)), 0);
    CU_ASSERT_EQUAL(cpu->executions, 1);
    cpu->behaviour = scripted_dry;
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
    CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &last, &counters, fresh), DRNG_OK);
    CU_ASSERT_EQUAL(cpu->executions, 1 + drng_instruction_rows[DRNG_WORDS_INSTRUCTION].tries);
    CU_ASSERT_EQUAL(scripted_os_calls, 1);
}

enum { DRY_REQUESTS = 64 };

/* What a CPU announces and never gives is not asked in each request: the kernel's bytes are, and they are counted. */
UNIT_TEST("an instruction that never answers is left alone")
{
    uint64_t fresh[1];
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const struct drng_request_words words = {{&instructions[i], NULL}};
        const uint64_t tries = drng_instruction_rows[i].tries;
        set_up();
        scripted_rows[i].behaviour = scripted_dry;
        for (unsigned request = 1; request <= 3 * DRY_REQUESTS; request++) {
            CU_ASSERT_EQUAL(drng_request_words_serve(&words), request <= DRY_REQUESTS);
            CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &last, &counters, fresh), DRNG_OK);
            CU_ASSERT_EQUAL(scripted_rows[i].executions,
                            tries * (request < DRY_REQUESTS ? request : (uint64_t)DRY_REQUESTS));
            CU_ASSERT_EQUAL(counters.kernel_requests, request);
        }
        /* Once more with the next seed, and again where it has a word. */
        for (uint64_t seeds = 1; seeds <= 2; seeds++) {
            drng_request_words_ask_again(&words);
            CU_ASSERT_FALSE(drng_request_words_serve(&words));
            CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &last, &counters, fresh), DRNG_OK);
            CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &last, &counters, fresh), DRNG_OK);
            CU_ASSERT_EQUAL(scripted_rows[i].executions, tries * (DRY_REQUESTS + seeds));
        }
        const uint64_t before = counters.kernel_requests;
        scripted_rows[i].behaviour = scripted_good;
        drng_request_words_ask_again(&words);
        CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &last, &counters, fresh), DRNG_OK);
        CU_ASSERT_TRUE(drng_request_words_serve(&words));
        CU_ASSERT_EQUAL(drng_request_entropy(&words, false, &last, &counters, fresh), DRNG_OK);
        CU_ASSERT_EQUAL(memcmp(fresh, &scripted_rows[i].log[1], sizeof(fresh)), 0);
        CU_ASSERT_EQUAL(counters.kernel_requests, before);
    }
}

/* ---- A fault, and what the other rows do meanwhile ---- */

enum others { OTHERS_BARRED, OTHERS_GOOD, BEFORE_DRY, ALL_FAULTY, PAIRINGS };

static const char *const others_names[] = {"not allowed", "good", "dry before it, good after it", "as bad"};

struct trial {
    const struct fault *fault;
    unsigned which; /* bit or byte */
    unsigned row;
    enum others others;
    enum drng_conditioner_kind conditioner;
    bool fallback;
    /* what came of it */
    enum drng_result status;
    uint64_t taken_ns;
    uint8_t out[SEED_LEN];
};

static bool is_allowed(const struct trial *trial, unsigned row)
{
    return row == trial->row || trial->others != OTHERS_BARRED;
}

static bool has_fault(const struct trial *trial, unsigned row)
{
    return row == trial->row || trial->others == ALL_FAULTY;
}

static bool is_dry(const struct trial *trial, unsigned row)
{
    return trial->others == BEFORE_DRY && row < trial->row;
}

/* Draws seeds from one row alone until the next one would go past `words`. */
static void wear(unsigned row, uint64_t words)
{
    const struct drng_seed_policy whole = policy;
    const size_t window = drng_instruction_rows[row].window_words;
    uint8_t seed[SEED_LEN];
    enum drng_source served_by;
    bool served = true;
    memset(policy.instructions, 0, sizeof(policy.instructions));
    policy.instructions[row] = &instructions[row];
    policy.conditioner = DRNG_HMAC_SHA256;
    policy.fallback = NULL;
    while (served && scripted_rows[row].words + seed_model_words(window, SEED_LEN) <= words) {
        served = drng_seed_get(&policy, &reader, seed, SEED_LEN, &served_by) == DRNG_OK;
    }
    CU_ASSERT_TRUE(served);
    policy = whole;
}

/* A million words once for each row: up to there they are the same good ones with every fault. */
static void wear_for_long(unsigned row, uint64_t words)
{
    static struct {
        struct scripted_instruction cpu;
        struct drng_instruction instruction;
        struct drng_seed_reader reader;
    } worn[DRNG_INSTRUCTIONS];
    struct scripted_instruction *cpu = &scripted_rows[row];
    scripted_behaviour *const behaviour = cpu->behaviour;
    const uint64_t at = cpu->at;
    const unsigned which = cpu->which;
    if (worn[row].cpu.words == 0) {
        wear(row, words);
        worn[row].cpu = *cpu;
        memcpy(&worn[row].instruction, &instructions[row], sizeof(instructions[row]));
        worn[row].reader = reader;
    }
    *cpu = worn[row].cpu;
    cpu->behaviour = behaviour;
    cpu->at = at;
    cpu->which = which;
    memcpy(&instructions[row], &worn[row].instruction, sizeof(instructions[row]));
    reader = worn[row].reader;
}

static void give_fault(const struct trial *trial, unsigned row)
{
    const struct fault *fault = trial->fault;
    struct scripted_instruction *cpu = &scripted_rows[row];
    cpu->behaviour = fault->behaviour;
    cpu->at = drng_instruction_rows[row].starves ? fault->starving_at : fault->steady_at;
    cpu->which = trial->which;
    (fault->wear < FAULTS_MILLION ? wear : wear_for_long)(row, fault->wear);
    cpu->ns = fault->slow_ns != 0 ? fault->slow_ns : cpu->ns;
}

static void prepare(const struct trial *trial)
{
    set_up();
    policy.conditioner = trial->conditioner;
    policy.fallback = trial->fallback ? fall_back : NULL;
    for (unsigned row = 0; row < DRNG_INSTRUCTIONS; row++) {
        if (has_fault(trial, row)) {
            give_fault(trial, row);
        } else if (is_dry(trial, row)) {
            scripted_rows[row].behaviour = scripted_dry;
        }
    }
    memset(&counters, 0, sizeof(counters));
    for (unsigned row = 0; row < DRNG_INSTRUCTIONS; row++) {
        policy.instructions[row] = is_allowed(trial, row) ? &instructions[row] : NULL;
    }
}

static void run(struct trial *trial)
{
    const uint64_t before = scripted_clock_ns;
    enum drng_source served;
    memset(trial->out, TAKEN_BEFORE, sizeof(trial->out));
    trial->status = drng_seed_get(&policy, &reader, trial->out, sizeof(trial->out), &served);
    trial->taken_ns = scripted_clock_ns - before;
}

/* ---- What is expected ---- */

static struct outcome outcome_of(const struct trial *trial, unsigned row)
{
    const struct outcome unasked = {.serves = false};
    const struct outcome serves = {.serves = true};
    if (!is_allowed(trial, row) || is_dry(trial, row)) {
        return unasked;
    }
    if (!has_fault(trial, row)) {
        return serves;
    }
    return drng_instruction_rows[row].starves ? *trial->fault->if_starving : *trial->fault->if_steady;
}

/* The row that serves, or DRNG_INSTRUCTIONS. */
static unsigned expected_server(const struct trial *trial)
{
    unsigned row = 0;
    while (row < DRNG_INSTRUCTIONS && !outcome_of(trial, row).serves) {
        row++;
    }
    return row;
}

static enum drng_source expected_source(const struct trial *trial)
{
    const unsigned row = expected_server(trial);
    if (row < DRNG_INSTRUCTIONS) {
        return DRNG_SOURCE_INSTRUCTION + row;
    }
    return trial->fallback ? DRNG_SOURCE_FALLBACK : DRNG_SOURCE_NONE;
}

/* The last words that the row gave, conditioned under the reader's key. */
static bool is_seed_of(const struct trial *trial, unsigned row)
{
    const struct scripted_instruction *cpu = &scripted_rows[row];
    const size_t window = drng_instruction_rows[row].window_words;
    const size_t count = seed_model_words(window, SEED_LEN);
    uint64_t key[SEED_MODEL_KEY_WORDS];
    uint8_t seed[SEED_LEN];
    memcpy(key, reader.noise[row].key, sizeof(key));
    return cpu->log_len >= count && cpu->log_len == cpu->words &&
           seed_model_condition(trial->conditioner, key, &cpu->log[cpu->log_len - count], window, seed, SEED_LEN) &&
           memcmp(seed, trial->out, SEED_LEN) == 0;
}

static bool output_is_of(const struct trial *trial, enum drng_source source)
{
    if (source == DRNG_SOURCE_NONE || source == DRNG_SOURCE_FALLBACK) {
        return bytes_are(trial->out, SEED_LEN, source == DRNG_SOURCE_FALLBACK ? FALLBACK_BYTE : 0);
    }
    return is_seed_of(trial, source - DRNG_SOURCE_INSTRUCTION);
}

/* ---- Judging ---- */

static void judge_row(const struct trial *trial, unsigned row)
{
    const bool asked = row <= expected_server(trial);
    const struct outcome outcome = asked ? outcome_of(trial, row) : (struct outcome){.serves = false};
    const struct scripted_instruction *cpu = &scripted_rows[row];
    CU_ASSERT_EQUAL(counters.instructions[row].health_failures, outcome.health_failures);
    CU_ASSERT_EQUAL(instructions[row].disabled, outcome.disabled);
    CU_ASSERT_EQUAL(counters.seeds[row], asked && outcome.serves);
    if (trial->fault->wear == 0) {
        CU_ASSERT_EQUAL(counters.instructions[row].retries, cpu->executions - cpu->words);
    }
}

static void judge(const struct trial *trial)
{
    const enum drng_source source = expected_source(trial);
    CU_ASSERT_EQUAL(trial->status, source != DRNG_SOURCE_NONE ? DRNG_OK : DRNG_NO_FALLBACK);
    CU_ASSERT_EQUAL(counters.source, source);
    CU_ASSERT_EQUAL(counters.seed_failures, source == DRNG_SOURCE_NONE);
    CU_ASSERT_EQUAL(counters.seeds_fallback, source == DRNG_SOURCE_FALLBACK);
    CU_ASSERT_EQUAL(fallback_calls, source == DRNG_SOURCE_FALLBACK);
    for (unsigned row = 0; row < DRNG_INSTRUCTIONS; row++) {
        judge_row(trial, row);
    }
    CU_ASSERT_TRUE(trial->taken_ns < FAULTS_LIMIT_NS);
    CU_ASSERT_TRUE(output_is_of(trial, source));
}

/* The number of the line does not say which case it was. */
static void judge_and_name(const struct trial *trial)
{
    const unsigned before = CU_get_number_of_failures();
    judge(trial);
    if (CU_get_number_of_failures() != before) {
        (void)fprintf(stderr, "\n    wrong: %s: %s (%u) | others %s | %s fallback | %" PRIu64 " us\n",
                      drng_instruction_rows[trial->row].name, trial->fault->name, trial->which,
                      others_names[trial->others], trial->fallback ? "with" : "without", trial->taken_ns / 1000);
    }
}

/* ---- Every fault on every row ---- */

static void try_case(struct trial trial)
{
    prepare(&trial);
    run(&trial);
    judge_and_name(&trial);
}

/* Three of the bits or bytes on a row alone, and one beside others: test_fault_matrix has them all. */
static void try_kinds(const struct trial *trial)
{
    const bool alone = trial->others == OTHERS_BARRED;
    const unsigned kinds = trial->fault->kinds > 0 && alone ? trial->fault->kinds : 1;
    const unsigned step = kinds == 1 ? 1 : (kinds - 1) / 2;
    for (unsigned which = 0; which < kinds; which += step) {
        struct trial one = *trial;
        one.which = which;
        try_case(one);
    }
}

/* Not what is another case again, and not what a row of this kind cannot come to. */
static bool is_possible(const struct trial *trial)
{
    if (DRNG_INSTRUCTIONS == 1 && trial->others != OTHERS_BARRED) {
        return false;
    }
    if (trial->others == BEFORE_DRY && trial->row == 0) {
        return false;
    }
    for (unsigned row = 0; row < DRNG_INSTRUCTIONS; row++) {
        if (has_fault(trial, row) && !drng_instruction_rows[row].starves && trial->fault->if_steady == NULL) {
            return false;
        }
    }
    return true;
}

/*
 * A million words take their time, and are worn off alike for all. A sample goes without them, and without what the
 * other conditioner does beside other rows.
 */
static bool is_repeated(const struct trial *trial)
{
    const bool is_first = trial->conditioner == DRNG_CBC_MAC && trial->fallback && trial->others == OTHERS_BARRED;
    if (trial->fault->wear >= FAULTS_MILLION) {
        return !is_first || unit_samples();
    }
    return unit_samples() && trial->conditioner != DRNG_CBC_MAC && trial->others != OTHERS_BARRED;
}

static void try_all(enum drng_conditioner_kind conditioner, bool fallback)
{
    for (unsigned row = 0; row < DRNG_INSTRUCTIONS; row++) {
        for (const struct fault *fault = faults; fault->name != NULL; fault++) {
            for (unsigned others = 0; others < PAIRINGS; others++) {
                const struct trial trial = {.fault = fault,
                                            .row = row,
                                            .others = (enum others)others,
                                            .conditioner = conditioner,
                                            .fallback = fallback};
                if (is_possible(&trial) && !is_repeated(&trial)) {
                    try_kinds(&trial);
                }
            }
        }
    }
}

UNIT_TEST("faults with a fallback")
{
    try_all(DRNG_CBC_MAC, true);
    try_all(DRNG_HMAC_SHA256, true);
}

UNIT_TEST("faults without a fallback")
{
    try_all(DRNG_CBC_MAC, false);
    try_all(DRNG_HMAC_SHA256, false);
}

int main(void)
{
    return unit_run("rows");
}
