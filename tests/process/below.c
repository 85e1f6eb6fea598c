/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE

#include <string.h>
#include <ucontext.h>

#include <CUnit/CUnit.h>

#include "tests/process/below_registers.h"

_Alignas(4096) uint8_t below_stack[BELOW_LEN];
struct below_registers below_registers;

static ucontext_t above;
static void (*work_below)(void);
static volatile size_t
    some_index; /* which byte is touched is for no compiler to know, or it would keep only that one */

static void enter(void)
{
    volatile uint8_t distance[BELOW_WAY_BACK];
    distance[some_index] = 0;
    below_work(work_below);
    (void)distance[some_index]; /* else the call could leave this frame first */
}

void below_run(void (*work)(void))
{
    ucontext_t below;
    memset(below_stack, 0, sizeof(below_stack));
    memset(&below_registers, 0, sizeof(below_registers));
    CU_ASSERT_EQUAL_FATAL(getcontext(&below), 0);
    below.uc_stack.ss_sp = below_stack;
    below.uc_stack.ss_size = sizeof(below_stack);
    below.uc_link = &above;
    work_below = work;
    below_clear_saved_registers(&below);
    makecontext(&below, enter, 0);
    CU_ASSERT_EQUAL_FATAL(swapcontext(&above, &below), 0);
}
