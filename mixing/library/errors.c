#include "mixing/library/drng.h"

const char *drng_strerror(int error)
{
    switch (error) {
    case DRNG_SUCCESS:
        return "no error";
    case DRNG_E_ARGUMENT:
        return "an argument is wrong: NULL, a length above PTRDIFF_MAX, or a choice or conditioning that does not "
               "exist";
    case DRNG_E_UNSUPPORTED:
        return "this machine has no such instruction, or it may not be used: drng_random_supported() and "
               "drng_seed_supported() say why";
    case DRNG_E_NOT_READY:
        return "the instruction gave too few words within its retries or its time: try again later, or allow more";
    case DRNG_E_UNHEALTHY:
        return "the instruction's words failed the health tests, and this process does not ask it any more";
    case DRNG_E_NO_SOURCE:
        return "no instruction served, and the kernel's generator has no bytes: try again later, and check that the "
               "process may call getrandom()";
    case DRNG_E_MEMORY:
        return "no memory for secrets could be mapped: look at the limits (RLIMIT_AS, RLIMIT_DATA) and at the filter "
               "of system calls (mmap, mprotect, madvise)";
    case DRNG_E_SELF_TEST:
        return "AES or HMAC gave a wrong answer to a known-answer test: the CPU or the library is broken";
    case DRNG_E_BUSY:
        return "a signal handler came in the middle of a call of its thread, where this call cannot be made: make it "
               "outside of the handler";
    default:
        return "not an error of libdrng";
    }
}
