/*
 * scene.h - a process of its own for what a test wants to begin anew, may hang in, or does not survive.
 *
 * The program starts itself again with the scene's name. What hangs is ended by SIGALRM, so that a lock that nobody
 * gives back is a failed assertion and not a test that never ends.
 */

#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include <stdbool.h>

/* What happens in the new process; its result becomes the exit status. */
typedef int scene_work(void);

struct scene {
    const char *name;
    scene_work *work;
};

/* How a CPU looks to libcrypto and to drng: as it is, or without RDSEED and RDRAND. */
enum scene_cpu { SCENE_AS_IT_IS, SCENE_MASKED };

/* First thing in main(): plays the scene that the arguments name, and does not return then. */
void scene_enter(int argc, char **argv, const struct scene *scenes, unsigned count);

/* The scene's status as waitpid() gives it; -1: there was no process. `with` is what scene_argument() gives in it.
 */
int scene_play(const char *scene, const char *with, enum scene_cpu cpu);

/* "" where there is none. */
const char *scene_argument(void);

/* Whether both instructions are hidden from this process. */
bool scene_is_masked(void);

/* A failure's text to standard error, with the scene's name before it; returns false. */
bool scene_says(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
