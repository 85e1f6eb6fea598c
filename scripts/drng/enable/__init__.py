# SPDX-License-Identifier: Apache-2.0
"""The change of openssl.cnf, or of a service: drng-enable."""
