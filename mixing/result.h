/* result.h - what a function of mixing/ answers. */

#ifndef DRNG_RESULT_H
#define DRNG_RESULT_H

/* A result that the caller may not drop: every function that can fail carries it. */
#define DRNG_MUST_CHECK __attribute__((warn_unused_result))

enum drng_result {
    DRNG_OK = 0,
    DRNG_EXHAUSTED,        /* the instruction gave too little in its time; may clear up later */
    DRNG_HEALTH_FAILED,    /* raw words failed a health test; they were thrown away */
    DRNG_UNAVAILABLE,      /* not there, not allowed, or disabled in this process */
    DRNG_NO_FALLBACK,      /* no instruction served, and nothing else may */
    DRNG_FALLBACK_FAILED,  /* the default seed source was asked and gave nothing */
    DRNG_BAD_LENGTH,       /* a length outside the limits that the header states */
    DRNG_RESEED_NEEDED,    /* no seed, or one whose last request (SP 800-90A) has been served */
    DRNG_SELF_TEST_FAILED, /* a known answer came out wrong */
};

#endif
