/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `batch = yes`, on the scripted CPU: which request is served with what.
 *
 * Two generators have the same seed. One serves short requests out of its store; the other, without a store, makes the
 * Generate requests that the first one should have made. So each piece is compared with the bytes that it should be.
 */

#include <string.h>
#include <time.h>

#include <openssl/core_names.h>
#include <openssl/rand.h>

#include "mixing/state/fork.h"
#include "tests/provider/evp.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"
#include "tests/unit/unit.h"

enum { STORE = 768, LONGEST = 64, INTERVAL = 3600 /* seconds that a seed serves */ };

/* ---- The clock, by -Wl,--wrap=time ---- */

static time_t seconds = 1000000;

time_t __wrap_time(time_t *now)
{
    if (now != NULL) {
        *now = seconds;
    }
    return seconds;
}

/* ---- The two generators ---- */

static OSSL_LIB_CTX *batched_context;
static OSSL_LIB_CTX *plain_context;
static EVP_RAND_CTX *batched;
static EVP_RAND_CTX *plain;

/* What the plain generator has put out, and how much of it the batched one should have handed out. */
static unsigned char expected[STORE];
static size_t handed_out;

/* The same words, from their first on, for each of the two. */
static OSSL_LIB_CTX *on_cpu(const char *keys)
{
    scripted_reset(scripted_good, scripted_good);
    OSSL_LIB_CTX *libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    return libctx;
}

static OSSL_LIB_CTX *with_store(void)
{
    return on_cpu("request_mixing = no\nbatch = yes\n");
}

static OSSL_LIB_CTX *without_store(void)
{
    return on_cpu("request_mixing = no\n");
}

static void request(EVP_RAND_CTX *rand, unsigned char *out, size_t len)
{
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_generate(rand, out, len, 0, 0, NULL, 0), 1);
}

/* The Generate request that fills a store. */
static void expect_a_fill(void)
{
    request(plain, expected, STORE);
    handed_out = 0;
}

static void check_piece(size_t len)
{
    unsigned char piece[LONGEST];
    request(batched, piece, len);
    CU_ASSERT_EQUAL(memcmp(piece, expected + handed_out, len), 0);
    handed_out += len;
}

/* The next piece comes from a store that was filled after all that both have done. */
static void check_that_the_store_was_erased(void)
{
    expect_a_fill();
    check_piece(16);
}

