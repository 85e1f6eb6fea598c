/*
 * syslog.h - writes one line to the system log.
 *
 * Does not use syslog(3), whose connection and settings belong to the program. The socket is not kept open: if a
 * program closes all descriptors, its number could be reused for a client's connection. The system calls may be
 * forbidden in a sandbox, so this is called only before a process enters one; report.h says when.
 */

#ifndef DRNG_SYSLOG_H
#define DRNG_SYSLOG_H

/* Sends the text with facility authpriv and severity warning, without waiting. If nobody listens, nothing happens. */
void drng_syslog(const char *text);

#endif
