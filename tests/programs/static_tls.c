/* SPDX-License-Identifier: Apache-2.0 */
/* static_tls.c - a module with thread-local memory of the kind that drng has: it comes with each thread. */

int *static_tls_counter(void);

int *static_tls_counter(void)
{
    static _Thread_local int counter[4];
    return counter;
}
