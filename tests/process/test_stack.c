/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What handles keys leaves none on the stack.
 *
 * Two tests of each request. Secrets that are known are searched for, which says what was left. And the request is made
 * again with other secrets: the stack below it has to look the same, or something of them was left, in whatever form:
 * half a word of a key, the state of a block between two rounds.
 *
 * The last test shows where that ends: at the frame of a signal that came into the request.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_sbox.h"
#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/seed.h"
#include "mixing/machine/wipe.h"
#include "tests/process/below.h"
#include "tests/process/kernel.h"
#include "tests/process/secrets.h"
#include "tests/process/stack_machine.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    ALL_TO = 512, /* every length up to here */
    MOST = DRNG_DRBG_MAX_REQUEST,
    STREAM = MOST / BLOCK + 4, /* blocks of keystream in the longest request */
    LARGE = 6,
    LENGTHS = ALL_TO + LARGE,
    ADDITIONAL = 32,
    SEED_LEN = 48,
};

static const size_t large[LARGE] = {513, 1000, 4096, 4097, 65535, 65536};
static const size_t key_lens[] = {16, 24, 32};

static size_t length_of(size_t i)
{
    return i < ALL_TO ? i + 1 : large[i - ALL_TO];
}

/* ---- What was found ---- */

struct leak {
    const char *name;
    unsigned long windows;
    size_t least; /* of the lengths at which it was */
    size_t most;
    size_t depth; /* bytes below the top of the stack, at most */
};

enum { LEAKS = 16 };

static struct leak leaks[LEAKS];
static size_t length; /* of the request */

static void note(const char *name, size_t offset)
{
    struct leak *leak = leaks;
    while (leak < leaks + LEAKS - 1 && leak->name != NULL && leak->name != name) {
        leak++;
    }
    if (leak->name == NULL) {
        *leak = (struct leak){.name = name, .least = length};
    }
    leak->windows++;
    leak->most = length;
    leak->depth = leak->depth > BELOW_LEN - offset ? leak->depth : BELOW_LEN - offset;
}

static const struct drng_aes *aes;
static size_t key_len;

/* Nothing was left in any request of `what`. */
static void nothing_was_left(const char *what)
{
    for (const struct leak *leak = leaks; leak < leaks + LEAKS && leak->name != NULL; leak++) {
        (void)printf("\n    %s, AES-%zu, %s: %s at %zu to %zu bytes, %lu times, down to %zu", aes->name, 8 * key_len,
                     what, leak->name, leak->least, leak->most, leak->windows, leak->depth);
    }
    CU_ASSERT_PTR_NULL(leaks[0].name);
    memset(leaks, 0, sizeof(leaks));
}

/* ---- Requests, each with secrets of its own ---- */

struct secrets {
    uint8_t entropy[DRNG_DRBG_MAX_SEEDLEN];
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t v[BLOCK];
    uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN];
};

static struct secrets secrets[2]; /* of a request, and of the one that it is compared with */
static struct secrets now;        /* in one place, since its address is on the stack too */

static uint8_t additional[ADDITIONAL]; /* the caller's, and the same for both */
static size_t additional_len;
static bool use_df;
static bool with_fresh;
static enum drng_conditioner_kind conditioner;

static struct drng_ctr_drbg drbg;
static uint8_t out[MOST];
static enum drng_result status;

static size_t looked_at; /* bytes of the stack, from its lowest on */

/* Its caller has DRNG_AES_STACK bytes to wipe; nothing may be below them. */
static void ctr(void)
{
    const size_t whole = length / BLOCK;
    const uint8_t *frame = __builtin_frame_address(0);
    aes->ctr(drbg.key, key_len, drbg.v, out, whole, NULL, 0);
    status = DRNG_OK;
    looked_at = (size_t)(frame - below_stack) - DRNG_AES_STACK;
}

static void whole_request(void)
{
    aes->request(drbg.key, key_len, drbg.v, out, length, NULL);
    status = DRNG_OK;
}

static void cbc(void)
{
    const size_t whole = length / BLOCK;
    aes->cbc(drbg.key, key_len, drbg.v, out, NULL, whole);
    status = DRNG_OK;
}