static void open_both(void)
{
    /* One after the other: each draws its words from the first on. */
    plain_context = without_store();
    plain = evp_rand_ready(plain_context, "CTR-DRBG", "provider=drng", NULL);
    batched_context = with_store();
    batched = evp_rand_ready(batched_context, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_TRUE_FATAL(plain != NULL && batched != NULL);
    CU_ASSERT_STRING_EQUAL(evp_server(batched), "drng");
    check_that_the_store_was_erased();
}

static void close_both(void)
{
    EVP_RAND_CTX_free(plain);
    EVP_RAND_CTX_free(batched);
    OSSL_LIB_CTX_free(plain_context);
    OSSL_LIB_CTX_free(batched_context);
}

/* ---- Pieces ---- */

UNIT_TEST("pieces are the output of one Generate request")
{
    static const size_t lengths[] = {16, 1, 0, 64, 32, 15, 17, 48, 63, 8, 3};
    open_both();
    for (size_t i = 0; handed_out + LONGEST <= STORE; i++) {
        check_piece(lengths[i % (sizeof(lengths) / sizeof(*lengths))]);
    }
    close_both();
}

UNIT_TEST("the store is used to its last byte and filled again")
{
    open_both();
    for (unsigned fill = 0; fill < 3; fill++) {
        while (handed_out < STORE) {
            check_piece(16);
        }
        expect_a_fill();
    }
    close_both();
}

/* A piece has no bytes of two Generate requests: what is too short for it is dropped. */
UNIT_TEST("a rest that is too short is dropped")
{
    open_both();
    check_piece(47);
    while (STORE - handed_out >= LONGEST) {
        check_piece(LONGEST);
    }
    CU_ASSERT_EQUAL(STORE - handed_out, 1);
    expect_a_fill();
    check_piece(LONGEST);
    close_both();
}

/* ---- Requests that are no pieces ---- */

/* Both generators make the same request, which is a Generate request in both. */
static void both(size_t len, int prediction_resistance, const char *additional)
{
    unsigned char a[STORE];
    unsigned char b[STORE];
    const unsigned char *in = (const unsigned char *)additional;
    const size_t in_len = additional != NULL ? strlen(additional) : 0;
    /* The state of the instructions' script, as it is before each of the two. */
    const struct scripted_instruction rdseed = scripted_rdseed;
    CU_ASSERT_EQUAL(EVP_RAND_generate(plain, a, len, 0, prediction_resistance, in, in_len), 1);
    scripted_rdseed = rdseed;
    CU_ASSERT_EQUAL(EVP_RAND_generate(batched, b, len, 0, prediction_resistance, in, in_len), 1);
    CU_ASSERT_EQUAL(memcmp(a, b, len), 0);
}

UNIT_TEST("a longer request leaves the store alone")
{
    open_both();
    both(LONGEST + 1, 0, NULL);
    check_piece(32);
    both(STORE, 0, NULL);
    check_piece(32);
    close_both();
}

/* All output after it depends on it. */
UNIT_TEST("additional input erases the store")
{
    open_both();
    both(16, 0, "additional");
    check_that_the_store_was_erased();
    both(LONGEST + 1, 0, "additional");
    check_that_the_store_was_erased();
    close_both();
}

UNIT_TEST("prediction resistance erases the store")
{
    open_both();
    both(16, 1, NULL);
    check_that_the_store_was_erased();
    close_both();
}

/* ---- Reseeds ---- */

static void reseed(EVP_RAND_CTX *rand)
{
    const unsigned char entropy[32] = {1};
    const struct scripted_instruction rdseed = scripted_rdseed;
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, entropy, sizeof(entropy), NULL, 0), 1);
    if (rand == plain) {
        scripted_rdseed = rdseed;
    }
}

UNIT_TEST("a reseed erases the store")
{
    open_both();
    reseed(plain);
    reseed(batched);
    check_that_the_store_was_erased();
    close_both();
}

static uint64_t reseeds_of_pieces(EVP_RAND_CTX *rand, size_t count)
{
    unsigned char piece[16];
    const uint64_t before = evp_counter(batched_context, "reseeds");
    for (size_t i = 0; i < count; i++) {
        request(rand, piece, sizeof(piece));
    }
    return evp_counter(batched_context, "reseeds") - before;
}

/* As SP 800-90A has it, reseed_interval counts Generate requests. */
UNIT_TEST("the reseed limit counts Generate requests")
{
    open_both();
    CU_ASSERT_TRUE(evp_set_uint(batched, OSSL_DRBG_PARAM_RESEED_REQUESTS, 1));
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, STORE / 16 - 1), 0);
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, STORE / 16), 1);
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 3 * STORE / 16), 3);
    CU_ASSERT_TRUE(evp_set_uint(plain, OSSL_DRBG_PARAM_RESEED_REQUESTS, 1));
    CU_ASSERT_EQUAL(reseeds_of_pieces(plain, 5), 5);
    close_both();
}

/* It counts the bytes that a Generate request makes, and not what is handed out. */
UNIT_TEST("reseed_bytes counts generated bytes")
{
    open_both();
    CU_ASSERT_TRUE(evp_set_uint(batched, "reseed_bytes", 2 * STORE));
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 2 * STORE / 16 - 1), 0);
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 2 * STORE / 16), 1);
    close_both();
}

/* The time that a seed serves holds for what was made with it; if the clock was set back, it is over. */
UNIT_TEST("the reseed interval holds for stored bytes")
{
    open_both();
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 1), 0);
    seconds += INTERVAL - 1;
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 1), 0);
    seconds += 1;
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 1), 1);
    seconds -= 1;
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 1), 1);
    CU_ASSERT_EQUAL(reseeds_of_pieces(batched, 1), 0);
    close_both();
}

