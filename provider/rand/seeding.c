#include "provider/rand/seeding.h"

#include <time.h>

#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/observe/reasons.h"
#include "provider/observe/report.h"
#include "provider/observe/stats.h"

struct request {
    const struct drng_seed_policy *policy;
    uint8_t *out;
    size_t len;
};

static enum drng_result fill(void *arg, struct drng_seed_reader *reader)
{
    const struct request *request = arg;
    enum drng_result status = DRNG_OK;
    for (size_t done = 0; done < request->len && status == DRNG_OK; done += DRNG_SEED_PIECE) {
        const size_t left = request->len - done;
        const size_t part = left < DRNG_SEED_PIECE ? left : DRNG_SEED_PIECE;
        status = drng_seed_get(request->policy, reader, request->out + done, part);
    }
    if (status == DRNG_OK) {
        drng_note_seeded(&drng_stats.live->counters, (uint64_t)time(NULL));
    } else {
        drng_wipe(request->out, request->len);
    }
    return status;
}

static void raise_failure(const struct drng_provctx *provctx, enum drng_result status)
{
    char why[DRNG_WHY_SIZE];
    drng_reasons_unserved(&provctx->eligibility, why);
    if (status == DRNG_FALLBACK_FAILED) {
        drng_raise(&provctx->core, DRNG_R_FALLBACK_FAILED, "%s; check that the process may call getrandom()", why);
    } else {
        drng_raise(&provctx->core, DRNG_R_NO_SEED_SOURCE,
                   "%s; allow the default seed source with fallback = yes, or use a CPU that can", why);
    }
}

static bool conclude(const struct drng_provctx *provctx, enum drng_result status)
{
    if (status != DRNG_OK) {
        raise_failure(provctx, status);
    }
    return status == DRNG_OK;
}

bool drng_seeding_fill(struct drng_provctx *provctx, const struct drng_seed_policy *policy,
                       struct drng_shared_reader *shared, uint8_t *out, size_t len)
{
    struct request request = {policy, out, len};
    const enum drng_result status = drng_shared_reader_run(shared, fill, &request);
    drng_report_seed(provctx);
    return conclude(provctx, status);
}

/* Reports after unlocking, since the report may write to the system log. */
bool drng_seeding_fill_from_root(struct drng_provctx *provctx, uint8_t *out, size_t len)
{
    struct request request = {&provctx->policy, out, len};
    if (!drng_lock_or_share(&provctx->root.slot->lock)) {
        return drng_seeding_fill_apart(provctx, out, len);
    }
    const enum drng_result status = drng_shared_reader_run(&provctx->root, fill, &request);
    drng_unlock(&provctx->root.slot->lock);
    drng_report_seed(provctx);
    return conclude(provctx, status);
}

bool drng_seeding_fill_apart(struct drng_provctx *provctx, uint8_t *out, size_t len)
{
    struct request request = {&provctx->policy, out, len};
    struct drng_seed_reader reader = {0};
    const enum drng_result status = fill(&request, &reader);
    drng_wipe(&reader, sizeof(reader));
    return conclude(provctx, status);
}
