/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/process/secrets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_SLOTS = 1 << 12,
    MOST_SLOTS = 1 << 21,
    FILLED = 4,          /* a table is filled to a fourth at most */
    ZEROS_OF_CHANCE = 3, /* so many bytes of zero in a window: it is no secret, but the end of one */
};

/* An open table. A slot of an earlier generation is empty, so that no table is cleared. */
struct slot {
    uint64_t window;
    const char *name;
    unsigned long generation;
};

static struct slot slots[MOST_SLOTS];
static size_t mask;
static unsigned long generation;

static uint64_t window_at(const uint8_t *data)
{
    uint64_t window;
    memcpy(&window, data, sizeof(window));
    return window;
}

static struct slot *slot_of(uint64_t window)
{
    size_t i = (size_t)(window * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    while (slots[i & mask].generation == generation && slots[i & mask].window != window) {
        i++;
    }
    return &slots[i & mask];
}

void secrets_reset(size_t bytes)
{
    size_t count = LEAST_SLOTS;
    while (count < 2 * bytes * FILLED) {
        count *= 2;
    }
    if (count > MOST_SLOTS) {
        abort();
    }
    mask = count - 1;
    generation++;
}

static void add(const char *name, uint64_t window)
{
    struct slot *slot = slot_of(window);
    if (slot->generation != generation) {
        *slot = (struct slot){window, name, generation};
    }
}

static bool is_filling(const uint8_t *data)
{
    unsigned zeros = 0;
    for (size_t i = 0; i < SECRETS_WINDOW; i++) {
        zeros += data[i] == 0;
    }
    return zeros >= ZEROS_OF_CHANCE;
}

void secrets_add(const char *name, const void *data, size_t len)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i + SECRETS_WINDOW <= len; i++) {
        if (!is_filling(bytes + i)) {
            add(name, window_at(bytes + i));
            add(name, __builtin_bswap64(window_at(bytes + i)));
        }
    }
}

/* Where to go on after two aligned words from i on, of which the first is zero: see is_filling(). */
static size_t after_zeros(const uint8_t *memory, size_t i)
{
    return window_at(memory + i + SECRETS_WINDOW) == 0 ? i + SECRETS_WINDOW : i + SECRETS_WINDOW - ZEROS_OF_CHANCE + 1;
}

void secrets_search(const uint8_t *memory, size_t len, void (*found)(const char *name, size_t offset))
{
    size_t i = 0;
    while (i + SECRETS_WINDOW <= len) {
        const bool aligned = i % SECRETS_WINDOW == 0 && i + 2 * SECRETS_WINDOW <= len;
        if (aligned && window_at(memory + i) == 0) {
            i = after_zeros(memory, i);
            continue;
        }
        const struct slot *slot = slot_of(window_at(memory + i));
        if (slot->generation == generation) {
            found(slot->name, i);
        }
        i++;
    }
}
