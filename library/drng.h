/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drng.h - random numbers and seeds from the CPU's own generator, for programs that do without OpenSSL.
 *
 * libdrng needs the C library alone. It never prints, never ends the program and never waits until the
 * kernel's generator is ready.
 *
 * Which call?
 *   - Random bytes for any purpose, keys included: drng_bytes(), or drng_open(), drng_read(), drng_close() where a
 *     thread is not to wait for others.
 *   - A seed for a generator of your own: drng_conditioned_seed().
 *   - The instruction's own words: drng_random64() and the other calls with their retries. Such words are not
 *     conditioned. libdrng(3), "To concatenate or not", says what follows from that.
 *
 * Results: 0 (DRNG_SUCCESS), or one of enum drng_error. A call that fails has set its whole output to zero, however
 * much of it had been filled, unless it fails with DRNG_E_ARGUMENT: then it has written nothing, or zeros where the
 * handle is another process's, but drng_open() has set *handle to NULL. No object has more than PTRDIFF_MAX bytes, so a
 * larger length is such an error. NULL is allowed where the length is 0, and where it is said.
 *
 * Threads: every call may be made by several threads at once, also on one handle; but drng_close() is to be the last
 * call on its handle. Calls on one handle take turns.
 *
 * Signal handlers should not draw: one that draws or reseeds while its own thread is in such a call gets DRNG_E_BUSY.
 * They may not call drng_open() and drng_close(), nor drng_bytes() before it has succeeded. Calls may change errno. A
 * handler must not leave a call that it interrupted by siglongjmp() or pthread_exit(), nor reach a cancellation point:
 * its thread gets DRNG_E_BUSY from then on, and after a jump a lock that the call held stays held.
 *
 * fork() and clone(): a child may go on with its parent's handles, and close them. It takes a new seed before its first
 * byte. The same holds for a copy of a virtual machine: libdrng(3). If a signal handler forks in the middle
 * of a call, the child's calls get DRNG_E_BUSY until it returns from the handler; the call into which it returns starts
 * over at its first byte. What remains are the last 40 or so instructions of a call: there the child gets its
 * parent's bytes. A child that shares its parent's memory (vfork(), CLONE_VM) must make no call.
 *
 * Cancellation: a thread that is cancelled leaves nothing held. Asynchronous cancellation during a call is not
 * supported.
 *
 * Loading and unloading: the library opens what it needs before main(), or before dlopen() returns. The shared library
 * stays loaded until the process ends.
 */

#ifndef DRNG_H
#define DRNG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DRNG_API    __attribute__((visibility("default")))
#define DRNG_RESULT __attribute__((visibility("default"), warn_unused_result))
#else
#define DRNG_API
#define DRNG_RESULT
#endif

enum drng_error {
    DRNG_SUCCESS = 0,
    DRNG_E_ARGUMENT,    /* NULL for an output, a length above PTRDIFF_MAX, or a choice that does not exist */
    DRNG_E_UNSUPPORTED, /* this machine has no such instruction, or it may not be used */
    DRNG_E_NOT_READY, /* the instruction gave too few words within its retries or its time; a later call may succeed */
    DRNG_E_UNHEALTHY, /* its words failed the health tests: this process does not ask the instruction any more */
    DRNG_E_NO_SOURCE, /* no instruction served, and the kernel has no bytes yet; a later call may succeed */
    DRNG_E_MEMORY,    /* no memory for secrets could be mapped; drng_open() tries again, the other calls do not */
    DRNG_E_SELF_TEST, /* AES or HMAC gave a wrong answer to a known-answer test: nothing is served */
    DRNG_E_BUSY       /* a signal handler interrupted its own thread in such a call: see above */
};

/* What the error means, in one sentence; never NULL, also for a number that is no error. Constant. */
DRNG_API const char *drng_strerror(int error);

/* The version of the library, "1.0.0". Constant. */
DRNG_API const char *drng_version(void);

/* ---- The instructions ---- */

/*
 * drng_random...: the generator behind an instruction, a DRBG in the CPU that reseeds itself (SP 800-90A): RDRAND on
 * x86-64, RNDR on 64-bit Arm.
 *
 * drng_seed...: the seed-grade instruction (SP 800-90B and 90C): RDSEED on x86-64, RNDRRS on 64-bit Arm. It fails while
 * others ask it, and recovers in microseconds.
 *
 * Every word has passed the health tests of SP 800-90B, 4.4; the first call in a process tests 128 words more, and
 * drops them (4.3). Only the 64-bit form is executed, since the narrow ones are broken on some CPUs (CVE-2025-62626);
 * shorter results are parts of such words. The instruction's own flag tells a failure, and never the value: 0 is a
 * number like any other.
 */

/*
 * `retries`: executions after one that failed, for each word, with a PAUSE or its like between them. Intel's guide
 * says 10 for RDRAND (4.2.1), where ten failures in a row mean a broken CPU, and 1 to 100 for RDSEED (4.3.1.2). Other
 * threads that need an instruction wait meanwhile: a billion retries of a dry one would keep them for minutes.
 */
enum { DRNG_RETRIES = 10, DRNG_SEED_RETRIES = 100 };

/*
 * 1: the instruction may be used; 0: it may not. If `text` is not NULL, *text becomes its name ("RDRAND"), or why it
 * may not be used ("not in this CPU"). Constant. The CPU, the kernel's verdict in /proc/cpuinfo and a list of
 * CPU models whose instruction is broken decide.
 */
DRNG_API int drng_random_supported(const char **text);
DRNG_API int drng_seed_supported(const char **text);

