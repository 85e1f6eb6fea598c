/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cross_check.c - runs scripts of calls on drng's CTR-DRBG and on libcrypto's own, under one TEST-RAND, and compares.
 *
 * A line of standard input is a script: calls with their numbers, separated by ';'. A length of -1 is no data at all
 * (NULL), 0 is empty data; what the data are follows from `s`.
 *
 *     s SEED                       what the data of the calls below are made from
 *     m BITS DF                    cipher AES-BITS-CTR, with (1) or without (0) derivation function
 *     l REQUESTS                   reseed_requests
 *     e STRENGTH ENTROPY NONCE     what TEST-RAND gives from now on: bits, and lengths in bytes
 *     i STRENGTH PR PERS           EVP_RAND_instantiate
 *     g LEN STRENGTH PR ADD        EVP_RAND_generate
 *     r PR ENTROPY ADD             EVP_RAND_reseed
 *     u                            EVP_RAND_uninstantiate
 *
 * The answer to a line is "same", a digit for the result of each call, and how many bytes were compared; or
 * "different" and what; or "bad script". With --planted, drng's output is altered where a request of more than a
 * block, not of whole blocks, has additional input: what finds differences is to find that one.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "tests/provider/evp.h"
#include "tests/unit/bytes.h"

enum {
    NUMBERS = 4, /* of one call, at most */
    INPUTS = 2,
    LONGEST_INPUT = 1 << 17,
    LONGEST_OUT = 1 << 17,
    MOST_CALLS = 64,
};

/* The two generators under comparison; each does what the script says. */
enum { OURS, THEIRS, SIDES };

struct sides {
    EVP_RAND *test_rand;
    EVP_RAND *algorithm[SIDES];
    EVP_RAND_CTX *parent;
    size_t nonce_len; /* of what the parent gives */
    EVP_RAND_CTX *rand[SIDES];
};

struct call {
    char what;
    long number[NUMBERS];
    const unsigned char *input[INPUTS]; /* what the lengths among the numbers stand for */
    size_t input_len[INPUTS];
};

static bool planted;
static unsigned char inputs[INPUTS][LONGEST_INPUT];
static unsigned char out[SIDES][LONGEST_OUT];

/* ---- Reading a script ---- */

/* How many numbers each call has, and which of them are lengths of data. */
static const struct {
    char what;
    int numbers;
    int inputs;
    int input_at[INPUTS];
} grammar[] = {
    {'s', 1, 0, {0, 0}}, {'m', 2, 0, {0, 0}}, {'l', 1, 0, {0, 0}}, {'e', 3, 2, {1, 2}},
    {'i', 3, 1, {2, 0}}, {'g', 4, 1, {3, 0}}, {'r', 3, 2, {1, 2}}, {'u', 0, 0, {0, 0}},
};
enum { CALLS = sizeof(grammar) / sizeof(*grammar) };

static bool make_input(struct call *call, int which, long len, uint64_t *state)
{
    if (len < -1 || len > LONGEST_INPUT) {
        return false;
    }
    call->input_len[which] = len > 0 ? (size_t)len : 0;
    call->input[which] = len >= 0 ? inputs[which] : NULL;
    bytes_random(state, inputs[which], call->input_len[which]);
    return true;
}

static bool parse(const char *text, struct call *call, uint64_t *state)
{
    int rule = 0;
    *call = (struct call){.what = *text};
    while (rule < CALLS && grammar[rule].what != *text) {
        rule++;
    }
    if (rule == CALLS) {
        return false;
    }
    text++;
    for (int i = 0; i < grammar[rule].numbers; i++) {
        char *end = NULL;
        call->number[i] = strtol(text, &end, 10);
        if (end == text) {
            return false;
        }
        text = end;
    }
    for (int i = 0; i < grammar[rule].inputs; i++) {
        if (!make_input(call, i, call->number[grammar[rule].input_at[i]], state)) {
            return false;
        }
    }
    return *text == '\0' && (call->what != 'g' || (call->number[0] >= 0 && call->number[0] <= LONGEST_OUT));
}

/* ---- Calls ---- */

static int give(EVP_RAND_CTX *parent, const struct call *call)
{
    unsigned strength = (unsigned)call->number[0];
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength),
        OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_ENTROPY, inputs[0], call->input_len[0]),
        OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_NONCE, inputs[1], call->input_len[1]),
        OSSL_PARAM_construct_end(),
    };
    return EVP_RAND_CTX_set_params(parent, params);
}

static int set_mechanism(EVP_RAND_CTX *rand, const struct call *call)
{
    char cipher[32];
    int use_df = (int)call->number[1];
    (void)snprintf(cipher, sizeof(cipher), "AES-%ld-CTR", call->number[0]);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    return EVP_RAND_CTX_set_params(rand, params);
}

static int generate(EVP_RAND_CTX *rand, const struct call *call, int side)
{
    const long *n = call->number;
    const int result =
        EVP_RAND_generate(rand, out[side], (size_t)n[0], (unsigned)n[1], (int)n[2], call->input[0], call->input_len[0]);
    if (planted && side == OURS && n[0] > 16 && n[0] % 16 != 0 && n[3] > 0) {
        out[side][n[0] - 1] ^= 1;
    }
    return result;
}

