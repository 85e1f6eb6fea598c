/* SPDX-License-Identifier: Apache-2.0 */
/* brief.h - counts the rounds of all registers in the short requests, except the last rounds. */

#ifndef DRNG_BRIEF_H
#define DRNG_BRIEF_H

unsigned long brief_rounds(void);

#endif
