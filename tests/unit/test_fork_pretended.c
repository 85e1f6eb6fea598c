/* A kernel that takes any advice and follows none, as QEMU's user mode does: from the first look at it on. */

#include <string.h>
#include <sys/mman.h>

#include "mixing/memory/fork.h"
#include "mixing/memory/secmem.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { SECRET = 0xa5 };

/* Linked with --wrap. */
int __wrap_madvise(void *address, size_t len, int advice);

int __wrap_madvise(void *address, size_t len, int advice)
{
    (void)address;
    (void)len;
    (void)advice;
    return 0;
}

static uint64_t parents_generation;

/* The bytes of a slot before and after the child asks for its generation. */
static int look(void *vslot)
{
    const unsigned char *slot = vslot;
    const bool was_there = slot[0] == SECRET && slot[DRNG_SLOT_SIZE - 1] == SECRET;
    const bool is_new = drng_fork_generation() != parents_generation;
    return was_there && is_new && slot[0] == 0 && slot[DRNG_SLOT_SIZE - 1] == 0 ? 0 : 1;
}

static void a_kernel_that_takes_any_advice_is_not_relied_on(void)
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_FALSE(drng_fork_kernel_wipes);
    void *slot = drng_secmem_alloc();
    CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
    memset(slot, SECRET, DRNG_SLOT_SIZE);
    parents_generation = drng_fork_generation();
    CU_ASSERT_EQUAL(child_cloned(look, slot), 0);
    CU_ASSERT_EQUAL(drng_fork_generation(), parents_generation);
    drng_secmem_free(slot);
    drng_secmem_close();
}

static const struct unit_test tests[] = {
    {"a kernel that takes any advice is not relied on", a_kernel_that_takes_any_advice_is_not_relied_on},
};

UNIT_MAIN("fork_pretended", tests)
