/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE

#include "tests/process/step.h"

#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/ucontext.h>

enum { TRAP_FLAG = 0x100, WATCHED = 64, LINE = 512 };

static struct {
    uintptr_t start;
    size_t size;
    unsigned *visits; /* a counter for each byte of the text */
} text;

static struct {
    uint8_t *start;
    size_t size;
} watched[WATCHED];
static unsigned watched_count;
static uintptr_t touched;

static struct step now;
static step_visitor *visitor;
static bool nested; /* the work is a visitor's own */
static volatile sig_atomic_t stopped;
static uintptr_t next; /* the instruction that the next trap comes after; 0: not known yet */

/* ---- Where the provider's instructions are ---- */

static int note_text(struct dl_phdr_info *info, size_t size, void *vaddress)
{
    const uintptr_t address = (uintptr_t)vaddress;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && address - start < header->p_memsz) {
            text.start = start;
            text.size = header->p_memsz;
            return 1;
        }
    }
    return 0;
}

static bool is_inside(uintptr_t at)
{
    return at - text.start < text.size;
}

/* ---- Memory that is wiped in a child ---- */

static void protect(int protection)
{
    for (unsigned i = 0; i < watched_count; i++) {
        (void)mprotect(watched[i].start, watched[i].size, protection);
    }
}

/* As kernel.c has it: the C library's own state may be dropped at any time (dp), ours not. */
static bool is_wiped(const char *flags)
{
    return strstr(flags, " wf") != NULL && strstr(flags, " dp") == NULL;
}

bool step_watch(void)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");
    char line[LINE];
    uintptr_t start = 0;
    uintptr_t end = 0;
    if (smaps == NULL) {
        return false;
    }
    while (fgets(line, sizeof(line), smaps) != NULL && watched_count < WATCHED) {
        uintptr_t first = 0;
        uintptr_t last = 0;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &last) == 2) {
            start = first;
            end = last;
        } else if (strncmp(line, "VmFlags:", 8) == 0 && is_wiped(line) && strstr(line, " wr ") != NULL) {
            watched[watched_count].start = (uint8_t *)start;
            watched[watched_count++].size = end - start;
        }
    }
    (void)fclose(smaps);
    return watched_count > 0;
}

bool step_watch_also(void *start, size_t size)
{
    if (watched_count == WATCHED) {
        return false;
    }
    watched[watched_count].start = start;
    watched[watched_count++].size = size;
    return true;
}

void step_unwatch(void)
{
    protect(PROT_READ | PROT_WRITE);
    watched_count = 0;
}

/* The instruction is executed again, with the memory open, and then trapped. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    for (unsigned i = 0; i < watched_count; i++) {
        if (touched == 0 && address - (uintptr_t)watched[i].start < watched[i].size) {
            touched = address;
            protect(PROT_READ | PROT_WRITE);
            return;
        }
    }
    (void)signal(number, SIG_DFL);
}

/* ---- Steps ---- */

/* 0f 05, and nothing else; the number is still in rax's place of the call before it was made. */
static bool is_system_call(uintptr_t at)
{
    const uint8_t *code = (const uint8_t *)at;
    return code[0] == 0x0f && code[1] == 0x05;
}

static void on_trap(int number, siginfo_t *info, void *vcontext)
{
    static long rax_before;
    ucontext_t *context = vcontext;
    protect(PROT_READ | PROT_WRITE);
    const uintptr_t executed = next;
    next = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (executed != 0) {
        now.at = executed;
        now.inside = is_inside(executed);
        now.visit = now.inside && !nested ? ++text.visits[executed - text.start] : 0;
        now.system_call = is_system_call(executed) ? rax_before : -1;
        now.touched = touched;
        visitor(&now);
        now.index++;
    }
    rax_before = context->uc_mcontext.gregs[REG_RAX];
    touched = 0;
    if (stopped) {
        context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    } else {
        protect(PROT_NONE);
    }
}

/*
 * From glibc 2.41 on, a thread's first getrandom() blocks every signal for a moment, and a trap that is blocked ends
 * the process.
 */
static bool has_called_getrandom(void)
{
    uint8_t byte = 0;
    return getrandom(&byte, 1, 0) == 1;
}

bool step_open(const void *inside)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (!has_called_getrandom() || dl_iterate_phdr(note_text, (void *)(uintptr_t)inside) != 1) {
        return false;
    }
    text.visits = calloc(text.size, sizeof(*text.visits));
    if (text.visits == NULL || sigaction(SIGTRAP, &action, NULL) != 0) {
        return false;
    }
    action.sa_sigaction = on_fault;
    return sigaction(SIGSEGV, &action, NULL) == 0;
}

__attribute__((noinline)) static void set_trap_flag(void)
{
    __asm__ volatile("pushfq\n\t"
                     "orq %0, (%%rsp)\n\t"
                     "popfq"
                     :
                     : "i"(TRAP_FLAG)
                     : "memory", "cc");
}

__attribute__((noinline)) static void clear_trap_flag(void)
{
    __asm__ volatile("pushfq\n\t"
                     "andq %0, (%%rsp)\n\t"
                     "popfq"
                     :
                     : "i"(~TRAP_FLAG)
                     : "memory", "cc");
}

void step_run(void (*work)(void), step_visitor *visit)
{
    visitor = visit;
    stopped = 0;
    next = 0;
    touched = 0;
    now = (struct step){0};
    memset(text.visits, 0, text.size * sizeof(*text.visits));
    set_trap_flag();
    work();
    clear_trap_flag();
    protect(PROT_READ | PROT_WRITE);
}

void step_run_inside(void (*work)(void), step_visitor *visit)
{
    const struct step outer = now;
    step_visitor *const outer_visitor = visitor;
    const uintptr_t outer_next = next;
    visitor = visit;
    next = 0;
    now = (struct step){0};
    nested = true;
    set_trap_flag();
    work();
    clear_trap_flag();
    nested = false;
    now = outer;
    visitor = outer_visitor;
    next = outer_next;
}

void step_stop(void)
{
    stopped = 1;
}