static int perform(EVP_RAND_CTX *rand, const struct call *call, int side)
{
    const long *n = call->number;
    switch (call->what) {
    case 'm':
        return set_mechanism(rand, call);
    case 'l':
        return evp_set_uint(rand, OSSL_DRBG_PARAM_RESEED_REQUESTS, (unsigned)n[0]);
    case 'i':
        return EVP_RAND_instantiate(rand, (unsigned)n[0], (int)n[1], call->input[0], call->input_len[0], NULL);
    case 'g':
        return generate(rand, call, side);
    case 'r':
        return EVP_RAND_reseed(rand, (int)n[0], call->input[0], call->input_len[0], call->input[1], call->input_len[1]);
    default:
        return EVP_RAND_uninstantiate(rand);
    }
}

/* ---- Comparing ---- */

enum { LENGTHS = 7, MIN_NONCE = 3 };

/* What a call did, as anybody can see it. */
struct view {
    int state_before;
    int result;
    int state;
    unsigned strength;
    unsigned reseeds; /* how far the reseed counter went */
    size_t length[LENGTHS];
};

static unsigned reseed_counter(EVP_RAND_CTX *rand)
{
    unsigned value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_COUNTER, &value),
                           OSSL_PARAM_construct_end()};
    (void)EVP_RAND_CTX_get_params(rand, params);
    return value;
}

static void look(EVP_RAND_CTX *rand, struct view *view)
{
    static const char *const names[LENGTHS] = {OSSL_RAND_PARAM_MAX_REQUEST,    OSSL_DRBG_PARAM_MIN_ENTROPYLEN,
                                               OSSL_DRBG_PARAM_MAX_ENTROPYLEN, OSSL_DRBG_PARAM_MIN_NONCELEN,
                                               OSSL_DRBG_PARAM_MAX_NONCELEN,   OSSL_DRBG_PARAM_MAX_PERSLEN,
                                               OSSL_DRBG_PARAM_MAX_ADINLEN};
    view->state = EVP_RAND_get_state(rand);
    view->strength = EVP_RAND_get_strength(rand);
    for (int i = 0; i < LENGTHS; i++) {
        view->length[i] = evp_size(rand, names[i]);
    }
}

static size_t max_input(const struct view *view)
{
    return view->length[LENGTHS - 1];
}

/* What differs, or NULL. */
static const char *compare(const struct view view[SIDES], size_t out_len)
{
    if (view[OURS].result != view[THEIRS].result) {
        return "result";
    }
    if (view[OURS].state != view[THEIRS].state) {
        return "state";
    }
    if (view[OURS].reseeds != view[THEIRS].reseeds) {
        return "number of reseeds";
    }
    if (view[OURS].strength != view[THEIRS].strength) {
        return "strength";
    }
    if (memcmp(view[OURS].length, view[THEIRS].length, sizeof(view[OURS].length)) != 0) {
        return "limits";
    }
    return out_len > 0 && memcmp(out[OURS], out[THEIRS], out_len) != 0 ? "bytes" : NULL;
}

/* ---- Scripts ---- */

static bool set_up(struct sides *sides)
{
    sides->parent = EVP_RAND_CTX_new(sides->test_rand, NULL);
    sides->nonce_len = 0;
    bool done = sides->parent != NULL && EVP_RAND_instantiate(sides->parent, 0, 0, NULL, 0, NULL) == 1;
    for (int i = 0; i < SIDES && done; i++) {
        sides->rand[i] = EVP_RAND_CTX_new(sides->algorithm[i], sides->parent);
        done = sides->rand[i] != NULL;
    }
    return done;
}

static void tear_down(struct sides *sides)
{
    for (int i = 0; i < SIDES; i++) {
        EVP_RAND_CTX_free(sides->rand[i]);
        sides->rand[i] = NULL;
    }
    EVP_RAND_CTX_free(sides->parent);
    sides->parent = NULL;
}

/*
 * Of the calls that both refuse, those after which libcrypto's generator is in another state, by design of ours: a
 * call that is too long, or wants too much, makes libcrypto's take a seed first where it has none; and of two wrong
 * lengths in one reseed libcrypto's looks at the entropy's first, which costs it its seed.
 */
static bool refused_otherwise(const struct call *call, const struct view *ours)
{
    if (ours->result != 0) {
        return false;
    }
    const bool too_long = call->what == 'r' && call->input_len[1] > max_input(ours);
    const bool unseeded = (call->what == 'g' || too_long) && ours->state_before != EVP_RAND_STATE_READY;
    const bool two_reasons = too_long && call->input[0] != NULL;
    return (unseeded && ours->state == ours->state_before) || (two_reasons && ours->state == EVP_RAND_STATE_READY);
}

/*
 * Whether libcrypto's was instantiated with a nonce of its parent's that is shorter than it asked for: ours takes none,
 * and so must refuse the call, and be left in the state of an error, without a seed.
 */
