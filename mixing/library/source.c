#include "mixing/library/source.h"

#include <string.h>

#include "mixing/library/machine.h"
#include "mixing/machine/os.h"
#include "mixing/memory/wipe.h"

enum { PIECE = 64 }; /* bytes of a seed that share one time budget: at most four windows of RDRAND */

bool drng_source_choice_exists(enum drng_choice choice)
{
    return choice == DRNG_ANY || choice == DRNG_HARDWARE_ONLY || choice == DRNG_SEED_GRADE_ONLY;
}

bool drng_source_conditioning_exists(enum drng_conditioning conditioning)
{
    return conditioning == DRNG_BY_CBC_MAC || conditioning == DRNG_BY_HMAC_SHA256;
}

static bool chosen(enum drng_choice choice, unsigned instruction)
{
    return choice != DRNG_SEED_GRADE_ONLY || drng_library_is_seed_grade(instruction);
}

/* The kernel's generator, which never waits here: early in boot it has no bytes yet. */
static bool from_kernel(void *arg, uint8_t *out, size_t len)
{
    (void)arg;
    return drng_os_random(out, len);
}

struct drng_seed_policy drng_source_policy(enum drng_choice choice, enum drng_conditioning conditioning,
                                           struct drng_counters *counters)
{
    struct drng_seed_policy policy = {
        .aes = drng_library.aes,
        .conditioner = conditioning == DRNG_BY_HMAC_SHA256 ? DRNG_HMAC_SHA256 : DRNG_CBC_MAC,
        .os_mixing = choice == DRNG_ANY,
        .fallback = choice == DRNG_ANY ? from_kernel : NULL,
        .counters = counters,
    };
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const bool allowed = drng_library.eligibility.seeds[i] == DRNG_ALLOWED && chosen(choice, i);
        policy.instructions[i] = allowed ? &drng_library.instructions[i] : NULL;
    }
    return policy;
}

/* ---- Seeds ---- */

struct request {
    const struct drng_seed_policy *policy;
    uint8_t *out;
    size_t len;
    enum drng_source weakest; /* a source's number is the higher, the later it is asked */
};

static enum drng_result fill(void *arg, struct drng_seed_reader *reader)
{
    struct request *request = arg;
    const size_t len = request->len;
    enum drng_result status = DRNG_OK;
    size_t done = 0;

    request->weakest = DRNG_SOURCE_NONE;
    while (done < len && status == DRNG_OK) {
        const size_t piece = len - done < PIECE ? len - done : PIECE;
        status = drng_seed_get(request->policy, reader, request->out + done, piece);
        const enum drng_source source = (enum drng_source)atomic_load(&request->policy->counters->source);
        request->weakest = source > request->weakest ? source : request->weakest;
        done += piece;
    }
    return status;
}

static int why_none_served(const struct drng_seed_policy *policy)
{
    unsigned allowed = 0;
    unsigned healthy = 0;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const struct drng_instruction *in = policy->instructions[i];
        allowed += in != NULL;
        healthy += in != NULL && !atomic_load(&in->disabled);
    }
    if (policy->fallback != NULL) {
        return DRNG_E_NO_SOURCE;
    }
    return allowed == 0 ? DRNG_E_UNSUPPORTED : healthy == 0 ? DRNG_E_UNHEALTHY : DRNG_E_NOT_READY;
}

static int conclude(const struct request *request, enum drng_result status)
{
    if (status == DRNG_OK) {
        return DRNG_SUCCESS;
    }
    drng_wipe(request->out, request->len);
    return why_none_served(request->policy);
}

int drng_source_fill(const struct drng_seed_policy *policy, drng_source_runner *run, uint8_t *out, size_t len,
                     enum drng_source *source)
{
    struct request request = {.policy = policy, .out = out, .len = len};
    const int error = conclude(&request, run(fill, &request));
    *source = request.weakest;
    return error;
}

/* ---- What serves, and why the others do not ---- */

const char *drng_source_name(enum drng_source source)
{
    if (source == DRNG_SOURCE_NONE) {
        return "none";
    }
    return source == DRNG_SOURCE_FALLBACK ? "getrandom" : drng_instruction_rows[source - DRNG_SOURCE_INSTRUCTION].name;
}

enum drng_grade drng_source_grade(enum drng_source source)
{
    if (source == DRNG_SOURCE_NONE) {
        return DRNG_GRADE_NONE;
    }
    if (source == DRNG_SOURCE_FALLBACK) {
        return DRNG_GRADE_KERNEL;
    }
    return drng_library_is_seed_grade(source - DRNG_SOURCE_INSTRUCTION) ? DRNG_GRADE_SEED : DRNG_GRADE_GENERATOR;
}

static void append(char *text, size_t size, const char *more)
{
    const size_t len = strlen(text);
    const size_t left = size - 1 - len;
    const size_t part = strlen(more) < left ? strlen(more) : left;
    memcpy(text + len, more, part);
    text[len + part] = '\0';
}

/* A better source that may be used, and has not served, was dry. */
static void append_reason(enum drng_choice choice, unsigned instruction, char *text, size_t size)
{
    const char *name = drng_instruction_rows[instruction].name;
    const char *denied = drng_library_denied(instruction);
    if (!chosen(choice, instruction)) {
        append(text, size, name);
        append(text, size, ": left out by the choice");
    } else if (denied != NULL) {
        append(text, size, denied);
    } else {
        append(text, size, name);
        append(text, size, ": too few words in its time");
    }
}

void drng_source_reasons(enum drng_choice choice, enum drng_source source, char *text, size_t size)
{
    const unsigned better = source == DRNG_SOURCE_NONE ? DRNG_INSTRUCTIONS : source - DRNG_SOURCE_INSTRUCTION;
    text[0] = '\0';
    for (unsigned i = 0; i < better; i++) {
        append(text, size, i > 0 ? "; " : "");
        append_reason(choice, i, text, size);
    }
}
