/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for secrets in one process: slots, chunks, fences, and what the kernel is told of them. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mixing/machine/wipe.h"
#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "tests/unit/child.h"
#include "tests/unit/maps.h"
#include "tests/unit/unit.h"

/* The first chunk holds 64 slots, and each after it twice as many as the one before. */
enum { FIRST_SLOTS = 64, SECOND_SLOTS = 128, MANY = FIRST_SLOTS + SECOND_SLOTS + 3 };

static uint8_t *slots[MANY];

/* Bytes, by the functions below that stand for mmap() and munmap(): now, and all that ever were. */
static atomic_size_t mapped;
static atomic_size_t ever_mapped;

/* False: one of them was refused. */
static bool take(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        slots[i] = drng_secmem_alloc(DRNG_SLOT_SIZE);
        if (slots[i] == NULL) {
            return false;
        }
    }
    return true;
}

static void give_back(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        drng_secmem_free(slots[i], DRNG_SLOT_SIZE);
    }
}

static bool is_all(const uint8_t *slot, uint8_t value)
{
    for (size_t i = 0; i < DRNG_SLOT_SIZE; i++) {
        if (slot[i] != value) {
            return false;
        }
    }
    return true;
}

/* ---- Slots ---- */

UNIT_TEST("slots are zero and aligned to their size")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(take(MANY));
    for (size_t i = 0; i < MANY; i++) {
        CU_ASSERT_EQUAL((uintptr_t)slots[i] % DRNG_SLOT_SIZE, 0);
        CU_ASSERT_TRUE(is_all(slots[i], 0));
    }
    give_back(MANY);
    drng_secmem_close();
}

UNIT_TEST("slots are distinct")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(take(MANY));
    for (size_t i = 0; i < MANY; i++) {
        memset(slots[i], (int)(1 + i % 255), DRNG_SLOT_SIZE);
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_PTR_NOT_EQUAL(slots[i], slots[j]);
        }
    }
    for (size_t i = 0; i < MANY; i++) {
        CU_ASSERT_TRUE(is_all(slots[i], (uint8_t)(1 + i % 255)));
    }
    give_back(MANY);
    drng_secmem_close();
}