static void generate(void)
{
    const struct drng_bytes bytes = {additional, additional_len};
    status = drng_ctr_drbg_generate(&drbg, out, length, bytes, with_fresh ? now.fresh : NULL);
}

static struct drng_bytes entropy(void)
{
    return (struct drng_bytes){now.entropy, use_df ? length : DRNG_DRBG_SEEDLEN(key_len)};
}

static void instantiate(void)
{
    const struct drng_bytes none = {NULL, 0};
    status = drng_ctr_drbg_instantiate(&drbg, aes, key_len, use_df, entropy(), none, none, 0);
}

static void reseed(void)
{
    status = drng_ctr_drbg_reseed(&drbg, entropy(), (struct drng_bytes){additional, additional_len}, 0);
}

/* An instruction whose words the secrets make: the first, whichever it is here. */
enum { FIRST = 0, WINDOW = 8 };
static struct drng_counters counters;
static struct drng_seed_reader reader;
static struct drng_instruction instruction;
static struct drng_seed_policy policy;
static uint64_t words_state;

static DRNG_OWN_FRAME bool next_word(uint64_t *word)
{
    bytes_random(&words_state, word, sizeof(*word));
    return true;
}

static const struct drng_instruction_row row = {.name = "FIRST", .read = next_word, .tries = 1, .window_words = WINDOW};

static struct drng_family family;

static void prepare_seed(void)
{
    memset(&reader, 0, sizeof(reader));
    memset(&counters, 0, sizeof(counters));
    memcpy(&words_state, now.entropy, sizeof(words_state));
    instruction = (struct drng_instruction){
        .row = &row, .counters = &counters.instructions[FIRST], .family = &family.instructions[FIRST]};
    policy = (struct drng_seed_policy){
        .instructions = {[FIRST] = &instruction}, .aes = aes, .conditioner = conditioner, .counters = &counters};
}

static void prepare(const struct secrets *with)
{
    now = *with;
    drbg = (struct drng_ctr_drbg){.aes = aes, .key_len = (uint8_t)key_len, .use_df = use_df, .reseed_counter = 1};
    memcpy(drbg.key, with->key, key_len);
    memcpy(drbg.v, with->v, BLOCK);
    prepare_seed();
}

/* ---- The secrets in them, by AES in plain C ---- */

static uint8_t stream[STREAM * BLOCK];

/* SubWord of FIPS 197, 5.1.1, by the S-box of AES in plain C. */
static uint32_t sub_word(uint32_t word)
{
    uint64_t slices[DRNG_AES_SLICES];
    uint32_t substituted = 0;
    for (unsigned i = 0; i < DRNG_AES_SLICES; i++) {
        slices[i] = word >> i & 0x01010101;
    }
    drng_aes_sub_bytes(slices);
    for (unsigned i = 0; i < DRNG_AES_SLICES; i++) {
        substituted |= (uint32_t)(slices[i] & 0x01010101) << i;
    }
    return substituted;
}

/* FIPS 197, 5.2; words are little-endian, so RotWord turns to the right. */
static uint32_t next_word_of_key(const uint32_t *w, size_t i, size_t nk, uint32_t *rcon)
{
    uint32_t word = w[i - 1];
    if (i % nk == 0) {
        word = sub_word(word >> 8 | word << 24) ^ *rcon;
        *rcon = *rcon << 1 ^ (*rcon >> 7) * 0x11b;
    } else if (nk > 6 && i % nk == 4) {
        word = sub_word(word);
    }
    return w[i - nk] ^ word;
}

/* Plain C has round keys in slices, which only the comparison finds. */
static void add_schedule(const char *name, const uint8_t *of)
{
    enum { MOST_WORDS = 4 * (14 + 1) };
    const size_t nk = key_len / 4;
    const size_t words = 4 * (nk + 6 + 1);
    uint32_t w[MOST_WORDS];
    uint32_t rcon = 1;
    memcpy(w, of, key_len);
    for (size_t i = nk; i < words; i++) {
        w[i] = next_word_of_key(w, i, nk, &rcon);
    }
    secrets_add(name, w, words * sizeof(*w));
}

