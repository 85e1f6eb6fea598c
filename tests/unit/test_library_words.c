/* SPDX-License-Identifier: Apache-2.0 */
/* libdrng's words: which are handed out, how often the instruction is executed, and what is left after a failure. */

#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/bytes.h"
#include "tests/unit/library_rig.h"
#include "tests/unit/unit.h"

enum { STARTUP = DRNG_STARTUP_WORDS, TAKEN_BEFORE = 0xaa, ROOM = 64 * 1024 };

static uint8_t out[ROOM];
static const char *text;

/* Both instructions, by the calls for bytes. */
static const struct {
    struct scripted_instruction *cpu;
    int (*bytes)(void *bytes, size_t len, unsigned retries);
    int (*words)(uint64_t *words, size_t count, unsigned retries);
    int (*supported)(const char **text);
    unsigned row;
    const char *name;
} kinds[] = {
    {&scripted_rdrand, drng_random_bytes, drng_random_words, drng_random_supported, DRNG_RDRAND, "RDRAND"},
    {&scripted_rdseed, drng_seed_bytes, drng_seed_words, drng_seed_supported, DRNG_RDSEED, "RDSEED"},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static void set_up(scripted_behaviour *rdseed, scripted_behaviour *rdrand, uint64_t at)
{
    library_rig_set_up(rdseed, rdrand);
    scripted_rdseed.at = scripted_rdrand.at = at;
    memset(out, TAKEN_BEFORE, sizeof(out));
}

/* ---- Forks ---- */

enum { PIECE_WORDS = 512 };
static pid_t forked;

/* What a signal handler does, done by the instruction. */
static bool forking_in_the_second_piece(struct scripted_instruction *cpu, uint64_t *word)
{
    if (cpu->words == STARTUP + PIECE_WORDS + 1) {
        cpu->behaviour = scripted_good;
        forked = fork();
    }
    return scripted_good(cpu, word);
}

UNIT_TEST("a child starts over at the first byte")
{
    int status = -1;
    set_up(scripted_good, forking_in_the_second_piece, 0);
    const int error = drng_random_bytes(out, 3 * sizeof(uint64_t) * PIECE_WORDS, 0);
    const bool has_parents = memcmp(out, &scripted_rdrand.log[STARTUP], 32) == 0;
    if (forked == 0) {
        _exit(has_parents || error != DRNG_SUCCESS ? 1 : 0);
    }
    CU_ASSERT_EQUAL(error, DRNG_SUCCESS);
    CU_ASSERT_TRUE(has_parents);
    CU_ASSERT_EQUAL(waitpid(forked, &status, 0), forked);
    CU_ASSERT_EQUAL(status, 0);
}

/* ---- Which words ---- */

UNIT_TEST("a number is a word that was tested")
{
    uint64_t number = 0;
    set_up(scripted_good, scripted_good, 0);
    CU_ASSERT_EQUAL(drng_random64(&number, DRNG_RETRIES), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(number, scripted_rdrand.log[STARTUP]);
    CU_ASSERT_EQUAL(drng_random64(&number, DRNG_RETRIES), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(number, scripted_rdrand.log[STARTUP + 1]);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, STARTUP + 2);
    CU_ASSERT_EQUAL(scripted_rdseed.executions, 0);
    CU_ASSERT_EQUAL(drng_seed64(&number, DRNG_SEED_RETRIES), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(number, scripted_rdseed.log[STARTUP]);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, STARTUP + 2);
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
}

UNIT_TEST("shorter numbers are parts of words")
{
    uint16_t number16 = 0;
    uint32_t number32 = 0;
    set_up(scripted_good, scripted_good, 0);
    CU_ASSERT_EQUAL(drng_random16(&number16, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(memcmp(&number16, &scripted_rdrand.log[STARTUP], sizeof(number16)), 0);
    CU_ASSERT_EQUAL(drng_random32(&number32, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(memcmp(&number32, &scripted_rdrand.log[STARTUP + 1], sizeof(number32)), 0);
    CU_ASSERT_EQUAL(drng_seed16(&number16, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(memcmp(&number16, &scripted_rdseed.log[STARTUP], sizeof(number16)), 0);
    CU_ASSERT_EQUAL(drng_seed32(&number32, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(memcmp(&number32, &scripted_rdseed.log[STARTUP + 1], sizeof(number32)), 0);
}

UNIT_TEST("bytes are words, and the rest is left alone")
{
    static const size_t lengths[] = {1, 7, 8, 9, 13, 4095, 4096, 4097, 3 * 4096 + 5};
    for (size_t i = 0; i < KINDS * sizeof(lengths) / sizeof(*lengths); i++) {
        const size_t len = lengths[i / KINDS];
        const struct scripted_instruction *cpu = kinds[i % KINDS].cpu;
        set_up(scripted_good, scripted_good, 0);
        CU_ASSERT_EQUAL(kinds[i % KINDS].bytes(out + 1, len, 0), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(memcmp(out + 1, &cpu->log[STARTUP], len), 0);
        CU_ASSERT_EQUAL(cpu->words, STARTUP + (len + 7) / 8);
        CU_ASSERT_EQUAL(out[0], TAKEN_BEFORE);
        CU_ASSERT_EQUAL(out[1 + len], TAKEN_BEFORE);
    }
}

UNIT_TEST("words are counted as words")
{
    static uint64_t words[100];
    for (unsigned i = 0; i < KINDS; i++) {
        set_up(scripted_good, scripted_good, 0);
        CU_ASSERT_EQUAL(kinds[i].words(words, 100, 0), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(memcmp(words, &kinds[i].cpu->log[STARTUP], sizeof(words)), 0);
    }
}

UNIT_TEST("0 is a number")
{
    uint64_t number = 1;
    set_up(scripted_good, scripted_single_zero, STARTUP);
    CU_ASSERT_EQUAL(drng_random64(&number, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(number, 0);
}

/* ---- Retries ---- */

/* The start-up words come; then the instruction is dry. */
UNIT_TEST("executed once, and retries times more")
{
    static const unsigned retries[] = {0, 1, DRNG_RETRIES, DRNG_SEED_RETRIES};
    for (size_t i = 0; i < KINDS * sizeof(retries) / sizeof(*retries); i++) {
        const struct scripted_instruction *cpu = kinds[i % KINDS].cpu;
        set_up(scripted_dry_from, scripted_dry_from, STARTUP);
        CU_ASSERT_EQUAL(kinds[i % KINDS].bytes(out, 8, retries[i / KINDS]), DRNG_E_NOT_READY);
        CU_ASSERT_EQUAL(cpu->executions, STARTUP + 1 + retries[i / KINDS]);
        CU_ASSERT_EQUAL(drng_library.counters[kinds[i % KINDS].row].retries, 1 + retries[i / KINDS]);
    }
}

UNIT_TEST("UINT_MAX retries do not wrap")
{
    uint64_t number = 0;
    set_up(scripted_good, scripted_dry_until, 1000000);
    scripted_rdrand.behaviour = scripted_good;
    CU_ASSERT_EQUAL(drng_random64(&number, 0), DRNG_SUCCESS);
    scripted_rdrand.behaviour = scripted_dry_until;
    CU_ASSERT_EQUAL(drng_random64(&number, UINT_MAX), DRNG_SUCCESS);
    CU_ASSERT_TRUE(scripted_rdrand.executions >= 1000000);
}

/* Each word has its own retries. */
UNIT_TEST("a word in four serves with three retries")
{
    set_up(scripted_good, scripted_every, 4);
    CU_ASSERT_EQUAL(drng_random_bytes(out, 800, 3), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(memcmp(out, &scripted_rdrand.log[STARTUP], 800), 0);
    set_up(scripted_good, scripted_every, 4);
    CU_ASSERT_EQUAL(drng_random_bytes(out, 800, 2), DRNG_E_NOT_READY);
}

/* ---- Failures ---- */

UNIT_TEST("a failure leaves zeros wherever it comes")
{
    static const unsigned words[] = {0, 1, 511, 512, 513, 1535};
    for (size_t i = 0; i < KINDS * sizeof(words) / sizeof(*words); i++) {
        set_up(scripted_dry_from, scripted_dry_from, STARTUP + words[i / KINDS]);
        CU_ASSERT_EQUAL(kinds[i % KINDS].bytes(out, 3 * 4096, 1), DRNG_E_NOT_READY);
        CU_ASSERT_TRUE(bytes_are(out, 3 * 4096, 0));
        CU_ASSERT_EQUAL(out[3 * 4096], TAKEN_BEFORE);
    }
}

UNIT_TEST("a dry instruction serves again when it recovers")
{
    set_up(scripted_good, scripted_dry, 0);
    CU_ASSERT_EQUAL(drng_random_bytes(out, 16, DRNG_RETRIES), DRNG_E_NOT_READY);
    CU_ASSERT_TRUE(bytes_are(out, 16, 0));
    CU_ASSERT_EQUAL(drng_random_supported(&text), 1);
    scripted_rdrand.behaviour = scripted_good;
    CU_ASSERT_EQUAL(drng_random_bytes(out, 16, DRNG_RETRIES), DRNG_SUCCESS);
    CU_ASSERT_FALSE(bytes_are(out, 16, 0));
}

/* The first failed test is retried with new start-up tests, in which the same words fail again. */
UNIT_TEST("bad words are never handed out")
{
    static scripted_behaviour *const bad[] = {scripted_zeros, scripted_ones, scripted_constant, scripted_alternating,
                                              scripted_bad_words};
    for (size_t i = 0; i < KINDS * sizeof(bad) / sizeof(*bad); i++) {
        struct scripted_instruction *cpu = kinds[i % KINDS].cpu;
        set_up(bad[i / KINDS], bad[i / KINDS], STARTUP + 100);
        CU_ASSERT_EQUAL(kinds[i % KINDS].bytes(out, 4096, 0), DRNG_E_UNHEALTHY);
        CU_ASSERT_TRUE(bytes_are(out, 4096, 0));
        CU_ASSERT_EQUAL(drng_library.counters[kinds[i % KINDS].row].health_failures, 2);
        const uint64_t executions = cpu->executions;
        cpu->behaviour = scripted_good;
        CU_ASSERT_EQUAL(kinds[i % KINDS].bytes(out, 8, 0), DRNG_E_UNHEALTHY);
        CU_ASSERT_EQUAL(cpu->executions, executions);
        CU_ASSERT_EQUAL(kinds[i % KINDS].supported(&text), 0);
        CU_ASSERT_STRING_EQUAL(text, "its words failed the health tests");
    }
}

/* From call to call: one word each would else never be compared with another. */
UNIT_TEST("a word that comes again in the next call is noticed")
{
    uint64_t number = 0;
    set_up(scripted_good, scripted_good, 0);
    CU_ASSERT_EQUAL(drng_random64(&number, 0), DRNG_SUCCESS);
    scripted_rdrand.behaviour = scripted_constant;
    CU_ASSERT_EQUAL(drng_random64(&number, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_random64(&number, 0), DRNG_E_UNHEALTHY);
    CU_ASSERT_EQUAL(number, 0);
}

/* ---- Whether there is such an instruction ---- */

UNIT_TEST("which instruction serves, and why one does not")
{
    for (unsigned i = 0; i < KINDS; i++) {
        set_up(scripted_good, scripted_good, 0);
        CU_ASSERT_EQUAL(kinds[i].supported(&text), 1);
        CU_ASSERT_STRING_EQUAL(text, kinds[i].name);
        CU_ASSERT_EQUAL(kinds[i].supported(NULL), 1);

        set_up(scripted_good, scripted_good, 0);
        scripted_cpu.has[kinds[i].row] = false;
        CU_ASSERT_EQUAL(kinds[i].supported(&text), 0);
        CU_ASSERT_STRING_EQUAL(text, "not in this CPU");
        CU_ASSERT_EQUAL(kinds[i].supported(NULL), 0);
    }
    set_up(scripted_good, scripted_good, 0);
    strcpy(scripted_cpu.vendor, "AuthenticAMD");
    scripted_cpu.family = 0x1a;
    scripted_cpu.model = 0x02;
    scripted_kernel_flags.has[DRNG_RDSEED] = false;
    CU_ASSERT_EQUAL(drng_seed_supported(&text), 0);
    CU_ASSERT_STRING_EQUAL(text, "switched off by the kernel (flag missing in /proc/cpuinfo)");
    set_up(scripted_good, scripted_good, 0);
    strcpy(scripted_cpu.vendor, "AuthenticAMD");
    scripted_cpu.family = 0x17;
    scripted_cpu.model = 0x71;
    CU_ASSERT_EQUAL(drng_random_supported(&text), 0);
    CU_ASSERT_STRING_EQUAL(text, "known to be broken on this CPU model");
    CU_ASSERT_EQUAL(drng_seed_supported(&text), 1);
}

UNIT_TEST("one that may not be used is never executed")
{
    for (unsigned i = 0; i < KINDS; i++) {
        set_up(scripted_good, scripted_good, 0);
        scripted_cpu.has[kinds[i].row] = false;
        CU_ASSERT_EQUAL(kinds[i].bytes(out, 100, DRNG_RETRIES), DRNG_E_UNSUPPORTED);
        CU_ASSERT_TRUE(bytes_are(out, 100, 0));
        CU_ASSERT_EQUAL(kinds[i].cpu->executions, 0);
    }
}

/* ---- Arguments ---- */

UNIT_TEST("wrong arguments are refused")
{
    set_up(scripted_good, scripted_good, 0);
    CU_ASSERT_EQUAL(drng_random16(NULL, 0), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_random32(NULL, 0), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_random64(NULL, 0), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_seed16(NULL, 0), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_seed32(NULL, 0), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_seed64(NULL, 0), DRNG_E_ARGUMENT);
    for (unsigned i = 0; i < KINDS; i++) {
        CU_ASSERT_EQUAL(kinds[i].bytes(NULL, 1, 0), DRNG_E_ARGUMENT);
        CU_ASSERT_EQUAL(kinds[i].bytes(out, SIZE_MAX, 0), DRNG_E_ARGUMENT);
        CU_ASSERT_EQUAL(kinds[i].bytes(out, (size_t)PTRDIFF_MAX + 1, 0), DRNG_E_ARGUMENT);
        CU_ASSERT_EQUAL(kinds[i].words(NULL, 1, 0), DRNG_E_ARGUMENT);
        /* times 8 this wraps to 8 */
        CU_ASSERT_EQUAL(kinds[i].words((uint64_t *)(void *)out, SIZE_MAX / 8 + 2, 0), DRNG_E_ARGUMENT);
        CU_ASSERT_EQUAL(kinds[i].bytes(NULL, 0, 0), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(kinds[i].bytes(out, 0, 0), DRNG_SUCCESS);
        CU_ASSERT_EQUAL(kinds[i].words(NULL, 0, 0), DRNG_SUCCESS);
    }
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), TAKEN_BEFORE));
    CU_ASSERT_EQUAL(scripted_rdrand.executions + scripted_rdseed.executions, 0);
}

UNIT_MAIN("library_words")