UNIT_TEST("a slot given back is zero when taken again")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    uint8_t *slot = drng_secmem_alloc(DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
    memset(slot, 0xa5, DRNG_SLOT_SIZE);
    drng_secmem_free(slot, DRNG_SLOT_SIZE);
    /* Wiped when it is given back, not when it is taken: the chunk is still mapped. */
    CU_ASSERT_TRUE(is_all(slot, 0));
    uint8_t *again = drng_secmem_alloc(DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_EQUAL(again, slot);
    CU_ASSERT_TRUE(is_all(again, 0));
    drng_secmem_free(again, DRNG_SLOT_SIZE);
    drng_secmem_close();
}

/* ---- Wide slots ---- */

enum { WIDE = 40 };

/* Wide slots and others in turn, so that each search meets slots of the other kind. */
UNIT_TEST("wide slots share no byte with others")
{
    static uint8_t *wide[WIDE];
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    for (size_t i = 0; i < WIDE; i++) {
        slots[i] = drng_secmem_alloc(DRNG_SLOT_SIZE);
        wide[i] = drng_secmem_alloc(DRNG_WIDE_SLOT_SIZE);
        CU_ASSERT_TRUE_FATAL(slots[i] != NULL && wide[i] != NULL);
        CU_ASSERT_EQUAL((uintptr_t)wide[i] % DRNG_WIDE_SLOT_SIZE, 0);
        CU_ASSERT_TRUE(drng_is_wiped(wide[i], DRNG_WIDE_SLOT_SIZE));
        memset(slots[i], (int)(1 + i), DRNG_SLOT_SIZE);
        memset(wide[i], (int)(101 + i), DRNG_WIDE_SLOT_SIZE);
    }
    for (size_t i = 0; i < WIDE; i++) {
        CU_ASSERT_TRUE(is_all(slots[i], (uint8_t)(1 + i)));
        for (size_t part = 0; part < DRNG_WIDE_SLOT_SIZE; part += DRNG_SLOT_SIZE) {
            CU_ASSERT_TRUE(is_all(wide[i] + part, (uint8_t)(101 + i)));
        }
        drng_secmem_free(wide[i], DRNG_WIDE_SLOT_SIZE);
    }
    give_back(WIDE);
    drng_secmem_close();
}

UNIT_TEST("a wide slot given back is zero and free")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    uint8_t *wide = drng_secmem_alloc(DRNG_WIDE_SLOT_SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(wide);
    memset(wide, 0xa5, DRNG_WIDE_SLOT_SIZE);
    drng_secmem_free(wide, DRNG_WIDE_SLOT_SIZE);
    CU_ASSERT_TRUE(drng_is_wiped(wide, DRNG_WIDE_SLOT_SIZE));
    CU_ASSERT_PTR_EQUAL(drng_secmem_alloc(DRNG_WIDE_SLOT_SIZE), wide);
    drng_secmem_free(wide, DRNG_WIDE_SLOT_SIZE);
    /* All of it: the first chunk has room for as many slots as before. */
    const size_t before = atomic_load(&mapped);
    CU_ASSERT_TRUE(take(FIRST_SLOTS));
    CU_ASSERT_EQUAL(atomic_load(&mapped), before);
    give_back(FIRST_SLOTS);
    drng_secmem_free(NULL, DRNG_WIDE_SLOT_SIZE);
    drng_secmem_close();
    CU_ASSERT_PTR_NULL(drng_secmem_alloc(DRNG_WIDE_SLOT_SIZE));
}

/* One slot in four is in use, whichever: there are enough free ones, and no four in a row. */
UNIT_TEST("a wide slot is whole")
{
    for (size_t used = 0; used < 4; used++) {
        CU_ASSERT_TRUE_FATAL(drng_secmem_open());
        CU_ASSERT_TRUE_FATAL(take(FIRST_SLOTS));
        for (size_t i = 0; i < FIRST_SLOTS; i++) {
            if (i % 4 != used) {
                drng_secmem_free(slots[i], DRNG_SLOT_SIZE);
            }
        }
        const size_t before = atomic_load(&mapped);
        uint8_t *wide = drng_secmem_alloc(DRNG_WIDE_SLOT_SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(wide);
        CU_ASSERT_TRUE(atomic_load(&mapped) > before);
        drng_secmem_free(wide, DRNG_WIDE_SLOT_SIZE);
        for (size_t i = used; i < FIRST_SLOTS; i += 4) {
            drng_secmem_free(slots[i], DRNG_SLOT_SIZE);
        }
        drng_secmem_close();
    }
}

UNIT_TEST("giving back nothing is nothing")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    drng_secmem_free(NULL, DRNG_SLOT_SIZE);
    CU_ASSERT_TRUE(take(FIRST_SLOTS));
    give_back(FIRST_SLOTS);
    drng_secmem_close();
    drng_secmem_free(NULL, DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_NULL(drng_secmem_alloc(DRNG_SLOT_SIZE));
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 3000, OF_THREAD = 30 };

/* Takes slots of both kinds, more in all than the first chunk has, and writes its number into them. */
static void *take_and_give_back(void *number)
{
    const uint8_t own = *(const uint8_t *)number;
    for (unsigned round = 0; round < (unit_samples() ? ROUNDS / 10 : ROUNDS); round++) {
        uint8_t *taken[OF_THREAD];
        for (size_t i = 0; i < OF_THREAD; i++) {
            const size_t size = i % 8 == 0 ? DRNG_WIDE_SLOT_SIZE : DRNG_SLOT_SIZE;
            taken[i] = drng_secmem_alloc(size);
            if (taken[i] == NULL || !drng_is_wiped(taken[i], size)) {
                return "a slot was refused, or is another's";
            }
            memset(taken[i], own, size);
        }
        for (size_t i = 0; i < OF_THREAD; i++) {
            if (!is_all(taken[i], own)) {
                return "another has it";
            }
            drng_secmem_free(taken[i], i % 8 == 0 ? DRNG_WIDE_SLOT_SIZE : DRNG_SLOT_SIZE);
        }
    }
    return NULL;
}

UNIT_TEST("threads share no slot")
{
    static uint8_t numbers[THREADS] = {1, 2, 3, 4};
    pthread_t threads[THREADS];
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    for (size_t i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, take_and_give_back, &numbers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        CU_ASSERT_EQUAL(pthread_join(threads[i], &wrong), 0);
        CU_ASSERT_PTR_NULL(wrong);
    }
    drng_secmem_close();
    CU_ASSERT_PTR_NULL(drng_secmem_alloc(DRNG_SLOT_SIZE));
}

/* Whatever the order in which they come back. */
UNIT_TEST("all given back leaves no mapping")
{
    for (unsigned order = 0; order < 3; order++) {
        const size_t before = atomic_load(&mapped);
        CU_ASSERT_TRUE_FATAL(drng_secmem_open());
        CU_ASSERT_TRUE_FATAL(take(MANY));
        CU_ASSERT_TRUE(atomic_load(&mapped) > before);
        for (size_t i = 0; i < MANY; i++) {
            /* First to last, last to first, every chunk in turn: 101 shares no factor with MANY. */
            const size_t turn[] = {i, MANY - 1 - i, i * 101 % MANY};
            drng_secmem_free(slots[turn[order]], DRNG_SLOT_SIZE);
        }
        drng_secmem_close();
        CU_ASSERT_EQUAL(atomic_load(&mapped), before);
    }
}

/* ---- Opening and closing ---- */

UNIT_TEST("without an opening there is no slot")
{
    CU_ASSERT_PTR_NULL(drng_secmem_alloc(DRNG_SLOT_SIZE));
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    void *slot = drng_secmem_alloc(DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_NOT_NULL(slot);
    drng_secmem_free(slot, DRNG_SLOT_SIZE);
    drng_secmem_close();
    CU_ASSERT_PTR_NULL(drng_secmem_alloc(DRNG_SLOT_SIZE));
}

UNIT_TEST("a second opening maps nothing more")
{
    const size_t before = atomic_load(&mapped);
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    const size_t once = atomic_load(&mapped);
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_EQUAL(atomic_load(&mapped), once);
    drng_secmem_close();
    CU_ASSERT_EQUAL(atomic_load(&mapped), before);
}

UNIT_TEST("a slot still held keeps its memory")
{
    const size_t before = atomic_load(&mapped);
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    uint8_t *slot = drng_secmem_alloc(DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
    memset(slot, 0xa5, DRNG_SLOT_SIZE);
    drng_secmem_close();
    CU_ASSERT_TRUE(is_all(slot, 0xa5));
    drng_secmem_free(slot, DRNG_SLOT_SIZE);
    drng_secmem_close();
    CU_ASSERT_EQUAL(atomic_load(&mapped), before);
}

/* ---- Fences ---- */

static int touch(void *byte)
{
    *(volatile uint8_t *)byte = 1;
    return 0;
}

/* AddressSanitizer may turn the signal into an exit of its own. */
static bool dies(int status)
{
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

UNIT_TEST("the bytes around a chunk are out of bounds")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(take(FIRST_SLOTS + SECOND_SLOTS));
    /* The second chunk is all ours. */
    uint8_t *first = slots[FIRST_SLOTS];
    uint8_t *last = first;
    for (size_t i = FIRST_SLOTS; i < FIRST_SLOTS + SECOND_SLOTS; i++) {
        first = slots[i] < first ? slots[i] : first;
        last = slots[i] > last ? slots[i] : last;
    }
    CU_ASSERT_EQUAL_FATAL(last - first, (SECOND_SLOTS - 1) * DRNG_SLOT_SIZE);
    CU_ASSERT_TRUE(dies(child_forked(touch, first - 1)));
    CU_ASSERT_TRUE(dies(child_forked(touch, last + DRNG_SLOT_SIZE)));
    CU_ASSERT_EQUAL(child_forked(touch, first), 0);
    CU_ASSERT_EQUAL(child_forked(touch, last + DRNG_SLOT_SIZE - 1), 0);
    give_back(FIRST_SLOTS + SECOND_SLOTS);
    drng_secmem_close();
}

/* ---- What the kernel is told ---- */

/* Whether memory of a chunk's size can be locked here. The system call, since sanitizers turn mlock() into nothing. */
static bool can_lock(void)
{
    const size_t size = SECOND_SLOTS * DRNG_SLOT_SIZE;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool locked = memory != MAP_FAILED && syscall(SYS_mlock, memory, size) == 0 && maps_has_flag(memory, "lo");
    if (memory != MAP_FAILED) {
        (void)munmap(memory, size);
    }
    return locked;
}

UNIT_TEST("slots are kept from dumps and swap and children")
{
    const bool lockable = can_lock();
    if (unit_emulated("it drops advice on memory")) {
        return;
    }
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(take(FIRST_SLOTS + 1));
    CU_ASSERT_TRUE(drng_fork_kernel_wipes);
    /* One of the first chunk and one of another. */
    for (size_t i = 0; i <= FIRST_SLOTS; i += FIRST_SLOTS) {
        CU_ASSERT_TRUE(maps_has_flag(slots[i], "dd"));
        CU_ASSERT_TRUE(maps_has_flag(slots[i], "wf"));
        CU_ASSERT_EQUAL(maps_has_flag(slots[i], "lo"), lockable && i == 0); /* the first alone */
    }
    /* The flags are not those of any memory. */
    CU_ASSERT_FALSE(maps_has_flag(slots, "dd"));
    CU_ASSERT_FALSE(maps_has_flag(slots, "wf"));
    give_back(FIRST_SLOTS + 1);
    drng_secmem_close();
}

/* In a child of its own, since neither the limit nor the privilege comes back. */
static int allocate_without_locking(void *unused)
{
    const struct rlimit none = {0};
    if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0)) {
        return 2;
    }
    if (can_lock()) {
        return 3;
    }
    if (!drng_secmem_open() || !take(FIRST_SLOTS + 1)) {
        return 4;
    }
    memset(slots[FIRST_SLOTS], 0xa5, DRNG_SLOT_SIZE);
    give_back(FIRST_SLOTS + 1);
    drng_secmem_close();
    return 0;
}

UNIT_TEST("memory that cannot be locked serves")
{
    CU_ASSERT_EQUAL(child_forked(allocate_without_locking, NULL), 0);
}

/* ---- A kernel that has no memory for a chunk ---- */

static bool out_of_memory;
static bool mapped_over; /* something was mapped where something is */

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t size);
int __real_mprotect(void *address, size_t size, int protection);

/* Kernels before 6.12 unmap what is there, and then fail. */
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if ((flags & MAP_FIXED) != 0) {
        mapped_over = true;
        if (out_of_memory) {
            (void)__real_munmap(address, size);
            errno = ENOMEM;
            return MAP_FAILED;
        }
    }
    void *memory = __real_mmap(address, size, protection, flags, fd, offset);
    const size_t more = memory != MAP_FAILED && (flags & MAP_FIXED) == 0 ? size : 0;
    atomic_fetch_add(&mapped, more);
    atomic_fetch_add(&ever_mapped, more);
    return memory;
}

