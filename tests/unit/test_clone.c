/* SPDX-License-Identifier: Apache-2.0 */
/* The clock device of a virtual machine: when it is believed, and what is noticed. */

#include <endian.h>
#include <stdalign.h>
#include <string.h>

#include "mixing/state/clone.h"
#include "tests/scripted/os.h"
#include "tests/unit/unit.h"

/* A whole page, so that what a short one would end in is there to be read by mistake. */
static alignas(4096) uint8_t page[4096];
static struct drng_vmclock *const device = (struct drng_vmclock *)(void *)page;

static void fill_page(void)
{
    memset(page, 0, sizeof(page));
    device->magic = htole32(DRNG_VMCLOCK_MAGIC);
    device->size = htole32(sizeof(page));
    device->version = htole16(1);
    scripted_os_reset();
    scripted_vmclock = device;
}

static void open_device(void)
{
    fill_page();
    drng_clone_open();
    CU_ASSERT_TRUE_FATAL(drng_clone_is_watched());
}

/* What the hypervisor does before the first instruction of a copy. */
static void change(void)
{
    const uint32_t sequence = le32toh(atomic_load(&device->sequence));
    atomic_store(&device->sequence, htole32(sequence + 2));
    atomic_uint_least64_t *marker = &device->disruption_marker;
    atomic_store(marker, htole64(le64toh(atomic_load(marker)) + 1));
}

UNIT_TEST("without a device nothing is watched")
{
    scripted_os_reset();
    drng_clone_open();
    CU_ASSERT_FALSE(drng_clone_is_watched());
    CU_ASSERT_EQUAL(drng_epoch(), drng_fork_generation() + drng_clone_count());
    scripted_unwatch();
}

static bool is_believed(void)
{
    drng_clone_open();
    const bool watched = drng_clone_is_watched();
    scripted_unwatch();
    return watched;
}

UNIT_TEST("a page of something else is not believed")
{
    fill_page();
    CU_ASSERT_TRUE(is_believed());
    device->magic = htole32(DRNG_VMCLOCK_MAGIC ^ 1);
    CU_ASSERT_FALSE(is_believed());

    fill_page();
    device->version = htole16(2);
    CU_ASSERT_FALSE(is_believed());

    fill_page();
    device->size = htole32(sizeof(*device) - 1);
    CU_ASSERT_FALSE(is_believed());
    device->size = htole32(sizeof(*device));
    CU_ASSERT_TRUE(is_believed());

    fill_page();
    device->sequence = htole32(1); /* for ever in the middle of a change */
    CU_ASSERT_FALSE(is_believed());
}

UNIT_TEST("a change is noticed once")
{
    open_device();
    const uint64_t count = drng_clone_count();
    const uint64_t epoch = drng_epoch();
    CU_ASSERT_EQUAL(drng_epoch(), epoch);
    for (unsigned i = 1; i <= 3; i++) {
        change();
        CU_ASSERT_NOT_EQUAL(drng_epoch(), epoch);
        CU_ASSERT_EQUAL(drng_clone_count(), count + i);
        CU_ASSERT_EQUAL(drng_clone_count(), count + i);
        CU_ASSERT_EQUAL(drng_epoch(), epoch + i);
    }
    scripted_unwatch();
}

/* Time that is set, or a leap second: the sequence number alone says nothing. */
UNIT_TEST("a change of something else is none")
{
    open_device();
    const uint64_t count = drng_clone_count();
    atomic_store(&device->sequence, htole32(2));
    page[72]++;
    CU_ASSERT_EQUAL(drng_clone_count(), count);
    scripted_unwatch();
}

static void answer_again(void)
{
    atomic_store(&device->sequence, htole32(2));
}

