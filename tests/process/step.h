/*
 * step.h - a piece of work, instruction by instruction, in the process that does it.
 *
 * The trap flag raises SIGTRAP after each instruction; the handler calls the visitor. x86-64 alone.
 */

#ifndef TEST_STEP_H
#define TEST_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step {
    size_t index;      /* of the instructions that were executed, from 0 */
    uintptr_t at;      /* the one just executed */
    bool inside;       /* it is the provider's own */
    unsigned visit;    /* how often it has been executed, from 1; counted inside */
    long system_call;  /* the number, where it was a system call; -1 where not */
    uintptr_t touched; /* the memory that is wiped in a child, as far as it is watched and was touched; or 0 */
};

/* Called in a signal handler after each instruction. */
typedef void step_visitor(const struct step *step);

/* Learns where the provider's instructions are, and takes the handlers. False: this cannot be had here. */
bool step_open(const void *inside);

/* Watches memory that is wiped in a child, as it is mapped now. False: /proc cannot be read. */
bool step_watch(void);
void step_unwatch(void);

/* Does the work with the trap flag set; a visitor that forks gets two returns from here. */
void step_run(void (*work)(void), step_visitor *visit);

/* For the visitor, in a child that it forked: the rest of the work goes on without traps. */
void step_stop(void);

#endif
