/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.h - single-steps a piece of work in the process that does it.
 *
 * The trap flag raises SIGTRAP after each instruction, and the handler calls the visitor. x86-64 only.
 */

#ifndef TEST_STEP_H
#define TEST_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step {
    size_t index;      /* counts the executed instructions, from 0 */
    uintptr_t at;      /* the address of the instruction just executed */
    bool inside;       /* the instruction belongs to the provider */
    unsigned visit;    /* how often the instruction has been executed, from 1; counted if `inside` */
    long system_call;  /* the number of the system call; -1: the instruction made none */
    uintptr_t touched; /* the watched memory that the instruction touched; 0: none */
};

/* Called in a signal handler after each instruction. */
typedef void step_visitor(const struct step *step);

/* Finds the provider's instructions, and installs the signal handlers. False: this machine cannot single-step. */
bool step_open(const void *inside);

/* Watches all memory that is wiped in a child, as mapped now. False: /proc cannot be read. */
bool step_watch(void);
bool step_watch_also(void *start, size_t size);
void step_unwatch(void);

/* Does the work with the trap flag set. If the visitor forks, this returns in both processes. */
void step_run(void (*work)(void), step_visitor *visit);

/* For a visitor: steps a piece of work of its own in the middle of the other, whose steps go on after it. No visits are
 * counted in it. */
void step_run_inside(void (*work)(void), step_visitor *visit);

/* For a visitor that forked, in the child: the rest of the work runs without traps. */
void step_stop(void);

#endif