/* A copy may have been missed; from then on the requests are mixed. Nobody sleeps, and nobody looks a second time. */
UNIT_TEST("a device that stops answering is given up")
{
    open_device();
    const uint64_t count = drng_clone_count();
    atomic_store(&device->sequence, htole32(1));
    CU_ASSERT_EQUAL(drng_clone_count(), count + 1); /* a copy may have been missed */
    CU_ASSERT_FALSE(drng_clone_is_watched());
    CU_ASSERT_EQUAL(drng_epoch(), drng_fork_generation() + count + 1);
    CU_ASSERT_EQUAL(scripted_waits, 0);
    answer_again();
    change();
    CU_ASSERT_EQUAL(drng_clone_count(), count + 1);
    CU_ASSERT_FALSE(drng_clone_is_watched());
    scripted_unwatch();
}

/* A host that has no such device may leave zeros where its memory was. */
UNIT_TEST("a device that has become zeros is given up")
{
    open_device();
    const uint64_t count = drng_clone_count();
    memset(device, 0, sizeof(*device));
    CU_ASSERT_EQUAL(drng_clone_count(), count + 1);
    CU_ASSERT_FALSE(drng_clone_is_watched());
    scripted_unwatch();
}

/* The clock is read before the change is counted: what another thread would see then. */
static unsigned seen_between;
static bool was_watched;

static void look_between(void)
{
    seen_between++;
    was_watched = drng_clone_is_watched();
}

UNIT_TEST("a device that falls silent is counted before it is given up")
{
    open_device();
    const uint64_t before = drng_clone_count();
    device->sequence = htole32(1);
    scripted_on_clock = look_between;
    CU_ASSERT_EQUAL(drng_clone_count(), before + 1);
    CU_ASSERT_EQUAL(seen_between, 1);
    CU_ASSERT_TRUE(was_watched);
    CU_ASSERT_FALSE(drng_clone_is_watched());
    scripted_unwatch();
}

UNIT_TEST("a device that does not answer at the load is not watched")
{
    fill_page();
    atomic_store(&device->sequence, htole32(1));
    drng_clone_open();
    CU_ASSERT_FALSE(drng_clone_is_watched());
    scripted_unwatch();

    fill_page();
    device->version = htole16(2);
    drng_clone_open();
    (void)drng_clone_count();
    CU_ASSERT_FALSE(drng_clone_is_watched());
    scripted_unwatch();
}

/* The count of a process never goes back: an epoch must not come again. */
UNIT_TEST("a second load counts on")
{
    open_device();
    change();
    const uint64_t count = drng_clone_count();
    scripted_unwatch();
    CU_ASSERT_EQUAL(drng_clone_count(), count);
    change();
    drng_clone_open();
    CU_ASSERT_EQUAL(drng_clone_count(), count);
    change();
    CU_ASSERT_EQUAL(drng_clone_count(), count + 1);
    scripted_unwatch();
}

UNIT_TEST("the kernel gets a tenth of a second")
{
    open_device();
    change();
    const uint64_t seen_at = scripted_clock_ns;
    (void)drng_clone_count();
    scripted_clock_ns += 30000000;
    drng_clone_let_kernel_hear();
    CU_ASSERT_EQUAL(scripted_waits, 1);
    CU_ASSERT_EQUAL(scripted_clock_ns, seen_at + 100000000);
    drng_clone_let_kernel_hear();
    CU_ASSERT_EQUAL(scripted_waits, 1);
    scripted_unwatch();
}

/* As in a child with a time namespace of its own. */
UNIT_TEST("a clock that goes back lengthens no wait")
{
    open_device();
    scripted_clock_ns = UINT64_C(20000) * 1000000000;
    change();
    (void)drng_clone_count();
    scripted_clock_ns = UINT64_C(10000) * 1000000000;
    drng_clone_let_kernel_hear();
    CU_ASSERT_EQUAL(scripted_waits, 0);
    scripted_unwatch();
}

UNIT_TEST("a clock that stands keeps no request")
{
    open_device();
    scripted_clock_stands = true;
    change();
    (void)drng_clone_count();
    drng_clone_let_kernel_hear();
    CU_ASSERT_EQUAL(scripted_waits, 1);
    CU_ASSERT_EQUAL(scripted_waited_ns, 100000000);
    scripted_unwatch();
}

int main(void)
{
    (void)drng_fork_open();
    return unit_run("copies of the machine");
}
