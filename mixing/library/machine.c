#include "mixing/library/machine.h"

#include <stdio.h>
#include <string.h>

#include "mixing/drbg/self_test.h"
#include "mixing/library/drng.h"
#include "mixing/machine/clone.h"
#include "mixing/machine/filter.h"
#include "mixing/memory/wipe.h"

struct drng_library drng_library;

bool drng_library_is_seed_grade(unsigned instruction)
{
    return DRNG_HAS_GENERATOR == 0 || instruction != DRNG_WORDS_INSTRUCTION;
}

const char *drng_library_denied(unsigned instruction)
{
    const struct drng_library_texts *texts = &drng_library.texts[instruction];
    const bool disabled = atomic_load_explicit(&drng_library.instructions[instruction].disabled, memory_order_relaxed);
    if (texts->denied[0] != '\0') {
        return texts->denied;
    }
    return disabled ? texts->unhealthy : NULL;
}

/* "not in this CPU" suggests another CPU; of some architectures there is none. */
static void write_texts(struct drng_library_texts *texts, const struct drng_instruction_row *row,
                        enum drng_denial denial)
{
    const char *why = denial == DRNG_ABSENT && row->lack != NULL ? row->lack : drng_denial_text(denial);
    (void)snprintf(texts->unhealthy, sizeof(texts->unhealthy), "%s: its words failed the health tests", row->name);
    (void)snprintf(texts->denied, sizeof(texts->denied), "%s: %s", row->name, why);
    if (denial == DRNG_ALLOWED) {
        texts->denied[0] = '\0';
    }
}

/* The generator's instruction comes first: it gives words fastest. */
static void settle_instructions(struct drng_library *library)
{
    unsigned count = 0;
    library->eligibility = drng_eligibility_decide(&library->evidence, DRNG_CHOICE_AUTO);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const unsigned instruction = (DRNG_WORDS_INSTRUCTION + i) % DRNG_INSTRUCTIONS;
        struct drng_instruction *in = &library->instructions[instruction];
        in->row = &drng_instruction_rows[instruction];
        in->counters = &library->counters[instruction];
        write_texts(&library->texts[instruction], in->row, library->eligibility.words[instruction]);
        if (library->eligibility.words[instruction] == DRNG_ALLOWED) {
            library->words.instructions[count++] = in;
        }
    }
}

/* Every AES has been tested when it was chosen, HMAC has not. */
static const struct drng_aes *tested_aes(const struct drng_cpu *cpu)
{
    const char *failed = NULL;
    const struct drng_aes *aes = drng_self_test_choose(cpu, &failed);
    return aes != NULL && drng_self_test(aes, true, &failed) == DRNG_OK ? aes : NULL;
}

static bool is_open(void)
{
    return __builtin_expect(atomic_load_explicit(&drng_library.ready, memory_order_acquire) != 0, 1);
}

static int open_locked(struct drng_library *library)
{
    if (atomic_load(&library->ready) != 0) {
        return DRNG_SUCCESS;
    }
    if (library->reader.slot == NULL) {
        library->reader.slot = drng_secmem_open() ? drng_secmem_alloc() : NULL;
    }
    if (library->reader.slot == NULL) {
        return DRNG_E_MEMORY;
    }
    drng_filter_look();
    drng_cpu_identify(&library->evidence.cpu);
    drng_os_kernel_flags(&library->evidence.kernel);
    library->aes = tested_aes(&library->evidence.cpu);
    if (library->aes == NULL) {
        return DRNG_E_SELF_TEST;
    }
    settle_instructions(library);
    drng_clone_open();
    atomic_store_explicit(&library->ready, 1, memory_order_release);
    return DRNG_SUCCESS;
}

int drng_library_open_again(void)
{
    if (is_open()) {
        return DRNG_SUCCESS;
    }
    drng_fork_open();
    if (!drng_lock(drng_process_lock(DRNG_LOCK_LOAD))) {
        return DRNG_E_BUSY;
    }
    const int error = open_locked(&drng_library);
    atomic_store(&drng_library.failed, (unsigned)error);
    drng_unlock(drng_process_lock(DRNG_LOCK_LOAD));
    return error;
}

int drng_library_open(void)
{
    if (is_open()) {
        return DRNG_SUCCESS;
    }
    const unsigned failed = atomic_load(&drng_library.failed);
    return failed != 0 ? (int)failed : drng_library_open_again();
}

static __attribute__((constructor)) void open_early(void)
{
    const int error = drng_library_open();
    (void)error; /* drng_library.failed has it, for the calls to come */
}

/*
 * In ordinary memory, so that a child of fork() goes on from its parent's. A handler leaves the number as it found it,
 * so a change may be interrupted between its load and its store.
 */
static _Thread_local unsigned calls;

bool drng_library_enter(void)
{
    const bool is_first = calls == 0;
    calls++;
    atomic_signal_fence(memory_order_seq_cst);
    return is_first;
}

void drng_library_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    calls--;
}

enum drng_result drng_library_run(drng_reader_work *work, void *arg)
{
    struct drng_lock *lock = &drng_library.reader.slot->lock;
    if (!drng_lock(lock)) {
        return DRNG_EXHAUSTED; /* cannot be: who interrupts a holder is served apart */
    }
    const enum drng_result status = drng_shared_reader_run(&drng_library.reader, work, arg);
    drng_unlock(lock);
    return status;
}

enum drng_result drng_library_run_apart(drng_reader_work *work, void *arg)
{
    struct drng_seed_reader reader;
    enum drng_result status = DRNG_OK;
    uint64_t epoch = 0;
    do {
        epoch = drng_epoch();
        memset(&reader, 0, sizeof(reader));
        status = work(arg, &reader);
        drng_wipe(&reader, sizeof(reader));
    } while (!drng_epoch_is_still(epoch));
    return status;
}
