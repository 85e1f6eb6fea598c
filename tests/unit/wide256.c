/* SPDX-License-Identifier: Apache-2.0 */
/* aes_vaes256.c on a CPU without VAES, in place of the one in the library: what runs that are too short for it leave.
 */

#include "tests/unit/lanes256.h"

#include "mixing/aes/aes_vaes256.c"
