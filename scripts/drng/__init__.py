# SPDX-License-Identifier: Apache-2.0
"""What drng-conf, drng-enable and drng-status are made of. What is in no folder is shared."""

VERSION = "1.0.0"
CONF_DIR = "/etc/ssl/drng"  # CMake writes its DRNG_CONF_DIR into what is installed
