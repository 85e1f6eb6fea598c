/* SPDX-License-Identifier: Apache-2.0 */
/* noted_log.h - a system log that only takes notes. Linked with -Wl,--wrap=sendto. */

#ifndef TEST_NOTED_LOG_H
#define TEST_NOTED_LOG_H

extern unsigned noted_lines;  /* how many, to be set to 0 by the test */
extern char noted_last[1024]; /* the last one, without what stands before every line */

#endif
