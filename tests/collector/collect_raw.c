/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_raw.c - writes what a stage of drng puts out to standard output, as bytes: for NIST's SP 800-90B tool and
 * for batteries of statistical tests. scripts/evidence/collect-raw runs it.
 *
 *     collect_raw CPU STAGE BYTES        "hardware", see cpu.h; BYTES is 0 for as many as the reader takes
 *
 *     rdseed, rdrand              words of the instruction as they come, each with CF = 1 and past no test
 *     seed-rdseed, seed-rdrand    seeds: words past the health tests, then AES-128-CBC-MAC; no kernel bytes mixed in
 *     hmac-rdseed, hmac-rdrand    the same with HMAC-SHA-256
 *     drbg                        CTR_DRBG with AES-256, seeded once with such seeds from whichever instruction serves
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/drbg/self_test.h"
#include "mixing/entropy/seed.h"
#include "tests/collector/cpu.h"

enum {
    PIECE = 4096,
    SEED_LEN = 48,
    WORD_TRIES = 100000000, /* executions; a starved RDSEED wants thousands */
    SEED_TRIES = 1000,
};

static struct drng_counters counters;
static struct drng_family family;
static struct drng_instruction rdseed = {.row = &drng_instruction_rows[DRNG_RDSEED],
                                         .counters = &counters.instructions[DRNG_RDSEED],
                                         .family = &family.instructions[DRNG_RDSEED]};
static struct drng_instruction rdrand = {.row = &drng_instruction_rows[DRNG_RDRAND],
                                         .counters = &counters.instructions[DRNG_RDRAND],
                                         .family = &family.instructions[DRNG_RDRAND]};
static struct drng_seed_reader reader;
static struct drng_seed_policy policy;
static struct drng_ctr_drbg drbg;

/* ---- Stages: each fills out[0..PIECE), or returns false ---- */

static bool read_words(bool (*read)(uint64_t *word), uint8_t *out)
{
    for (size_t done = 0; done < PIECE; done += sizeof(uint64_t)) {
        uint64_t word = 0;
        unsigned tries = 0;
        while (!read(&word)) {
            if (++tries == WORD_TRIES) {
                return false;
            }
            drng_pause();
        }
        memcpy(out + done, &word, sizeof(word));
    }
    return true;
}

static bool fill_rdseed(uint8_t *out)
{
    return read_words(drng_instruction_rows[DRNG_RDSEED].read, out);
}

static bool fill_rdrand(uint8_t *out)
{
    return read_words(drng_instruction_rows[DRNG_RDRAND].read, out);
}

/* A drought is waited for, and nothing else: what has failed its health tests stays so. */
static bool get_seed(uint8_t *out, size_t len)
{
    int tries = 0;
    enum drng_source served;
    while (drng_seed_get(&policy, &reader, out, len, &served) != DRNG_OK) {
        const bool serves = (policy.instructions[DRNG_RDSEED] != NULL && !atomic_load(&rdseed.disabled)) ||
                            (policy.instructions[DRNG_RDRAND] != NULL && !atomic_load(&rdrand.disabled));
        if (!serves || ++tries == SEED_TRIES) {
            return false;
        }
    }
    return true;
}

static bool fill_seeds(uint8_t *out)
{
    for (size_t done = 0; done < PIECE; done += SEED_LEN) {
        if (!get_seed(out + done, PIECE - done < SEED_LEN ? PIECE - done : SEED_LEN)) {
            return false;
        }
    }
    return true;
}

static bool fill_drbg(uint8_t *out)
{
    const struct drng_bytes none = {NULL, 0};
    if (drbg.reseed_counter == 0) {
        uint8_t seed[SEED_LEN];
        if (!get_seed(seed, sizeof(seed)) ||
            drng_ctr_drbg_instantiate(&drbg, policy.aes, DRNG_AES_MAX_KEY, true,
                                      (struct drng_bytes){seed, sizeof(seed)}, none, none, 0) != DRNG_OK) {
            return false;
        }
    }
    return drng_ctr_drbg_generate(&drbg, out, PIECE, none, NULL) == DRNG_OK;
}

