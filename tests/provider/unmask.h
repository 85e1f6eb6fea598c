/* unmask.h - the scripted CPU has both instructions, whatever the real one lacks. */

#ifndef TEST_UNMASK_H
#define TEST_UNMASK_H

#include <stdbool.h>

/* To be called before anything else. libcrypto knows the real CPU and may have masked what that one lacks. */
bool unmask_instructions(void);

#endif