static bool took_short_nonce(const struct sides *sides, const struct call *call, const struct view *theirs)
{
    const bool seeded = theirs->state == EVP_RAND_STATE_READY || theirs->reseeds != 0;
    return strchr("igr", call->what) != NULL && theirs->state_before != EVP_RAND_STATE_READY && seeded &&
           sides->nonce_len < theirs->length[MIN_NONCE];
}

/*
 * The differences by design: those above, after which both go on without a seed; and libcrypto's instantiate, which
 * says "already instantiated" where that is so, does nothing, and returns 1 all the same, where ours returns 0.
 */
static void forgive(struct sides *sides, const struct call *call, struct view view[SIDES])
{
    if (call->what == 'i' && view[THEIRS].state_before == EVP_RAND_STATE_READY) {
        view[THEIRS].result = 0;
    }
    if (view[THEIRS].result == 0 && refused_otherwise(call, &view[OURS])) {
        (void)EVP_RAND_uninstantiate(sides->rand[OURS]);
        (void)EVP_RAND_uninstantiate(sides->rand[THEIRS]);
        view[THEIRS].state = view[OURS].state;
        view[THEIRS].reseeds = view[OURS].reseeds;
    } else if (took_short_nonce(sides, call, &view[THEIRS])) {
        (void)EVP_RAND_uninstantiate(sides->rand[OURS]);
        (void)EVP_RAND_uninstantiate(sides->rand[THEIRS]);
        view[THEIRS].result = 0;
        view[THEIRS].state = EVP_RAND_STATE_ERROR;
        view[THEIRS].reseeds = 0;
    }
}

/* One call on both sides; what differs, or NULL. */
static const char *run_call(struct sides *sides, const struct call *call, int *result, size_t *compared)
{
    struct view view[SIDES] = {0};
    if (call->what == 'e') {
        *result = give(sides->parent, call);
        sides->nonce_len = *result == 1 ? call->input_len[1] : sides->nonce_len;
        return NULL;
    }
    for (int i = 0; i < SIDES; i++) {
        view[i].state_before = EVP_RAND_get_state(sides->rand[i]);
        view[i].reseeds = 0 - reseed_counter(sides->rand[i]);
        view[i].result = perform(sides->rand[i], call, i);
        view[i].reseeds += reseed_counter(sides->rand[i]);
        look(sides->rand[i], &view[i]);
    }
    forgive(sides, call, view);
    *result = view[OURS].result;
    const size_t out_len = call->what == 'g' && *result == 1 ? (size_t)call->number[0] : 0;
    *compared += out_len;
    return compare(view, out_len);
}

/* Prints the answer to one script. */
static void run(struct sides *sides, char *line)
{
    char results[MOST_CALLS + 1] = "";
    size_t compared = 0;
    uint64_t state = 0;
    int calls = 0;
    char *rest = NULL;

    for (char *text = strtok_r(line, ";\n", &rest); text != NULL; text = strtok_r(NULL, ";\n", &rest)) {
        struct call call;
        int result = 1;
        if (calls == MOST_CALLS || !parse(text, &call, &state)) {
            (void)printf("bad script at call %d\n", calls);
            return;
        }
        if (call.what == 's') {
            state = (uint64_t)call.number[0];
        } else {
            const char *what = run_call(sides, &call, &result, &compared);
            if (what != NULL) {
                (void)printf("different %s at call %d (%c)\n", what, calls, call.what);
                return;
            }
        }
        results[calls++] = result == 1 ? '1' : '0';
    }
    (void)printf("same %s %zu\n", results, compared);
}

static bool fetch(struct sides *sides, OSSL_LIB_CTX *libctx)
{
    sides->test_rand = EVP_RAND_fetch(libctx, "TEST-RAND", "provider=default");
    sides->algorithm[OURS] = EVP_RAND_fetch(libctx, "CTR-DRBG", "provider=drng");
    sides->algorithm[THEIRS] = EVP_RAND_fetch(libctx, "CTR-DRBG", "provider=default");
    return sides->test_rand != NULL && sides->algorithm[OURS] != NULL && sides->algorithm[THEIRS] != NULL;
}

int main(int argc, char **argv)
{
    struct sides sides = {0};
    char *line = NULL;
    size_t size = 0;
    planted = argc == 2 && strcmp(argv[1], "--planted") == 0;
    OSSL_LIB_CTX *libctx = evp_context("request_mixing = yes\n");
    bool works = libctx != NULL && fetch(&sides, libctx);

    while (works && getline(&line, &size, stdin) > 0) {
        works = set_up(&sides);
        if (works) {
            run(&sides, line);
            (void)fflush(stdout);
        }
        tear_down(&sides);
        ERR_clear_error();
    }
    free(line);
    EVP_RAND_free(sides.test_rand);
    EVP_RAND_free(sides.algorithm[OURS]);
    EVP_RAND_free(sides.algorithm[THEIRS]);
    OSSL_LIB_CTX_free(libctx);
    return works ? EXIT_SUCCESS : EXIT_FAILURE;
}
