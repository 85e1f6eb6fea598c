#define _GNU_SOURCE

#include "tests/process/below.h"

#include <string.h>
#include <ucontext.h>

#include <CUnit/CUnit.h>

enum { WAY_BACK = 1 << 10 }; /* bytes that entering and leaving this stack may write */

_Alignas(4096) uint8_t below_stack[BELOW_LEN];

static ucontext_t above;
static void (*work_below)(void);
static volatile size_t some_index; /* which byte is touched is for no compiler to know, or it would keep only that one */

static void enter(void)
{
    volatile uint8_t distance[WAY_BACK];
    distance[some_index] = 0;
    work_below();
    (void)distance[some_index]; /* else the call could leave this frame first */
}

/* Registers that what is called there saves on its stack: what they hold is the test's, and not the same in each run. */
static void clear_saved_registers(ucontext_t *context)
{
    static const int saved[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15};
    for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++) {
        context->uc_mcontext.gregs[saved[i]] = 0;
    }
}

void below_run(void (*work)(void))
{
    ucontext_t below;
    memset(below_stack, 0, sizeof(below_stack));
    CU_ASSERT_EQUAL_FATAL(getcontext(&below), 0);
    below.uc_stack.ss_sp = below_stack;
    below.uc_stack.ss_size = sizeof(below_stack);
    below.uc_link = &above;
    work_below = work;
    clear_saved_registers(&below);
    makecontext(&below, enter, 0);
    CU_ASSERT_EQUAL_FATAL(swapcontext(&above, &below), 0);
}