/* The keystream of so many blocks to `stream`, which is a secret with all that it is made of. */
static void add_keystream(const struct drng_ctr_drbg *model, size_t blocks)
{
    uint8_t v[BLOCK];
    memcpy(v, model->v, BLOCK);
    secrets_add("V", v, BLOCK);
    for (size_t i = 0; i < blocks; i++) {
        uint8_t *last = v + BLOCK;
        do {
            last--;
        } while (++*last == 0 && last > v);
        secrets_add("V counted on", v, BLOCK);
    }
    memcpy(v, model->v, BLOCK);
    drng_aes_portable.ctr(model->key, key_len, v, stream, blocks, NULL, 0);
    secrets_add("keystream", stream, blocks * BLOCK);
    add_schedule("a round key", model->key);
}

/* CTR_DRBG_Update's last steps; temp may be in `stream`. */
static void take(struct drng_ctr_drbg *model, const uint8_t *temp, const uint8_t *provided)
{
    uint8_t state[DRNG_DRBG_MAX_SEEDLEN];
    for (size_t i = 0; i < DRNG_DRBG_SEEDLEN(key_len); i++) {
        state[i] = temp[i] ^ provided[i];
    }
    memcpy(model->key, state, key_len);
    memcpy(model->v, state + key_len, BLOCK);
    secrets_add("the new Key", model->key, key_len);
    secrets_add("the new V", model->v, BLOCK);
}

static void update(struct drng_ctr_drbg *model, const uint8_t *provided)
{
    add_keystream(model, 3);
    take(model, stream, provided);
}

/* 10.3.2 with one input: the key and the block that its chains make, and what comes of them. */
static void add_df(uint8_t *provided, const uint8_t *input, size_t len)
{
    enum { LONGEST = 8 + ALL_TO + 2 * BLOCK, CHAINS = 3 };
    static const uint8_t fixed_key[DRNG_AES_MAX_KEY] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    uint8_t s[LONGEST] = {0, 0, (uint8_t)(len >> 8), (uint8_t)len, 0, 0, 0, (uint8_t)DRNG_DRBG_SEEDLEN(key_len)};
    uint8_t chains[CHAINS][BLOCK] = {{0}};
    uint8_t result[CHAINS * BLOCK];
    memcpy(s + 8, input, len);
    s[8 + len] = 0x80;
    for (size_t i = 0; i < CHAINS; i++) {
        const uint8_t iv[BLOCK] = {0, 0, 0, (uint8_t)i};
        drng_aes_portable.cbc(fixed_key, key_len, chains[i], NULL, iv, 1);
        drng_aes_portable.cbc(fixed_key, key_len, chains[i], NULL, s, (8 + len + 1 + BLOCK - 1) / BLOCK);
    }
    secrets_add("a chain of df", chains, DRNG_DRBG_SEEDLEN(key_len));
    add_schedule("a round key of df", chains[0]);
    uint8_t x[BLOCK];
    memcpy(x, (uint8_t *)chains + key_len, BLOCK);
    drng_aes_portable.cbc(chains[0], key_len, x, result, NULL, CHAINS);
    memcpy(provided, result, DRNG_DRBG_SEEDLEN(key_len));
    secrets_add("provided_data", provided, DRNG_DRBG_SEEDLEN(key_len));
}

static void take_in(struct drng_ctr_drbg *model, uint8_t *provided)
{
    if (use_df && additional_len > 0) {
        add_df(provided, additional, additional_len);
    } else {
        memcpy(provided, additional, additional_len);
    }
    if (with_fresh) {
        secrets_add("the fresh word", now.fresh, DRNG_REQUEST_ENTROPY_LEN);
        for (size_t i = 0; i < DRNG_REQUEST_ENTROPY_LEN; i++) {
            provided[i] ^= now.fresh[i];
        }
        secrets_add("provided_data", provided, DRNG_REQUEST_ENTROPY_LEN);
    }
    update(model, provided);
}

/* What the request put out, and left as its state, is what it was searched for. */
static void is_the_model(const struct drng_ctr_drbg *model)
{
    CU_ASSERT_EQUAL(memcmp(model->key, drbg.key, key_len), 0);
    CU_ASSERT_EQUAL(memcmp(model->v, drbg.v, BLOCK), 0);
}

