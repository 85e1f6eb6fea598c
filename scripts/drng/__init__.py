# SPDX-License-Identifier: Apache-2.0
"""What drng-conf, drng-enable and drng-status are made of. What is in no folder is shared."""

VERSION = "1.0.0"
CONF_DIR = "/etc/ssl/drng"  # CMake writes its DRNG_CONF_DIR into what is installed
TRIAL = "/run/drng"  # for files of a trial, which go with the machine's next start

# A line in openssl.cnf includes the first; that includes the second during a trial, and then does nothing.
OWN, TRIED = f"{CONF_DIR}/system.cnf", f"{TRIAL}/system.cnf"
