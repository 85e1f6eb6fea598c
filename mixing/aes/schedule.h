/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - the key schedule of AES as FIPS 197 has it (5.2, figure 11), where a round has no use for a faster one.
 */

#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SCHEDULE_WORDS = 60 }; /* of AES-256 */

/*
 * Words whose first byte is the lowest. key_len is 16, 24 or 32. sub_word is SubBytes on each byte of a word. Returns
 * the number of rounds: 10, 12 or 14. It is inlined, so that sub_word is called directly or inlined, too.
 */
static inline __attribute__((always_inline)) unsigned make_schedule(uint32_t w[SCHEDULE_WORDS], const uint8_t *key,
                                                                    size_t key_len, uint32_t (*sub_word)(uint32_t))
{
    const unsigned nk = (unsigned)key_len / 4;
    const unsigned rounds = nk + 6;
    unsigned rcon = 1;

    memcpy(w, key, key_len);
    for (unsigned i = 0; i < nk; i++) {
        w[i] = le32toh(w[i]);
    }
    for (unsigned i = nk, of_nk = 0; i < 4 * (rounds + 1); i++, of_nk = of_nk + 1 < nk ? of_nk + 1 : 0) {
        uint32_t temp = w[i - 1];
        if (of_nk == 0) {
            temp = sub_word(temp >> 8 | temp << 24) ^ rcon;
            rcon = rcon << 1 ^ (rcon >> 7) * 0x11b;
        } else if (nk == 8 && of_nk == 4) {
            temp = sub_word(temp);
        }
        w[i] = w[i - nk] ^ temp;
    }
    return rounds;
}