static const struct stage {
    const char *name;
    bool (*fill)(uint8_t *out);
    bool rdseed;
    bool rdrand;
    enum drng_conditioner_kind conditioner;
} stages[] = {
    {"rdseed", fill_rdseed, true, false, DRNG_CBC_MAC},
    {"rdrand", fill_rdrand, false, true, DRNG_CBC_MAC},
    {"seed-rdseed", fill_seeds, true, false, DRNG_CBC_MAC},
    {"seed-rdrand", fill_seeds, false, true, DRNG_CBC_MAC},
    {"hmac-rdseed", fill_seeds, true, false, DRNG_HMAC_SHA256},
    {"hmac-rdrand", fill_seeds, false, true, DRNG_HMAC_SHA256},
    {"drbg", fill_drbg, true, true, DRNG_CBC_MAC},
};

static const struct stage *find_stage(const char *name)
{
    for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
        if (strcmp(name, stages[i].name) == 0) {
            return &stages[i];
        }
    }
    return NULL;
}

/* False, and a line that says so, where the CPU lacks what the stage reads. */
static bool set_up(const struct stage *stage)
{
    struct drng_cpu cpu;
    const char *failed = NULL;
    drng_cpu_identify(&cpu);
    policy = (struct drng_seed_policy){
        .instructions = {[DRNG_RDSEED] = stage->rdseed && cpu.has[DRNG_RDSEED] ? &rdseed : NULL,
                         [DRNG_RDRAND] = stage->rdrand && cpu.has[DRNG_RDRAND] ? &rdrand : NULL},
        .aes = drng_self_test_choose(&cpu, &failed),
        .conditioner = stage->conditioner,
        .counters = &counters,
    };
    if (policy.aes == NULL) {
        (void)fprintf(stderr, "collect_raw: %s gave a wrong answer\n", failed);
        return false;
    }
    if (policy.instructions[DRNG_RDSEED] == NULL && policy.instructions[DRNG_RDRAND] == NULL) {
        (void)fprintf(stderr, "collect_raw: this CPU has no instruction for %s\n", stage->name);
        return false;
    }
    return true;
}

static void explain(const struct stage *stage)
{
    const struct drng_instruction *in = policy.instructions[DRNG_RDRAND] != NULL ? &rdrand : &rdseed;
    const bool unsound = atomic_load(&in->disabled);
    (void)fprintf(stderr, "collect_raw: no %s: %s %s%s\n", stage->name, in->row->name,
                  unsound ? "failed the " : "gave too little",
                  unsound ? drng_health_test_name((enum drng_health_test)atomic_load(&in->failed_test)) : "");
}

/* Writes len bytes, or without end for 0, which a reader that goes away ends. */
static bool write_out(const struct stage *stage, uint64_t len)
{
    uint8_t piece[PIECE];
    uint64_t left = len;
    while (len == 0 || left > 0) {
        if (!stage->fill(piece)) {
            explain(stage);
            return false;
        }
        const size_t part = len == 0 || left > PIECE ? PIECE : (size_t)left;
        if (fwrite(piece, 1, part, stdout) != part) {
            return len == 0 && errno == EPIPE;
        }
        left -= len == 0 ? 0 : part;
    }
    return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    const struct stage *stage = argc == 4 ? find_stage(argv[2]) : NULL;
    const uint64_t len = stage != NULL ? strtoumax(argv[3], &end, 10) : 0;
    if (stage == NULL || end == argv[3] || *end != '\0' || !collector_cpu_choose(argv[1])) {
        (void)fprintf(stderr,
                      "usage: collect_raw CPU STAGE BYTES\nCPU: %s\nSTAGE: rdseed, rdrand, seed-rdseed, seed-rdrand, "
                      "hmac-rdseed, hmac-rdrand or drbg\n",
                      collector_cpus);
        return 2;
    }
    const bool done = set_up(stage) && write_out(stage, len);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
