# SPDX-License-Identifier: Apache-2.0
"""openssl.cnf: how it is read, what it means for drng, and drng-conf."""