int __wrap_munmap(void *address, size_t size)
{
    atomic_fetch_sub(&mapped, size);
    return __real_munmap(address, size);
}

int __wrap_mprotect(void *address, size_t size, int protection)
{
    if (out_of_memory) {
        errno = ENOMEM;
        return -1;
    }
    return __real_mprotect(address, size, protection);
}

UNIT_TEST("a chunk that is refused leaves no hole")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(take(FIRST_SLOTS));
    const size_t before = atomic_load(&mapped);
    mapped_over = false; /* the family's page is, once */
    out_of_memory = true;
    CU_ASSERT_PTR_NULL(drng_secmem_alloc(DRNG_SLOT_SIZE));
    out_of_memory = false;
    CU_ASSERT_EQUAL(atomic_load(&mapped), before);
    CU_ASSERT_FALSE(mapped_over);
    void *slot = drng_secmem_alloc(DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_NOT_NULL(slot);
    drng_secmem_free(slot, DRNG_SLOT_SIZE);
    give_back(FIRST_SLOTS);
    drng_secmem_close();
}

/* ---- Threads that find no slot at once ---- */

enum { HERD = 48, EACH = 4 };

static pthread_barrier_t all_are_there;

static void *take_some(void *vtaken)
{
    void **taken = vtaken;
    (void)pthread_barrier_wait(&all_are_there);
    for (unsigned i = 0; i < EACH; i++) {
        taken[i] = drng_secmem_alloc(DRNG_SLOT_SIZE);
    }
    return NULL;
}