DRNG_RESULT int drng_random16(uint16_t *number, unsigned retries);
DRNG_RESULT int drng_random32(uint32_t *number, unsigned retries);
DRNG_RESULT int drng_random64(uint64_t *number, unsigned retries);
DRNG_RESULT int drng_seed16(uint16_t *number, unsigned retries);
DRNG_RESULT int drng_seed32(uint32_t *number, unsigned retries);
DRNG_RESULT int drng_seed64(uint64_t *number, unsigned retries);

/* Fills words[0..count). */
DRNG_RESULT int drng_random_words(uint64_t *words, size_t count, unsigned retries);
DRNG_RESULT int drng_seed_words(uint64_t *words, size_t count, unsigned retries);

/* Fills len bytes. The last word gives as many as are left. */
DRNG_RESULT int drng_random_bytes(void *bytes, size_t len, unsigned retries);
DRNG_RESULT int drng_seed_bytes(void *bytes, size_t len, unsigned retries);

/* ---- Seeds ---- */

/* How good a source is, the best first. */
enum drng_grade {
    DRNG_GRADE_NONE = 0,
    DRNG_GRADE_SEED,      /* an entropy source */
    DRNG_GRADE_GENERATOR, /* a DRBG in the CPU; a window spans two of its reseeds */
    DRNG_GRADE_KERNEL     /* the kernel's generator */
};

/* The sources that may be asked, in this order: the first that serves makes the seed. */
enum drng_choice {
    DRNG_ANY = 1,       /* the seed-grade instruction, the generator's instruction, the kernel by getrandom() */
    DRNG_HARDWARE_ONLY, /* the seed-grade instruction, the generator's instruction; the kernel is never asked */
    DRNG_SEED_GRADE_ONLY
};

/* A vetted conditioning component (SP 800-90B, 3.1.5.1.1). Either makes 128 bits of each window of raw words. */
enum drng_conditioning {
    DRNG_BY_CBC_MAC = 1, /* AES-128-CBC-MAC under a random key */
    DRNG_BY_HMAC_SHA256  /* HMAC-SHA-256 under a random key, its leftmost 128 bits */
};

/* Where a seed came from. If sources took turns in a long seed, the weakest of them is named. */
struct drng_seed_info {
    const char *source;      /* "RDSEED", "getrandom"; constant */
    const char *conditioner; /* "AES-128-CBC-MAC"; "none" if the kernel served; constant */
    enum drng_grade grade;
    unsigned raw_words;    /* 64-bit words that make 16 bytes of seed; 0 if the kernel served */
    unsigned claimed_bits; /* bits of entropy that drng's design assumes in them; 0 if the kernel served */
    uint64_t reserved[4];  /* zero */
};

/*
 * Fills seed[0..len) with conditioned bytes. The parts of such a seed may be concatenated: each 16 bytes are made of a
 * window of their own. Under DRNG_ANY bytes of the kernel's generator are added to the seed by XOR, if it has any; they
 * earn no claim. Under the other choices the kernel is not asked. `info` may be NULL.
 *
 * 16 bytes take about as long as their raw words: 8 of the seed-grade instruction, or 2,052 of the generator's.
 */
DRNG_RESULT int drng_conditioned_seed(void *seed, size_t len, enum drng_choice choice,
                                      enum drng_conditioning conditioning, struct drng_seed_info *info);

/* ---- Random bytes ---- */

/*
 * Fills bytes[0..len) from a generator that the process's threads share, under DRNG_ANY. The first call opens it, and
 * fails like drng_open(); then the next call tries again. The calls take turns: threads that draw much want handles.
 */
DRNG_RESULT int drng_bytes(void *bytes, size_t len);

/* A generator: CTR_DRBG with AES-256 and derivation function (SP 800-90A Rev. 1, 10.2.1), and its source of seeds. */
typedef struct drng drng;

/*
 * Makes a generator and seeds it. *handle is the caller's, to be given to drng_close(); NULL if the call fails.
 * Every 65,536 requests, and after seven minutes, the next request takes a new seed; it fails if there is none.
 */
DRNG_RESULT int drng_open(drng **handle, enum drng_choice choice);

/*
 * Fills bytes[0..len). Requests of more than 65,536 bytes are made of several. Where each request takes in a fresh word
 * of the CPU (libdrng(3)) and there is none, DRNG_ANY takes the kernel's; under the other choices the call
 * fails.
 */
DRNG_RESULT int drng_read(drng *handle, void *bytes, size_t len);

/* Takes a new seed now. After a failure the generator has its old seed; in a new process or a copy it has none. */
DRNG_RESULT int drng_reseed(drng *handle);

struct drng_info {
    const char *source;     /* that of the seed that serves, "RDSEED"; constant */
    enum drng_grade grade;  /* of that source */
    unsigned strength;      /* in bits: what the generator can keep, 256 */
    uint64_t seeds;         /* seeds that this handle has taken */
    uint64_t fork_reseeds;  /* how often it asked for one because it was in a new process */
    uint64_t clone_reseeds; /* the same because its machine had been copied */
    char others[256];       /* why the better ones failed when a seed was last asked for: "RDSEED: not in this CPU" */
    uint64_t reserved[4];   /* zero */
};

/* In C++ the function below hides the name of the struct: there this is one without `struct`. */
typedef struct drng_info drng_handle_info;

/* Fills *info. Takes no random numbers. */
DRNG_RESULT int drng_info(drng *handle, struct drng_info *info);

/* Erases and frees the generator. NULL is allowed. */
DRNG_API void drng_close(drng *handle);

#ifdef __cplusplus
}
#endif

#endif
