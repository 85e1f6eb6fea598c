#include "provider/observe/claims.h"

#include <stdio.h>

#include "mixing/machine/claim.h"
#include "provider/process.h"

const char *drng_claims_name(const struct drng_provctx *provctx)
{
    return provctx->config.certified ? "certified" : "design";
}

/* A claim that was not read in the maker's own text is no better than the text in which it was. */
static const char *hand(const struct drng_claim *claim)
{
    return claim->read_in != NULL ? "; second-hand" : "";
}

static void describe_certificate(const struct drng_claim *claim, char text[DRNG_CLAIM_TEXT_SIZE])
{
    const size_t words = drng_claim_window_words(claim);
    (void)snprintf(text, DRNG_CLAIM_TEXT_SIZE,
                   "%s: %u bits in %zu words, by %s's certificate (%s%s): compare the processors that it lists",
                   drng_instruction_rows[claim->instruction].name, drng_claim_window_bits(claim, words), words,
                   claim->maker, claim->certificate, hand(claim));
}

static void describe_design(unsigned instruction, char text[DRNG_CLAIM_TEXT_SIZE])
{
    const struct drng_instruction_row *row = &drng_instruction_rows[instruction];
    const struct drng_claim *claim = drng_claim_find(&drng_process.evidence.cpu, instruction);
    const int len = snprintf(text, DRNG_CLAIM_TEXT_SIZE, "%s: %u bits in %zu words, by design; ", row->name,
                             row->window_bits, row->window_words);
    if (drng_claim_window_words(claim) > 0) {
        (void)snprintf(text + len, DRNG_CLAIM_TEXT_SIZE - (size_t)len, "%s's certificate allows %u (%s%s)",
                       claim->maker, drng_claim_window_bits(claim, row->window_words), claim->certificate, hand(claim));
    } else {
        (void)snprintf(text + len, DRNG_CLAIM_TEXT_SIZE - (size_t)len, "no certificate is known for them");
    }
}

void drng_claims_source(const struct drng_provctx *provctx, enum drng_source first, char text[DRNG_CLAIM_TEXT_SIZE])
{
    if (first == DRNG_SOURCE_NONE || first == DRNG_SOURCE_FALLBACK) {
        (void)snprintf(text, DRNG_CLAIM_TEXT_SIZE,
                       "no instruction makes seeds, and drng claims no entropy for those of OpenSSL's source");
        return;
    }
    const unsigned instruction = first - DRNG_SOURCE_INSTRUCTION;
    if (provctx->policy.certified[instruction] != NULL) {
        describe_certificate(provctx->policy.certified[instruction], text);
    } else {
        describe_design(instruction, text);
    }
}
