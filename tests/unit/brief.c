/* SPDX-License-Identifier: Apache-2.0 */
/* aes_vaes_short.c on a CPU without VAES, in place of the one in the library. */

#include "tests/unit/brief.h"

#include "tests/unit/lanes256.h"

#include "mixing/aes/aes_vaes_short.c"

unsigned long brief_rounds(void)
{
    return wide_rounds;
}
