/*
 * syslog.h - one line to the system log.
 *
 * Past syslog(3), whose connection and settings belong to the program. Nothing is kept open: a daemon that closes all
 * its descriptors would make a kept number somebody else's connection. It takes system calls that a sandbox may answer
 * with a kill, so it is for places where a process is not in one yet; report.h says which.
 */

#ifndef DRNG_SYSLOG_H
#define DRNG_SYSLOG_H

/* Sends text, without waiting, with facility authpriv and severity warning. Where nobody listens nothing happens. */
void drng_syslog(const char *text);

#endif
