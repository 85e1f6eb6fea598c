/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fortified.c - what Debian's libcrypto.a and libcunit.a ask of glibc and musl does not have: for scripts/ci/musl.sh.
 *
 * Those archives are compiled for glibc. All else that they call has the same name and the same form in musl.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

/* The checks of _FORTIFY_SOURCE, without the check. */

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
{
    return vfprintf(stream, format, arguments);
}

int __printf_chk(int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int result = vprintf(format, arguments);
    va_end(arguments);
    return result;
}

int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int result = vfprintf(stream, format, arguments);
    va_end(arguments);
    return result;
}

int __snprintf_chk(char *text, size_t length, int flag, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int result = vsnprintf(text, length, format, arguments);
    va_end(arguments);
    return result;
}

void __syslog_chk(int priority, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsyslog(priority, format, arguments);
    va_end(arguments);
}

char *__strcat_chk(char *to, const char *from, size_t size)
{
    return strcat(to, from);
}

void *__memcpy_chk(void *to, const void *from, size_t length, size_t size)
{
    return memcpy(to, from, length);
}

void *__memset_chk(void *to, int byte, size_t length, size_t size)
{
    return memset(to, byte, length);
}

void __longjmp_chk(jmp_buf there, int value)
{
    longjmp(there, value);
}

long __fdelt_chk(long descriptor)
{
    return descriptor / (long)(8 * sizeof(long));
}

/* Contexts of libcrypto's asynchronous jobs, which are then told that there are none. */

int getcontext(void *context)
{
    return -1;
}

int setcontext(const void *context)
{
    return -1;
}

void makecontext(void *context, void (*function)(void), int count, ...) {}
