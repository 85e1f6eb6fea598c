/*
 * probes.h - static probes (USDT) for tracers. A probe is a no-op in the code, and a note in the module with its
 * address.
 *
 * Without sys/sdt.h at build time there are none. docs/tracing.md lists them.
 */

#ifndef DRNG_PROBES_H
#define DRNG_PROBES_H

#ifdef DRNG_HAVE_SDT
#include <sys/sdt.h>
#define DRNG_PROBE1(name, a)    DTRACE_PROBE1(drng, name, (a))
#define DRNG_PROBE2(name, a, b) DTRACE_PROBE2(drng, name, (a), (b))
#else
#define DRNG_PROBE1(name, a)    ((void)(a))
#define DRNG_PROBE2(name, a, b) ((void)(a), (void)(b))
#endif

#endif