/* What this many threads map, together or one after another. */
static size_t mapped_by_threads(bool together)
{
    static void *taken[HERD][EACH];
    pthread_t threads[HERD];
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(take(FIRST_SLOTS));
    const size_t before = atomic_load(&ever_mapped);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&all_are_there, NULL, together ? HERD : 1), 0);
    for (unsigned i = 0; i < HERD; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, take_some, taken[i]), 0);
        CU_ASSERT_TRUE(together || pthread_join(threads[i], NULL) == 0);
    }
    for (unsigned i = 0; i < HERD; i++) {
        CU_ASSERT_TRUE(!together || pthread_join(threads[i], NULL) == 0);
    }
    for (unsigned i = 0; i < HERD; i++) {
        for (unsigned j = 0; j < EACH; j++) {
            CU_ASSERT_PTR_NOT_NULL(taken[i][j]);
            drng_secmem_free(taken[i][j], DRNG_SLOT_SIZE);
        }
    }
    const size_t more = atomic_load(&ever_mapped) - before;
    (void)pthread_barrier_destroy(&all_are_there);
    give_back(FIRST_SLOTS);
    drng_secmem_close();
    return more;
}

UNIT_TEST("a herd of threads maps no more than one after another")
{
    const size_t more = mapped_by_threads(false);
    CU_ASSERT_TRUE(more > 0);
    for (unsigned round = 0; round < 20; round++) {
        CU_ASSERT_EQUAL(mapped_by_threads(true), more);
    }
}

UNIT_MAIN("secmem")
