/* SPDX-License-Identifier: Apache-2.0 */
/* CTR_DRBG: the known answers of vectors/ctr_drbg.rsp, with every AES that this CPU can run. */

#include <stdlib.h>
#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "tests/programs/rsp.h"
#include "tests/unit/unit.h"

enum { KNOWN_ANSWERS = 289 };

static struct drng_bytes bytes_of(const struct rsp_bytes *field)
{
    return (struct drng_bytes){field->data, field->len};
}

/* One Generate call of the procedure; with prediction resistance it begins with a reseed (9.3.1, step 7). */
static bool generate(struct drng_ctr_drbg *drbg, const struct rsp_case *answer, const struct rsp_bytes *additional,
                     const struct rsp_bytes *entropy, uint8_t out[RSP_MAX_LEN])
{
    struct drng_bytes input = bytes_of(additional);
    if (answer->prediction_resistance) {
        if (drng_ctr_drbg_reseed(drbg, bytes_of(entropy), input, 0) != DRNG_OK) {
            return false;
        }
        input = (struct drng_bytes){NULL, 0};
    }
    return drng_ctr_drbg_generate(drbg, out, answer->returned.len, input, NULL) == DRNG_OK;
}

/* The procedure at the head of the file. */
static bool is_met(const struct rsp_case *answer, const struct drng_aes *aes)
{
    struct drng_ctr_drbg drbg;
    uint8_t out[RSP_MAX_LEN] = {0};
    if (drng_ctr_drbg_instantiate(&drbg, aes, answer->key_len, answer->use_df, bytes_of(&answer->entropy),
                                  bytes_of(&answer->nonce), bytes_of(&answer->personalization), 0) != DRNG_OK) {
        return false;
    }
    if (answer->entropy_reseed.len > 0 && drng_ctr_drbg_reseed(&drbg, bytes_of(&answer->entropy_reseed),
                                                               bytes_of(&answer->additional_reseed), 0) != DRNG_OK) {
        return false;
    }
    return generate(&drbg, answer, &answer->additional_a, &answer->entropy_pra, out) &&
           generate(&drbg, answer, &answer->additional_b, &answer->entropy_prb, out) &&
           memcmp(out, answer->returned.data, answer->returned.len) == 0;
}

struct count {
    unsigned answers;
    unsigned met;
    unsigned with_df;
    unsigned with_prediction_resistance;
    unsigned reseeded;
    unsigned by_key_len[DRNG_AES_MAX_KEY + 1];
};

/* Goes through the file with this AES; `spoil` changes one bit of every answer first. */
static struct count go_through(const struct drng_aes *aes, bool spoil)
{
    struct count count = {0};
    struct rsp_case answer;
    struct rsp rsp;
    enum rsp_result result = RSP_END;
    CU_ASSERT_TRUE_FATAL(rsp_open(&rsp, CTR_DRBG_RSP));
    while ((result = rsp_next(&rsp, &answer)) == RSP_CASE) {
        if (spoil) {
            answer.returned.data[answer.returned.len - 1] ^= 1;
        }
        const bool met = is_met(&answer, aes);
        if (met == spoil) {
            (void)fprintf(stderr, "%s: the answer that ends in line %u\n", aes->name, answer.line);
        }
        count.answers++;
        count.met += met;
        count.with_df += answer.use_df;
        count.with_prediction_resistance += answer.prediction_resistance;
        count.reseeded += answer.entropy_reseed.len > 0;
        count.by_key_len[answer.key_len]++;
    }
    CU_ASSERT_EQUAL(result, RSP_END);
    rsp_close(&rsp);
    return count;
}

UNIT_TEST("every known answer is met")
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    const size_t kinds = drng_aes_all(&cpu, all);
    CU_ASSERT_TRUE(kinds > 0);
    for (size_t i = 0; i < kinds; i++) {
        const struct count count = go_through(all[i], false);
        CU_ASSERT_EQUAL(count.answers, KNOWN_ANSWERS);
        CU_ASSERT_EQUAL(count.met, KNOWN_ANSWERS);
    }
}

UNIT_TEST("a wrong bit is seen in each")
{
    const struct count count = go_through(&drng_aes_portable, true);
    CU_ASSERT_EQUAL(count.answers, KNOWN_ANSWERS);
    CU_ASSERT_EQUAL(count.met, 0);
}

/* So that no kind of them is lost when the file is made anew. */
UNIT_TEST("the answers are of every kind")
{
    const struct count count = go_through(&drng_aes_portable, false);
    CU_ASSERT_EQUAL(count.by_key_len[16], 96);
    CU_ASSERT_EQUAL(count.by_key_len[24], 97);
    CU_ASSERT_EQUAL(count.by_key_len[32], 96);
    CU_ASSERT_EQUAL(count.with_df, 145);
    CU_ASSERT_EQUAL(count.with_prediction_resistance, 97);
    CU_ASSERT_EQUAL(count.reseeded, 96);
}

int main(void)
{
    return unit_run("CTR_DRBG's known answers");
}
