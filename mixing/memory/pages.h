/* pages.h - sizes and addresses in whole pages: the kernel wipes, locks and protects nothing smaller. */

#ifndef DRNG_PAGES_H
#define DRNG_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { DRNG_LARGEST_PAGE = 1 << 16 }; /* bytes, on arm64 and ppc64; on x86-64 a page has 4,096 */

static inline size_t drng_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* `size` rounded up to whole pages. */
static inline size_t drng_whole_pages(size_t size)
{
    const size_t page = drng_page_size();
    return (size + page - 1) / page * page;
}

/* The first address from `room` on at which a page begins. */
static inline uint8_t *drng_page_start(uint8_t *room)
{
    const size_t page = drng_page_size();
    return room + (page - (uintptr_t)room % page) % page;
}

#endif
