/*
 * Which kernel serves a request, and which implementations a CPU can run; x86-64.
 *
 * Kernels spill round keys and blocks to the stack when they run out of registers. After each kernel a wipe follows
 * that covers its frames. CMakeLists.txt limits the frames, so a compiler that needs more does not build.
 */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"
#include "mixing/memory/wipe.h"

enum { BULK_MIN = 32 }; /* blocks; below this the set-up of the wide registers costs more than it saves */

/* `bulk`, unless NULL, makes as many blocks as fill the wide registers, and AES-NI the rest. */
DRNG_AES_TARGET DRNG_OWN_FRAME static void long_request(drng_aes_bulk *bulk, const uint8_t *key, size_t key_len,
                                                        struct drng_counter counter, struct drng_sink *sink)
{
    struct drng_schedule schedule;

    drng_aes_expand(&schedule, key, key_len);
    if (bulk != NULL) {
        const size_t done = bulk(&schedule, &counter, sink->out, sink->out_blocks);
        sink->out += done * DRNG_AES_BLOCK;
        sink->out_blocks -= done;
    }
    drng_aes_ni_rest(&schedule, counter, sink);
}

/*
 * Calls the kernel for this length. bulk is NULL if the CPU has no VAES. The shortest requests leave secrets only
 * within DRNG_AES_STACK, which includes the frame of this function, and which the caller wipes.
 */
static inline void choose(drng_aes_bulk *bulk, const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK],
                          struct drng_sink sink)
{
    const struct drng_counter counter = drng_counter_load(v);
    const size_t blocks = sink.out_blocks + sink.tail_blocks;
    const bool has_bulk = sink.out_blocks >= BULK_MIN;
    struct drng_counter last = counter;

    drng_counter_add(&last, blocks);
    if (bulk != NULL && has_bulk) {
        long_request(bulk, key, key_len, counter, &sink);
        drng_wipe_stack_2048();
    } else if (key_len != 32 || has_bulk) {
        long_request(NULL, key, key_len, counter, &sink);
        drng_wipe_stack_1024();
    } else if (blocks <= DRNG_AES_NI_LANES) {
        drng_aes_ni_short(key, counter, &sink);
    } else if (bulk != NULL && blocks <= DRNG_AES_SHORT_BLOCKS) {
        drng_aes_vaes_short(key, counter, &sink);
        drng_wipe_stack_512_avx();
    } else {
        drng_aes_ni_medium(key, counter, &sink);
        drng_wipe_stack_1024();
    }
    drng_counter_store(v, last);
}

static void ctr_ni(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                   uint8_t *tail, size_t tail_blocks)
{
    choose(NULL, key, key_len, v, (struct drng_sink){out, out_blocks, tail, tail_blocks});
}

static void ctr_vaes256(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                        uint8_t *tail, size_t tail_blocks)
{
    choose(drng_aes_vaes256_bulk, key, key_len, v, (struct drng_sink){out, out_blocks, tail, tail_blocks});
}

static void ctr_vaes512(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                        uint8_t *tail, size_t tail_blocks)
{
    choose(drng_aes_vaes512_bulk, key, key_len, v, (struct drng_sink){out, out_blocks, tail, tail_blocks});
}

const struct drng_aes drng_aes_ni = {.name = "AES-NI", .fuses = true, .ctr = ctr_ni, .cbc = drng_aes_ni_cbc};
const struct drng_aes drng_aes_vaes256 = {
    .name = "VAES-256", .fuses = true, .ctr = ctr_vaes256, .cbc = drng_aes_ni_cbc};
const struct drng_aes drng_aes_vaes512 = {
    .name = "VAES-512", .fuses = true, .ctr = ctr_vaes512, .cbc = drng_aes_ni_cbc};

size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS])
{
    size_t count = 0;
    all[count++] = &drng_aes_portable;
    if (cpu->aes) {
        all[count++] = &drng_aes_ni;
    }
    if (cpu->vaes256) {
        all[count++] = &drng_aes_vaes256;
    }
    if (cpu->vaes512) {
        all[count++] = &drng_aes_vaes512;
    }
    return count;
}
