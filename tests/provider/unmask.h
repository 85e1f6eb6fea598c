/* SPDX-License-Identifier: Apache-2.0 */
/* unmask.h - makes libcrypto allow both instructions of the scripted CPU, even if the real CPU lacks them. */

#ifndef TEST_UNMASK_H
#define TEST_UNMASK_H

#include <stdbool.h>

/*
 * To be called before anything else: libcrypto looks at the real CPU, and may have masked instructions that it lacks.
 */
bool unmask_instructions(void);

#endif
