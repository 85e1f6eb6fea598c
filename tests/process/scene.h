/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.h - a process of its own for a test that needs a fresh process, may hang, or does not survive.
 *
 * The program starts itself again with the scene's name. SIGALRM ends a scene that hangs, so a lock that is never
 * released fails an assertion and does not hang the test.
 */

#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include <stdbool.h>

/* The function that runs in the new process; its result becomes the exit status. */
typedef int scene_work(void);

struct scene {
    const char *name;
    scene_work *work;
};

/* The CPU as libcrypto and drng see it: unchanged, or without RDSEED and RDRAND. */
enum scene_cpu { SCENE_AS_IT_IS, SCENE_MASKED };

/* To be called first in main(). If the arguments name a scene, plays it and does not return. */
void scene_enter(int argc, char **argv, const struct scene *scenes, unsigned count);

/*
 * The scene's status from waitpid(); -1: the process could not be started. scene_argument() returns `with` in the
 * scene.
 */
int scene_play(const char *scene, const char *with, enum scene_cpu cpu);

/* The argument of the scene; "" if there is none. */
const char *scene_argument(void);

/* Whether RDSEED and RDRAND are hidden from this process. */
bool scene_is_masked(void);

/* Prints a failure to standard error, after the scene's name; returns false. */
bool scene_says(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