static void add_generate(struct drng_ctr_drbg *model)
{
    uint8_t provided[DRNG_DRBG_MAX_SEEDLEN] = {0};
    const size_t blocks = (length + BLOCK - 1) / BLOCK;
    if (additional_len > 0 || with_fresh) {
        take_in(model, provided);
    }
    add_keystream(model, blocks + 3);
    CU_ASSERT_EQUAL(memcmp(stream, out, length), 0);
    take(model, stream + blocks * BLOCK, provided);
}

static void add_ctr(struct drng_ctr_drbg *model)
{
    add_keystream(model, length / BLOCK);
    drng_aes_portable.ctr(model->key, key_len, model->v, stream, length / BLOCK, NULL, 0);
}

static void add_cbc(struct drng_ctr_drbg *model)
{
    drng_aes_portable.cbc(model->key, key_len, model->v, stream, NULL, length / BLOCK);
    secrets_add("ciphertext", stream, length / BLOCK * BLOCK);
    add_schedule("a round key", model->key);
}

static void add_seed(struct drng_ctr_drbg *model)
{
    uint8_t material[DRNG_DRBG_MAX_SEEDLEN] = {0};
    uint8_t inputs[DRNG_DRBG_MAX_SEEDLEN + ADDITIONAL] = {0};
    const struct drng_bytes bytes = entropy();
    secrets_add("entropy", bytes.data, bytes.len);
    memcpy(inputs, bytes.data, bytes.len);
    if (use_df) {
        memcpy(inputs + bytes.len, additional, additional_len);
        add_df(material, inputs, bytes.len + additional_len);
    } else {
        for (size_t i = 0; i < bytes.len; i++) {
            material[i] = inputs[i] ^ (i < additional_len ? additional[i] : 0);
        }
    }
    update(model, material);
}

/* ---- The tests of one request ---- */

/* Adds the secrets of a request, which began in the state of the model and has been made. */
typedef void secrets_of(struct drng_ctr_drbg *model);

static void run(void (*request)(void), const struct secrets *with)
{
    prepare(with);
    looked_at = BELOW_LEN - BELOW_WAY_BACK;
    below_run(request);
    CU_ASSERT_EQUAL(status, DRNG_OK);
}

static void search(void (*request)(void), secrets_of *add)
{
    run(request, &secrets[0]);
    const struct drng_ctr_drbg after = drbg;
    struct drng_ctr_drbg model = after;
    memset(model.key, 0, sizeof(model.key));
    memset(model.v, 0, sizeof(model.v));
    if (request != instantiate) {
        memcpy(model.key, now.key, key_len);
        memcpy(model.v, now.v, BLOCK);
    }
    secrets_reset(2 * length + 4096);
    secrets_add("the old Key", model.key, key_len);
    add(&model);
    is_the_model(&model);
    secrets_search(below_stack, looked_at, note);
}

/* Registers after AES alone are its caller's to clear, like the stack that it is allowed. */
static bool clears_registers(void (*made)(void))
{
    return made != ctr && made != cbc;
}

static void compare(void (*request)(void))
{
    static uint8_t other[BELOW_LEN];
    static struct below_registers registers;
    memcpy(other, below_stack, looked_at);
    registers = below_registers;
    run(request, &secrets[1]);
    for (size_t i = memcmp(other, below_stack, looked_at) == 0 ? looked_at : 0; i < looked_at; i++) {
        if (other[i] != below_stack[i]) {
            note("something else of a secret", i);
        }
    }
    if (clears_registers(request) && memcmp(&registers, &below_registers, sizeof(registers)) != 0) {
        note("something in registers", 0);
    }
}

static void look(void (*request)(void), secrets_of *add)
{
    search(request, add);
    compare(request);
}

/* ---- All requests ---- */

static void leave_the_key(void)
{
    uint8_t copy[DRNG_AES_MAX_KEY];
    memcpy(copy, drbg.key, key_len);
    __asm__ volatile("" : : "r"(copy) : "memory");
    status = DRNG_OK;
}

/* Turned round, as for counting, and no more than a half. */
static void leave_half_of_v(void)
{
    volatile uint64_t low;
    uint64_t half;
    memcpy(&half, drbg.v, sizeof(half));
    low = __builtin_bswap64(half);
    (void)low;
    status = DRNG_OK;
}

static void leave_two_bytes(void)
{
    volatile uint8_t bytes[2] = {drbg.key[3], drbg.key[4]};
    (void)bytes[0];
    status = DRNG_OK;
}

