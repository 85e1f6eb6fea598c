/* SPDX-License-Identifier: Apache-2.0 */
/* static.c - a program with libcrypto linked into it, which draws. */

#include <openssl/rand.h>

int main(void)
{
    unsigned char out[16];
    return RAND_bytes(out, sizeof(out)) == 1 ? 0 : 1;
}
