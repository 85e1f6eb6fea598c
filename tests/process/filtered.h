/* SPDX-License-Identifier: Apache-2.0 */
/* filtered.h - what is drawn from under a filter of system calls: the provider, or libdrng. What is linked decides. */

#ifndef TEST_FILTERED_H
#define TEST_FILTERED_H

#include <stdbool.h>

bool filtered_load(void);

/* From the generators that this process has, or has inherited. */
bool filtered_draw(void);

/* From a new generator, which is freed. */
bool filtered_draw_anew(void);

#endif