static void leave_a_register(void)
{
    status = DRNG_OK;
    stack_leave_a_register(drbg.key + 3);
}

static void leave_a_vector(void)
{
    status = DRNG_OK;
    stack_leave_a_vector(drbg.key);
}

static bool is_found(const char *name)
{
    for (const struct leak *leak = leaks; leak < leaks + LEAKS && leak->name != NULL; leak++) {
        if (strcmp(leak->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_nothing(struct drng_ctr_drbg *model)
{
    secrets_add("V", model->v, BLOCK);
}

UNIT_TEST("what is left is found")
{
    key_len = DRNG_AES_MAX_KEY;
    length = BLOCK;
    search(leave_the_key, add_nothing);
    CU_ASSERT_TRUE(is_found("the old Key"));
    memset(leaks, 0, sizeof(leaks));
    search(leave_half_of_v, add_nothing);
    CU_ASSERT_TRUE(is_found("V"));
    memset(leaks, 0, sizeof(leaks));
    look(leave_two_bytes, add_nothing);
    CU_ASSERT_TRUE(is_found("something else of a secret"));
    CU_ASSERT_FALSE(is_found("the old Key"));
    memset(leaks, 0, sizeof(leaks));
    look(leave_a_register, add_nothing);
    CU_ASSERT_TRUE(is_found("something in registers"));
    memset(leaks, 0, sizeof(leaks));
    look(leave_a_vector, add_nothing);
    CU_ASSERT_EQUAL(is_found("something in registers"), stack_sees_vectors);
    memset(leaks, 0, sizeof(leaks));
}

static void (*wipe)(void);

static void paint_and_wipe(void)
{
    stack_paint_and_wipe(below_stack, wipe);
    status = DRNG_OK;
}

/* From its lowest byte to the caller's frame, or to what the call put below it. */
UNIT_TEST("a wipe has no gap")
{
    for (size_t i = 0; i < stack_wipe_count(); i++) {
        wipe = stack_wipes[i].wipe;
        below_run(paint_and_wipe);
        const uint8_t *lowest = memchr(below_stack, 0, sizeof(below_stack));
        CU_ASSERT_PTR_NOT_NULL_FATAL(lowest);
#ifdef __powerpc64__
        /* memset() has a frame of its own below what it wipes, which holds zeros and addresses. */
        while (lowest + stack_wipes[i].bytes < below_stack + sizeof(below_stack) &&
               !bytes_are(lowest, stack_wipes[i].bytes, 0)) {
            lowest++;
        }
#endif
        CU_ASSERT_TRUE(bytes_are(lowest, stack_wipes[i].bytes, 0));
    }
}

/* ---- Seeds ---- */

static void get_seed(void)
{
    enum drng_source served;
    status = drng_seed_get(&policy, &reader, out, SEED_LEN, &served);
}

static void add_seed_and_key(struct drng_ctr_drbg *model)
{
    secrets_add("the conditioner's key", reader.noise[FIRST].key, sizeof(reader.noise[FIRST].key));
    secrets_add("the seed", out, SEED_LEN);
}

UNIT_TEST("no seed from words leaves anything")
{
    static const struct {
        const char *name;
        enum drng_conditioner_kind kind;
    } conditioners[] = {{"a seed by CBC-MAC", DRNG_CBC_MAC}, {"a seed by HMAC", DRNG_HMAC_SHA256}};
    key_len = DRNG_CONDITIONER_KEY_LEN;
    length = SEED_LEN;
    for (size_t i = 0; i < sizeof(conditioners) / sizeof(*conditioners); i++) {
        conditioner = conditioners[i].kind;
        run(get_seed, &secrets[0]); /* once before, since the C library's functions are looked up on this stack too */
        look(get_seed, add_seed_and_key);
        nothing_was_left(conditioners[i].name);
    }
}

static void for_each_key_len(void (*test)(void))
{
    for (size_t i = 0; i < sizeof(key_lens) / sizeof(*key_lens); i++) {
        key_len = key_lens[i];
        test();
    }
}

struct mode {
    const char *name;
    bool df;
    size_t additional_len;
    bool fresh;
};

static const struct mode generate_modes[] = {
    {"generate", false, 0, false},
    {"generate with a fresh word", false, 0, true},
    {"generate with additional input, no df", false, ADDITIONAL, false},
    {"generate with additional input and a fresh word, no df", false, ADDITIONAL - 1, true},
    {"generate with additional input", true, ADDITIONAL, false},
    {"generate with additional input and a fresh word", true, 1, true},
};

static void set_mode(const struct mode *mode)
{
    use_df = mode->df;
    additional_len = mode->additional_len;
    with_fresh = mode->fresh;
}

static void all_generates(void)
{
    for (size_t m = 0; m < sizeof(generate_modes) / sizeof(*generate_modes); m++) {
        set_mode(&generate_modes[m]);
        for (size_t i = 0; i < LENGTHS; i++) {
            length = length_of(i);
            look(generate, add_generate);
        }
        nothing_was_left(generate_modes[m].name);
    }
}

UNIT_TEST("no generate leaves anything")
{
    for_each_key_len(all_generates);
}

static const struct mode seed_modes[] = {
    {"without df", false, 0, false},
    {"with additional input, without df", false, ADDITIONAL, false},
    {"with df", true, 0, false},
    {"with additional input and df", true, ADDITIONAL, false},
};

static void all_seeds(void)
{
    for (size_t m = 0; m < sizeof(seed_modes) / sizeof(*seed_modes); m++) {
        set_mode(&seed_modes[m]);
        for (length = key_len; length <= DRNG_DRBG_MAX_SEEDLEN; length++) {
            look(reseed, add_seed);
        }
        nothing_was_left("reseed");
        for (length = key_len; length <= DRNG_DRBG_MAX_SEEDLEN && additional_len == 0; length++) {
            look(instantiate, add_seed);
        }
        nothing_was_left("instantiate");
    }
}

UNIT_TEST("no seed leaves anything")
{
    for_each_key_len(all_seeds);
}

static void all_aes(void)
{
    for (size_t i = 0; i < LENGTHS; i++) {
        length = length_of(i);
        look(ctr, add_ctr);
    }
    nothing_was_left("counter mode alone");
    set_mode(&generate_modes[0]);
    for (length = 1; aes->request != NULL && length <= aes->short_len; length++) {
        look(whole_request, add_generate);
    }
    nothing_was_left("a request in registers alone");
    for (length = BLOCK; length <= ALL_TO; length += BLOCK) {
        look(cbc, add_cbc);
    }
    nothing_was_left("CBC mode alone");
}

UNIT_TEST("no AES leaves anything")
{
    for_each_key_len(all_aes);
}

/* ---- What nothing here can wipe ---- */

static void return_at_once(int signal) {}

static void be_signalled_with_the_key(void)
{
    stack_signal_with(drbg.key, getpid(), SIGUSR1);
    status = DRNG_OK;
}

/*
 * The kernel saves registers for a handler deeper than any wipe reaches, or on a stack of the handler's own. No order
 * of the steps helps: the new Key is computed from the old one, and the output needs the old one to the end. Which
 * registers hold it when a signal comes is the compiler's choice and chance, so here one is filled.
 */
UNIT_TEST("a signal's frame keeps a key")
{
    const struct sigaction action = {.sa_handler = return_at_once};
    struct sigaction before;
    key_len = DRNG_AES_MAX_KEY;
    length = BLOCK;
    CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &action, &before), 0);
    search(be_signalled_with_the_key, add_nothing);
    CU_ASSERT_EQUAL(sigaction(SIGUSR1, &before, NULL), 0);
    CU_ASSERT_EQUAL(is_found("the old Key"), stack_signals_with_a_secret);
    memset(leaks, 0, sizeof(leaks));
}

/* With every implementation. */
int main(void)
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    uint64_t state = 31;
    int result = EXIT_SUCCESS;

    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    if (kernel_is_instrumented()) {
        return unit_skipped("sanitizers and valgrind make copies of their own");
    }
#ifndef __OPTIMIZE__
    return unit_skipped("a compiler that does not optimize keeps every value on the stack");
#endif
    bytes_random(&state, secrets, sizeof(secrets));
    bytes_random(&state, additional, sizeof(additional));
    for (size_t i = 0; i < count; i++) {
        aes = all[i];
        result |= unit_run(aes->name);
    }
    return result;
}
