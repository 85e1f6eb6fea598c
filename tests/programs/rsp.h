/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rsp.h - reads the known answers of vectors/ctr_drbg.rsp, one after the other. The head of that file describes the
 * procedure of a known answer.
 *
 * Strict: a line that is not understood is an error, so that a mistake in the parser loses no known answer.
 */

#ifndef DRNG_RSP_H
#define DRNG_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RSP_MAX_LEN = 64 };

/* A field; len is 0 where the file does not give it. */
struct rsp_bytes {
    size_t len;
    uint8_t data[RSP_MAX_LEN];
};

struct rsp_case {
    unsigned line;  /* the line where it ends in the file, for messages */
    size_t key_len; /* of AES, in bytes */
    bool use_df;
    bool prediction_resistance;
    struct rsp_bytes entropy;
    struct rsp_bytes nonce;
    struct rsp_bytes personalization;
    struct rsp_bytes additional_a;
    struct rsp_bytes additional_b;
    struct rsp_bytes additional_reseed;
    struct rsp_bytes entropy_reseed; /* len 0: no reseed */
    struct rsp_bytes entropy_pra;
    struct rsp_bytes entropy_prb;
    struct rsp_bytes returned;
};

/* The state of reading a file. Set the open file, and the rest to zero. */
struct rsp {
    FILE *file;
    unsigned line;
    size_t key_len;
    bool use_df;
    bool prediction_resistance;
};

enum rsp_result {
    RSP_CASE,
    RSP_END,
    RSP_MALFORMED, /* line rsp->line */
};

/* False: the file cannot be opened. After success call rsp_close(). */
bool rsp_open(struct rsp *rsp, const char *path);
void rsp_close(struct rsp *rsp);

/* The next known answer, all of it in *answer. */
enum rsp_result rsp_next(struct rsp *rsp, struct rsp_case *answer);

#endif