UNIT_TEST("a reseeded parent reseeds before a piece")
{
    unsigned char piece[16];
    OSSL_LIB_CTX *libctx = with_store();
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, piece, sizeof(piece), 0), 1);
    const uint64_t before = evp_counter(libctx, "reseeds");
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, piece, sizeof(piece), 0), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "reseeds"), before);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, piece, sizeof(piece), 0), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "reseeds"), before + 2); /* the primary, and public */
    OSSL_LIB_CTX_free(libctx);
}

/* ---- Who is served from no store ---- */

/* The parent is OpenSSL's TEST-RAND: the answers are the standard's, request by request. */
UNIT_TEST("under a foreign parent nothing is batched")
{
    static unsigned char entropy[48] = {1, 2, 3};
    unsigned char answers[2][2][32];
    unsigned strength = 256;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_ENTROPY, entropy, 32),
                                 OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_NONCE, entropy + 32, 16),
                                 OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength),
                                 OSSL_PARAM_construct_end()};
    for (unsigned i = 0; i < 2; i++) {
        OSSL_LIB_CTX *libctx = i == 0 ? without_store() : with_store();
        EVP_RAND_CTX *parent = evp_rand(libctx, "TEST-RAND", "provider=default", NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(parent);
        CU_ASSERT_EQUAL(EVP_RAND_instantiate(parent, strength, 0, NULL, 0, params), 1);
        EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
        request(rand, answers[i][0], 32);
        request(rand, answers[i][1], 32);
        EVP_RAND_CTX_free(rand);
        EVP_RAND_CTX_free(parent);
        OSSL_LIB_CTX_free(libctx);
    }
    CU_ASSERT_EQUAL(memcmp(answers[0], answers[1], sizeof(answers[0])), 0);
}

/* ---- What is counted ---- */

UNIT_TEST("each request of the user is counted")
{
    open_both();
    const uint64_t requests = evp_counter(batched_context, "requests");
    const uint64_t bytes = evp_counter(batched_context, "bytes");
    for (unsigned i = 0; i < 100; i++) {
        unsigned char piece[LONGEST];
        request(batched, piece, 20);
    }
    CU_ASSERT_EQUAL(evp_counter(batched_context, "requests"), requests + 100);
    CU_ASSERT_EQUAL(evp_counter(batched_context, "bytes"), bytes + 2000);
    close_both();
}

/* ---- Failures ---- */

UNIT_TEST("a failed reseed leaves nothing to hand out")
{
    unsigned char piece[16];
    OSSL_LIB_CTX *libctx = on_cpu("request_mixing = no\nbatch = yes\nfallback = no\n");
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
    request(rand, piece, sizeof(piece));
    scripted_rdseed.behaviour = scripted_dry;
    scripted_rdrand.behaviour = scripted_dry;
    evp_be_quiet();
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, NULL, 0, NULL, 0), 0);
    memset(piece, 0xaa, sizeof(piece));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, piece, sizeof(piece), 0, 0, NULL, 0), 0);
    for (size_t i = 0; i < sizeof(piece); i++) {
        CU_ASSERT_EQUAL(piece[i], 0);
    }
    EVP_RAND_CTX_free(rand);
    OSSL_LIB_CTX_free(libctx);
}

UNIT_TEST("too much strength is refused")
{
    unsigned char piece[16];
    open_both();
    evp_be_quiet();
    CU_ASSERT_EQUAL(EVP_RAND_generate(batched, piece, sizeof(piece), 257, 0, NULL, 0), 0);
    check_piece(16);
    close_both();
}

/* An instance stays loaded, whose first seed tests the instruction: later ones draw nothing for that. */
int main(void)
{
    (void)drng_fork_open();
    if (!drng_fork_kernel_wipes) {
        return unit_skipped("this kernel wipes nothing, so requests are always mixed");
    }
    if (!unmask_instructions()) {
        return 1;
    }
    scripted_reset(scripted_good, scripted_good);
    OSSL_LIB_CTX *first = evp_context("");
    unsigned char out[16];
    const int result = first != NULL && RAND_bytes_ex(first, out, sizeof(out), 0) == 1 ? unit_run("batch") : 1;
    OSSL_LIB_CTX_free(first);
    return result;
}
